"""The page as files: the workbench where it was built, and the plain page that needs no build."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dragoman.access.guard import Refusal
from dragoman.web.errors import language_of, refusal_response
from dragoman.web.routes import Gate

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_PLAIN = {"/plain": "index.html", "/page.js": "page.js", "/page.css": "page.css", "/icon.svg": "icon.svg"}


def page_gates() -> Iterator[Gate]:
    """All public: the page itself tells nothing, and asks for everything with the secret of its tab."""
    room = files("dragoman.web")
    plain, built = room.joinpath("static"), room.joinpath("built")
    index = built.joinpath("index.html")
    yield _gate("/", _file(index if index.is_file() else plain.joinpath("index.html")))
    for path, name in _PLAIN.items():
        yield _gate(path, _file(plain.joinpath(name)))
    yield Gate(Route("/assets/{name}", _assets(built.joinpath("assets")), methods=["GET"]), None, is_immutable=True)


def _gate(path: str, serve: Callable[[Request], Awaitable[Response]]) -> Gate:
    return Gate(Route(path, serve, methods=["GET"]), None)


def _file(file: Traversable) -> Callable[[Request], Awaitable[Response]]:
    content, media_type = file.read_bytes(), _type_of(file.name)

    async def serve(_: Request) -> Response:
        return Response(content, media_type=media_type)

    return serve


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
