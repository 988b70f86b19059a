"""When sockets are looked for, and when nothing is done at all; and the look at a tree that it needs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest

from dragoman.io.processes import nodelay
from dragoman.io.processes.nodelay import NoDelayScheduler
from dragoman.io.processes.supervisor_pool import SupervisorPool
from tests.io.processes.supervised_support import STUBBORN, first_lines, python, until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets sockets be reached from outside"),
]

# Its second thread has a child: the kernel keeps it in a list of that thread alone.
CHILD_OF_A_THREAD = """
import subprocess, threading, time
def starts():
    print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
    time.sleep(600)
threading.Thread(target=starts).start()
"""


class Looks:
    def __init__(self, scheduler: NoDelayScheduler) -> None:
        self.count = 0
        self.watched_tree = scheduler.watch(self._pids)

    def _pids(self) -> list[int]:
        self.count += 1
        return [os.getpid()]

    async def grow_by(self, number: int) -> None:
        wanted = self.count + number
        await until(lambda: self.count >= wanted)


@asynccontextmanager
async def clinic() -> AsyncIterator[NoDelayScheduler]:
    async with anyio.create_task_group() as group:
        yield NoDelayScheduler(group)
        group.cancel_scope.cancel()


async def rests(scheduler: NoDelayScheduler) -> None:
    await until(lambda: scheduler.is_idle)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodelay, "_SLOW_SCAN_S", 0.05)
    monkeypatch.setattr(nodelay, "_AFTER_STOP_S", 0.01)


async def test_sessions_that_have_stopped_are_not_looked_at_until_they_run_again() -> None:
    async with clinic() as all:
        first, second = Looks(all), Looks(all)
        await first.grow_by(3)
        await second.grow_by(3)
        first.watched_tree.program_stopped()
        second.watched_tree.program_stopped()
        await rests(all)
        resting = second.count
        first.watched_tree.program_resumed()
        await first.grow_by(2)
        assert second.count == resting
        first.watched_tree.program_stopped()
        await rests(all)


async def test_a_step_that_is_over_soon_costs_no_look() -> None:
    async with clinic() as all:
        looks = Looks(all)
        await looks.grow_by(1)
        looks.watched_tree.program_stopped()
        await rests(all)
        before = looks.count
        looks.watched_tree.program_resumed()
        looks.watched_tree.program_stopped()
        await rests(all)
        assert looks.count == before


async def test_a_child_that_joins_is_looked_for_also_while_its_parent_is_stopped() -> None:
    async with clinic() as all:
        looks = Looks(all)
        looks.watched_tree.program_stopped()
        await rests(all)
        looks.watched_tree.connections_expected()
        await looks.grow_by(3)


async def test_an_unwatched_tree_is_not_scanned() -> None:
    async with clinic() as all:
        looks = Looks(all)
        await looks.grow_by(1)
        looks.watched_tree.unwatch()
        await rests(all)


async def test_a_look_that_takes_long_is_repeated_the_later() -> None:
    async with clinic() as all:
        watched_tree = Looks(all).watched_tree
        watched_tree.scanned(10.0)
        assert watched_tree.due - anyio.current_time() > 30


@pytest.mark.parametrize("kernel_lists_children", [True, False])
@pytest.mark.parametrize(("code", "count"), [(STUBBORN, 2), (CHILD_OF_A_THREAD, 1)])
async def test_a_glimpse_sees_orphans_and_children_of_threads(
    monkeypatch: pytest.MonkeyPatch, code: str, count: int, kernel_lists_children: bool
) -> None:
    if not kernel_lists_children:
        never: Callable[[str, int], bool] = lambda *_: False  # noqa: E731
        monkeypatch.setattr(os, "access", never)
    async with SupervisorPool() as supervisors, supervisors.tree(grace_s=0) as tree:
        child = await tree.start(python(code))
        output = {int(line) for line in await first_lines(child.stdout, count)}
        assert output | {child.pid} <= set(tree.quick_pids())
        child.signal(signal.SIGKILL)
    assert tree.quick_pids() == []
