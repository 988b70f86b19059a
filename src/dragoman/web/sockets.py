"""How sockets of the page begin and end."""

from __future__ import annotations

import contextlib

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

SUBPROTOCOL = "dragoman.v1"
CLOSE_FAULT = 1011
CLOSE_BAD_MESSAGE = 4400
CLOSE_ROTATED = 4401
CLOSE_UNKNOWN = 4404
_CLOSED_WITHIN_S = 1.0


async def accept(socket: WebSocket) -> None:
    await socket.accept(subprotocol=SUBPROTOCOL if SUBPROTOCOL in socket.scope["subprotocols"] else None)


async def close(socket: WebSocket, code: int, reason: str) -> None:
    with anyio.move_on_after(_CLOSED_WITHIN_S, shield=True), contextlib.suppress(WebSocketDisconnect):
        await socket.close(code, reason)
