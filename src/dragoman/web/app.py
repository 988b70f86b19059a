"""The web face put together: the table, the handlers, the guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route, WebSocketRoute
from starlette.types import ExceptionHandler, Receive, Scope, Send
from starlette.websockets import WebSocket

from dragoman.access.guard import OwnNames
from dragoman.access.tokens import Purpose, Tokens
from dragoman.errors import DragomanError
from dragoman.web.api import Api
from dragoman.web.calls import CallsApi
from dragoman.web.canvas_api import CanvasApi
from dragoman.web.editor_api import EditorApi
from dragoman.web.errors import answer_error, answer_fault, answer_wrong_method
from dragoman.web.feed import Feed
from dragoman.web.guarded import Guarded, read_body
from dragoman.web.multiplexer import Multiplexer
from dragoman.web.page import page_gates
from dragoman.web.preferences_api import PreferencesApi
from dragoman.web.proving import Prover
from dragoman.web.routes import Gate, RouteTable
from dragoman.web.settings_api import SettingsApi
from dragoman.web.terminal_api import TerminalApi


class Gateway(Protocol):
    """Another face's sockets: `serve` judges by itself who may what, `serve_person` is told that it is a person's."""

    async def serve(self, socket: WebSocket) -> None: ...

    async def serve_person(self, socket: WebSocket) -> None: ...


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
    preferences: PreferencesApi


def build_table(served: Served, mcp: Mounted, gateway: Gateway, prover: Prover, names: OwnNames) -> RouteTable:
    sockets = Multiplexer(Starlette(routes=page_routes(served), exception_handlers=_ERRORS))
    person: tuple[Purpose, ...] = ("page", "editor")
    return RouteTable(
        [
            *page_gates(names, served.preferences.language),
            Gate(Route("/health", served.api.health, methods=["GET"]), None),
            Gate(WebSocketRoute("/link/calls", prover.guard(sockets.serve, *person)), None, "link"),
            Gate(WebSocketRoute("/link/feed", prover.guard(served.feed.serve, *person)), None, "link"),
            Gate(WebSocketRoute("/link/terminal", prover.guard(served.terminals.watch, *person)), None, "link"),
            Gate(WebSocketRoute("/link/chat", prover.guard(gateway.serve_person, *person)), None, "link"),
            Gate(WebSocketRoute("/link/editor", prover.guard(served.editor.serve, "editor")), None, "link"),
            Gate(WebSocketRoute("/gateway", gateway.serve), None),
            Gate(Route("/mcp", _Whole(mcp), methods=["GET", "POST", "DELETE"]), "mcp"),
        ]
    )


def page_routes(served: Served) -> list[Route]:
    """What a proved socket may call."""
    api, canvas, calls, terminals, settings = (
        served.api, served.canvas, served.calls, served.terminals, served.settings
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
        Route("/api/preferences", served.preferences.show, methods=["GET"]),
        Route("/api/preferences/change", served.preferences.change, methods=["POST"]),
        Route("/api/gateway", settings.show_gateway, methods=["GET"]),
        Route("/api/gateway/connect", settings.connect, methods=["POST"]),
        Route("/api/gateway/disconnect", settings.disconnect, methods=["POST"]),
    ]


def build_app(
    served: Served, mcp: Mounted, gateway: Gateway, prover: Prover, names: OwnNames, tokens: Tokens
) -> Guarded:
    table = build_table(served, mcp, gateway, prover, names)
    return Guarded(Starlette(routes=table.routes, exception_handlers=_ERRORS), table, names, tokens)


class _Whole:
    def __init__(self, app: Mounted) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(await read_body(Request(scope, receive)), scope, receive, send)
