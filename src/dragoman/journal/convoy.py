"""Work for one thread: what waits meanwhile goes together, so that many pay for one change of thread.

Whoever comes while none is on the way leads: its thread does all that waits. Whoever comes later waits, and the first
of them leads the next. No task is needed, and somebody alone waits for nobody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar, cast

import anyio
import anyio.to_thread

Result = TypeVar("Result")

AT_ONCE = 64


class _Job:
    def __init__(self, work: Callable[[], Any]) -> None:
        self.rang = anyio.Event()
        self._work = work
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001  it belongs to whoever wanted the work
            self._error = error

    def outcome(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._result


class Convoy:
    """In the order in which they came. Who is cancelled before its work began takes it back."""

    def __init__(self) -> None:
        self._thread = anyio.CapacityLimiter(1)
        self._waiting: deque[_Job] = deque()
        self._leader: _Job | None = None

    async def run(self, work: Callable[[], Result]) -> Result:
        job = _Job(work)
        self._waiting.append(job)
        if self._leader is None:
            self._leader = job
        else:
            await self._turn_of(job)
        if self._leader is job:
            await self._lead()
        return cast("Result", job.outcome())

    async def _turn_of(self, job: _Job) -> None:
        try:
            await job.rang.wait()
        except BaseException:
            if job in self._waiting:
                self._waiting.remove(job)
            if self._leader is job:
                self._appoint()
            raise

    async def _lead(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
        try:
            with anyio.CancelScope(shield=True):  # the others' work is not the leader's to cancel
                await anyio.to_thread.run_sync(_run_all, batch, limiter=self._thread)
        finally:
            for job in batch:
                job.rang.set()
            self._appoint()

    def _appoint(self) -> None:
        self._leader = self._waiting[0] if self._waiting else None
        if self._leader is not None:
            self._leader.rang.set()


def _run_all(batch: list[_Job]) -> None:
    for job in batch:
        job.run()
