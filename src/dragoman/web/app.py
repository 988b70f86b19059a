"""The web face put together: the table, the handlers, the guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from dragoman.access.guard import OwnNames
from dragoman.web.api import Api
from dragoman.web.feed import Feed
from dragoman.web.guarded import Guarded
from dragoman.web.routes import Gate, RouteTable

_STATIC = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}


def build_table(api: Api, feed: Feed) -> RouteTable:
    return RouteTable(
        [
            *(Gate(Route(path, _static(*content), methods=["GET"]), None) for path, content in _STATIC.items()),
            Gate(Route("/health", api.health, methods=["GET"]), None),
            Gate(Route("/api/login", api.login, methods=["POST"]), None),
            Gate(Route("/api/status", api.show_status, methods=["GET"]), "page"),
            Gate(Route("/api/events", api.events, methods=["GET"]), "page"),
            Gate(WebSocketRoute("/api/feed", feed.serve), "page"),
        ]
    )


def build_app(api: Api, feed: Feed, names: OwnNames) -> Guarded:
    table = build_table(api, feed)
    return Guarded(Starlette(routes=table.routes), table, names, api.tokens)


def _static(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    content = files("dragoman.web").joinpath("static", name).read_bytes()

    async def serve(_: Request) -> Response:
        return Response(content, media_type=media_type)

    return serve
