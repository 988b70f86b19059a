"""Debugging real Python programs through the engine and debugpy."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest

from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import PYTHON, AdapterSpec, LaunchContext
from dragoman.debug.backends.starter import AdapterStarter
from dragoman.debug.launch.errors import LaunchError
from dragoman.debug.model import LaunchRequest, ProgramEnd, Stop
from dragoman.debug.service import DebugService
from dragoman.debug.session.countdown import HaltLimits
from dragoman.debug.session.outcome import DebugOutcome
from dragoman.io.processes.command import ProcessCommand
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.journal import Journal
from dragoman.workspace.breakpoints import STORE, Breakpoint, BreakpointRegistry
from dragoman.workspace.caller import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

PROGRAM = """\
import sys

def double(n):
    result = n * 2
    return result

def main():
    total = 0
    for n in range(10):
        total += double(n)
        print("total", total)
    return total

if __name__ == "__main__":
    main()
    sys.exit(3)
"""
LINE_OF_RESULT = 4


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text(PROGRAM)
    return tmp_path


@asynccontextmanager
async def service_in(
    tmp_path: Path, adapter: AdapterSpec = PYTHON, limits: HaltLimits | None = None
) -> AsyncIterator[DebugService]:
    async with (
        Journal.open(tmp_path / "journal", stores=[STORE]) as journal,
        SupervisorPool() as supervisors,
        anyio.create_task_group() as group,
    ):
        book = BreakpointRegistry(journal, SystemClock())
        await book.load()
        starter = AdapterStarter(supervisors, group, [adapter])
        yield DebugService(group, book, starter, journal, SystemClock(), limits=limits)
        group.cancel_scope.cancel()


def client_of(workspace: Path) -> Caller:
    """With the interpreter that runs these tests named by hand: dragoman's own is never found by looking."""
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}
    return Caller(id="agent", workspace=workspace, cwd=workspace, environment=environment, trusts_workspace=True)


def at(workspace: Path, line: int, **fields: str) -> Breakpoint:
    return Breakpoint(id=0, path=str(workspace / "main.py"), line=line, **fields)  # type: ignore[arg-type]


def stop_of(happened: DebugOutcome) -> Stop:
    assert isinstance(happened.outcome, Stop), happened.outcome
    return happened.outcome


def end_of(happened: DebugOutcome) -> ProgramEnd:
    assert isinstance(happened.outcome, ProgramEnd), happened.outcome
    return happened.outcome


def values(stop: Stop) -> dict[str, str]:
    return {it.name: it.value for it in stop.top_locals.variables} if stop.top_locals else {}


@pytest.mark.requirement("debug:start:no-debug-no-breakpoints")
async def test_without_debugging_breakpoints_are_not_hit(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace) as service:
        await service.set_breakpoint(client, at(workspace, LINE_OF_RESULT))
        ended = end_of(await service.start(client, LaunchRequest(program="main.py", no_debug=True), within_s=30))
        assert ended.exit_code == 3


@pytest.mark.requirement("debug:stop:launch-ends-process")
async def test_stopping_ends_the_whole_tree(workspace: Path) -> None:
    child = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\nx = 1\n"
    (workspace / "main.py").write_text(child + "while True:\n    pass\n")
    client = client_of(workspace)
    async with service_in(workspace) as service:
        started = await service.start(client, LaunchRequest(program="main.py"), within_s=3)
        await eventually(lambda: bool(sleepers()))
        await service.stop(client, started.session.id)
        await service.wait(client, started.session.id, within_s=10)
        await eventually(lambda: not sleepers())
    assert not sleepers()


def sleepers() -> list[int]:
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "time.sleep(600)" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found


async def eventually(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not await anyio.to_thread.run_sync(condition):  # noqa: ASYNC110  another process has no event for us
            await anyio.sleep(0.05)


@pytest.mark.parametrize(
    ("launch_request", "code"),
    [
        (LaunchRequest(program="missing.py"), "no_such_program"),
        (LaunchRequest(configuration_name="x"), "no_launch_json"),
        (
            LaunchRequest(configuration={"type": "cobol", "program": "main.py", "request": "launch", "name": "c"}),
            "no_adapter",
        ),
        (
            LaunchRequest(configuration={"type": "python", "request": "attach", "name": "a", "connect": {"port": 9}}),
            "connection_refused",
        ),
    ],
)
async def test_what_cannot_be_started_is_reported_with_its_code(
    workspace: Path, launch_request: LaunchRequest, code: str
) -> None:
    async with service_in(workspace) as service:
        with pytest.raises(DragomanError) as caught:
            await service.start(client_of(workspace), launch_request, within_s=10)
        assert caught.value.code == code
        assert caught.value.hint is not None


async def test_a_syntax_error_is_the_end_with_its_words(workspace: Path) -> None:
    (workspace / "main.py").write_text("def f(:\n")
    async with service_in(workspace) as service:
        happened = await service.start(client_of(workspace), LaunchRequest(program="main.py"), within_s=20)
        result = happened.outcome
        assert result is not None
        text = result.output + (result.raised.message if isinstance(result, Stop) and result.raised else "")
        assert "invalid syntax" in text


@pytest.mark.parametrize(
    "program",
    [
        "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(42)'], capture_output=True))\n",
        "import multiprocessing\nif __name__ == '__main__':\n    print(multiprocessing.Pool(1).map(abs, [-42]))\n",
        "import os\nif os.fork():\n    os.wait()\n    print(42)\n",
    ],
    ids=["subprocess", "multiprocessing", "fork"],
)
async def test_a_program_with_child_processes_runs_to_its_end(workspace: Path, program: str) -> None:
    (workspace / "main.py").write_text(program)
    async with service_in(workspace) as service:
        ended = end_of(await service.start(client_of(workspace), LaunchRequest(program="main.py"), within_s=30))
        assert (ended.exit_code, "42" in ended.output) == (0, True)


async def test_an_adapter_that_dies_at_once_is_reported_with_its_last_words(workspace: Path) -> None:
    def broken(situation: LaunchContext) -> ProcessCommand:
        return ProcessCommand([sys.executable, "-c", "raise SystemExit('no debugger here')"], {}, situation.workspace)

    before = set(psutil.Process().children(recursive=True))
    async with service_in(workspace, dataclasses.replace(PYTHON, command=broken)) as service:
        with pytest.raises(DragomanError, match="no debugger here") as caught:
            await service.start(client_of(workspace), LaunchRequest(program="main.py"), within_s=20)
        assert caught.value.code == "adapter_gone"
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.mark.parametrize(
    "python", ["#!/bin/sh\necho not a python >&2\nexit 3\n", "#!/bin/sh\nexec {python} -c 'raise SystemExit(3)'\n"]
)
async def test_a_program_that_ends_before_it_is_reached_ends_the_start_soon_with_what_it_printed(
    workspace: Path, python: str
) -> None:
    chosen = workspace / "python3"
    chosen.write_text(python.format(python=sys.executable))
    chosen.chmod(0o755)
    configuration = {"type": "python", "request": "launch", "program": "main.py", "python": str(chosen)}
    async with service_in(workspace) as service:
        began = anyio.current_time()
        with pytest.raises(LaunchError) as caught:
            await service.start(client_of(workspace), LaunchRequest(configuration=configuration), within_s=30)
        assert anyio.current_time() - began < 8  # debugpy alone waits for a minute
    assert (caught.value.code, caught.value.details["exit_code"]) == ("ended_at_once", 3)
    assert caught.value.details["last_lines"] == (["not a python"] if "echo" in python else [])


async def test_two_clients_conditions_at_one_line_both_stop(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace) as service:
        for owner, condition in (("a", "n == 3"), ("b", "n == 5")):
            await service.set_breakpoint(client, at(workspace, LINE_OF_RESULT, owner=owner, condition=condition))
        first = stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        second = stop_of(await service.resume(client, "", thread_id=None, within_s=10))
        assert (values(first)["n"], values(second)["n"]) == ("3", "5")


async def test_an_evaluation_that_never_ends_leaves_the_session_usable(workspace: Path) -> None:
    client = client_of(workspace)
    launch_request = LaunchRequest(program="main.py", env={"PYDEVD_INTERRUPT_THREAD_TIMEOUT": "2"})
    async with service_in(workspace) as service:
        await service.set_breakpoint(client, at(workspace, LINE_OF_RESULT))
        await service.start(client, launch_request, within_s=30)
        for endless in ("[0 for _ in iter(int, 1)]", "__import__('time').sleep(600)"):
            with pytest.raises(DragomanError):
                await service.evaluate(client, "", endless, frame=None, context="repl", within_s=1)
        assert (await service.evaluate(client, "", "n", frame=None, context="repl", within_s=15)).result == "0"
        stepped = stop_of(await service.step(client, "", "over", thread_id=None, within_s=10))
        assert values(stepped)["result"] == "0"


async def test_a_breakpoint_above_all_code_and_one_with_a_bad_condition_are_reported_as_not_bound(
    workspace: Path,
) -> None:
    (workspace / "main.py").write_text("# no code\n\nn = 1\nprint(n)\n")
    client = client_of(workspace)
    async with service_in(workspace) as service:
        for breakpoint in (at(workspace, 1), at(workspace, 3, condition="n =="), at(workspace, 4)):
            await service.set_breakpoint(client, breakpoint)
        started = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        assert stop_of(started).frames[0].line == 4
        unbound = {it.line: binding.message for it, binding in started.session.breakpoint_sync.unbound()}
        assert set(unbound) == {1, 3}
        assert "SyntaxError" in unbound[3]


@pytest.mark.parametrize(
    "extra",
    [
        {"console": "integratedTerminal"},
        {"console": "externalTerminal"},
        {"pythonPath": str(Path(sys.base_prefix) / "bin" / "python3")},
        {"subProcess": True},
    ],
    ids=lambda extra: next(iter(extra)),
)
async def test_configurations_as_people_have_them_are_started(workspace: Path, extra: dict[str, object]) -> None:
    wanted = {"type": "debugpy", "request": "launch", "name": "x", "program": "${workspaceFolder}/main.py", **extra}
    async with service_in(workspace) as service:
        ended = end_of(await service.start(client_of(workspace), LaunchRequest(configuration=wanted), within_s=30))
        assert (ended.exit_code, "total 90" in ended.output) == (3, True)


@pytest.mark.parametrize("version", ["2.7.18", "3.6.15", "3.7.16"])
async def test_a_python_that_the_debugger_cannot_run_in_is_refused_at_once(workspace: Path, version: str) -> None:
    old = workspace / "old"
    old.write_text(f"#!/bin/sh\n[ $# = 1 ] && [ $1 = -V ] && echo Python {version} && exit 0\nexec sleep 60\n")
    old.chmod(0o755)
    async with service_in(workspace) as service:
        wanted = {"type": "python", "request": "launch", "name": "x", "program": "main.py", "python": str(old)}
        with pytest.raises(DragomanError, match="not supported") as refused:
            await service.start(client_of(workspace), LaunchRequest(configuration=wanted), within_s=10)
    assert refused.value.code == "python_not_supported"


async def test_nothing_of_the_debugger_is_in_the_output_of_a_program_that_traces_itself(workspace: Path) -> None:
    (workspace / "main.py").write_text(
        "import sys\nold = sys.gettrace()\nsys.settrace(lambda *_: None)\nsys.settrace(old)\nprint('done')\n"
    )
    async with service_in(workspace) as service:
        ended = end_of(await service.start(client_of(workspace), LaunchRequest(program="main.py"), within_s=30))
    assert ended.output == "done\n"


async def test_nothing_of_the_debugger_is_in_the_output_where_a_value_takes_long_to_show(workspace: Path) -> None:
    slow = "class Slow:\n    def __repr__(self):\n        time.sleep(0.7)\n        return 'slow'\n"
    (workspace / "main.py").write_text(f"import time\n{slow}\n\nvalue = Slow()\nprint('done')\n")
    client = client_of(workspace)
    async with service_in(workspace) as service:
        await service.set_breakpoint(client, at(workspace, 9))
        stop = stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        assert values(stop)["value"] == "slow"
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=30))
    assert ended.output == "done\n"
