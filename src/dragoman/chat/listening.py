"""One reader of a chat: what it was told and has not read yet, within a bound."""

from __future__ import annotations

from collections import deque

import anyio

from dragoman.errors import DragomanError
from dragoman.wire.gateway.vocabulary import ChatEvent, Gap

UNREAD_AT_MOST = 2_000
_MISSED = Gap(expected=0, received=0)


class Listening:
    """A reader that is too slow is told one gap in place of all that waited: it reloads, and goes on from there."""

    def __init__(self) -> None:
        self._unread: deque[ChatEvent] = deque()
        self._error: DragomanError | None = None
        self._bell = anyio.Event()

    def put(self, event: ChatEvent) -> None:
        if len(self._unread) >= UNREAD_AT_MOST:
            self._unread.clear()
            event = _MISSED
        self._unread.append(event)
        self._ring()

    def fail(self, error: DragomanError) -> None:
        self._error = error
        self._ring()

    async def next(self) -> ChatEvent:
        """Raises what `fail` was told, once everything before it is read; the deadline is the caller's."""
        while not self._unread:
            if self._error is not None:
                raise self._error
            self._bell = anyio.Event()
            await self._bell.wait()
        return self._unread.popleft()

    def _ring(self) -> None:
        self._bell.set()
