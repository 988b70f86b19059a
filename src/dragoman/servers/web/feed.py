"""The live feed: a snapshot at sequence N, then every event after it.

There is no queue to overflow: a reader is served from the journal, as fast as it reads. A reader that falls too far
behind gets a gap and continues at the present; one that reads nothing is closed by the transport (1013).
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple

import anyio
import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from dragoman.core.errors import DragomanError
from dragoman.servers.web.sockets import CLOSE_FAULT, close
from dragoman.servers.web.status_api import JournalEvents, encode_pieces

log = logging.getLogger(__name__)

BATCH_EVENTS = 200
BATCH_BYTES = 256 << 10
BEHIND_AT_MOST = 5000
_BATCHES_KEPT = 4
_KEPT_S = 1.0  # erased events must not come back from this cache


class EventBatch(NamedTuple):
    text: str
    last_sequence: int
    read_at: float


class EventBatches:
    """Events after a sequence number, read and encoded once for all readers at that position."""

    def __init__(self, record: JournalEvents) -> None:
        self._record = record
        self._one_reads = anyio.Lock()
        self._by_start: OrderedDict[int, EventBatch] = OrderedDict()

    async def after(self, sequence: int) -> EventBatch | None:
        """None if the events after this number are no longer kept."""
        async with self._one_reads:
            kept = self._by_start.get(sequence)
            if kept and anyio.current_time() - kept.read_at < _KEPT_S:
                return kept
            batch = await self._read(sequence)
            if batch:
                self._by_start[sequence] = batch
            while len(self._by_start) > _BATCHES_KEPT:
                self._by_start.popitem(last=False)
            return batch

    async def _read(self, sequence: int) -> EventBatch | None:
        rows = await self._record.read(sequence, limit=BATCH_EVENTS)
        pieces = encode_pieces(rows, BATCH_BYTES)
        if not pieces:
            return None
        text = b'{"type":"events","events":[' + b",".join(pieces) + b"]}"
        return EventBatch(text.decode(), rows[len(pieces) - 1].sequence, anyio.current_time())


class EventFeed:
    """Serves the events of the journal to every open page."""

    def __init__(self, record: JournalEvents, status: Callable[[], dict[str, Any]]) -> None:
        self._record = record
        self._status = status
        self._batches = EventBatches(record)
        self._erasures = 0
        self._erased = anyio.Event()
        self.readers = 0
        """Pages that are open."""

    def publish_erased(self) -> None:
        """Something was erased from the record: every page reloads."""
        self._erasures += 1
        self._erased.set()
        self._erased = anyio.Event()

    async def serve(self, socket: WebSocket) -> None:
        self.readers += 1
        try:
            await self._stream(socket)
        finally:
            self.readers -= 1

    async def _stream(self, socket: WebSocket) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_on_disconnect, socket, group.cancel_scope)
            try:
                await self._publish(socket)
            except WebSocketDisconnect:
                pass
            except DragomanError as error:
                log.warning("the feed of a page ended: %s", error)
                await close(socket, CLOSE_FAULT, error.code)
            group.cancel_scope.cancel("the feed has ended")

    async def _publish(self, socket: WebSocket) -> None:
        position, erasures = self._record.last_sequence, self._erasures
        await self._send(socket, {"type": "snapshot", "sequence": position, "state": self._status()})
        while True:
            await self._wait(position, erasures)
            if self._erasures != erasures:
                position, erasures = self._record.last_sequence, self._erasures
                await self._send(socket, {"type": "erased", "sequence": position, "state": self._status()})
            elif self._record.last_sequence - position > BEHIND_AT_MOST:
                present = self._record.last_sequence
                gap = {"type": "gap", "after": position, "resumed_at": present, "state": self._status()}
                await self._send(socket, gap)
                position = present
            elif batch := await self._batches.after(position):
                await socket.send_text(batch.text)
                position = batch.last_sequence
            else:
                position = self._record.last_sequence

    async def _wait(self, position: int, erasures: int) -> None:
        """Wait until an event was added or erased."""
        if self._record.last_sequence > position or self._erasures != erasures:
            return
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_after, group.cancel_scope, self._erased.wait)
            group.start_soon(_cancel_after, group.cancel_scope, partial(self._record.wait_past, position))

    async def _send(self, socket: WebSocket, message: dict[str, Any]) -> None:
        await socket.send_text(msgspec.json.encode(message).decode())


async def _cancel_after(scope: anyio.CancelScope, wait: Callable[[], Awaitable[object]]) -> None:
    await wait()
    scope.cancel("another need not be waited for")


async def _cancel_on_disconnect(socket: WebSocket, scope: anyio.CancelScope) -> None:
    """The page only listens. Its messages are read so that its close is noticed."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
    scope.cancel("the reader left")
