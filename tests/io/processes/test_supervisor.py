"""A session's programs: exactly what was asked for is started, every exit is reported, nothing outlives its tree."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.net.streams import PipeReader
from dragoman.io.processes.command import ProcessCommand, Stdio
from dragoman.io.processes.process_tree import ProcessExit, ProcessTree
from dragoman.io.processes.supervisor_pool import SupervisorPool
from tests.io.processes.supervised_support import (
    PATH,
    STUBBORN,
    alive,
    descriptors_of,
    everything,
    first_lines,
    open_descriptors,
    python,
    shell,
    until,
)

pytestmark = pytest.mark.anyio

# Signals 32 and 33 belong to the C library: no program can set them, and some hosts start everything with them ignored.
LIBRARYS_OWN = 0b11 << 31


@pytest.fixture
async def supervisors() -> AsyncIterator[SupervisorPool]:
    async with SupervisorPool() as supervisors:
        yield supervisors


@pytest.fixture
async def tree(supervisors: SupervisorPool) -> AsyncIterator[ProcessTree]:
    async with supervisors.tree() as tree:
        yield tree


@pytest.mark.parametrize(
    ("line", "exit"), [("exit 0", ProcessExit(0)), ("exit 7", ProcessExit(7)), ("kill -9 $$", ProcessExit(None, 9))]
)
async def test_the_end_of_a_program_is_reported_with_its_code_or_its_signal(
    tree: ProcessTree, line: str, exit: ProcessExit
) -> None:
    child = await tree.start(shell(line))
    assert await child.wait() == exit
    assert child.exit == exit


async def test_a_program_reads_and_writes_its_three_streams(tree: ProcessTree) -> None:
    child = await tree.start(shell("cat; echo problem >&2"))
    assert child.stderr is not None
    await child.stdin.send(b"hello")
    await child.stdin.aclose()
    assert await everything(child.stdout) == b"hello"
    assert await everything(child.stderr) == b"problem\n"


async def test_merged_outputs_keep_the_order_of_their_writing(tree: ProcessTree) -> None:
    child = await tree.start(shell("echo 1; echo 2 >&2; echo 3; echo 4 >&2", Stdio.MERGED))
    assert child.stderr is None
    assert await everything(child.stdout) == b"1\n2\n3\n4\n"


async def test_a_terminal_is_the_controlling_terminal_of_its_program(tree: ProcessTree) -> None:
    child = await tree.start(shell("test -t 0 && stty size </dev/tty; read line; echo got $line", Stdio.TERMINAL))
    await child.stdin.send(b"text\n")
    assert b"24 80" in (output := await everything(child.stdout))
    assert b"got text" in output
    assert await child.wait() == ProcessExit(0)


async def test_ctrl_c_at_the_terminal_reaches_its_program(tree: ProcessTree) -> None:
    child = await tree.start(python("import time; print('ready', flush=True); time.sleep(600)", stdio=Stdio.TERMINAL))
    await first_lines(child.stdout, 1)
    await child.stdin.send(b"\x03")
    assert await child.wait() == ProcessExit(None, signal.SIGINT)


async def test_the_environment_is_exactly_what_was_asked_for(tree: ProcessTree) -> None:
    wanted = {"PATH": os.environ["PATH"], "NAME": "值 = with = signs", "EMPTY": "", "ODD": "\udcff"}
    child = await tree.start(ProcessCommand(["env", "-0"], wanted, Path("/")))
    pairs = (await everything(child.stdout)).decode("utf-8", "surrogateescape").split("\0")[:-1]
    assert dict(pair.split("=", 1) for pair in pairs) == wanted


async def test_arguments_and_folder_arrive_as_they_are(tree: ProcessTree, tmp_path: Path) -> None:
    folder = tmp_path / "with space 名"
    folder.mkdir()
    code = "import os, sys; print([os.getcwd(), *sys.argv[1:]])"
    child = await tree.start(python(code, "", "a b", "$HOME", "\n", cwd=folder))
    assert await everything(child.stdout) == f"{[str(folder), '', 'a b', '$HOME', chr(10)]!r}\n".encode()


async def test_a_program_inherits_no_descriptor_and_no_ignored_signal(tree: ProcessTree) -> None:
    await tree.start(shell("sleep 600"))  # whose pipes are another's
    child = await tree.start(shell("sleep 600"))
    await until(lambda: descriptors_of(child.pid) == {0, 1, 2})  # the loader of libraries opens some for a moment
    signals = await tree.start(ProcessCommand(["grep", "-E", "SigIgn|SigBlk", "/proc/self/status"], PATH, Path("/")))
    masks = [int(mask, 16) for mask in (await everything(signals.stdout)).split()[1::2]]
    assert [mask & ~LIBRARYS_OWN for mask in masks] == [0, 0]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (ProcessCommand(["no-such-command"], PATH, Path("/")), "command_not_found"),
        (ProcessCommand(["/no/such/file"], PATH, Path("/")), "command_not_found"),
        (ProcessCommand(["sh"], {"PATH": "/nowhere"}, Path("/")), "command_not_found"),
        (ProcessCommand(["/etc/passwd"], PATH, Path("/")), "cannot_start"),
        (ProcessCommand(["sh"], PATH, Path("/no/such/folder")), "bad_folder"),
        (ProcessCommand(["sh", "a\0b"], PATH, Path("/")), "cannot_start"),
        (ProcessCommand(["sh"], {"A=B": ""}, Path("/")), "cannot_start"),
        (ProcessCommand([], PATH, Path("/")), "cannot_start"),
    ],
)
async def test_what_cannot_be_started_is_refused_with_the_reason(
    tree: ProcessTree, command: ProcessCommand, code: str
) -> None:
    before = open_descriptors()
    with pytest.raises(DragomanError) as caught:
        await tree.start(command)
    assert (caught.value.code, caught.value.hint is None) == (code, False)
    assert open_descriptors() == before
    assert await (await tree.start(shell("exit 4"))).wait() == ProcessExit(4), "the tree goes on"


async def test_an_environment_is_never_shown() -> None:
    assert "secret" not in repr(ProcessCommand(["sh"], {"TOKEN": "secret"}, Path("/")))


async def test_an_environment_of_a_megabyte_arrives(tree: ProcessTree) -> None:
    wanted = {f"V{n}": "x" * 100_000 for n in range(10)}
    child = await tree.start(ProcessCommand(["/usr/bin/env"], wanted, Path("/")))
    assert len(await everything(child.stdout)) == sum(len(k) + len(v) + 2 for k, v in wanted.items())


async def test_a_signal_reaches_the_program_and_after_its_end_nobody(tree: ProcessTree) -> None:
    child = await tree.start(shell("trap 'echo heard; exit 5' USR1; echo ready; while :; do sleep 0.01; done"))
    await first_lines(child.stdout, 1)
    child.signal(signal.SIGUSR1)
    assert await child.wait() == ProcessExit(5)
    child.signal(signal.SIGKILL)
    assert await (await tree.start(shell("exit 0"))).wait() == ProcessExit(0)


async def test_several_programs_share_a_tree(tree: ProcessTree) -> None:
    first, second = await tree.start(shell("sleep 600")), await tree.start(shell("sleep 600"))
    assert set(tree.pids()) >= {first.pid, second.pid}
    second.signal(signal.SIGKILL)
    assert await second.wait() == ProcessExit(None, 9)
    assert first.exit is None
    assert await tree.end(1) == ()
    assert await first.wait() == ProcessExit(None, signal.SIGTERM)


async def test_the_end_of_a_tree_reaches_orphans_in_their_own_session_that_are_deaf(tree: ProcessTree) -> None:
    child = await tree.start(python(STUBBORN))
    pids = [int(line) for line in await first_lines(child.stdout, 2)]
    assert set(pids) <= set(tree.pids())
    assert await tree.end(0.1) == ()
    assert alive(pids) == []
    assert await child.wait() == ProcessExit(None, signal.SIGKILL)
    assert tree.pids() == []


async def test_a_program_that_listens_to_sigterm_is_given_its_time(tree: ProcessTree) -> None:
    child = await tree.start(shell("trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.01; done"))
    await first_lines(child.stdout, 1)
    await tree.end(10)
    assert await everything(child.stdout) == b"saved\n"
    assert await child.wait() == ProcessExit(0)


async def test_a_stopped_program_is_ended_too(tree: ProcessTree) -> None:
    child = await tree.start(shell("sleep 600"))
    child.signal(signal.SIGSTOP)
    assert await tree.end(10) == ()
    assert await child.wait() == ProcessExit(None, signal.SIGTERM)


async def test_a_process_without_its_first_thread_is_not_taken_for_dead(tree: ProcessTree) -> None:
    code = """
import ctypes, os, signal, threading, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=time.sleep, args=(600,)).start()
os.write(1, b"ready\\n")
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
"""
    child = await tree.start(python(code))
    await first_lines(child.stdout, 1)
    await until(lambda: Path(f"/proc/{child.pid}/stat").read_text().split()[2] == "Z")
    assert child.pid in tree.pids()
    assert await tree.end(0.1) == ()
    assert alive([child.pid]) == []


async def test_a_fork_bomb_is_ended(tree: ProcessTree) -> None:
    code = """
import os, resource, signal
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
room = 6  # generations, over and over: each process forks, ends and leaves its orphans
os.write(1, b"ready\\n")
while True:
    try:
        if room and os.fork() == 0:
            os.setsid()
            room -= 1
        else:
            try:
                os.waitpid(-1, os.WNOHANG)
            except OSError:
                pass
            if os.fork() == 0:
                os._exit(0)
    except OSError:
        pass
    if len(os.listdir("/proc")) > 400:
        room = 0
"""
    child = await tree.start(python(code))
    await first_lines(child.stdout, 1)
    await until(lambda: len(tree.pids()) > 50)
    assert await tree.end(0) == ()
    assert await anyio.to_thread.run_sync(tree.pids) == []


async def test_the_end_of_an_orphan_is_reported(tree: ProcessTree) -> None:
    child = await tree.start(shell("(sleep 0.05; exit 9) & echo $!"))
    (pid,) = await first_lines(child.stdout, 1)
    await until(lambda: tree.orphans)
    assert [(orphan.pid, orphan.exit) for orphan in tree.orphans] == [(int(pid), ProcessExit(9))]


async def test_an_ended_tree_starts_nothing_more(tree: ProcessTree) -> None:
    await tree.end(0)
    with pytest.raises(DragomanError) as caught:
        await tree.start(shell("exit 0"))
    assert caught.value.code == "tree_ended"


async def test_a_program_asked_for_while_the_tree_ends_is_refused(tree: ProcessTree) -> None:
    child = await tree.start(python(STUBBORN))
    await first_lines(child.stdout, 2)
    async with anyio.create_task_group() as group:
        group.start_soon(tree.end, 0.5)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(DragomanError) as caught:
            await tree.start(shell("sleep 600"))
    assert caught.value.code == "tree_ended"


async def test_a_cancelled_caller_leaves_the_tree_whole(tree: ProcessTree) -> None:
    for delay_s in (0, 0.0005, 0.001, 0.002, 0.004):
        with anyio.move_on_after(delay_s):
            await tree.start(shell("sleep 600"))
    assert await (await tree.start(shell("exit 3"))).wait() == ProcessExit(3)
    await tree.end(0)
    assert tree.pids() == []


async def test_a_caller_that_stops_waiting_does_not_end_the_wait_of_others(tree: ProcessTree) -> None:
    child = await tree.start(shell("read line; exit 2"))
    with anyio.move_on_after(0.001):
        await child.wait()
    await child.stdin.send(b"\n")
    assert await child.wait() == ProcessExit(2)


async def test_twenty_trees_live_side_by_side_and_leave_nothing(supervisors: SupervisorPool) -> None:
    seen: list[int] = []

    async def session() -> None:
        async with supervisors.tree(grace_s=0.1) as tree:
            child = await tree.start(python(STUBBORN))
            seen.extend(int(line) for line in await first_lines(child.stdout, 2))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(session)
    assert len(seen) == 40
    assert alive(seen) == []


async def test_fifty_runs_leave_no_descriptor_behind() -> None:
    async with SupervisorPool() as supervisors:
        before = 0
        for run in range(50):
            async with supervisors.tree() as tree:
                child = await tree.start(shell("echo", [Stdio.PIPES, Stdio.MERGED, Stdio.TERMINAL][run % 3]))
                await child.wait()
            before = before or open_descriptors()
            assert open_descriptors() == before


async def test_an_error_in_the_block_comes_out_as_it_is_and_ends_the_tree(supervisors: SupervisorPool) -> None:
    pids: list[int] = []

    async def session() -> None:
        async with supervisors.tree() as tree:
            pids.append((await tree.start(shell("sleep 600"))).pid)
            raise LookupError

    with pytest.raises(LookupError):
        await session()
    assert alive(pids) == []


async def test_a_caller_that_waits_for_output_is_woken_by_the_close_of_the_stream(tree: ProcessTree) -> None:
    child = await tree.start(shell("sleep 600"))
    woken: list[type[Exception]] = []

    async def read(stream: PipeReader) -> None:
        try:
            await stream.receive()
        except anyio.ClosedResourceError as error:
            woken.append(type(error))

    async with anyio.create_task_group() as group:
        group.start_soon(read, child.stdout)
        await anyio.wait_all_tasks_blocked()
        await child.stdout.aclose()
    assert woken == [anyio.ClosedResourceError]


async def test_of_two_programs_one_is_seen_with_its_children_and_other_processes_are_not(tree: ProcessTree) -> None:
    child, other = await tree.start(shell("sleep 600 & echo $!; wait")), await tree.start(shell("exec sleep 600"))
    below = int(await child.stdout.receive())
    assert set(tree.with_descendants(child.pid)) == {child.pid, below}
    assert set(tree.with_descendants(other.pid)) == {other.pid}
    assert tree.with_descendants(os.getpid()) == {}
    await tree.end(0)
    assert tree.with_descendants(child.pid) == {}
