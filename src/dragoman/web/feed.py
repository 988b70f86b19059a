"""The live feed: a snapshot at sequence N, then everything after it.

There is no queue to overflow: a reader is served from the record, as fast as it takes what it is given. One that
falls too far behind is told the gap and goes on from the present; one that takes nothing at all is closed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from dragoman.access.links import Links
from dragoman.web.api import Record

SUBPROTOCOL = "dragoman.v1"
BATCH = 200
TAKEN_WITHIN_S = 10.0
BEHIND_AT_MOST = 5000
CLOSE_ROTATED = 4401
CLOSE_TOO_SLOW = 1013
CLOSE_GOING_DOWN = 1012


@dataclass(frozen=True, slots=True)
class Feed:
    record: Record
    links: Links
    status: Callable[[], dict[str, Any]]

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept(subprotocol=SUBPROTOCOL if SUBPROTOCOL in socket.scope["subprotocols"] else None)
        with self.links.hold("page") as scope:
            try:
                await self._converse(socket)
            except (WebSocketDisconnect, OSError):
                return
            except TimeoutError:
                await _close(socket, CLOSE_TOO_SLOW, "too slow")
        if scope.cancel_called:
            await _close(socket, CLOSE_ROTATED, "the token was rotated")

    async def _converse(self, socket: WebSocket) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._until_gone, socket, group.cancel_scope)
            await self._tell(socket)

    async def _until_gone(self, socket: WebSocket, scope: anyio.CancelScope) -> None:
        """The page only listens; whatever it says is read so that its close is noticed."""
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
        scope.cancel("the reader left")

    async def _tell(self, socket: WebSocket) -> None:
        told = self.record.last_sequence
        await _send(socket, {"type": "snapshot", "sequence": told, "state": self.status()})
        while True:
            await self.record.wait_past(told)
            if self.record.last_sequence - told > BEHIND_AT_MOST:
                present = self.record.last_sequence
                await _send(socket, {"type": "gap", "after": told, "resumed_at": present, "state": self.status()})
                told = present
                continue
            rows = await self.record.read(told, limit=BATCH)
            if rows:
                await _send(socket, {"type": "events", "events": rows})
            told = rows[-1].sequence if rows else self.record.last_sequence


async def _send(socket: WebSocket, message: dict[str, Any]) -> None:
    """uvicorn's send waits while the kernel's buffer and 64 KiB of ours are full."""
    with anyio.fail_after(TAKEN_WITHIN_S):
        await socket.send_text(msgspec.json.encode(message).decode())


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    with anyio.move_on_after(1, shield=True):
        await socket.close(code, reason)
