"""The live feed: a snapshot at sequence N, then everything after it.

There is no queue to overflow: a reader is served from the record, as fast as it takes what it is given. One that
falls too far behind is told the gap and goes on from the present; one that takes nothing at all is closed by the
transport (1013).
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

from dragoman.errors import DragomanError
from dragoman.web.api import Record
from dragoman.web.packing import packed
from dragoman.web.sockets import CLOSE_FAULT, close

log = logging.getLogger(__name__)

BATCH_EVENTS = 200
BATCH_BYTES = 256 << 10
BEHIND_AT_MOST = 5000
_BATCHES_KEPT = 4
_KEPT_S = 1.0  # what is forgotten must not come back from here


class Batch(NamedTuple):
    text: str
    last_sequence: int
    read_at: float


class Batches:
    """What follows a sequence number, read and encoded once for all readers that stand there."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._one_reads = anyio.Lock()
        self._by_start: OrderedDict[int, Batch] = OrderedDict()

    async def after(self, sequence: int) -> Batch | None:
        """None when what followed is no longer kept."""
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

    async def _read(self, sequence: int) -> Batch | None:
        rows = await self._record.read(sequence, limit=BATCH_EVENTS)
        pieces = packed(rows, BATCH_BYTES)
        if not pieces:
            return None
        text = b'{"type":"events","events":[' + b",".join(pieces) + b"]}"
        return Batch(text.decode(), rows[len(pieces) - 1].sequence, anyio.current_time())


class Feed:
    def __init__(self, record: Record, status: Callable[[], dict[str, Any]]) -> None:
        self._record = record
        self._status = status
        self._batches = Batches(record)
        self._erasures = 0
        self._erased = anyio.Event()
        self.readers = 0
        """Pages that are open."""

    def tell_erased(self) -> None:
        """Something of the record is no more: whoever shows it is told to look anew."""
        self._erasures += 1
        self._erased.set()
        self._erased = anyio.Event()

    async def serve(self, socket: WebSocket) -> None:
        self.readers += 1
        try:
            await self._converse(socket)
        finally:
            self.readers -= 1

    async def _converse(self, socket: WebSocket) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_until_gone, socket, group.cancel_scope)
            try:
                await self._tell(socket)
            except WebSocketDisconnect:
                pass
            except DragomanError as error:
                log.warning("the feed of a page ended: %s", error)
                await close(socket, CLOSE_FAULT, error.code)
            group.cancel_scope.cancel("nothing more is told")

    async def _tell(self, socket: WebSocket) -> None:
        told, erasures = self._record.last_sequence, self._erasures
        await self._send(socket, {"type": "snapshot", "sequence": told, "state": self._status()})
        while True:
            await self._wait(told, erasures)
            if self._erasures != erasures:
                told, erasures = self._record.last_sequence, self._erasures
                await self._send(socket, {"type": "erased", "sequence": told, "state": self._status()})
            elif self._record.last_sequence - told > BEHIND_AT_MOST:
                present = self._record.last_sequence
                gap = {"type": "gap", "after": told, "resumed_at": present, "state": self._status()}
                await self._send(socket, gap)
                told = present
            elif batch := await self._batches.after(told):
                await socket.send_text(batch.text)
                told = batch.last_sequence
            else:
                told = self._record.last_sequence

    async def _wait(self, told: int, erasures: int) -> None:
        """Until something happened, or was erased."""
        if self._record.last_sequence > told or self._erasures != erasures:
            return
        async with anyio.create_task_group() as group:
            group.start_soon(_first, group.cancel_scope, self._erased.wait)
            group.start_soon(_first, group.cancel_scope, partial(self._record.wait_past, told))

    async def _send(self, socket: WebSocket, message: dict[str, Any]) -> None:
        await socket.send_text(msgspec.json.encode(message).decode())


async def _first(scope: anyio.CancelScope, wait: Callable[[], Awaitable[object]]) -> None:
    await wait()
    scope.cancel("another need not be waited for")


async def _until_gone(socket: WebSocket, scope: anyio.CancelScope) -> None:
    """The page only listens; whatever it says is read so that its close is noticed."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
    scope.cancel("the reader left")
