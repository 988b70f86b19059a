"""Route the events of a gateway: text and tools to the chat, surfaces to the canvas, changed files to the editor.

The reducer has removed duplicates.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio

from dragoman.core.errors import DragomanError
from dragoman.protocols.gateway import EventFrame, Reducer, SequenceGap, SessionDefaults
from dragoman.protocols.gateway.chat_events import A2ui, ChatDiff, ChatEvent, ChatGap

UNREAD_AT_MOST = 2_000
log = logging.getLogger(__name__)
WAITING_AT_MOST = 256
"""Events that wait for the canvas and the editors. Beyond this, events are dropped and counted."""

_MISSED = ChatGap(expected=0, received=0)


class EventSubscription:
    """One reader of a chat. A reader that is too slow gets one gap in place of all that waited: it reloads, and
    continues from there.
    """

    def __init__(self) -> None:
        self._unread: deque[ChatEvent] = deque()
        self._error: DragomanError | None = None
        self._bell = anyio.Event()

    def put(self, event: ChatEvent) -> None:
        if len(self._unread) >= UNREAD_AT_MOST:
            self._unread.clear()
            event = _MISSED
        self._unread.append(event)
        self._wake()

    def fail(self, error: DragomanError) -> None:
        self._error = error
        self._wake()

    async def next(self) -> ChatEvent:
        """The next event.

        Once all earlier events are read, raises the error that `fail` was given. The caller sets the deadline.
        """
        while not self._unread:
            if self._error is not None:
                raise self._error
            self._bell = anyio.Event()
            await self._bell.wait()
        return self._unread.popleft()

    def _wake(self) -> None:
        self._bell.set()


DrawSurface = Callable[[A2ui], Awaitable[None]]
SendDiff = Callable[[ChatDiff], Awaitable[None]]


class GatewayEventRouter:
    """Routes what a gateway sends. It outlives connections, as runs do. `run` belongs to a task group of the owner."""

    def __init__(self, draw: DrawSurface, bridge: SendDiff) -> None:
        self._draw = draw
        self._bridge = bridge
        self._reducer = Reducer()
        self._subscriptions: set[EventSubscription] = set()
        self._watchers: list[Callable[[ChatEvent], None]] = []
        self._waiting: deque[A2ui | ChatDiff] = deque()
        self._queued = anyio.Event()
        self.left_out = 0

    def on_event(self, frame: EventFrame | SequenceGap) -> None:
        for event in self._reducer.feed(frame):
            self._route(event)

    def set_session_defaults(self, defaults: SessionDefaults | None) -> None:
        """Set the spelling of session keys from the gateway's hello. Without one, keys have no second spelling."""
        self._reducer.defaults = defaults

    def lost(self, error: DragomanError) -> None:
        """There is no connection until a person fixes something."""
        for subscription in self._subscriptions:
            subscription.fail(error)

    def watch(self, watcher: Callable[[ChatEvent], None]) -> None:
        """Call `watcher` with every chat event, at once and forever. It must return quickly."""
        self._watchers.append(watcher)

    @contextmanager
    def subscribe(self) -> Iterator[EventSubscription]:
        subscription = EventSubscription()
        self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)

    async def run(self) -> None:
        while True:
            while self._waiting:
                await self._deliver(self._waiting.popleft())
            self._queued = anyio.Event()
            await self._queued.wait()

    async def _deliver(self, event: A2ui | ChatDiff) -> None:
        try:
            await (self._draw(event) if isinstance(event, A2ui) else self._bridge(event))
        except DragomanError as error:
            log.warning("what a gateway sent was not taken: %s", error)

    def _route(self, event: ChatEvent) -> None:
        if isinstance(event, A2ui | ChatDiff):
            self._queue(event)
        if not isinstance(event, A2ui):
            self._publish(event)

    def _queue(self, event: A2ui | ChatDiff) -> None:
        if len(self._waiting) >= WAITING_AT_MOST:
            self.left_out += 1
            return
        self._waiting.append(event)
        self._queued.set()

    def _publish(self, event: ChatEvent) -> None:
        for watcher in self._watchers:
            watcher(event)
        for subscription in self._subscriptions:
            subscription.put(event)
