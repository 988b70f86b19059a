"""The web face put together: the table, the handlers, the guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route, WebSocketRoute
from starlette.types import ExceptionHandler, Receive, Scope, Send
from starlette.websockets import WebSocket

from dragoman.access.guard import OwnNames
from dragoman.errors import DragomanError
from dragoman.web.api import Api
from dragoman.web.calls import CallsApi
from dragoman.web.canvas_api import CanvasApi
from dragoman.web.editor_api import EditorApi
from dragoman.web.errors import answer_error, answer_fault, answer_wrong_method
from dragoman.web.feed import Feed
from dragoman.web.guarded import Guarded, read_body
from dragoman.web.page import page_gates
from dragoman.web.routes import Gate, RouteTable
from dragoman.web.settings_api import SettingsApi
from dragoman.web.terminal_api import TerminalApi

Socket = Callable[[WebSocket], Awaitable[None]]
"""Another face's, that judges who may what by itself."""

Mounted = Callable[[bytes, Scope, Receive, Send], Awaitable[None]]
"""Another face's app at an address of ours. It gets the body first, whole: within the cap and the deadline."""

_ERRORS: dict[Any, ExceptionHandler] = {
    DragomanError: answer_error,
    HTTPException: answer_wrong_method,
    Exception: answer_fault,
}


@dataclass(frozen=True, slots=True)
class Served:
    """What the page asks, by who answers it."""

    api: Api
    feed: Feed
    canvas: CanvasApi
    calls: CallsApi
    terminals: TerminalApi
    settings: SettingsApi
    editor: EditorApi


def build_table(served: Served, mcp: Mounted, gateway: Socket) -> RouteTable:
    api, canvas, calls, terminals, settings = (
        served.api, served.canvas, served.calls, served.terminals, served.settings
    )  # fmt: skip
    return RouteTable(
        [
            *page_gates(),
            Gate(Route("/health", api.health, methods=["GET"]), None),
            Gate(Route("/api/login", api.login, methods=["POST"]), None),
            Gate(Route("/api/status", api.show_status, methods=["GET"]), "page"),
            Gate(Route("/api/events", api.events, methods=["GET"]), "page"),
            Gate(Route("/api/names", api.names, methods=["GET"]), "page"),
            Gate(WebSocketRoute("/api/feed", served.feed.serve), "page"),
            Gate(Route("/api/canvas", canvas.show, methods=["GET"]), "page"),
            Gate(Route("/api/canvas/list", canvas.outline, methods=["GET"]), "page"),
            Gate(Route("/api/canvas/act", canvas.act, methods=["POST"]), "page"),
            Gate(Route("/api/canvas/remove", canvas.remove, methods=["POST"]), "page"),
            Gate(Route("/api/call", calls.call, methods=["POST"]), "page"),
            Gate(Route("/api/debug/folders", calls.folders, methods=["GET"]), "page"),
            Gate(Route("/api/debug/stop-waiting", calls.stop_waiting, methods=["POST"]), "page"),
            Gate(WebSocketRoute("/api/terminal", terminals.watch), "page"),
            Gate(Route("/api/terminals/ask", terminals.ask, methods=["POST"]), "page"),
            Gate(WebSocketRoute("/api/editor", served.editor.serve), "editor"),
            Gate(Route("/api/settings", settings.show, methods=["GET"]), "page"),
            Gate(Route("/api/settings/change", settings.change, methods=["POST"]), "page"),
            Gate(Route("/api/settings/clients", settings.clients, methods=["GET"]), "page"),
            Gate(Route("/api/gateway", settings.show_gateway, methods=["GET"]), "page"),
            Gate(Route("/api/gateway/connect", settings.connect, methods=["POST"]), "page"),
            Gate(Route("/api/gateway/disconnect", settings.disconnect, methods=["POST"]), "page"),
            Gate(WebSocketRoute("/gateway", gateway), None),
            Gate(Route("/mcp", _Whole(mcp), methods=["GET", "POST", "DELETE"]), "mcp"),
        ]
    )


def build_app(served: Served, mcp: Mounted, gateway: Socket, names: OwnNames) -> Guarded:
    api, table = served.api, build_table(served, mcp, gateway)
    api.tokens.on_rotation(lambda purpose: api.codes.void() if purpose == "page" else None)
    return Guarded(Starlette(routes=table.routes, exception_handlers=_ERRORS), table, names, api.tokens)


class _Whole:
    def __init__(self, app: Mounted) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(await read_body(Request(scope, receive)), scope, receive, send)
