"""What `trace_call` costs inside a Python program: per traced line, per call of 10,000 lines, and beside the call."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.claims import Claim

_CALLS = Path(__file__).parents[1] / "src" / "dragoman" / "debug" / "evidence" / "calls"
_MONITORING = (12, 13, 14)
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
    own = _measured(sys.executable)
    claims = [
        Claim("traced line of a call in Python", own["took"] / own["lines"] * 1e6, "µs", 30, "lower"),
        Claim("a call of 10,000 lines", own["took"] / own["lines"] * 10_000, "s", 3, "lower"),
    ]
    newer = _newer_python()
    if newer:
        found = _measured(newer)
        claims += [
            Claim("traced line by sys.monitoring", found["took"] / found["lines"] * 1e6, "µs", 30, "lower"),
            Claim("code beside the call, by sys.monitoring", found["ratio"], "times its plain time", 1.3, "lower"),
        ]
    return claims


def _measured(python: str) -> dict[str, float]:
    command = [python, "-c", _PROGRAM, str(_CALLS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return dict(json.loads(done.stdout))


def _newer_python() -> str:
    """The newest one that has `sys.monitoring`."""
    if sys.version_info >= (3, 12):
        return ""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in reversed(_MONITORING):
        installed = sorted(root.glob(f"3.{minor}.*/bin/python"))
        found = str(installed[-1]) if installed else shutil.which(f"python3.{minor}") or ""
        if found:
            return found
    return ""
