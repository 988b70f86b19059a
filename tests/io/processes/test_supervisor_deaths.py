"""Whichever dies first, the daemon, a supervisor or the guard: no program is left, and the others continue."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.processes import process_tree
from dragoman.io.processes.command import ProcessCommand, Stdio
from dragoman.io.processes.descendants import _ps_lines, living_descendants
from dragoman.io.processes.process_tree import ProcessExit, ProcessTree
from dragoman.io.processes.supervisor import pack_message
from dragoman.io.processes.supervisor_pool import SupervisorPool
from tests.daemons import PATIENCE, eventually
from tests.io.processes.supervised_support import (
    PATH,
    STUBBORN,
    alive,
    first_lines,
    open_descriptors,
    python,
    shell,
    until,
)
from tests.support.faulty_system import FaultySystem

ROOT = Path(__file__).parents[3]
TREES = 3


def guard_pid(supervisors: SupervisorPool) -> int:
    assert supervisors._fork_server is not None
    return supervisors._fork_server.process.pid


def supervisor_pid(tree: ProcessTree) -> int:
    assert tree._supervisor_pid is not None
    return tree._supervisor_pid


def test_nothing_outlives_the_kill_of_the_daemon() -> None:
    command = [sys.executable, "-m", "tests.io.processes.holder", str(TREES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as daemon:
        assert daemon.stdout is not None
        pids = [int(pid) for _ in range(TREES) for pid in daemon.stdout.readline().split()]
        everybody = [*pids, *living_descendants(daemon.pid)]
        assert len(everybody) > 2 * TREES + TREES, "two stubborn programs and a supervisor a tree, and the guard"
        daemon.kill()
        killed = time.monotonic()
        eventually(lambda: not alive(everybody), within_s=2)
        print(f"all {len(set(everybody))} processes gone {time.monotonic() - killed:.2f} s after the daemon")


@pytest.mark.anyio
async def test_what_a_killed_supervisor_leaves_is_ended_by_the_guard() -> None:
    async with SupervisorPool() as supervisors, supervisors.tree() as tree, supervisors.tree() as other:
        child, neighbour = await tree.start(python(STUBBORN)), await other.start(shell("read line; exit 6"))
        pids = [int(line) for line in await first_lines(child.stdout, 2)]
        os.kill(supervisor_pid(tree), signal.SIGKILL)
        with anyio.fail_after(5 * PATIENCE):
            await tree.wait_over()
        assert alive(pids) == [], "the end is not told before it is true"
        assert await child.wait() == ProcessExit(None, None)
        await neighbour.stdin.send(b"\n")
        assert await neighbour.wait() == ProcessExit(6)


@pytest.mark.anyio
async def test_a_killed_guard_is_replaced_and_its_supervisors_continue() -> None:
    async with SupervisorPool() as supervisors, supervisors.tree() as tree:
        first = guard_pid(supervisors)
        os.kill(first, signal.SIGKILL)
        await until(lambda: not alive([first]))
        async with supervisors.tree() as second:
            assert await (await second.start(shell("exit 2"))).wait() == ProcessExit(2)
        assert guard_pid(supervisors) != first
        child = await tree.start(python(STUBBORN))
        pids = [int(line) for line in await first_lines(child.stdout, 2)]
        assert await tree.end(0.1) == ()
        assert alive(pids) == []


@pytest.mark.anyio
async def test_sessions_that_find_the_guard_dead_together_share_a_new_one() -> None:
    async with SupervisorPool() as supervisors:
        os.kill(guard_pid(supervisors), signal.SIGKILL)
        guards: set[int] = set()

        async def session() -> None:
            async with supervisors.tree() as tree:
                await (await tree.start(shell("exit 0"))).wait()
                guards.add(guard_pid(supervisors))

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(session)
        assert len(guards) == 1


@pytest.mark.anyio
async def test_a_tree_is_ended_also_where_its_supervisor_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "KILL_WITHIN_S", 0)
    monkeypatch.setattr(process_tree, "_MARGIN_S", 0.1)
    async with SupervisorPool() as supervisors, supervisors.tree() as tree:
        child = await tree.start(python(STUBBORN))
        pids = [int(line) for line in await first_lines(child.stdout, 2)]
        os.kill(supervisor_pid(tree), signal.SIGSTOP)
        assert await tree.end(0.1) == ()
        await until(lambda: not alive([*pids, supervisor_pid(tree)]))


@pytest.mark.anyio
async def test_a_fault_of_the_supervisor_is_logged_and_ends_its_tree(caplog: pytest.LogCaptureFixture) -> None:
    async with SupervisorPool() as supervisors, supervisors.tree() as tree:
        child = await tree.start(python(STUBBORN))
        pids = [int(line) for line in await first_lines(child.stdout, 2)]
        tree._link.send(pack_message(b"nonsense"))
        with anyio.fail_after(5 * PATIENCE):
            await tree.wait_over()
        assert alive(pids) == []
    assert "KeyError: b'nonsense'" in caplog.text


def test_the_process_table_of_a_system_without_proc_is_read() -> None:
    lines = [b"  501     1   501 Ss   Mon Sep  7 10:11:12 2026", b"  502   501   501 Z+   Mon Sep  7 10:11:13 2026"]
    table = dict(_ps_lines(lines))
    assert [(pid, one.parent, one.group, one.is_dead) for pid, one in table.items()] == [
        (501, 1, 501, False),
        (502, 501, 501, True),
    ]
    assert list(living_descendants(1, table)) == [501]


@pytest.mark.anyio
async def test_the_guard_ends_when_the_daemon_asks_and_leaves_no_process() -> None:
    async with SupervisorPool() as supervisors:
        pid = guard_pid(supervisors)
    assert alive([pid]) == []


@pytest.mark.anyio
@pytest.mark.parametrize("code", [errno.EMFILE, errno.EAGAIN, errno.ENOMEM])
@pytest.mark.parametrize("stdio", list(Stdio))
async def test_whichever_call_fails_the_caller_gets_an_error_and_nothing_leaks(code: int, stdio: Stdio) -> None:
    before = open_descriptors()
    system = FaultySystem(0)
    outcomes: list[ProcessExit | str] = []
    while not outcomes or system.reached:
        system = FaultySystem(system.fail_at + 1, code=code)
        outcomes.append(await outcome_of_a_session(system, stdio))
        assert open_descriptors() == before
        assert [pid for pid in living_descendants(os.getpid()) if _is_guard(pid)] == []
    assert outcomes[-1] == ProcessExit(3)
    assert outcomes.count("cannot_start") >= 3
    assert set(outcomes) <= {"cannot_start", "tree_ended", ProcessExit(3), ProcessExit()}


async def outcome_of_a_session(system: FaultySystem, stdio: Stdio) -> ProcessExit | str:
    try:
        async with SupervisorPool(system) as supervisors, supervisors.tree(grace_s=0) as tree:
            child = await tree.start(ProcessCommand(["sh", "-c", "exit 3"], PATH, Path("/"), stdio))
            return await child.wait()
    except DragomanError as error:
        return error.code


def _is_guard(pid: int) -> bool:
    return b"dragoman.io.processes.fork_server" in Path(f"/proc/{pid}/cmdline").read_bytes()


KILLED: dict[str, Callable[[SupervisorPool, ProcessTree], int]] = {
    "guard": lambda supervisors, _: guard_pid(supervisors),
    "supervisor": lambda _, tree: supervisor_pid(tree),
}


@pytest.mark.anyio
@pytest.mark.parametrize("who", KILLED)
async def test_a_start_that_meets_a_death_answers_at_once(who: str) -> None:
    async with SupervisorPool() as supervisors:
        for _ in range(5):
            async with supervisors.tree(grace_s=0) as tree:
                os.kill(KILLED[who](supervisors, tree), signal.SIGKILL)
                with anyio.fail_after(5 * PATIENCE):
                    assert await outcome_of_a_start(tree) in {ProcessExit(1), ProcessExit(), "tree_ended"}


async def outcome_of_a_start(tree: ProcessTree) -> ProcessExit | str:
    try:
        return await (await tree.start(shell("exit 1"))).wait()
    except DragomanError as error:
        return error.code
