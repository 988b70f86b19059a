"""How much may wait at once: who comes when it is full waits outside, first come, first served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


class Room:
    def __init__(self, places: int) -> None:
        self._places = places
        self._taken = 0
        self._door = anyio.Lock(fast_acquire=True)
        self._left = anyio.Event()

    @asynccontextmanager
    async def held(self, places: int) -> AsyncIterator[None]:
        async with self._door:
            while self._taken + places > self._places:
                self._left = anyio.Event()
                await self._left.wait()
            self._taken += places
        try:
            yield
        finally:
            self._taken -= places
            self._left.set()
