"""The one queue between the bytes of an adapter and its session.

An event is decoded once, where it arrives, and then passed on by calls: `put` offers it to the attached receiver, and
only what the receiver does not take at once is queued. A session takes output, breakpoints, threads and the end at
once, even while it inspects a stop, and leaves the rest here, in order, for its event handler. A layer in between (a
debuggee tree, the tasks before a launch) takes everything and puts it `into` the next queue, so it holds nothing
itself.

The queue is bounded. While it is full, a reader of bytes stops, so the pipe fills and the adapter waits, unless
somebody waits for a response: then output beyond the bound is omitted, and a marker says how much. Other events are
never omitted; a peer that sends twice as many as fit is disconnected.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import anyio

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.protocols.dap.bodies import EventBody, OutputBody

log = logging.getLogger(__name__)

MAX_QUEUED_BYTES = 4 * 1024 * 1024
MAX_QUEUED_EVENTS = 10_000

TakeEvent = Callable[[EventBody], bool]
"""Whether it was taken; what was not is queued."""


@dataclass(slots=True)
class OmittedOutput:
    """Stands where output events would have stood."""

    size: int

    def as_event(self) -> OutputBody:
        return OutputBody(output=f"[{self.size} bytes of output were left out]\n", category="console")


class AdapterEventQueue:
    """Events that wait to be taken. `close` ends it; what was queued before is still given by `ordered`."""

    def __init__(self) -> None:
        self.closed = anyio.Event()
        self.error: DragomanError | None = None
        """Why it was closed, where that is an error of the session."""
        self._queue: deque[EventBody | OmittedOutput] = deque()
        self._bytes = 0
        self._sizes: deque[int] = deque()
        self._take: TakeEvent | None = None
        self._into: AdapterEventQueue | None = None
        self._is_discarding = False
        self._arrived = anyio.Event()
        self._changed = anyio.Event()

    @property
    def waiting(self) -> int:
        """How many events wait, without marks of omitted output and without output itself."""
        return sum(not isinstance(it, OmittedOutput | OutputBody) for it in self._queue)

    @property
    def is_full(self) -> bool:
        if self._into is not None:
            return self._into.is_full
        return self._bytes >= MAX_QUEUED_BYTES or len(self._queue) >= MAX_QUEUED_EVENTS

    def put(self, body: EventBody, size: int = 0, *, may_omit: bool = True) -> None:
        """Taken at once, or queued. Without leave to omit, a little output over the bound is queued."""
        if self.closed.is_set():
            log.debug("an event of a session that has ended was dropped")
        elif self._take is None or not self._take(body):
            self._append(body, size, may_omit=may_omit)

    async def send(self, body: EventBody) -> None:
        """Like `put`, and then waits until there is room for more."""
        self.put(body)
        await self.wait_for_room()

    async def wait_for_room(self) -> None:
        while self.is_full and not self.closed.is_set():
            await self.wait_for_change()

    def attach(self, take: TakeEvent, *, into: AdapterEventQueue | None = None) -> None:
        """From now on `take` is offered every event first, beginning with those that wait. `into`: where they go."""
        waiting, sizes = self._queue, self._sizes
        self._queue, self._sizes, self._bytes = deque(), deque(), 0
        self._take, self._into = take, into
        for event, size in zip(waiting, sizes, strict=True):
            body = event.as_event() if isinstance(event, OmittedOutput) else event
            if not take(body):
                self._append(body, size, may_omit=False)
        self.wake()

    def requeue(self, body: EventBody) -> None:
        """Queued behind the events that wait, and not offered to the receiver."""
        if not self.closed.is_set():
            self._append(body, 0, may_omit=False)

    def discard(self) -> None:
        """Nobody takes what waits: it is dropped, now and later. Who is attached still gets its part."""
        self._is_discarding = True
        self._queue.clear()
        self._sizes.clear()
        self._bytes = 0
        self._arrived.set()
        self.wake()

    async def ordered(self) -> AsyncIterator[EventBody]:
        """The queued events, in order. Ends when the queue ends or its events are discarded."""
        while True:
            while self._queue:
                event = self._queue.popleft()
                self._bytes -= self._sizes.popleft()
                self.wake()
                yield event.as_event() if isinstance(event, OmittedOutput) else event
            if self.closed.is_set() or self._is_discarding:
                return
            self._arrived = anyio.Event()
            await self._arrived.wait()

    def close(self, error: DragomanError | None = None) -> None:
        if not self.closed.is_set():
            self.error = error
            self.closed.set()
            self._arrived.set()
            self.wake()

    async def wait_for_change(self) -> None:
        """Until there is room, or a reason to go on without."""
        if self._into is not None:
            await self._into.wait_for_change()
            return
        if self._changed.is_set():  # otherwise another connection of the group is already waiting for it
            self._changed = anyio.Event()
        await self._changed.wait()

    def wake(self) -> None:
        self._changed.set()
        if self._into is not None:
            self._into.wake()

    def _append(self, body: EventBody, size: int, *, may_omit: bool) -> None:
        if self._is_discarding:
            return
        if may_omit and isinstance(body, OutputBody) and self.is_full:
            self._omit(size or len(body.output))
            return
        if len(self._queue) >= 2 * MAX_QUEUED_EVENTS:
            raise RemoteProtocolError("too_many_events", f"More than {2 * MAX_QUEUED_EVENTS} events are waiting.")
        self._queue.append(body)
        self._sizes.append(size)
        self._bytes += size
        self._arrived.set()

    def _omit(self, size: int) -> None:
        last = self._queue[-1]
        if isinstance(last, OmittedOutput):
            last.size += size
        else:
            self._queue.append(OmittedOutput(size))
            self._sizes.append(0)
