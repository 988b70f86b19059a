"""Paths over `--on`: a checkout here and one there, in other folders, and everybody sees their own paths."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.output import ExitCode
from tests.daemons import Cli, cli_with_home
from tests.support.ssh_machine import NAME, SshMachine, ssh_machine

pytestmark = [pytest.mark.needs("sshd"), pytest.mark.timeout(120)]

PROGRAM = """\
import sys
import traceback


def total(prices):
    subtotal = sum(prices)
    return subtotal


print(__file__, total([1, 2]), sys.argv[1:])
try:
    raise ValueError
except ValueError:
    traceback.print_exc()
"""


@dataclass(frozen=True)
class Checkouts:
    here: Path
    there: Path


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshMachine]:
    with ssh_machine(tmp_path_factory.mktemp("m")) as machine:
        yield machine


@pytest.fixture(scope="module")
def checkouts(machine: SshMachine, tmp_path_factory: pytest.TempPathFactory) -> Checkouts:
    here, there = tmp_path_factory.mktemp("near") / "my shop", machine.far / "srv" / "shop"
    here.mkdir()
    (here / "orders.py").write_text(PROGRAM)
    for words in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first"),
    ):
        subprocess.run(["git", "-C", str(here), *words], check=True, timeout=20)
    shutil.copytree(here, there)
    return Checkouts(here, there)


@pytest.fixture(scope="module")
def here(machine: SshMachine, checkouts: Checkouts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    assert machine.there("up", cwd=machine.far).returncode == 0
    assert machine.there("trust", str(checkouts.there)).returncode == ExitCode.OK
    with cli_with_home(tmp_path_factory.mktemp("n"), machine.variables()) as cli:
        yield cli


class Agent:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._last = 0
        self.ask(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
        )

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        while True:
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._last:
                return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result


@pytest.fixture
def agent(machine: SshMachine, checkouts: Checkouts, here: Cli) -> Iterator[Agent]:
    command = here.command("mcp", "--on", machine.name, "--map", f"{checkouts.here}=srv/shop")
    with subprocess.Popen(
        command, cwd=checkouts.here, env=here.variables(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            yield Agent(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(20)


def test_an_agent_works_with_its_own_paths(agent: Agent, checkouts: Checkouts) -> None:
    program = str(checkouts.here / "orders.py")
    placed = agent.call("set_breakpoint", file_path=program, line_number=7)
    assert placed["structuredContent"]["breakpoint"]["source"]["path"] == program
    stopped = agent.call("start_debugging", program=program, args=[f"--in={checkouts.here}"])["structuredContent"]
    stop = stopped["stop_event_data"]
    assert stop["hit_breakpoint_ids"] == [placed["structuredContent"]["breakpoint"]["id"]]
    assert stop["source"]["path"] == program
    assert [it["file_path"] for it in stop["call_stack"]] == [program, program]
    assert "notes" not in stopped
    ended = agent.call("continue_debugging", until={"file_path": program, "line_number": 12})
    assert ended["structuredContent"]["stop_event_data"]["line"] == 12
    agent.call("continue_debugging")
    output = agent.call("get_output")["structuredContent"]
    printed = json.dumps(output)
    assert f'File \\"{program}\\", line 12' in printed
    assert f"{program} 3 ['--in={checkouts.here}']" in printed  # the argument crossed, and is shown as it is here
    assert str(checkouts.there) not in printed


def test_a_file_that_differs_is_named_once_with_the_line(agent: Agent, checkouts: Checkouts) -> None:
    program = checkouts.here / "orders.py"
    program.write_text(PROGRAM.replace("subtotal = sum(prices)", "subtotal = sum(prices)  # all"))
    note = f"note: orders.py differs here and on ssh:{NAME}, first at line 6"
    try:
        agent.call("set_breakpoint", file_path=str(program), line_number=7)
        stopped = agent.call("start_debugging", program=str(program))
        assert stopped["content"][-1]["text"] == note
        assert stopped["structuredContent"]["notes"] == [{"message": note, "about": ""}]
        assert note not in json.dumps(agent.call("step_execution", step_type="over"))
        agent.call("stop_debugging")
        assert note not in json.dumps(agent.call("start_debugging", program=str(program)))
        agent.call("stop_debugging")
    finally:
        program.write_text(PROGRAM)


def test_the_command_line_maps_the_working_folder(machine: SshMachine, checkouts: Checkouts, here: Cli) -> None:
    on = ("--on", machine.name, "--map", ".=srv/shop")
    done = here("debug", "orders.py", "--break", "orders.py:7", *on, "--json", cwd=checkouts.here)
    stopped = json.loads(done.stdout)
    assert stopped["stop_event_data"]["source"]["path"] == str(checkouts.here / "orders.py"), done.stderr
    ended = here("debug", "continue", *on, cwd=checkouts.here)
    assert f'File "{checkouts.here}/orders.py", line 12' in ended.stdout


def test_checkouts_of_one_repository_find_each_other(machine: SshMachine, checkouts: Checkouts, here: Cli) -> None:
    on = ("--on", machine.name, "--workspace", "srv/shop")
    program = str(checkouts.here / "orders.py")
    done = here("debug", program, "--break", f"{program}:7", *on, "--json", cwd=checkouts.here)
    assert json.loads(done.stdout)["stop_event_data"]["source"]["path"] == program, done.stderr


def test_a_folder_that_is_not_there_is_an_error(machine: SshMachine, checkouts: Checkouts, here: Cli) -> None:
    done = here("why", "--on", machine.name, "--map", ".=srv/missing", "--json", cwd=checkouts.here)
    assert json.loads(done.stdout)["error"]["message"] == f"srv/missing is not a folder on {machine.name}."


def test_an_editor_sees_its_own_paths(machine: SshMachine, checkouts: Checkouts, here: Cli) -> None:
    program = str(checkouts.here / "orders.py")
    command = here.command("dap", "--stdio", "--on", machine.name, "--map", f"{checkouts.here}=srv/shop")
    with subprocess.Popen(
        command, cwd=checkouts.here, env=here.variables(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        editor = Editor(process)
        editor.ask("initialize", adapterID="dragoman", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
        launch = editor.begin(
            "launch", type="python", request="launch", name="n", program=program, cwd="${workspaceFolder}"
        )
        editor.event("initialized")
        placed = editor.ask("setBreakpoints", source={"path": program}, breakpoints=[{"line": 7}])
        editor.ask("configurationDone")
        editor.answer(launch)
        thread = editor.event("stopped")["threadId"]
        frames = editor.ask("stackTrace", threadId=thread)["stackFrames"]
        assert [it["source"]["path"] for it in frames] == [program, program]
        assert placed["breakpoints"][0].get("source", {"path": program})["path"] == program
        editor.ask("continue", threadId=thread)
        editor.event("terminated")
        printed = "".join(it["body"]["output"] for it in editor.events if it["event"] == "output")
        assert f'File "{program}", line 12' in printed
        assert str(checkouts.there) not in printed
        assert process.stdin is not None
        process.stdin.close()
        process.wait(20)


class Editor:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        self._last = 0
        self.events: list[dict[str, Any]] = []
        self._answers: dict[int, dict[str, Any]] = {}

    def begin(self, command: str, **arguments: Any) -> int:
        self._last += 1
        message = {"seq": self._last, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._in.flush()
        return self._last

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self.answer(self.begin(command, **arguments))

    def answer(self, seq: int) -> dict[str, Any]:
        while seq not in self._answers:
            self._read()
        assert self._answers[seq]["success"], self._answers[seq]
        body: dict[str, Any] = self._answers[seq].get("body", {})
        return body

    def event(self, name: str) -> dict[str, Any]:
        while True:
            for it in self.events:
                if it["event"] == name:
                    body: dict[str, Any] = it.get("body", {})
                    return body
            self._read()

    def _read(self) -> None:
        length = 0
        while (line := self._out.readline().strip()) or not length:
            assert line, "the editor's connection was closed"
            length = int(line.partition(b":")[2]) if line.lower().startswith(b"content-length") else length
        message = json.loads(self._out.read(length))
        if message["type"] == "event":
            self.events.append(message)
        elif message["type"] == "response":
            self._answers[message["request_seq"]] = message
