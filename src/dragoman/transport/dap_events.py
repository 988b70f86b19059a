"""Events between the reader of a DAP stream and the one who handles them: in order, in batches, within bounds.

While nobody waits for an answer, a full queue stops the reader: the pipe fills, the adapter waits, nothing is lost.
While somebody does, the reader must go on, or the handler who asks could wait for ever. Then output beyond the bound
is left out, and in its place stands how much. Other events are never left out; a peer that floods us with them is
cut off.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import anyio

from dragoman.errors import RemoteProtocolError
from dragoman.wire.dap import Event

MAX_QUEUED_BYTES = 4 * 1024 * 1024
MAX_QUEUED_EVENTS = 10_000


@dataclass(frozen=True, slots=True)
class OutputLeftOut:
    """Stands where output events would have stood."""

    events: int
    bytes: int


Delivered = Event | OutputLeftOut


class EventQueue:
    def __init__(self) -> None:
        self._queue: deque[Delivered] = deque()
        self._bytes = 0
        self._is_closed = False
        self._arrived = anyio.Event()
        self._changed = anyio.Event()

    @property
    def is_full(self) -> bool:
        return self._bytes >= MAX_QUEUED_BYTES or len(self._queue) >= MAX_QUEUED_EVENTS

    def put(self, event: Event, size: int, *, may_leave_out: bool) -> None:
        """Without leave to leave out, the reader stops after what it has in hand: a little over the bound is taken."""
        if may_leave_out and event.event == "output" and self.is_full:
            self._leave_out(size)
            return
        if len(self._queue) >= 2 * MAX_QUEUED_EVENTS:
            raise RemoteProtocolError("too_many_events", f"More than {2 * MAX_QUEUED_EVENTS} events are waiting.")
        self._queue.append(event)
        self._bytes += size
        self._arrived.set()

    async def take_all(self) -> list[Delivered]:
        """What there is, at least one; nothing any more means the end."""
        while not self._queue and not self._is_closed:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        batch = list(self._queue)
        self._queue.clear()
        self._bytes = 0
        self.wake()
        return batch

    async def wait_change(self) -> None:
        """Until there is room, or a reason to go on without."""
        self._changed = anyio.Event()
        await self._changed.wait()

    def wake(self) -> None:
        self._changed.set()

    def close(self) -> None:
        self._is_closed = True
        self._arrived.set()

    def _leave_out(self, size: int) -> None:
        last = self._queue[-1]
        if isinstance(last, OutputLeftOut):
            self._queue[-1] = OutputLeftOut(last.events + 1, last.bytes + size)
        else:
            self._queue.append(OutputLeftOut(1, size))
