"""Starts as an agent asks for them, with a real debugger and real tasks: order, failure, time, trust, what is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from dragoman.core.clock import SystemClock
from dragoman.debug.backends.starter import AdapterStarter
from dragoman.debug.launch import list_configurations
from dragoman.debug.service import DebugService
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.journal import Journal
from dragoman.tools import ToolRegistry
from dragoman.tools.debug import OpenWaits, debug_tools
from dragoman.workspace import breakpoints, trust
from dragoman.workspace.caller import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

PYTHON = Path(sys.base_prefix) / "bin"


@dataclass
class Agent:
    toolbox: ToolRegistry
    caller: Caller
    service: DebugService
    book: trust.TrustedFolders
    waits: OpenWaits

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        with anyio.fail_after(60):
            outcome = await self.toolbox.call(tool, arguments, self.caller)
        return outcome.data.model_dump(mode="json")

    async def start(self, name: str = "main", **more: Any) -> dict[str, Any]:
        return await self.call("start_debugging", configuration_name=name, **more)

    @property
    def folder(self) -> Path:
        return self.caller.workspace

    def has(self, name: str) -> Callable[[], bool]:
        return (self.folder / name).exists

    def pid(self, name: str) -> int:
        return int((self.folder / name).read_text())


@asynccontextmanager
async def agent_in(tmp_path: Path, *, trusted: bool = True) -> AsyncIterator[Agent]:
    workspace = tmp_path / "project"
    (workspace / ".vscode").mkdir(parents=True)
    environment = {"PATH": f"{PYTHON}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
    caller = Caller("agent", workspace, workspace, environment=environment, trusts_workspace=trusted)
    clock = SystemClock()
    async with (
        Journal.open(tmp_path / "journal", stores=[breakpoints.STORE, trust.STORE]) as journal,
        SupervisorPool() as supervisors,
        anyio.create_task_group() as group,
    ):
        book, words = breakpoints.BreakpointRegistry(journal, clock), trust.TrustedFolders(journal, clock)
        await book.load()
        service = DebugService(group, book, AdapterStarter(supervisors, group, trust=words), journal, clock)
        waits = OpenWaits(clock)
        yield Agent(
            ToolRegistry(debug_tools(service, list_configurations, waits, clock)), caller, service, words, waits
        )
        group.cancel_scope.cancel()


def python(name: str = "main", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "python", "request": "launch", "program": "${workspaceFolder}/app.py", **more}


def shell(label: str, command: str, **more: Any) -> dict[str, Any]:
    return {"label": label, "type": "shell", "command": command, **more}


def written(agent: Agent, *found: dict[str, Any], tasks: tuple[dict[str, Any], ...] = (), **more: Any) -> None:
    (agent.folder / ".vscode" / "launch.json").write_text(json.dumps({"configurations": found, **more}))
    (agent.folder / ".vscode" / "tasks.json").write_text(json.dumps({"version": "2.0.0", "tasks": tasks}))


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not condition():  # noqa: ASYNC110  processes and files have no event for it
            await anyio.sleep(0.01)


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


# The file that is open in an editor


async def test_a_configuration_for_the_open_file_takes_the_file(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        written(agent, python(program="${file}", args=["${fileBasenameNoExtension}"]))
        (agent.folder / "one.py").write_text("import sys; print('one', sys.argv[1:])")
        ended = await agent.start(file="one.py")
        missing = await agent.start()
    assert (ended["status"], ended["output"]) == ("completed", "one ['one']\n")
    assert (missing["code"], missing["details"]["needs"]) == ("unresolved_variable", "file")


# Programs that start others


async def test_breakpoints_bind_in_what_a_launcher_starts(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        (agent.folder / "app.py").write_text("import sys\nn = int(sys.argv[1])\nprint(n, sys.flags.optimize)\n")
        written(agent, python(program="python3", args=["${workspaceFolder}/app.py", "3"]))
        await agent.call("set_breakpoint", file_path="app.py", line_number=3)
        started = [
            await agent.call("start_debugging", program="python3", args=["-O", "app.py", "1"]),
            await agent.call("start_debugging", configuration={"program": "env", "args": ["python", "app.py", "2"]}),
            await agent.start(),
        ]
    places = [it["stop_event_data"]["call_stack"][0] for it in started]
    assert [(it["file_path"], it["line_number"]) for it in places] == [(str(agent.folder / "app.py"), 3)] * 3
    found = [it["stop_event_data"]["top_frame_variables"]["variables"] for it in started]
    assert [next(it["value"] for it in some if it["name"] == "n") for some in found] == ["1", "2", "3"]


async def test_a_breakpoint_that_cannot_bind_in_what_was_started_is_named_at_once(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        (agent.folder / "app.py").write_text("print(1)\nprint(2)\n")
        (agent.folder / "app.js").write_text("console.log(1)\n")
        await agent.call("set_breakpoint", file_path="app.js", line_number=1)
        ended = await agent.call("start_debugging", program="python3", args=["app.py"])
        await agent.call("set_breakpoint", file_path="app.py", line_number=2)
        stopped = await agent.call("start_debugging", program="app.py")
    found = [ended["unbound_breakpoints"], stopped["stop_event_data"]["unbound_breakpoints"]]
    assert [[Path(it["path"]).name for it in unbound] for unbound in found] == [["app.js"], ["app.js"]]


async def test_a_zipapp_runs_and_says_that_no_breakpoint_binds_in_it(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        with zipfile.ZipFile(agent.folder / "app.pyz", "w") as archive:
            archive.writestr("__main__.py", "print('zipped')")
        (agent.folder / "app.py").write_text("print('plain')")
        zipped = await agent.call("start_debugging", program="app.pyz")
        plain = await agent.call("start_debugging", program="app.py")
    assert (zipped["output"], "do not bind in a zipapp" in zipped["notes"][0]["message"]) == ("zipped\n", True)
    assert plain.get("notes") is None


# Tasks


async def test_a_build_runs_before_the_program_it_makes_and_its_words_are_output(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        build = shell("build", "echo compiling; echo 'print(40 + 2)' > app.py")
        written(
            agent, python(preLaunchTask="build", postDebugTask="after"), tasks=(build, shell("after", "touch after"))
        )
        ended = await agent.start()
        answer = await agent.call("get_output", category="console", session_id=ended["session_id"])
        await until(agent.has("after"))
    assert (ended["status"], ended["exit_code"]) == ("completed", 0)
    assert "42" in ended["output"]
    assert "compiling\n" in answer["output"]
    assert ended["runs_with"]["interpreter"].startswith(str(PYTHON))
    assert ended["runs_with"]["adapter"].startswith("debugpy ")


@pytest.mark.requirement("debug:start:error-compile")
async def test_a_build_that_fails_is_an_error_with_its_last_lines_as_data(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        line = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do echo line $i; done; exit 2"
        written(agent, python(preLaunchTask="build"), tasks=(shell("build", line),))
        (agent.folder / "app.py").write_text("open('ran', 'w')")
        failed = await agent.start()
        assert not agent.has("ran")()
        states = [it["state"] for it in (await agent.call("list_sessions"))["sessions"]]
    assert (failed["status"], failed["code"]) == ("error", "task_failed")
    assert failed["details"]["last_lines"] == [f"line {number}" for number in range(2, 22)]
    assert failed["details"]["exit_code"] == 2
    assert "line 21" not in failed["message"] + failed["hint"]
    assert set(states) <= {"Terminated"}


async def test_the_text_of_a_failed_build_ends_with_its_last_output(tmp_path: Path) -> None:
    """The head of what was said would be cut off last: a compiler's errors stand at the end."""
    async with agent_in(tmp_path) as agent:
        line = "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo a long line of a compiler $i; done; exit 2"
        written(agent, python(preLaunchTask="build"), tasks=(shell("build", line),))
        outcome = await agent.toolbox.call("start_debugging", {"configuration_name": "main"}, agent.caller)
    assert [str(it) for it in outcome.lines][-1] == "  a long line of a compiler 100"


async def test_a_build_that_takes_longer_than_its_caller_waits_is_a_timeout_that_says_starting(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        line = "while [ ! -e go ]; do sleep 0.02; done; echo 'print(1)' > app.py"
        written(agent, python(preLaunchTask="build"), tasks=(shell("build", line),))
        late = await agent.start(timeout_s=1)
        assert (late["status"], late["state"]) == ("timeout", "Starting")
        assert late["hint"].startswith("Still starting: ")
        (agent.folder / "go").touch()
        ended = await agent.call("wait_for_stop", session_id=late["session_id"])
    assert (ended["status"], ended["exit_code"]) == ("completed", 0)


async def test_a_caller_that_does_not_wait_for_a_build_learns_of_its_failure_later(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        line = "while [ ! -e go ]; do sleep 0.02; done; echo broken; exit 1"
        written(agent, python(preLaunchTask="build"), tasks=(shell("build", line),))
        begun = await agent.start(wait=False)
        assert (begun["status"], begun["state"]) == ("success", "Starting")
        (agent.folder / "go").touch()
        for _ in range(2):
            failed = await agent.call("wait_for_stop", session_id=begun["session_id"])
            assert (failed["code"], failed["details"]["last_lines"]) == ("task_failed", ["broken"])


async def test_a_person_can_end_the_wait_for_a_build_which_continues(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        line = "touch begun; while [ ! -e go ]; do sleep 0.02; done; echo 'print(1)' > app.py"
        written(agent, python(preLaunchTask="build"), tasks=(shell("build", line),))
        answers: list[dict[str, Any]] = []

        async def start() -> None:
            answers.append(await agent.start())

        async with anyio.create_task_group() as group:
            group.start_soon(start)
            await until(lambda: agent.has("begun")() and bool(agent.waits.open))
            agent.waits.interrupt()
        (interrupted,) = answers
        assert (interrupted["status"], interrupted["state"]) == ("interrupted", "Starting")
        (agent.folder / "go").touch()
        ended = await agent.call("wait_for_stop", session_id=interrupted["session_id"])
    assert (ended["status"], ended["exit_code"]) == ("completed", 0)


@pytest.mark.parametrize("way", ["stopped", "unused"])
async def test_a_session_can_be_ended_while_its_build_runs_and_takes_the_build_with_it(
    tmp_path: Path, way: str
) -> None:
    async with agent_in(tmp_path) as agent:
        written(agent, python(preLaunchTask="build"), tasks=(shell("build", "echo $$ > pid; exec sleep 60"),))
        begun = await agent.start(wait=False)
        await until(lambda: agent.has("pid")() and bool((agent.folder / "pid").read_text().strip()))
        pid = agent.pid("pid")
        if way == "stopped":
            await agent.call("stop_debugging", session_id=begun["session_id"])
        else:
            await agent.service.end_idle_sessions(-1)
        await until(lambda: not is_running(pid))
        states = [it["state"] for it in (await agent.call("list_sessions"))["sessions"]]
    assert states == ["Terminated"]


async def test_a_background_task_runs_as_long_as_the_program_and_no_longer(tmp_path: Path) -> None:
    server = {"isBackground": True, "problemMatcher": {"background": {"endsPattern": "listening"}}}
    async with agent_in(tmp_path) as agent:
        (agent.folder / "app.py").write_text("x = 1\ny = 2\n")
        line = "echo $$ > pid; echo listening; exec sleep 60"
        written(agent, python(preLaunchTask="serve"), tasks=(shell("serve", line, **server),))
        await agent.call("set_breakpoint", file_path="app.py", line_number=2)
        stopped = await agent.start()
        assert stopped["status"] == "stopped"
        assert is_running(agent.pid("pid"))
        ended = await agent.call("continue_debugging")
        assert ended["status"] == "completed"
        await until(lambda: not is_running(agent.pid("pid")))


async def test_a_build_that_floods_neither_stalls_nor_fills_the_session(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        line = "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo 'print(1)' > app.py"
        written(agent, python(preLaunchTask="build"), tasks=(shell("build", line),))
        ended = await agent.start()
        assert (ended["status"], ended["exit_code"]) == ("completed", 0)
        session = agent.service.find(agent.caller, ended["session_id"])
        assert session.output.end - session.output.start < 2_000_000


# Compounds


def two(agent: Agent, *, second: str = "two.py", **compound: Any) -> None:
    for name in ("one", "two"):
        (agent.folder / f"{name}.py").write_text("import time\nx = 1\ntime.sleep(60)\n")
    written(
        agent,
        python("one", program="${workspaceFolder}/one.py"),
        python("two", program="${workspaceFolder}/" + second),
        tasks=(shell("count", "echo run >> count"),),
        compounds=[{"name": "both", "configurations": ["one", "two"], **compound}],
    )


async def test_a_compound_starts_all_of_it_after_one_run_of_its_task_and_each_restarts_alone(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        two(agent, preLaunchTask="count", stopAll=True)
        await agent.call("set_breakpoint", file_path="one.py", line_number=2)
        stopped = await agent.start("both")
        assert stopped["status"] == "stopped"
        (other,) = stopped["other_sessions"]
        assert {stopped["stop_event_data"]["source"]["name"], other["name"]} == {"one.py", "two"}
        assert (agent.folder / "count").read_text() == "run\n"
        again = await agent.call("restart_debugging", session_id=stopped["session_id"])
        assert (again["status"], again["session_id"]) == ("stopped", stopped["session_id"])
        assert (agent.folder / "count").read_text() == "run\n"
        await agent.call("stop_debugging", session_id=other["session_id"])
        ended = await agent.call("wait_for_stop", session_id=other["session_id"])
        assert ended["status"] == "completed"
        await until(lambda: not _programs(agent.folder))
        states = [it["state"] for it in (await agent.call("list_sessions"))["sessions"]]
    assert states == ["Terminated", "Terminated"]


@pytest.mark.parametrize("task", ["count", ""])
async def test_where_one_of_a_compound_cannot_start_the_others_are_ended(tmp_path: Path, task: str) -> None:
    async with agent_in(tmp_path) as agent:
        two(agent, second="nowhere.py", preLaunchTask=task)
        failed = await agent.start("both")
        assert (failed["status"], failed["code"]) == ("error", "no_such_program")
        await until(lambda: not _programs(agent.folder))
        sessions = (await agent.call("list_sessions"))["sessions"]
    assert {it["state"] for it in sessions} <= {"Terminated"}


def _programs(folder: Path) -> list[int]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        found += [process.pid] if any(str(folder) in word for word in words) else []
    return found


# What an attach names


@pytest.mark.parametrize(
    ("process", "asked", "code"),
    [
        (2**22 + 1, None, "no_such_process"),
        ("4194305", None, "no_such_process"),
        ("${command:pickProcess}", 2**22 + 1, "no_such_process"),
        ("${command:pickProcess}", None, "unresolved_variable"),
        ("main.py", None, "bad_process_id"),
        (-1, None, "bad_process_id"),
        (None, None, "nothing_to_attach_to"),
        pytest.param(os.getpid(), None, "own_process", id="our own"),
    ],
)
async def test_a_process_that_cannot_be_attached_to_is_reported_before_anything_starts(
    tmp_path: Path, process: object, asked: int | None, code: str
) -> None:
    async with agent_in(tmp_path) as agent:
        named = {} if process is None else {"processId": process}
        written(agent, {"name": "main", "type": "python", "request": "attach", **named})
        refused = await agent.start(process_id=asked)
        assert (refused["status"], refused["code"]) == ("error", code)
        assert refused["hint"]
        assert (await agent.call("list_sessions"))["sessions"] == []


async def test_a_process_of_another_user_is_reported_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:  # noqa: ASYNC220
        monkeypatch.setattr(os, "geteuid", lambda: 12_345)
        async with agent_in(tmp_path) as agent:
            written(agent, {"name": "main", "type": "python", "request": "attach", "processId": process.pid})
            refused = await agent.start()
        process.kill()
    assert refused["code"] == "foreign_process"


# Whose interpreter, and whose word


async def test_two_clients_with_two_environments_get_each_their_own_interpreter(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        (agent.folder / "app.py").write_text("import sys; print(sys.prefix)")
        found = []
        for name in ("first", "second"):
            folder = tmp_path / name
            subprocess.run([PYTHON / "python3", "-m", "venv", "--without-pip", folder], check=True)  # noqa: ASYNC221
            environment = {**agent.caller.environment, "VIRTUAL_ENV": str(folder)}
            client = replace(agent, caller=replace(agent.caller, id=name, environment=environment))
            answer = await client.call("start_debugging", program="app.py")
            found.append((answer["runs_with"]["interpreter"], answer["output"].strip()))
    assert found == [(str(tmp_path / it / "bin" / "python"), str(tmp_path / it)) for it in ("first", "second")]


async def test_the_word_of_the_book_is_as_good_as_a_client_that_a_person_started(tmp_path: Path) -> None:
    async with agent_in(tmp_path, trusted=False) as agent:
        (agent.folder / "app.py").write_text("print(1)")
        refused = await agent.call("start_debugging", program="app.py")
        assert refused["code"] == "needs_trust"
        assert refused["details"]["would_run"][0]["line"] == str(agent.folder / "app.py")
        await agent.book.trust(agent.folder)
        ended = await agent.call("start_debugging", program="app.py")
    assert (ended["status"], ended["exit_code"]) == ("completed", 0)


async def test_an_unknown_type_says_which_there_are(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        written(agent, python(type="cobol"))
        refused = await agent.start()
    assert (refused["code"], "python" in refused["hint"]) == ("no_adapter", True)
