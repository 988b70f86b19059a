"""An agent at the real `dragoman mcp` with a hostile program behind it, and measures of what the program may cost.

Everything is seen from outside: answers and their sizes at the pump, memory and lag of the daemon by the system and its
own health report, and the process table. Whatever a program does, an agent must get a true answer in time, and the
next one must not notice.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.daemons import PATIENCE, Cli, cli_with_home, eventually
from tests.machine import machine_lag
from tests.peers import give_adapters
from tests.servers.mcp.raw_client import RawClient, raw_client

PROGRAMS = Path(__file__).parent.parent / "examples" / "hostile"
STOP = "stop here"
# Nobody asked for more than the defaults, so no answer may be larger than this, whatever the program holds.
ANSWER_BYTES = 64_000
_SLACK_S = 3.0
_MB = 1_000_000

Answer = dict[str, Any]


@dataclass
class Agent:
    client: RawClient
    cli: Cli
    workspace: Path
    largest: int = 0
    slowest_s: float = 0.0
    calls: list[str] = field(default_factory=list)

    def call(self, tool: str, *, within_s: float = 45, **arguments: Any) -> Answer:
        """The object that the tool answered with, in time and of a bearable size."""
        began = time.monotonic()
        id = self.client.begin_call(tool, **arguments)
        message = self.client.answer(id, within_s=within_s + _SLACK_S)
        self.slowest_s = max(self.slowest_s, time.monotonic() - began)
        self.largest = max(self.largest, len(json.dumps(message).encode()))
        self.calls.append(tool)
        assert "result" in message, message
        assert self.largest <= ANSWER_BYTES, (tool, self.largest)
        answer = message["result"]["structuredContent"]
        assert isinstance(answer, dict), message
        return answer

    def start(self, program: str, *args: str, within_s: float = 45, **more: Any) -> Answer:
        """Let a program run to its first stop or its end."""
        return self.call("start_debugging", program=program, args=list(args), within_s=within_s, **more)

    def stopped(self, program: str, *args: str, within_s: float = 45, **more: Any) -> Answer:
        """`stop_event_data` at the line marked in the program."""
        path = self.workspace / program
        self.call("set_breakpoint", file_path=str(path), line_text=STOP)
        answer = self.start(program, *args, within_s=within_s, **more)
        assert answer["status"] == "stopped", answer
        stop: Answer = answer["stop_event_data"]
        assert STOP in stop["source_lines"]["lines"][stop["line"] - stop["source_lines"]["start"]]
        return stop

    def require_usable(self) -> None:
        """The session that went through it still answers."""
        assert self.call("evaluate_expression", expression="6 * 7", within_s=20)["result"] == "42"

    def end(self) -> None:
        """The session, by the tool; nothing of it may live on."""
        self.call("stop_debugging", within_s=5)
        self.require_nothing_left()

    def require_nothing_left(self, within_s: float = 12) -> None:
        eventually(lambda: not self.processes(), within_s=within_s)

    def processes(self) -> list[str]:
        shown = []
        for process in self.family():
            with contextlib.suppress(psutil.Error):
                shown.append(f"{process.pid} {process.status()} {process.cmdline()}")
        return shown

    def family(self) -> list[psutil.Process]:
        """What lives in or for the workspace, but for those that only have its name in their command line."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                is_ours = process.pid in {os.getpid(), self.client.process.pid} or "dragoman.daemon" in words
                is_dead = process.status() == psutil.STATUS_ZOMBIE
                if not is_ours and not is_dead and any(str(self.workspace) in word for word in [process.cwd(), *words]):
                    found.append(process)
        return found


@dataclass(frozen=True, slots=True)
class Cost:
    """The daemon's peak memory over what it had, and how late its event loop was at worst within the last minute.

    So late was a thread here that does nothing else: that much is the machine's.
    """

    memory_mb: float
    lag_ms: float
    machine_lag_ms: float


class DaemonWatch:
    """Resets the peak that the system keeps, so that a test sees its own."""

    def __init__(self, agent: Agent) -> None:
        status = agent.call("dragoman_status")
        self.pid: int = status["pid"]
        self._health = f"{status['address'].rstrip('/')}/health"
        (Path("/proc") / str(self.pid) / "clear_refs").write_text("5")
        self._before_mb = psutil.Process(self.pid).memory_info().rss / _MB

    def cost(self) -> Cost:
        with urllib.request.urlopen(self._health, timeout=5) as answer:
            health = json.loads(answer.read())
        return Cost(self._peak_mb() - self._before_mb, health["worst_lag_ms"], machine_lag().worst_ms())

    def _peak_mb(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(it for it in status.splitlines() if it.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / _MB


@contextlib.contextmanager
def within_bounds(agent: Agent, *, memory_mb: float = 40, lag_ms: float = 250) -> Iterator[None]:
    """Around a test: whatever happened in it cost the daemon little, and left no process."""
    watch = DaemonWatch(agent)
    before = watch.cost()
    yield
    agent.require_nothing_left()
    cost = watch.cost()
    assert cost.memory_mb < memory_mb, cost
    # The worst of a minute may be another test's.
    assert cost.lag_ms <= max(before.lag_ms, lag_ms * PATIENCE + 2 * cost.machine_lag_ms), cost


def environment() -> dict[str, str]:
    """Dragoman's own interpreter is never a program's: the one behind it is."""
    return {"PATH": f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}", "DRAGOMAN_PORT": "0"}


@contextlib.contextmanager
def hostile_home(folder: Path, *, with_adapters: bool = False) -> Iterator[Cli]:
    """The daemon is up before the first agent comes, so that no workspace is its folder."""
    machine_lag()
    if with_adapters:
        give_adapters(folder / "home")
    with cli_with_home(folder / "home", environment()) as cli:
        assert cli("up").returncode == 0
        yield cli


@contextlib.contextmanager
def agent_with(cli: Cli, workspace: Path, programs: str) -> Iterator[Agent]:
    """In a workspace of its own, so that programs may leave files and breakpoints are nobody else's."""
    shutil.copytree(PROGRAMS / programs, workspace, dirs_exist_ok=True)
    with raw_client(cli, "--workspace", str(workspace), cwd=workspace) as client:
        client.initialize()
        yield Agent(client, cli, workspace)
