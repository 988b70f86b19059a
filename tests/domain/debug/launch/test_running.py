"""Running the tasks around a session: order, failure with its last lines, and nothing before it is asked for."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.debug.launch import LaunchError, Resolved, TaskFailedError, prepare, run_plan, what_would_run
from dragoman.debug.launch.running import LAST_LINES
from tests import requirements
from tests.domain.debug.launch.workspaces import FakeRunner, RealRunner, Workspace, a_configuration

pytestmark = pytest.mark.anyio


def session_with(workspace: Workspace, *tasks: Any, **members: Any) -> Resolved:
    return workspace.one(tasks=tasks, **{"preLaunchTask": "main", **members})


def chained(order: str, *names: str) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = [{"label": name, "command": name} for name in names]
    return [{"label": "main", "command": "main", "dependsOn": list(names), "dependsOrder": order}, *tasks]


async def run(workspace: Workspace, runner: FakeRunner | RealRunner, *tasks: Any) -> None:
    plan = session_with(workspace, *tasks).before
    await run_plan(plan, runner, workspace.environment)


async def begun(runner: FakeRunner, count: int) -> None:
    with anyio.fail_after(10):
        while len(runner.begun) < count:
            await anyio.lowlevel.checkpoint()


async def test_a_sequence_runs_one_after_the_other(workspace: Workspace) -> None:
    runner = FakeRunner()
    runner.gates["a"] = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(run, workspace, runner, *chained("sequence", "a", "b"))
        await begun(runner, 1)
        await anyio.wait_all_tasks_blocked()
        assert runner.begun == ["a"]
        runner.gates["a"].set()
    assert runner.begun == ["a", "b", "main"]


async def test_parallel_tasks_run_together_and_the_task_after_all_of_them(workspace: Workspace) -> None:
    runner = FakeRunner()
    runner.gates |= {"a": anyio.Event(), "b": anyio.Event()}
    async with anyio.create_task_group() as group:
        group.start_soon(run, workspace, runner, *chained("parallel", "a", "b"))
        await begun(runner, 2)
        runner.gates["b"].set()
        await anyio.wait_all_tasks_blocked()
        assert runner.begun == ["a", "b"]
        runner.gates["a"].set()
    assert runner.begun == ["a", "b", "main"]


async def test_a_task_that_two_depend_on_runs_once_and_both_wait_for_it(workspace: Workspace) -> None:
    tasks = [*chained("parallel", "a", "b"), {"label": "base", "command": "base"}]
    for task in tasks[1:3]:
        task["dependsOn"] = "base"
    runner = FakeRunner()
    await run(workspace, runner, *tasks)
    assert runner.begun[0] == "base"
    assert sorted(runner.begun[1:3]) == ["a", "b"]
    assert len(runner.begun) == 4


async def test_the_first_failure_ends_what_still_runs_and_starts_nothing_more(workspace: Workspace) -> None:
    runner = FakeRunner({"b": 7})
    runner.gates["a"] = anyio.Event()
    with pytest.raises(TaskFailedError) as caught:
        await run(workspace, runner, *chained("parallel", "a", "b"))
    assert (caught.value.task, caught.value.exit_code) == ("b", 7)
    assert (runner.begun, runner.cancelled) == (["a", "b"], ["a"])


@pytest.mark.requirement("debug:start:error-compile")
async def test_a_failing_task_is_told_with_its_last_lines_apart_from_our_words(workspace: Workspace) -> None:
    with pytest.raises(TaskFailedError) as caught:
        await run(workspace, FakeRunner({"main": 2}), {"label": "main", "command": "main"})
    fault = caught.value
    assert fault.last_lines == [f"main said {number}" for number in range(10, 30)]
    assert len(fault.last_lines) == LAST_LINES
    assert fault.details["last_lines"] == fault.last_lines
    assert "said" not in str(fault)
    assert fault.message.in_language("zh").startswith(requirements.sentence("debug:start:error-compile"))


async def test_a_program_that_cannot_be_started_is_a_failed_task(workspace: Workspace) -> None:
    runner = FakeRunner({"main": FileNotFoundError(errno.ENOENT, "No such file or directory")})
    with pytest.raises(TaskFailedError, match=r'"main" could not be started: No such file') as caught:
        await run(workspace, runner, {"label": "main", "command": "main"})
    assert (caught.value.code, caught.value.exit_code) == ("task_failed", None)


async def test_a_fault_of_the_runner_itself_is_not_taken_for_a_failed_task(workspace: Workspace) -> None:
    class Broken(FakeRunner):
        async def run(self, *_: Any, **__: Any) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        await run(workspace, Broken(), *chained("parallel", "a"))
    assert caught.group_contains(ZeroDivisionError)


async def test_a_task_gets_the_clients_environment_and_its_own_additions(workspace: Workspace) -> None:
    workspace.environment |= {"KEPT": "1", "GONE": "1"}
    runner = FakeRunner()
    options = {"env": {"GONE": None, "MINE": "${env:KEPT}"}}
    await run(workspace, runner, {"label": "main", "command": "main", "options": options})
    assert runner.environments["main"] == {"HOME": "/home/me", "PATH": "/usr/bin:/bin", "KEPT": "1", "MINE": "1"}


async def test_a_background_task_that_ends_before_it_is_ready_has_failed(workspace: Workspace) -> None:
    matcher = {"background": {"endsPattern": "ready"}}
    task = {"label": "main", "command": "main", "isBackground": True, "problemMatcher": matcher}
    with pytest.raises(TaskFailedError):
        await run(workspace, FakeRunner(), task)


# With real processes


async def test_a_real_shell_runs_the_line_as_written(workspace: Workspace) -> None:
    task = {
        "label": "main",
        "type": "shell",
        "command": "printf '%s\\n' \"$A\" > out && cat out",
        "options": {"env": {"A": "x  y"}},
    }
    await run(workspace, RealRunner(), task)
    assert (workspace.folder / "out").read_text() == "x  y\n"


async def test_a_real_build_that_fails_says_what_it_said(workspace: Workspace) -> None:
    line = "for i in 1 2 3; do echo line $i; done; echo broken >&2; exit 3"
    with pytest.raises(TaskFailedError) as caught:
        await run(workspace, RealRunner(), {"label": "main", "type": "shell", "command": line})
    assert (caught.value.exit_code, caught.value.last_lines) == (3, ["line 1", "line 2", "line 3", "broken"])


async def test_a_real_program_that_is_not_there_is_told(workspace: Workspace) -> None:
    with pytest.raises(TaskFailedError, match="could not be started"):
        await run(workspace, RealRunner(), {"label": "main", "command": "no-such-program-anywhere"})


async def test_a_real_background_task_goes_on_when_it_is_ready(workspace: Workspace) -> None:
    task = {
        "label": "main",
        "type": "shell",
        "command": "echo starting; echo ready; exec sleep 60",
        "isBackground": True,
        "problemMatcher": {"background": {"endsPattern": "^ready$"}},
    }
    runner = RealRunner()
    try:
        await run(workspace, runner, task)
        (process,) = runner.background
        assert process.poll() is None
    finally:
        runner.end_background()


async def test_preparing_builds_the_program_before_it_is_looked_for(workspace: Workspace) -> None:
    task = {"label": "main", "type": "shell", "command": "echo 1 > built.py"}
    session_with(workspace, task, program="${workspaceFolder}/built.py")
    await prepare(workspace.start("main"), RealRunner(), workspace.environment)
    session_with(workspace, task, program="${workspaceFolder}/biult.py")
    with pytest.raises(LaunchError, match=r"Did you mean .*built\.py"):
        await prepare(workspace.start("main"), RealRunner(), workspace.environment)


async def test_a_build_that_two_sessions_want_runs_once_and_before_both(workspace: Workspace) -> None:
    workspace.tasks_json({"label": "build", "command": "build"}, {"label": "first", "command": "first"})
    members = [a_configuration(name=name, preLaunchTask="build") for name in ("one", "two")]
    compound = {"name": "all", "configurations": ["one", "two"], "preLaunchTask": "first"}
    workspace.launch_json(*members, compounds=[compound])
    runner = FakeRunner()
    await prepare(workspace.start("all"), runner, workspace.environment)
    assert runner.begun == ["first", "build"]


async def test_what_follows_a_session_runs_when_it_is_asked_for(workspace: Workspace) -> None:
    runner = FakeRunner()
    session = session_with(workspace, *chained("sequence", "a"), preLaunchTask=None, postDebugTask="main")
    await prepare(workspace.start("main"), runner, workspace.environment)
    assert runner.begun == []
    await run_plan(session.after, runner, workspace.environment)
    assert runner.begun == ["a", "main"]


# Trust


async def test_nothing_runs_until_it_is_asked_for(workspace: Workspace, tmp_path: Path) -> None:
    """Every hook of a hostile workspace touches a canary; only `prepare` lets it, and only the task's."""
    canary = tmp_path / "canary"
    task = {"label": "main", "type": "shell", "command": f"touch {canary}", "dependsOn": []}
    session_with(
        workspace,
        task,
        program=f"$(touch {canary})",
        args=[f"`touch {canary}`"],
        postDebugTask="main",
        env={"LD_PRELOAD": str(canary)},
        python=f"touch {canary}",
        envFile=str(canary),
    )
    what_would_run(workspace.start("main"))
    assert not canary.exists()
    with pytest.raises(LaunchError, match="does not exist"):
        await prepare(workspace.start("main"), RealRunner(), workspace.environment)
    assert canary.exists()


async def test_what_would_run_is_told_in_order_with_what_decides_it(workspace: Workspace) -> None:
    tasks = [
        {"label": "build", "command": "make", "args": ["a b"], "options": {"env": {"CC": "gcc"}}, "dependsOn": "clean"},
        {"label": "clean", "type": "shell", "command": "rm -rf build", "options": {"cwd": "sub"}},
        {"label": "after", "command": "tidy", "dependsOn": "clean"},
    ]
    workspace.tasks_json(*tasks)
    one = a_configuration(name="one", program="x.py", args=["a b"], preLaunchTask="build", postDebugTask="after")
    two = a_configuration(name="two", request="attach", connect={"port": 1}, cwd="sub")
    three = a_configuration(name="three", module="app", args="-v", env={"LD_PRELOAD": "x"}, python="/tmp/evil")
    compound = {"name": "all", "configurations": ["one", "two", "three"], "preLaunchTask": "clean"}
    workspace.launch_json(one, two, three, compounds=[compound])
    folder = str(workspace.folder)
    told = what_would_run(workspace.start("all"))
    assert [(item.what, item.name, item.line, item.cwd.removeprefix(folder)) for item in told] == [
        ("task", "clean", "rm -rf build", "/sub"),
        ("task", "build", "make 'a b'", ""),
        ("program", "one", "x.py 'a b'", ""),
        ("attach", "two", "connect {'port': 1}", "/sub"),
        ("program", "three", "-m app -v", ""),
        ("task", "after", "tidy", ""),
    ]
    assert (told[1].variables, told[4].variables, told[4].settings) == (
        ("CC",),
        ("LD_PRELOAD",),
        {"python": "/tmp/evil"},
    )
