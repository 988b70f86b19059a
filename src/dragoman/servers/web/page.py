"""The page's files, at its own origin. At any other name of this server a notice is served instead."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dragoman.access.request_guard import AllowedNames, GuardRefusal
from dragoman.core.localization import LocalizedText, localize
from dragoman.servers.web.errors import refusal_response, request_language
from dragoman.servers.web.guard import GuardedRoute

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
