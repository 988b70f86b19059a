"""What a gateway tells, to where it belongs: text and tools to the chat, surfaces to the canvas, changed files to the
bridge. The reducer before it has taken out whatever was told twice."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio

from dragoman.chat.listening import Listening
from dragoman.errors import DragomanError
from dragoman.wire.gateway import EventFrame, Reducer, SequenceGap, SessionDefaults
from dragoman.wire.gateway.vocabulary import A2ui, ChatEvent, Diff

log = logging.getLogger(__name__)

WAITING_AT_MOST = 256
"""For the canvas and the bridge; what comes when so much waits is left out and counted."""

Draw = Callable[[A2ui], Awaitable[None]]
Bridge = Callable[[Diff], Awaitable[None]]


class Router:
    """Outlives connections, as runs do. `run` belongs to a task group of the owner."""

    def __init__(self, draw: Draw, bridge: Bridge) -> None:
        self._draw = draw
        self._bridge = bridge
        self._reducer = Reducer()
        self._listening: set[Listening] = set()
        self._watching: list[Callable[[ChatEvent], None]] = []
        self._waiting: deque[A2ui | Diff] = deque()
        self._bell = anyio.Event()
        self.left_out = 0

    def heard(self, frame: EventFrame | SequenceGap) -> None:
        for event in self._reducer.feed(frame):
            self._route(event)

    def spell_sessions(self, defaults: SessionDefaults | None) -> None:
        """As the gateway's hello says; without a word of it, keys have no second spelling."""
        self._reducer.defaults = defaults

    def lost(self, error: DragomanError) -> None:
        """There will be no connection until somebody puts something right."""
        for listening in self._listening:
            listening.fail(error)

    def watch(self, told: Callable[[ChatEvent], None]) -> None:
        """Everything that a chat is told, at once and for good; `told` must not take long."""
        self._watching.append(told)

    @contextmanager
    def listen(self) -> Iterator[Listening]:
        listening = Listening()
        self._listening.add(listening)
        try:
            yield listening
        finally:
            self._listening.discard(listening)

    async def run(self) -> None:
        while True:
            while self._waiting:
                await self._pass_on(self._waiting.popleft())
            self._bell = anyio.Event()
            await self._bell.wait()

    async def _pass_on(self, event: A2ui | Diff) -> None:
        try:
            await (self._draw(event) if isinstance(event, A2ui) else self._bridge(event))
        except DragomanError as error:
            log.warning("what a gateway sent was not taken: %s", error)

    def _route(self, event: ChatEvent) -> None:
        if isinstance(event, A2ui | Diff):
            self._queue(event)
        if not isinstance(event, A2ui):
            self._tell(event)

    def _queue(self, event: A2ui | Diff) -> None:
        if len(self._waiting) >= WAITING_AT_MOST:
            self.left_out += 1
            return
        self._waiting.append(event)
        self._bell.set()

    def _tell(self, event: ChatEvent) -> None:
        for told in self._watching:
            told(event)
        for listening in self._listening:
            listening.put(event)
