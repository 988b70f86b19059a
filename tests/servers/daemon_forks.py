"""Daemons to attack, forked from a process that has imported everything: most of a daemon's start is importing it.

Run as a program it is that process: each line that it reads is a `DaemonStart`, each that it writes a `StartedDaemon`.
One of them serves a whole pytest worker.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

_ENDS_WITHIN_S = 20


@dataclass(frozen=True, slots=True)
class DaemonStart:
    environment: Mapping[str, str]
    folder: str
    descriptors: int | None = None
    """How many of them it may have."""


@dataclass(frozen=True, slots=True)
class StartedDaemon:
    pid: int
    port: int
    fault: str = ""


def start(asked: DaemonStart) -> StartedDaemon:
    """It answers requests when this returns. Whoever asked for it ends it."""
    forks = _forks(asked.environment.get("PYTHONPATH", ""))
    assert forks.stdin is not None
    assert forks.stdout is not None
    forks.stdin.write(json.dumps(asdict(asked)) + "\n")
    forks.stdin.flush()
    line = forks.stdout.readline()
    assert line, "the process that forks daemons has ended"
    started = StartedDaemon(**json.loads(line))
    assert not started.fault, started.fault
    return started


@functools.cache
def _forks(python_path: str) -> subprocess.Popen[str]:
    """One for each path that modules are imported from."""
    forks = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.daemon_forks"], cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": python_path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    atexit.register(_end, forks)
    return forks


def _end(forks: subprocess.Popen[str]) -> None:
    forks.communicate(timeout=_ENDS_WITHIN_S)  # the end of its input is its end


def _serve() -> None:
    from tests.servers.target_daemon import run_here

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them here
    for line in sys.stdin:
        if os.fork() == 0:
            _become(DaemonStart(**json.loads(line)), run_here)


def _become(asked: DaemonStart, run: Callable[[Callable[[int], None]], None]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.close(3)  # which devnull was opened as
    os.environ.clear()
    os.environ.update(asked.environment)
    os.chdir(asked.folder)
    if asked.descriptors is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (asked.descriptors, asked.descriptors))

    is_ready = False

    def report_start(port: int, fault: str = "") -> None:
        nonlocal is_ready
        is_ready = True
        line = json.dumps(asdict(StartedDaemon(os.getpid(), port, fault)))
        os.write(1, f"{line}\n".encode())

    try:
        run(report_start)
    except BaseException:  # noqa: BLE001  whoever asked hears of it
        if is_ready:  # one line for each start: another would be taken for that of the next daemon
            traceback.print_exc()
        else:
            report_start(0, traceback.format_exc())
    finally:
        os._exit(0)


if __name__ == "__main__":
    _serve()
