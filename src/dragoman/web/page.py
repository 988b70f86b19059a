"""The page as files, at its own origin; at any other name of ours a notice stands in its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dragoman.access.guard import OwnNames, Refusal
from dragoman.phrases import Phrase, say
from dragoman.web.errors import language_of, refusal_response
from dragoman.web.routes import Gate

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_NOTICE = """<!doctype html>
<meta charset="utf-8">
<title>Dragoman</title>
<p>{english}</p>
<p lang="zh">{chinese}</p>
"""
_ELSEWHERE = say("Run `dragoman page` in a terminal: the page has an address of its own at each start of the daemon.")
_UNBUILT = say("The page was not built. Run `make page` in the source folder, then restart the daemon.")


def page_gates(names: OwnNames, language: Callable[[], str]) -> Iterator[Gate]:
    """All without a token: the page itself tells nothing, and proves that it may know what it asks for."""
    room = files("dragoman.web")
    built, icon = room.joinpath("built"), room.joinpath("static", "icon.svg").read_bytes()
    index = built.joinpath("index.html")
    page = index.read_text() if index.is_file() else _notice(_UNBUILT)

    async def root(request: Request) -> Response:
        """At any other of our names stands a notice: no script runs there, and no code is ever read there."""
        if request.headers["host"].lower() != names.page:
            return Response(_notice(_ELSEWHERE), media_type=_TYPES[".html"])
        return Response(page.replace("<html ", f'<html data-language="{language()}" ', 1), media_type=_TYPES[".html"])

    async def show_icon(_: Request) -> Response:
        return Response(icon, media_type=_TYPES[".svg"])

    yield Gate(Route("/", root, methods=["GET"]), None, "lobby")
    yield Gate(Route("/icon.svg", show_icon, methods=["GET"]), None, "page")
    assets = Route("/assets/{name}", _assets(built.joinpath("assets")), methods=["GET"])
    yield Gate(assets, None, "page", is_immutable=True)


def _notice(phrase: Phrase) -> str:
    return _NOTICE.format(english=escape(phrase.in_language("en")), chinese=escape(phrase.in_language("zh")))


def _assets(folder: Traversable) -> Callable[[Request], Awaitable[Response]]:
    """Read once, at the start: a build while the daemon runs takes nothing from under the page it serves."""
    found = folder.iterdir() if folder.is_dir() else ()
    known = {file.name: file.read_bytes() for file in found if _type_of(file.name)}

    async def serve(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in known:
            return refusal_response(Refusal(404, "not_found"), language_of(request))
        return Response(known[name], media_type=_type_of(name))

    return serve


def _type_of(name: str) -> str:
    return _TYPES.get(f".{name.rpartition('.')[2]}", "")
