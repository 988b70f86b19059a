"""Real daemons of one home that start within a moment: each is forked from a process that has imported everything.

Run as a program it is that process: for each line that it reads it forks a daemon, which says its pid when it is ready.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dragoman.core.paths import Paths, find_paths
from tests.daemons import PATIENCE, Cli, call, eventually

_STARTED_WITHIN_S = 30
_HALTED_S = 0.15


class QuickDaemon:
    def __init__(self, cli: Cli, forking: subprocess.Popen[bytes]) -> None:
        self._cli = cli
        self._forking = forking
        self.pid = 0

    @property
    def home(self) -> Path:
        return self._cli.home

    @property
    def paths(self) -> Paths:
        return self._cli.paths

    def variables(self) -> dict[str, str]:
        return self._cli.variables()

    def start(self) -> None:
        assert self._forking.stdin is not None
        assert self._forking.stdout is not None
        self._forking.stdin.write(b"\n")
        self._forking.stdin.flush()
        assert select.select([self._forking.stdout], [], [], _STARTED_WITHIN_S * PATIENCE)[0], "no daemon in time"
        self.pid = int(self._forking.stdout.readline())

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def halt(self) -> None:
        """For a moment, in which whoever tells it something waits."""
        self._signal(signal.SIGSTOP)
        time.sleep(_HALTED_S)
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def end(self) -> None:
        """In order; at the end its record can be opened."""
        call(self.paths, "shutdown")
        eventually(lambda: not _is_running(self.pid), within_s=20)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def quick_daemon(home: Path) -> Iterator[QuickDaemon]:
    cli = Cli(home, {"DRAGOMAN_PORT": "0"})
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.terminal_kills.quick_daemon"],
        env=cli.variables(),
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as forking:
        daemon = QuickDaemon(cli, forking)
        try:
            daemon.start()
            yield daemon
        finally:
            daemon.kill()
            forking.kill()


def _main() -> None:
    import anyio

    from dragoman.daemon.app import DaemonOptions, RunningDaemon, run

    def ready(_: RunningDaemon) -> None:
        os.write(1, b"%d\n" % os.getpid())

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while sys.stdin.buffer.readline():
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            options = DaemonOptions(workspace=Path.cwd(), port=0, wait_for_lock_s=10)
            anyio.run(run, options, find_paths(), ready)
            os._exit(0)


if __name__ == "__main__":
    _main()
