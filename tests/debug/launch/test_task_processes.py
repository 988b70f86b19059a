"""Tasks as real processes in supervised trees: what they say, how they end, and that nothing of them is left."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.debug.backends.prelaunch_tasks import TaskProcesses
from dragoman.debug.launch import LaunchError, TaskExecution, TaskFailedError, prepare, run_plan
from dragoman.io.processes.supervisor_pool import SupervisorPool
from tests.debug.launch.workspaces import Workspace, a_configuration

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


@dataclass
class Around:
    """Where tasks run, what was heard of them, and whether what they started still lives."""

    workspace: Workspace
    trees: TaskProcesses
    lines: list[str] = field(default_factory=list)

    async def receive(self, text: str) -> None:
        self.lines.append(text)

    async def run(self, command: str, **members: Any) -> None:
        task = {"label": "main", "type": "shell", "command": command, **members}
        plan = self.workspace.one(tasks=[task], preLaunchTask="main").before
        await run_plan(plan, self.trees.runner(self.receive), self.workspace.environment)

    async def failure(self, command: str, **members: Any) -> TaskFailedError:
        with pytest.raises(TaskFailedError) as caught:
            await self.run(command, **members)
        return caught.value

    def pid(self, name: str) -> int:
        return int((self.workspace.folder / name).read_text())


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists() and "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


async def until(condition: Any) -> None:
    with anyio.fail_after(10):
        while not condition():  # noqa: ASYNC110  processes have no event for it
            await anyio.sleep(0.01)


@asynccontextmanager
async def around(workspace: Workspace, sessions: int = 1) -> AsyncIterator[Around]:
    workspace.environment |= {"PATH": os.environ["PATH"]}
    async with SupervisorPool() as supervisors, anyio.create_task_group() as group:
        yield Around(workspace, TaskProcesses(supervisors, group, sessions=sessions))
        group.cancel_scope.cancel()


def in_background(pattern: str) -> dict[str, Any]:
    return {"isBackground": True, "problemMatcher": {"background": {"endsPattern": pattern}}}


async def test_a_shell_runs_the_line_as_written_and_its_output_is_read(workspace: Workspace) -> None:
    async with around(workspace) as it:
        await it.run("printf '%s\\n' \"$A\" > out && cat out", options={"env": {"A": "x  y"}})
    assert (workspace.folder / "out").read_text() == "x  y\n"
    assert "".join(it.lines) == "x  y\n"


async def test_a_failed_build_reports_the_output_of_both_streams_in_order(workspace: Workspace) -> None:
    async with around(workspace) as it:
        fault = await it.failure("for i in 1 2 3; do echo line $i; done; echo broken >&2; exit 3")
    assert (fault.code, fault.exit_code) == ("task_failed", 3)
    assert fault.last_lines == ["line 1", "line 2", "line 3", "broken"]


async def test_only_the_last_lines_of_a_flood_are_kept_without_their_colours(workspace: Workspace) -> None:
    async with around(workspace) as it:
        fault = await it.failure(
            "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); printf '\\033[31m%d\\033[0m\\r\\n' $i; done; exit 1"
        )
    assert fault.last_lines == [str(number) for number in range(2981, 3001)]


async def test_of_a_progress_bar_its_last_state_is_kept_however_it_was_written(workspace: Workspace) -> None:
    async with around(workspace) as it:
        pieces = ("10%%", "\\r\\033[3", "2m100%%\\033[0m\\r\\nfailed\\r\\n")
        fault = await it.failure("; ".join([*(f"printf '{piece}'; sleep 0.05" for piece in pieces), "exit 1"]))
    assert fault.last_lines == ["100%", "failed"]


async def test_a_line_without_an_end_is_bounded_and_the_last_words_count_without_one(workspace: Workspace) -> None:
    async with around(workspace) as it:
        fault = await it.failure("head -c 3000000 /dev/zero | tr '\\0' x; echo; printf 'no newline'; exit 1")
    assert fault.last_lines[-1] == "no newline"
    assert sum(map(len, fault.last_lines)) < 10_000


@pytest.mark.parametrize(("line", "code"), [("kill -9 $$", -9), ("kill -TERM $$", -15), ("exit 300", 44)])
async def test_a_death_by_signal_is_distinguished_from_a_code(workspace: Workspace, line: str, code: int) -> None:
    async with around(workspace) as it:
        assert (await it.failure(line)).exit_code == code


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"type": "process", "command": "no-such-program-anywhere"}, "Command not found: no-such-program-anywhere"),
        ({"options": {"cwd": "nowhere"}}, "Cannot enter the folder"),
    ],
)
async def test_what_cannot_be_started_is_a_failed_task(
    workspace: Workspace, members: dict[str, Any], reason: str
) -> None:
    async with around(workspace) as it:
        fault = await it.failure(**{"command": "true", **members})
    assert reason in str(fault)
    assert fault.exit_code is None


async def test_a_task_that_reads_its_input_finds_the_end_of_it(workspace: Workspace) -> None:
    async with around(workspace) as it:
        await it.run("cat; echo done")
    assert it.lines == ["done\n"]


async def test_a_background_task_is_ready_at_its_line_and_is_ended_after_the_session(workspace: Workspace) -> None:
    async with around(workspace) as it:
        line = "echo $$ > pid; echo building; printf '\\033[1mready\\033[0m\\n'; echo more; exec sleep 60"
        await it.run(line, **in_background("^ready$"))
        pid = it.pid("pid")
        await until(lambda: "more" in "".join(it.lines))
        assert is_running(pid)
        await it.trees.leave()
        assert not is_running(pid)


async def test_a_background_task_that_ends_before_it_is_ready_has_failed(workspace: Workspace) -> None:
    async with around(workspace) as it:
        fault = await it.failure("echo no luck; exit 0", **in_background("ready"))
    assert (fault.exit_code, fault.last_lines) == (0, ["no luck"])


async def test_a_background_task_that_floods_is_read_on_and_does_not_stall(workspace: Workspace) -> None:
    async with around(workspace) as it:
        line = "echo ready; head -c 3000000 /dev/zero | tr '\\0' x; touch written; exec sleep 60"
        await it.run(line, **in_background("ready"))
        await until((workspace.folder / "written").exists)
        await it.trees.leave()


async def test_what_a_finished_task_left_running_runs_until_the_last_session_has_ended(workspace: Workspace) -> None:
    async with around(workspace, sessions=2) as it:
        await it.run("sleep 60 >/dev/null 2>&1 & echo $! > pid")
        pid = it.pid("pid")
        await it.trees.leave()
        assert is_running(pid)
        await it.trees.leave()
        assert not is_running(pid)


async def test_a_cancelled_task_ends_with_everything_that_it_started(workspace: Workspace) -> None:
    async with around(workspace) as it, anyio.create_task_group() as group:
        group.start_soon(it.run, "setsid sleep 60 & echo $! > child; echo $$ > pid.tmp; mv pid.tmp pid; wait")
        await until((workspace.folder / "pid").exists)
        pids = [it.pid("pid"), it.pid("child")]
        group.cancel_scope.cancel()
    await until(lambda: not any(map(is_running, pids)))


async def test_the_first_failure_of_two_that_run_together_ends_the_other(workspace: Workspace) -> None:
    async with around(workspace) as it:
        slow = {"label": "slow", "type": "shell", "command": "echo $$ > pid; exec sleep 60"}
        quick = {"label": "quick", "type": "shell", "command": "while [ ! -s pid ]; do sleep 0.01; done; exit 5"}
        both = {"label": "main", "dependsOn": ["slow", "quick"]}
        plan = workspace.one(tasks=[both, slow, quick], preLaunchTask="main").before
        with pytest.raises(TaskFailedError) as caught:
            await run_plan(plan, it.trees.runner(it.receive), workspace.environment)
        assert (caught.value.task, caught.value.exit_code) == ("quick", 5)
        assert not is_running(it.pid("pid"))


async def test_preparing_builds_the_program_before_it_is_looked_for(workspace: Workspace) -> None:
    async with around(workspace) as it:
        workspace.tasks_json({"label": "main", "type": "shell", "command": "echo 1 > built.py"})
        for name, problem in (("built.py", None), ("biult.py", "See `nearest`")):
            workspace.launch_json(a_configuration(program=f"${{workspaceFolder}}/{name}", preLaunchTask="main"))
            launch = workspace.start("main")
            prepared = prepare(
                launch, launch.sessions[0], TaskExecution(workspace.environment), it.trees.runner(it.receive)
            )
            if problem is None:
                await prepared
            else:
                with pytest.raises(LaunchError, match=problem):
                    await prepared
