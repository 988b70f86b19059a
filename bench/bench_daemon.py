"""How fast the command line answers, how soon the daemon is healthy, and what it weighs when idle."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.claims import Claim

_ROUNDS = 9


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory() as home, _daemon(home) as (state, healthy_s):
        return [
            Claim("dragoman --version", _median_ms(home, "--version"), "ms", 100, "lower"),
            Claim("dragoman status", _median_ms(home, "status"), "ms", 100, "lower"),
            Claim("daemon healthy after up", healthy_s, "s", 2, "lower"),
            Claim("idle daemon, resident", psutil.Process(state["pid"]).memory_info().rss / 1e6, "MB", 100, "lower"),
        ]


@contextlib.contextmanager
def running(home: str) -> Iterator[dict[str, int]]:
    with _daemon(home) as (state, _):
        yield state


@contextlib.contextmanager
def _daemon(home: str) -> Iterator[tuple[dict[str, int], float]]:
    begun = time.perf_counter()
    _dragoman(home, "up", "--port", "0")
    state = json.loads((Path(home) / "run" / "daemon.json").read_text())
    with urllib.request.urlopen(f"http://127.0.0.1:{state['port']}/health", timeout=5) as answer:
        assert answer.status == 200
    healthy_s = time.perf_counter() - begun
    try:
        yield state, healthy_s
    finally:
        _dragoman(home, "down")


def _median_ms(home: str, *arguments: str) -> float:
    _dragoman(home, *arguments)
    return statistics.median(_timed_ms(home, *arguments) for _ in range(_ROUNDS))


def _timed_ms(home: str, *arguments: str) -> float:
    begun = time.perf_counter()
    _dragoman(home, *arguments)
    return (time.perf_counter() - begun) * 1000


def _dragoman(home: str, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("dragoman")), *arguments]
    environment = {**os.environ, "DRAGOMAN_HOME": home}
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=30)
