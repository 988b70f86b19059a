"""What `trace_call` costs inside a Python program: per traced line, per call of 10,000 lines, and beside the call."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import debugpy

from bench.claims import Claim

_CALLS = Path(__file__).parents[1] / "src" / "dragoman" / "debug" / "evidence" / "calls"
_MONITORING = (12, 13, 14)
_LINE_US = 30
# Runs on its own in each interpreter: the package without a file is how the daemon puts the tracer into a program.
_PROGRAM = """
import importlib, json, sys, time, types
package = types.ModuleType("_bench_calls")
package.__path__ = [sys.argv[1]]
sys.modules["_bench_calls"] = package
tracer = importlib.import_module("_bench_calls.call_tracer")

def summing(count):
    total = 0
    for i in range(count):
        total += i
        odd = i % 2
        name = "odd" if odd else "even"
    return total

def small(n):
    return n + 1

def beside(count):
    total = 0
    for i in range(count):
        total += small(i) * 2
        if total > 1000:
            total -= 1000
    return total

def best(act, rounds=5):
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        act()
        times.append(time.perf_counter() - began)
    return min(times)

def traced(count):
    tracer.start(function="summing")
    began = time.perf_counter()
    summing(count)
    took = time.perf_counter() - began
    lines = json.loads(tracer.stop())["lines"]
    return took, lines

took, lines = min(traced(2500) for _ in range(3))
plain = best(lambda: beside(200_000))
tracer.start(function="summing")
while_waiting = best(lambda: beside(200_000))
summing(10)
after = best(lambda: beside(200_000))
tracer.stop()
print(json.dumps({"took": took, "lines": lines, "ratio": max(while_waiting, after) / plain}))
"""


def run() -> list[Claim]:
    claims: list[Claim] = []
    for version, python in _pythons().items():
        plain, debugged = _measured(python), _measured(python, under_debugger=True)
        line_us = {"": plain["took"] / plain["lines"], " under debugpy": debugged["took"] / debugged["lines"]}
        claims += [
            Claim(f"Python {version}{how}: a traced line", it * 1e6, "µs", _LINE_US, "lower")
            for how, it in line_us.items()
        ]
        claims.append(Claim(f"Python {version}: a call of 10,000 lines", line_us[""] * 10_000, "s", 3, "lower"))
        if _has_monitoring(version):
            beside = f"Python {version}: code beside the call"
            claims.append(Claim(beside, plain["ratio"], "times its plain time", 1.3, "lower"))
    return claims


def _measured(python: str, *, under_debugger: bool = False) -> dict[str, float]:
    """`under_debugger`: debugpy listens in the program and has no breakpoints, as in a run that `trace_call` starts."""
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "program.py"
        program.write_text(_PROGRAM)
        debugger = ["-m", "debugpy", "--listen", "127.0.0.1:0"] if under_debugger else []
        (Path(name) / "debugpy").symlink_to(Path(debugpy.__file__).parent)
        environment = {**os.environ, "PYTHONPATH": name, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        done = subprocess.run(
            [python, *debugger, str(program), str(_CALLS)],
            env=environment, capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
    return dict(json.loads(done.stdout))


def _pythons() -> dict[str, str]:
    """By version: the one that runs this, and each that has `sys.monitoring`."""
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in _MONITORING:
        installed = sorted(root.glob(f"3.{minor}.*/bin/python"))
        path = str(installed[-1]) if installed else shutil.which(f"python3.{minor}")
        if path:
            found.setdefault(f"3.{minor}", path)
    return found


def _has_monitoring(version: str) -> bool:
    return int(version.partition(".")[2]) in _MONITORING
