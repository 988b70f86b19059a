"""One daemon for all of them, agents at it by the real pump, and editors by its socket."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.daemon.launcher import read_state
from tests.daemons import Cli, cli_with_home
from tests.servers.dap.editor import Editor, at_socket
from tests.servers.mcp.raw_client import RawClient, raw_client

PROGRAM = """\
import sys

def inner(value):
    doubled = value * 2
    return doubled

def outer(count):
    total = 0
    for number in range(count):
        total += inner(number)
        print("total", total, flush=True)
    return total

print("result", outer(int(sys.argv[1]) if len(sys.argv) > 1 else 5), flush=True)
"""
IN_LOOP = 10
AT_INNER = 4
MANY = 100_000


@dataclass
class Agent:
    """At an MCP pump of its own."""

    client: RawClient
    results: list[dict[str, Any]] = field(default_factory=list)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        asked = self.client.request("tools/call", {"name": tool, "arguments": arguments})
        result = self.client.answer(asked)["result"]
        self.results.append(result)
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    @property
    def text(self) -> str:
        return "".join(it["text"] for it in self.results[-1]["content"])

    def stopped_at(self, path: Path, line: int, *args: str) -> dict[str, Any]:
        """A session of its own that stands there, by a breakpoint of its own."""
        self.call("set_breakpoint", file_path=str(path), line_number=line)
        stop = self.call("start_debugging", program=str(path), args=list(args))
        assert stop["status"] == "stopped", stop
        return stop


class SharedAgent(Agent):
    """One program for many tests: what takes long is starting a debugger. A test that ends it leaves the next to start
    another; where it stands is made so again."""

    session = ""

    def stopped_at(self, path: Path, line: int, *args: str) -> dict[str, Any]:
        self.call("remove_breakpoint", clear_all=True)
        if not self._is_running():
            stop = super().stopped_at(path, line, *args)
            self.session = stop["session_id"]
            return stop
        self.call("set_breakpoint", file_path=str(path), line_number=line)
        stop = self.call("wait_for_stop", session_id=self.session)
        while stop["stop_event_data"]["line"] != line:
            stop = self.call("continue_debugging", session_id=self.session)
        return stop

    def _is_running(self) -> bool:
        listed = self.call("list_sessions")["sessions"]
        return any(it["session_id"] == self.session and it["state"] in {"Stopped", "Running"} for it in listed)


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0", "PATH": path, "VIRTUAL_ENV": ""}) as cli:
        assert cli("up").returncode == 0
        yield cli


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def agent(daemon: Cli, tmp_path: Path) -> Iterator[Agent]:
    """Whatever it started is ended behind it."""
    with raw_client(daemon, "--workspace", str(tmp_path)) as client:
        client.initialize()
        agent = Agent(client)
        yield agent
        for session in agent.call("list_sessions")["sessions"]:
            if session["state"] not in {"Terminated", "Terminating"}:
                agent.call("stop_debugging", session_id=session["session_id"])


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    (folder / "program.py").write_text(PROGRAM.replace("else 5", f"else {MANY}"))
    return folder


@pytest.fixture(scope="module")
def shared_agent(daemon: Cli, shared_folder: Path) -> Iterator[SharedAgent]:
    with raw_client(daemon, "--workspace", str(shared_folder)) as client:
        client.initialize()
        agent = SharedAgent(client)
        yield agent
        if agent.session:
            agent.call("stop_debugging", session_id=agent.session)


OpenEditor = Callable[..., AbstractContextManager[Editor]]


@pytest.fixture
def editor_at(daemon: Cli) -> OpenEditor:
    state = read_state(daemon.paths)
    assert state is not None
    return lambda name="Editor": at_socket(state.dap_socket, name)


@pytest.fixture
def editor(editor_at: OpenEditor) -> Iterator[Editor]:
    with contextlib.ExitStack() as stack:
        yield stack.enter_context(editor_at("Visual Studio Code"))
