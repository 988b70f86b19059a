"""How many calls of one client go on at once, so that it is always read: a stop, and its leaving, wait for nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import anyio

from dragoman.gateway.calls import MethodError, unavailable

CALLS_AT_ONCE = 32
WAITING_AT_MOST = 96
"""Calls behind those that run; more are refused."""
URGENT = frozenset({"chat.abort", "dragoman.approval.resolve", "node.invoke.result"})
"""What ends a wait passes those that wait, within a bound of its own."""


class Turns:
    """Of one visit."""

    def __init__(self) -> None:
        self._running = anyio.Semaphore(CALLS_AT_ONCE)
        self._open = {True: 0, False: 0}

    def begin(self, method: str) -> None:
        """Raises where too many are open; else `turn` has to follow."""
        is_urgent = method in URGENT
        if self._open[is_urgent] >= CALLS_AT_ONCE + (0 if is_urgent else WAITING_AT_MOST):
            raise _too_many(self._open[is_urgent])
        self._open[is_urgent] += 1

    @asynccontextmanager
    async def turn(self, method: str) -> AsyncIterator[None]:
        """In the order of the calls."""
        is_urgent = method in URGENT
        try:
            async with nullcontext() if is_urgent else self._running:
                yield
        finally:
            self._open[is_urgent] -= 1


def _too_many(open_calls: int) -> MethodError:
    message = f"too many calls at once: {open_calls} are not answered yet; wait for an answer, then ask again"
    return unavailable(message, retryable=True)
