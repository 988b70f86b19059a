"""Batches work for one thread, so that many callers share one thread switch, and bounds how much may wait.

The caller that arrives while no batch is running leads: its thread does all queued work. Later callers wait, and the
first of them leads the next batch. No task is needed, and a single caller waits for no other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import anyio
import anyio.to_thread

AT_ONCE = 64

Result = TypeVar("Result")


class _BatchedJob:
    def __init__(self, work: Callable[[], Any]) -> None:
        self.turn_or_done = anyio.Event()
        self._work = work
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001  it belongs to the caller of the work
            self._error = error

    def outcome(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._result


class WriteBatcher:
    """Runs work in the order of its callers. A caller that is cancelled before its work began withdraws it."""

    def __init__(self) -> None:
        self._thread = anyio.CapacityLimiter(1)
        self._waiting: deque[_BatchedJob] = deque()
        self._leader: _BatchedJob | None = None

    async def run(self, work: Callable[[], Result]) -> Result:
        job = _BatchedJob(work)
        self._waiting.append(job)
        if self._leader is None:
            self._leader = job
        else:
            await self._turn_of(job)
        if self._leader is job:
            await self._write_as_leader()
        return cast("Result", job.outcome())

    async def _turn_of(self, job: _BatchedJob) -> None:
        try:
            await job.turn_or_done.wait()
        except BaseException:
            if job in self._waiting:
                self._waiting.remove(job)
            if self._leader is job:
                self._choose_leader()
            raise

    async def _write_as_leader(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
        try:
            with anyio.CancelScope(shield=True):  # the leader must not cancel the work of others
                await anyio.to_thread.run_sync(_run_all, batch, limiter=self._thread)
        finally:
            for job in batch:
                job.turn_or_done.set()
            self._choose_leader()

    def _choose_leader(self) -> None:
        self._leader = self._waiting[0] if self._waiting else None
        if self._leader is not None:
            self._leader.turn_or_done.set()


def _run_all(batch: list[_BatchedJob]) -> None:
    for job in batch:
        job.run()


class WeightedLimit:
    def __init__(self, places: int) -> None:
        self._places = places
        self._taken = 0
        self._lock = anyio.Lock(fast_acquire=True)
        self._left = anyio.Event()

    @asynccontextmanager
    async def held(self, places: int) -> AsyncIterator[None]:
        async with self._lock:
            while self._taken + places > self._places:
                self._left = anyio.Event()
                await self._left.wait()
            self._taken += places
        try:
            yield
        finally:
            self._taken -= places
            self._left.set()
