"""The web application: its routes with their guard, and the files of the page.

The page is served at its own origin only. At any other name of this server a notice is served instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ExceptionHandler, Receive, Scope, Send
from starlette.websockets import WebSocket

from dragoman.access.request_guard import AllowedNames, GuardRefusal
from dragoman.access.tokens import Purpose, Tokens
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.servers.web.canvas_api import CanvasApi
from dragoman.servers.web.editor_api import EditorApi
from dragoman.servers.web.errors import (
    handle_error,
    handle_http_exception,
    handle_internal_error,
    refusal_response,
    request_language,
)
from dragoman.servers.web.feed import EventFeed
from dragoman.servers.web.guard import GuardedRoute, GuardMiddleware, RouteTable, read_body
from dragoman.servers.web.multiplexer import Multiplexer
from dragoman.servers.web.settings_api import PreferencesApi, SettingsApi
from dragoman.servers.web.sockets import SocketAuthenticator
from dragoman.servers.web.status_api import StatusApi
from dragoman.servers.web.terminal_api import TerminalApi
from dragoman.servers.web.tool_api import ToolApi

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_NOTICE_HTML = """<!doctype html>
<meta charset="utf-8">
<title>Dragoman</title>
<p>{english}</p>
<p lang="zh">{chinese}</p>
"""
_NOT_HERE_NOTICE = localize(
    "Run `dragoman page` in a terminal: the page's address changes each time the daemon starts."
)
_NOT_BUILT_NOTICE = localize("The page is not built. Run `make page` in the source folder, then restart the daemon.")


def page_routes(names: AllowedNames, language: Callable[[], str]) -> Iterator[GuardedRoute]:
    """The routes of the page.

    They need no token: the files hold no data, and the page authenticates before it gets any.
    """
    room = files("dragoman.servers.web")
    built, icon = room.joinpath("built"), room.joinpath("static", "icon.svg").read_bytes()
    index = built.joinpath("index.html")
    page = index.read_text() if index.is_file() else _notice(_NOT_BUILT_NOTICE)

    async def root(request: Request) -> Response:
        """At any other of the server's names, serve a notice: no script runs there, and no login code is read there."""
        if request.headers["host"].lower() != names.page:
            return Response(_notice(_NOT_HERE_NOTICE), media_type=_TYPES[".html"])
        return Response(page.replace("<html ", f'<html data-language="{language()}" ', 1), media_type=_TYPES[".html"])

    async def show_icon(_: Request) -> Response:
        return Response(icon, media_type=_TYPES[".svg"])

    yield GuardedRoute(Route("/", root, methods=["GET"]), None, "lobby")
    yield GuardedRoute(Route("/icon.svg", show_icon, methods=["GET"]), None, "page")
    assets = Route("/assets/{name}", _assets(built.joinpath("assets")), methods=["GET"])
    yield GuardedRoute(assets, None, "page", is_immutable=True)


def _notice(localized: LocalizedText) -> str:
    return _NOTICE_HTML.format(english=escape(localized.in_language("en")), chinese=escape(localized.in_language("zh")))


def _assets(folder: Traversable) -> Callable[[Request], Awaitable[Response]]:
    """Read the files once, at the start: a new build does not change a page that is being served."""
    found = folder.iterdir() if folder.is_dir() else ()
    known = {file.name: file.read_bytes() for file in found if _type_of(file.name)}

    async def serve(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in known:
            return refusal_response(GuardRefusal(404, "not_found"), request_language(request))
        return Response(known[name], media_type=_type_of(name))

    return serve


def _type_of(name: str) -> str:
    return _TYPES.get(f".{name.rpartition('.')[2]}", "")


class GatewaySockets(Protocol):
    """The sockets of the gateway server. `serve` authorizes by itself; `serve_person` gets a socket that belongs to a
    person.
    """

    async def serve(self, socket: WebSocket) -> None: ...

    async def serve_person(self, socket: WebSocket) -> None: ...


BodyApp = Callable[[bytes, Scope, Receive, Send], Awaitable[None]]
"""The app of another server, mounted at an address of ours. It gets the whole body at once, read within the cap and
the deadline."""

_ERRORS: dict[Any, ExceptionHandler] = {
    DragomanError: handle_error,
    HTTPException: handle_http_exception,
    Exception: handle_internal_error,
}


@dataclass(frozen=True, slots=True)
class WebApis:
    """The addresses at which this daemon listens, as clients dial them."""

    api: StatusApi
    feed: EventFeed
    canvas: CanvasApi
    calls: ToolApi
    terminals: TerminalApi
    settings: SettingsApi
    editor: EditorApi
    preferences: PreferencesApi


def build_table(
    apis: WebApis, mcp: BodyApp, gateway: GatewaySockets, authenticator: SocketAuthenticator, names: AllowedNames
) -> RouteTable:
    sockets = Multiplexer(Starlette(routes=api_routes(apis), exception_handlers=_ERRORS))
    person: tuple[Purpose, ...] = ("page", "editor")
    return RouteTable(
        [
            *page_routes(names, apis.preferences.language),
            GuardedRoute(Route("/health", apis.api.health, methods=["GET"]), None),
            GuardedRoute(WebSocketRoute("/link/calls", authenticator.guard(sockets.serve, *person)), None, "link"),
            GuardedRoute(WebSocketRoute("/link/feed", authenticator.guard(apis.feed.serve, *person)), None, "link"),
            GuardedRoute(
                WebSocketRoute("/link/terminal", authenticator.guard(apis.terminals.watch, *person)), None, "link"
            ),
            GuardedRoute(
                WebSocketRoute("/link/chat", authenticator.guard(gateway.serve_person, *person)), None, "link"
            ),
            GuardedRoute(
                WebSocketRoute("/link/editor", authenticator.guard(apis.editor.serve, "editor")), None, "link"
            ),
            GuardedRoute(WebSocketRoute("/gateway", gateway.serve), None),
            GuardedRoute(Route("/mcp", _ReadBodyFirst(mcp), methods=["GET", "POST", "DELETE"]), "mcp"),
        ]
    )


def api_routes(apis: WebApis) -> list[Route]:
    """The routes that an authenticated socket may call."""
    api, canvas, calls, terminals, settings = (
        apis.api, apis.canvas, apis.calls, apis.terminals, apis.settings
    )  # fmt: skip
    return [
        Route("/api/status", api.show_status, methods=["GET"]),
        Route("/api/events", api.events, methods=["GET"]),
        Route("/api/names", api.names, methods=["GET"]),
        Route("/api/canvas", canvas.show, methods=["GET"]),
        Route("/api/canvas/list", canvas.outline, methods=["GET"]),
        Route("/api/canvas/act", canvas.act, methods=["POST"]),
        Route("/api/canvas/remove", canvas.remove, methods=["POST"]),
        Route("/api/call", calls.call, methods=["POST"]),
        Route("/api/debug/folders", calls.folders, methods=["GET"]),
        Route("/api/trust", calls.trust_folder, methods=["POST"]),
        Route("/api/debug/stop-waiting", calls.stop_waiting, methods=["POST"]),
        Route("/api/terminals/ask", terminals.ask, methods=["POST"]),
        Route("/api/settings", settings.show, methods=["GET"]),
        Route("/api/settings/change", settings.change, methods=["POST"]),
        Route("/api/settings/clients", settings.clients, methods=["GET"]),
        Route("/api/preferences", apis.preferences.show, methods=["GET"]),
        Route("/api/preferences/change", apis.preferences.change, methods=["POST"]),
        Route("/api/gateway", settings.show_gateway, methods=["GET"]),
        Route("/api/gateway/connect", settings.connect, methods=["POST"]),
        Route("/api/gateway/disconnect", settings.disconnect, methods=["POST"]),
    ]


def build_app(
    apis: WebApis,
    mcp: BodyApp,
    gateway: GatewaySockets,
    authenticator: SocketAuthenticator,
    names: AllowedNames,
    tokens: Tokens,
) -> GuardMiddleware:
    table = build_table(apis, mcp, gateway, authenticator, names)
    return GuardMiddleware(Starlette(routes=table.routes, exception_handlers=_ERRORS), table, names, tokens)


class _ReadBodyFirst:
    def __init__(self, app: BodyApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(await read_body(Request(scope, receive)), scope, receive, send)
