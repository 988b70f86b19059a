"""A step in an editor: through `dragoman dap --stdio`, beside the debugger as shipped, in one run.

The same plain client drives both, with the same requests: a step over, then the stack, the scopes and the locals. With
three more editors on the same session it is measured once more: those who watch must not cost the one who steps.
"""

from __future__ import annotations

import contextlib
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.agent import COMMAND, PROGRAMS, home_with_daemon
from bench.claims import Claim
from bench.raw_dap import RawDap, Stock, stock_python

_RUNS = 5
_STEPS = 10
_WATCHERS = 3
_PROGRAM, _MARK = "orders.py", "doubled = "


@dataclass(frozen=True, slots=True)
class Taken:
    ready_s: float
    first_stop_s: float
    step_s: float
    watched_step_s: float = 0.0


def run() -> list[Claim]:
    ours, stock = _measured()
    step = _median(ours, "step_s")
    return [
        Claim("step with stack and locals, to stock debugpy", step / _median(stock, "step_s"), "x", 0.10, "lower"),
        Claim(
            "first stop, to stock debugpy",
            _median(ours, "first_stop_s") / _median(stock, "first_stop_s"),
            "x",
            1.2,
            "lower",
        ),
        Claim("the step with three more editors, to alone", _median(ours, "watched_step_s") / step, "x", 1.5, "lower"),
        Claim("step with stack and locals", step * 1000, "ms", 20, "lower"),
        Claim("`dragoman dap --stdio` answers", _median(ours, "ready_s") * 1000, "ms", 150, "lower"),
    ]


def _measured() -> tuple[list[Taken], list[Taken]]:
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(prefix="bench") as folder, home_with_daemon() as environment:
        program = Path(shutil.copytree(PROGRAMS, f"{folder}/project")) / _PROGRAM
        for _ in range(_RUNS + 1):
            ours.append(_ours(environment, program))
            theirs.append(_theirs(program))
    return ours[1:], theirs[1:]  # the first of each warms caches


def _ours(environment: dict[str, str], program: Path) -> Taken:
    begun = time.perf_counter()
    with _editor(environment, program.parent) as dap:
        ready_s = time.perf_counter() - begun
        launched = dap.begin("launch", dragomanType="python", program=str(program))
        dap.event("initialized")
        dap.ask("setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": _line(program)}])
        dap.ask("configurationDone")
        stepper = Stock(dap, dap.event("stopped")["threadId"], 0.0)
        stepper.look()
        first_s = time.perf_counter() - begun
        dap.answer(launched)
        dap.ask("setBreakpoints", source={"path": str(program)}, breakpoints=[])
        step_s = statistics.median(stepper.step() for _ in range(_STEPS))
        watched_s = _watched(environment, program, stepper)
        dap.ask("disconnect", terminateDebuggee=True)
        return Taken(ready_s, first_s, step_s, watched_s)


def _watched(environment: dict[str, str], program: Path, stepper: Stock) -> float:
    with contextlib.ExitStack() as stack:
        for _ in range(_WATCHERS):
            watcher = stack.enter_context(_editor(environment, program.parent))
            watcher.ask("attach")
            watcher.event("initialized")
            watcher.ask("configurationDone")
            watcher.event("stopped")
        return statistics.median(stepper.step() for _ in range(_STEPS))


def _theirs(program: Path) -> Taken:
    with stock_python(program, _line(program)) as stock:
        return Taken(0.0, stock.first_stop_s, statistics.median(stock.step() for _ in range(_STEPS)))


@contextlib.contextmanager
def _editor(environment: dict[str, str], workspace: Path) -> Iterator[RawDap]:
    process: subprocess.Popen[Any] = subprocess.Popen(
        [*COMMAND, "dap", "--stdio"], env=environment, cwd=workspace, stdin=-1, stdout=-1
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        dap = RawDap(process.stdout, process.stdin)
        dap.ask("initialize", adapterID="dragoman", clientName="bench", linesStartAt1=True, columnsStartAt1=True)
        try:
            yield dap
        finally:
            process.kill()


def _line(program: Path) -> int:
    return 1 + next(at for at, line in enumerate(program.read_text().splitlines()) if _MARK in line)


def _median(taken: list[Taken], name: str) -> float:
    return float(statistics.median(getattr(it, name) for it in taken))
