"""A wait of a tool: bounded, and its client hears that it goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase
from dragoman.tools.operation import Caller

PROGRESS_EVERY_S = 5.0
_T = TypeVar("_T")


async def patiently(
    caller: Caller, clock: Clock, what: Phrase, within_s: float, act: Callable[[], Awaitable[_T]]
) -> _T:
    if caller.progress is None:
        return await act()
    results: list[_T] = []
    error: DragomanError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_tell, caller, clock, what, within_s)
        try:
            results.append(await act())
        except DragomanError as raised:  # raised outside of the group, by itself and not in a group of one
            error = raised
        group.cancel_scope.cancel("it has come")
    if error is not None:
        raise error
    return results[0]


async def _tell(caller: Caller, clock: Clock, what: Phrase, within_s: float) -> None:
    began = clock.monotonic_s()
    while caller.progress is not None:
        await anyio.sleep(PROGRESS_EVERY_S)
        await caller.progress(min(clock.monotonic_s() - began, within_s), within_s, what)
