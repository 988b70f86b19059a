"""The web application: its routes with their guard, and the files of the page.

The page is served at its own origin only. At any other name of this server a notice is served instead.
"""

from __future__ import annotations

import codecs
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Protocol

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, ExceptionHandler, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from dragoman.access.request_guard import AllowedNames, GuardRefusal
from dragoman.access.tokens import Purpose, Tokens
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.servers.web.canvas_api import CanvasApi
from dragoman.servers.web.debug_api import DebugApi
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
from dragoman.servers.web.onboarding.clients_api import ClientsApi
from dragoman.servers.web.onboarding.demo_api import DemoApi
from dragoman.servers.web.onboarding.start_api import StartApi
from dragoman.servers.web.replay_api import ReplayApi
from dragoman.servers.web.settings_api import Preferences, PreferencesApi, SettingsApi
from dragoman.servers.web.sockets import CLOSE_BAD_MESSAGE, SocketAuthenticator, close
from dragoman.servers.web.status_api import StatusApi
from dragoman.servers.web.stop_api import StopApi
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


def page_routes(names: AllowedNames, chosen: Callable[[], Preferences]) -> Iterator[GuardedRoute]:
    """The routes of the page.

    They need no token: the files hold no data, and the page authenticates before it gets any.
    """
    room = files("dragoman.servers.web")
    built, icon = room.joinpath("built"), room.joinpath("static", "icon.svg").read_bytes()
    index = built.joinpath("index.html")
    page = index.read_text() if index.is_file() else _notice(_NOT_BUILT_NOTICE)

    async def root(request: Request) -> Response:
        """At any other of the server's names, serve a notice: no script runs there, and no login code is read there."""
        if not names.is_page(request.headers["host"].lower()):
            return Response(_notice(_NOT_HERE_NOTICE), media_type=_TYPES[".html"])
        preferences = chosen()
        attributes = f'data-language="{preferences.language}" data-theme="{preferences.theme}"'
        return Response(page.replace("<html ", f"<html {attributes} ", 1), media_type=_TYPES[".html"])

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
    stop: StopApi
    replay: ReplayApi
    debug: DebugApi
    start: StartApi
    clients: ClientsApi
    demo: DemoApi


def build_table(
    apis: WebApis, mcp: BodyApp, gateway: GatewaySockets, authenticator: SocketAuthenticator, names: AllowedNames
) -> RouteTable:
    sockets = Multiplexer(Starlette(routes=api_routes(apis), exception_handlers=_ERRORS))
    person: tuple[Purpose, ...] = ("page", "editor")
    return RouteTable(
        [
            *page_routes(names, apis.preferences.chosen),
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
        Route("/api/agents", api.agents, methods=["GET"]),
        Route("/api/canvas", canvas.show, methods=["GET"]),
        Route("/api/canvas/list", canvas.outline, methods=["GET"]),
        Route("/api/canvas/act", canvas.act, methods=["POST"]),
        Route("/api/canvas/remove", canvas.remove, methods=["POST"]),
        Route("/api/call", calls.call, methods=["POST"]),
        Route("/api/debug/folders", calls.folders, methods=["GET"]),
        Route("/api/debug/output", apis.debug.output, methods=["GET"]),
        Route("/api/debug/threads", apis.debug.threads, methods=["GET"]),
        Route("/api/debug/stack", apis.debug.stack, methods=["GET"]),
        Route("/api/debug/completions", apis.debug.complete, methods=["POST"]),
        Route("/api/replay/stops", apis.replay.stops, methods=["GET"]),
        Route("/api/replay/output", apis.replay.output, methods=["GET"]),
        Route("/api/replay/file", apis.replay.file, methods=["GET"]),
        Route("/api/trust", calls.trust_folder, methods=["POST"]),
        Route("/api/debug/stop-waiting", calls.stop_waiting, methods=["POST"]),
        Route("/api/agents/stop", apis.stop.stop_all, methods=["POST"]),
        Route("/api/agents/continue", apis.stop.lift, methods=["POST"]),
        Route("/api/terminals/ask", terminals.ask, methods=["POST"]),
        Route("/api/settings", settings.show, methods=["GET"]),
        Route("/api/settings/change", settings.change, methods=["POST"]),
        Route("/api/start", apis.start.show, methods=["GET"]),
        Route("/api/demo", apis.demo.run, methods=["POST"]),
        Route("/api/settings/clients", apis.clients.list, methods=["GET"]),
        Route("/api/settings/clients/plan", apis.clients.plan, methods=["POST"]),
        Route("/api/settings/clients/write", apis.clients.write, methods=["POST"]),
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


# The page's requests over one authenticated WebSocket: between two plain requests another process could take over the
# port.
#
# `{"id", "method", "path", "language", "body"}` is a request. Pieces answer it: `{"id", "status", "text", "more"}`,
# the status in the first one only. `{"id", "cancel": true}` is what a closed connection is for a plain request.

log = logging.getLogger(__name__)

OPEN_AT_MOST = 64
PIECE_BYTES = 256 << 10
_ENDS_WITHIN_S = 5.0
_TOO_MANY = (
    '{"error":{"code":"too_many_calls","message":"The page asks more at once than the daemon takes.","hint":""}}'
)


class _MultiplexedRequest(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    method: str = "GET"
    path: str = "/"
    language: str = ""
    body: msgspec.Raw = msgspec.Raw(b"")
    cancel: bool = False


class Multiplexer:
    """Serves an app's routes over a WebSocket. Who may call them was decided when the socket was authenticated."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def serve(self, socket: WebSocket) -> None:
        """Serve until the page disconnects. Open requests are notified and have a moment to end by themselves."""
        open_: dict[int, _Exchange] = {}
        async with anyio.create_task_group() as group:
            async for request in _read_requests(socket):
                if request.cancel:
                    if request.id in open_:
                        open_[request.id].disconnected.set()
                elif request.id in open_:
                    await close(socket, CLOSE_BAD_MESSAGE, "an id that is open already")
                    break
                elif len(open_) >= OPEN_AT_MOST:
                    await _Exchange(socket, request).refuse(429, _TOO_MANY)
                else:
                    open_[request.id] = exchange = _Exchange(socket, request)
                    group.start_soon(self._answer, exchange, open_)
            for exchange in open_.values():
                exchange.disconnected.set()
            group.cancel_scope.deadline = anyio.current_time() + _ENDS_WITHIN_S

    async def _answer(self, exchange: _Exchange, open_: dict[int, _Exchange]) -> None:
        try:
            await self._app(exchange.scope(), exchange.receive, exchange.send)
        except WebSocketDisconnect:
            exchange.disconnected.set()
        except Exception:
            log.exception("a request of the page failed by a fault of ours")
        finally:
            del open_[exchange.id]


class _Exchange:
    """One request and its answer, as ASGI sees them."""

    def __init__(self, socket: WebSocket, request: _MultiplexedRequest) -> None:
        self.id = request.id
        self.disconnected = anyio.Event()
        self._socket = socket
        self._request = request
        self._is_read = False
        self._status: int | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def scope(self) -> Scope:
        path, _, query = self._request.path.partition("?")
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self._request.method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(b"accept-language", self._request.language.encode())],
            "client": None,
            "server": None,
        }

    async def receive(self) -> Message:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": bytes(self._request.body), "more_body": False}
        await self.disconnected.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            return
        more = message.get("more_body", False)
        for data, is_last in _split_body(message.get("body", b"")):
            await self._send_piece(self._decoder.decode(data, final=is_last and not more), more=more or not is_last)

    async def refuse(self, status: int, text: str) -> None:
        self._status = status
        await self._send_piece(text, more=False)

    async def _send_piece(self, text: str, *, more: bool) -> None:
        piece: dict[str, object] = {"id": self.id, "text": text, "more": more}
        if self._status is not None:
            piece["status"], self._status = self._status, None
        if not self.disconnected.is_set():
            await self._socket.send_text(msgspec.json.encode(piece).decode())


def _split_body(body: bytes) -> Iterator[tuple[bytes, bool]]:
    """Split into at least one piece; each with whether it is the last."""
    for at in range(0, max(1, len(body)), PIECE_BYTES):
        yield body[at : at + PIECE_BYTES], at + PIECE_BYTES >= len(body)


async def _read_requests(socket: WebSocket) -> AsyncIterator[_MultiplexedRequest]:
    """Read requests until the page disconnects or violates the protocol."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        try:
            yield msgspec.json.decode(message.get("text") or "", type=_MultiplexedRequest)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            await close(socket, CLOSE_BAD_MESSAGE, "not a request")
            return
