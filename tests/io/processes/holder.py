"""Stands for the daemon: holds trees until it is killed. Says its processes' pids, then waits."""

from __future__ import annotations

import sys

import anyio

from dragoman.io.processes.supervisor_pool import SupervisorPool
from tests.io.processes.supervised_support import STUBBORN, first_lines, python


async def hold(trees: int) -> None:
    async with SupervisorPool() as supervisors, anyio.create_task_group() as group:
        for _ in range(trees):
            group.start_soon(hold_one, supervisors)


async def hold_one(supervisors: SupervisorPool) -> None:
    async with supervisors.tree() as tree:
        child = await tree.start(python(STUBBORN))
        print(*await first_lines(child.stdout, 2), flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(hold, int(sys.argv[1]))
