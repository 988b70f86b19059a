"""A whole session through `dragoman mcp`, beside the debuggers as shipped with a plain DAP client, in one run.

The scenario: a conditional breakpoint, start, ten step-overs with locals, an evaluation, on to the end. Ours and theirs
are taken in turn, so that a busy moment of the machine meets both.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bench.agent import PROGRAMS, Agent, agent_in, home_with_daemon
from bench.claims import Claim
from bench.raw_dap import Stock, stock_python

_RUNS = 5
_STEPS = 10
TEXT_BYTES = 3000
LONG_TEXT_BYTES = 5000
LONG_VALUES = "long_values.py"
_MARKS = {LONG_VALUES: "tag = 60000 + "}
_EXPRESSIONS = {LONG_VALUES: "tag + number"}
_CONDITIONS = {".py": "number == 40", ".js": "number === 40"}

OpenStock = Callable[[Path, int, str], AbstractContextManager[Stock]]


@dataclass(frozen=True, slots=True)
class Taken:
    ready_s: float
    first_stop_s: float
    step_s: float
    calls: int = 0
    text_bytes: int = 0
    whole_bytes: int = 0


def run() -> list[Claim]:
    ours, stock = measured("orders.py", stock_python)
    return [
        Claim("step with snapshot, to stock debugpy", ratio(ours, stock, "step_s"), "x", 0.08, "lower"),
        Claim("first stop, to stock debugpy", ratio(ours, stock, "first_stop_s"), "x", 0.80, "lower"),
        Claim("step with snapshot", median(ours, "step_s") * 1000, "ms", 15, "lower"),
        Claim("stock debugpy: the same step", median(stock, "step_s") * 1000, "ms", 100, "higher"),
        Claim("first stop", median(ours, "first_stop_s") * 1000, "ms", 1000, "lower"),
        Claim("`dragoman mcp` ready", median(ours, "ready_s") * 1000, "ms", 150, "lower"),
        Claim("calls of the scenario", median(ours, "calls"), "calls", 14, "lower"),
        Claim("its text", median(ours, "text_bytes"), "bytes", TEXT_BYTES, "lower"),
        Claim("its text with twelve locals of long values", _long_text_bytes(), "bytes", LONG_TEXT_BYTES, "lower"),
        Claim("its whole results", median(ours, "whole_bytes"), "bytes", 30_000, "lower"),
    ]


def measured(program: str, stock: OpenStock) -> tuple[list[Taken], list[Taken]]:
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(prefix="bench") as folder, home_with_daemon() as environment:
        workspace = Path(shutil.copytree(PROGRAMS, f"{folder}/project"))
        for _ in range(_RUNS + 1):
            ours.append(_ours(environment, workspace, program))
            theirs.append(_theirs(stock, workspace / program))
    return ours[1:], theirs[1:]  # the first of each warms caches


def _ours(environment: dict[str, str], workspace: Path, program: str) -> Taken:
    begun = time.perf_counter()
    with agent_in(environment, workspace) as agent:
        ready_s = time.perf_counter() - begun
        first_s, steps = scenario(agent, program)
        return Taken(ready_s, first_s, statistics.median(steps), agent.calls, agent.text_bytes, agent.whole_bytes)


def scenario(agent: Agent, program: str) -> tuple[float, list[float]]:
    """The 14 calls: how long the first stop took, and each step."""
    line, condition = _line(agent.workspace / program), _CONDITIONS[Path(program).suffix]
    agent.call("set_breakpoint", file_path=program, line_number=line, condition=condition)
    stopped = agent.call("start_debugging", program=program)
    first_s = agent.took_s
    assert stopped["status"] == "stopped", stopped
    steps = [_step_s(agent) for _ in range(_STEPS)]
    agent.call("evaluate_expression", expression=_EXPRESSIONS.get(program, "result + number"))
    assert agent.call("continue_debugging")["status"] == "completed"
    return first_s, steps


def _long_text_bytes() -> float:
    with tempfile.TemporaryDirectory(prefix="bench") as folder, home_with_daemon() as environment:
        workspace = Path(shutil.copytree(PROGRAMS, f"{folder}/project"))
        return _ours(environment, workspace, LONG_VALUES).text_bytes


def _step_s(agent: Agent) -> float:
    stopped = agent.call("step_execution", step_type="over")
    assert stopped["stop_event_data"]["top_frame_variables"]["variables"], stopped
    return agent.took_s


def _theirs(open_stock: OpenStock, program: Path) -> Taken:
    with open_stock(program, _line(program), _CONDITIONS[program.suffix]) as stock:
        return Taken(0.0, stock.first_stop_s, statistics.median(stock.step() for _ in range(_STEPS)))


def _line(program: Path) -> int:
    mark = _MARKS.get(program.name, "doubled = ")
    return 1 + next(at for at, line in enumerate(program.read_text().splitlines()) if mark in line)


def median(taken: list[Taken], name: str) -> float:
    return float(statistics.median(getattr(it, name) for it in taken))


def ratio(ours: list[Taken], stock: list[Taken], name: str) -> float:
    return median(ours, name) / median(stock, name)
