"""Calls that wait: who waits for what, progress while they do, and the end of a wait by a person's wish."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.tools.operation import Caller

PROGRESS_EVERY_S = 5.0
_T = TypeVar("_T")


@dataclass(eq=False)
class Wait:
    tool: str
    session_id: str
    workspace: Path
    client: str
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    is_interrupted: bool = False


class Waits:
    """All open waits of the daemon. Interrupting one ends the waiting alone: the program goes on."""

    def __init__(self, clock: Clock, progress_every_s: float = PROGRESS_EVERY_S) -> None:
        self._clock = clock
        self._every_s = progress_every_s
        self._open: dict[Wait, Caller] = {}

    @property
    def open(self) -> list[Wait]:
        return list(self._open)

    def interrupt(self, *, workspace: Path | None = None, session_id: str = "", call: Caller | None = None) -> int:
        """How many were waiting: of a session, of a workspace, of one call (its very `Caller`), or all."""
        chosen = [
            wait
            for wait, caller in self._open.items()
            if (not session_id or wait.session_id == session_id)
            and workspace in {None, wait.workspace}
            and (call is None or caller is call)
        ]
        for wait in chosen:
            wait.is_interrupted = True
            wait.scope.cancel("a person ended the wait")
        return len(chosen)

    async def until(self, caller: Caller, wait: Wait, within_s: float, act: Callable[[], Awaitable[_T]]) -> _T | None:
        """What came of it; None when a person ended the wait. Errors come through as they are."""
        with self._opened(wait, caller):
            with wait.scope:
                return await self._told(caller, wait, within_s, act)
            return None

    @contextmanager
    def _opened(self, wait: Wait, caller: Caller) -> Iterator[None]:
        self._open[wait] = caller
        try:
            yield
        finally:
            self._open.pop(wait, None)

    async def _told(self, caller: Caller, wait: Wait, within_s: float, act: Callable[[], Awaitable[_T]]) -> _T:
        if caller.progress is None:
            return await act()
        result: _T | None = None
        error: DragomanError | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._tick, caller, wait, within_s)
            try:
                result = await act()
            except DragomanError as raised:  # raised outside of the group, by itself and not in a group of one
                error = raised
            group.cancel_scope.cancel("it has come")
        if error is not None or result is None:
            raise error or RuntimeError("a wait without a result")
        return result

    async def _tick(self, caller: Caller, wait: Wait, within_s: float) -> None:
        what = say("{tool} waits for {session}.", tool=wait.tool, session=wait.session_id)
        began = self._clock.monotonic_s()
        while caller.progress is not None:
            await anyio.sleep(self._every_s)
            await caller.progress(self._clock.monotonic_s() - began, within_s, what)
