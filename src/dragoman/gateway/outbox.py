"""What is on its way to one client. A slow one misses what is told again later, and then is shown the door."""

from __future__ import annotations

from collections import deque

import anyio

ROOM_BYTES = 1 << 20
"""Beyond it only what may not be left out is taken."""
MOST_BYTES = 8 << 20
STILL_S = 2.0


class SlowReaderError(Exception):
    """It takes nothing, and what waits for it may not be left out."""


class Outbox:
    """Bounded by bytes, and by how long nothing was taken. Owned by one visit."""

    def __init__(self) -> None:
        self._held = 0
        self._waiting: deque[bytes] = deque()
        self._bell = anyio.Event()
        self._moved_at_s = anyio.current_time()

    @property
    def has_room(self) -> bool:
        return self._held < ROOM_BYTES

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    def put(self, data: bytes) -> None:
        """A burst is no slowness: over its room a reader is given up when it stands still, or far too much waits."""
        now_s = anyio.current_time()
        if self.is_empty:
            self._moved_at_s = now_s
        if not self.has_room and (now_s - self._moved_at_s > STILL_S or self._held > MOST_BYTES):
            raise SlowReaderError
        self._waiting.append(data)
        self._held += len(data)
        self._bell.set()

    async def take(self) -> bytes:
        while not self._waiting:
            self._bell = anyio.Event()
            await self._bell.wait()
        data = self._waiting.popleft()
        self._held -= len(data)
        return data

    def taken(self) -> None:
        self._moved_at_s = anyio.current_time()
