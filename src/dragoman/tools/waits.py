"""Calls that wait: progress reports to the client, and the list of open waits, which a user can interrupt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.workspace.caller import Caller

PROGRESS_EVERY_S = 5.0

_T = TypeVar("_T")


@dataclass(eq=False)
class OpenWait:
    tool: str
    session_id: str
    workspace: Path
    client: str
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    is_interrupted: bool = False


class OpenWaits:
    """All open waits of the daemon. Interrupting one only ends the waiting: the program continues."""

    def __init__(self, clock: Clock, progress_every_s: float = PROGRESS_EVERY_S) -> None:
        self._clock = clock
        self._every_s = progress_every_s
        self._open: dict[OpenWait, Caller] = {}

    @property
    def open(self) -> list[OpenWait]:
        return list(self._open)

    def interrupt(self, *, workspace: Path | None = None, session_id: str = "", call: Caller | None = None) -> int:
        """Interrupt waits and return how many: of a session, of a workspace, of one call (its very `Caller`),
        or all.
        """
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

    async def until(
        self, caller: Caller, wait: OpenWait, within_s: float, act: Callable[[], Awaitable[_T]]
    ) -> _T | None:
        """The result of `act`; None if a user interrupted the wait. Errors are passed through."""
        with self._opened(wait, caller):
            with wait.scope:
                return await self._with_progress(caller, wait, within_s, act)
            return None

    @contextmanager
    def _opened(self, wait: OpenWait, caller: Caller) -> Iterator[None]:
        self._open[wait] = caller
        try:
            yield
        finally:
            self._open.pop(wait, None)

    async def _with_progress(
        self, caller: Caller, wait: OpenWait, within_s: float, act: Callable[[], Awaitable[_T]]
    ) -> _T:
        if caller.progress is None:
            return await act()
        result: _T | None = None
        error: DragomanError | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._report_progress, caller, wait, within_s)
            try:
                result = await act()
            except DragomanError as raised:  # raised outside the group, so that it is not wrapped in an exception group
                error = raised
            group.cancel_scope.cancel("it has come")
        if error is not None or result is None:
            raise error or RuntimeError("a wait without a result")
        return result

    async def _report_progress(self, caller: Caller, wait: OpenWait, within_s: float) -> None:
        what = localize("{tool} waits for {session}.", tool=wait.tool, session=wait.session_id)
        began = self._clock.monotonic_s()
        while caller.progress is not None:
            await anyio.sleep(self._every_s)
            await caller.progress(self._clock.monotonic_s() - began, within_s, what)


async def with_progress(
    caller: Caller, clock: Clock, what: LocalizedText, within_s: float, act: Callable[[], Awaitable[_T]]
) -> _T:
    if caller.progress is None:
        return await act()
    results: list[_T] = []
    error: DragomanError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_send_progress, caller, clock, what, within_s)
        try:
            results.append(await act())
        except DragomanError as raised:  # raised outside the group, so that it is not wrapped in an exception group
            error = raised
        group.cancel_scope.cancel("it has come")
    if error is not None:
        raise error
    return results[0]


async def _send_progress(caller: Caller, clock: Clock, what: LocalizedText, within_s: float) -> None:
    began = clock.monotonic_s()
    while caller.progress is not None:
        await anyio.sleep(PROGRESS_EVERY_S)
        await caller.progress(min(clock.monotonic_s() - began, within_s), within_s, what)
