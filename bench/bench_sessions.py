"""Twenty sessions at once: what each adds to our memory, and whether they are in each other's way.

Memory is what the system says is each process's share (PSS). The adapter, its launcher and the program are not counted:
they would be there without us. The daemon's growth and the supervisors are.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from bench.agent import PROGRAMS, Agent, agent_in, home_with_daemon
from bench.claims import Claim

SESSIONS = 20
_ROUNDS = 10
_SINGLE_STEPS = 60
_IDLE_S = 10.0
_PROGRAM = "total = 0\nfor number in range(10**9):\n    total += number\n    total -= 1\n    total += 2\n"


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory(prefix="bench") as folder, home_with_daemon() as environment:
        workspace = Path(shutil.copytree(PROGRAMS, f"{folder}/project"))
        (workspace / "loop.py").write_text(_PROGRAM)
        with agent_in(environment, workspace) as agent:
            return _measured(agent)


def _measured(agent: Agent) -> list[Claim]:
    agent.call("set_breakpoint", file_path="loop.py", line_number=3)
    first = _started(agent)  # what the first session loads is the daemon's, not a session's
    pid = int(agent.call("dragoman_status")["pid"])
    before = _ours_mb(pid)
    single = [_step_s(agent, first) for _ in range(_SINGLE_STEPS)]
    sessions = [first, *(_started(agent) for _ in range(SESSIONS - 1))]
    added = (_ours_mb(pid) - before) / (SESSIONS - 1)
    idle = _share_of_a_core(pid)
    in_turn = [_step_s(agent, id) for _ in range(_ROUNDS) for id in sessions]
    rate, slowest = _all_at_once(agent, sessions)
    alone = statistics.median(single)
    return [
        Claim("memory that a session adds to ours", added, "MB", 10, "lower"),
        Claim("20 sessions in turn: p95 of a step, to the median of one", _p95(in_turn) / alone, "x", 2, "lower"),
        Claim("20 at once: steps a second, to those of one", rate * alone, "x", 0.8, "higher"),
        Claim("20 at once: the slowest step", slowest, "s", 2, "lower"),
        Claim("20 stopped sessions that nobody asks: our share of a core", idle * 100, "%", 5, "lower"),
        Claim("one session: a step", alone * 1000, "ms", 15, "lower"),
    ]


def _started(agent: Agent) -> str:
    stopped = agent.call("start_debugging", program="loop.py")
    assert stopped["status"] == "stopped", stopped
    return str(stopped["session_id"])


def _step_s(agent: Agent, session_id: str) -> float:
    agent.call("step_execution", step_type="over", session_id=session_id)
    return agent.took_s


def _all_at_once(agent: Agent, sessions: list[str]) -> tuple[float, float]:
    """Each session has one step under way until it has made all of its steps; steps a second, and the slowest."""
    begun = time.perf_counter()
    open_steps: dict[int, tuple[str, float]] = {}
    left = dict.fromkeys(sessions, _ROUNDS)
    took: list[float] = []

    def send(session_id: str) -> None:
        id = agent.begin("step_execution", step_type="over", session_id=session_id)
        open_steps[id] = session_id, time.perf_counter()

    for session_id in sessions:
        send(session_id)
    while open_steps:
        id, line = agent.next()
        session_id, sent = open_steps.pop(id)
        assert b'"status":"stopped"' in line.replace(b'": "', b'":"'), line[:400]
        took.append(time.perf_counter() - sent)
        left[session_id] -= 1
        if left[session_id]:
            send(session_id)
    return len(took) / (time.perf_counter() - begun), max(took)


def _ours_mb(daemon: int) -> float:
    """The daemon, the guard and its supervisors: what runs our code and no debugger's."""
    family = [psutil.Process(daemon), *psutil.Process(daemon).children(recursive=True)]
    return sum(_share_mb(it.pid) for it in family if _is_ours(it))


def _share_of_a_core(daemon: int) -> float:
    family = [psutil.Process(daemon), *psutil.Process(daemon).children(recursive=True)]
    ours = [it for it in family if _is_ours(it)]
    before = sum(sum(it.cpu_times()[:2]) for it in ours)
    time.sleep(_IDLE_S)
    return (sum(sum(it.cpu_times()[:2]) for it in ours) - before) / _IDLE_S


def _is_ours(process: psutil.Process) -> bool:
    words = process.cmdline()
    return "dragoman.daemon" in words or any("dragoman.io.processes.fork_server" in word for word in words)


def _share_mb(pid: int) -> float:
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith("Pss:")) / 1000


def _p95(values: Iterable[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]
