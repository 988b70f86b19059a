"""A pump's share of the event loop: who has worked for a moment lets the others have their turn.

Reading bytes that are already here never waits, so a peer that floods us with tiny messages would keep the loop for
itself: pumps count their time between two messages, not the messages, since those differ in cost.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

import anyio.lowlevel

SLICE_S = 0.02

_T = TypeVar("_T")


class TimeSlice:
    def __init__(self) -> None:
        self._began_s = time.perf_counter()

    async def yield_if_spent(self) -> None:
        if time.perf_counter() - self._began_s >= SLICE_S:
            await anyio.lowlevel.checkpoint()
            self._began_s = time.perf_counter()


async def in_turns(items: Iterable[_T]) -> AsyncIterator[_T]:
    """One by one, for work on lists that a peer made as long as it liked."""
    turn = TimeSlice()
    for item in items:
        yield item
        await turn.yield_if_spent()
