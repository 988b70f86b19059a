"""Fair shares of the event loop, and a meter of its lag.

Reading bytes that have already arrived never waits, so a peer that floods us with tiny messages would keep the loop
for itself. Pumps therefore count their time between two messages, not the messages, since those differ in cost.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

import anyio
import anyio.lowlevel

SLICE_S = 0.02
_EVERY_S = 0.25
_KEPT = 240  # one minute

_T = TypeVar("_T")


class TimeSlice:
    def __init__(self) -> None:
        self._began_s = time.perf_counter()

    async def yield_if_spent(self) -> None:
        if time.perf_counter() - self._began_s >= SLICE_S:
            await anyio.lowlevel.checkpoint()
            self._began_s = time.perf_counter()


async def in_turns(items: Iterable[_T]) -> AsyncIterator[_T]:
    """Yield items in fair turns, for lists whose length a peer chooses."""
    turn = TimeSlice()
    for item in items:
        yield item
        await turn.yield_if_spent()


class EventLoopLagMeter:
    def __init__(self) -> None:
        self._lags_s: deque[float] = deque([0.0], maxlen=_KEPT)

    async def run(self) -> None:
        while True:
            due = anyio.current_time() + _EVERY_S
            await anyio.sleep_until(due)
            self._lags_s.append(anyio.current_time() - due)

    def latest_ms(self) -> float:
        return round(self._lags_s[-1] * 1000, 2)

    def worst_ms(self) -> float:
        return round(max(self._lags_s) * 1000, 2)


async def wait_for_first(*events: anyio.Event) -> None:
    """Wait until one of them is set."""
    async with anyio.create_task_group() as group:
        for event in events:
            group.start_soon(_then_cancel, event, group.cancel_scope)


async def _then_cancel(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel("one is enough")
