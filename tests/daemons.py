"""Real daemons for tests: in this process (to see inside) or as a process of its own (to stop, kill and starve)."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import psutil

from dragoman.core.errors import DragomanError
from dragoman.core.paths import Paths, find_paths
from dragoman.daemon.app import DaemonOptions, RunningDaemon, run
from dragoman.io.drivers.control_client import ControlClient
from dragoman.servers.control.status import LiveSessions

# One factor for every deadline: a slow machine sets it, no test is edited.
PATIENCE = float(os.environ.get("TEST_PATIENCE", "1"))
_RESTS = 4  # times as long as was asked
_MOST_REST_S = 0.2


def eventually(condition: Callable[[], Any], *, within_s: float = 10, every_s: float = 0.01) -> Any:
    """Wait for a condition, with a deadline; returns what it returned.

    What takes long to ask, as a look at every process does, is asked less often: others need the processor for it.
    """
    began = time.monotonic()
    deadline = began + within_s * PATIENCE
    while not (value := condition()):
        asked = time.monotonic()
        if asked > deadline:
            raise AssertionError(f"not within {within_s} s: {condition}")
        time.sleep(max(every_s, min(_RESTS * (asked - began), _MOST_REST_S)))
        began = time.monotonic()
    return value


@contextlib.asynccontextmanager
async def daemon_here(
    paths: Paths | None = None, *, live_sessions: LiveSessions | None = None
) -> AsyncIterator[RunningDaemon]:
    """The daemon in this event loop; ended in order, or by the end of the block."""
    paths = paths or find_paths()
    started: list[RunningDaemon] = []
    ready = anyio.Event()

    def report(running: RunningDaemon) -> None:
        started.append(running)
        ready.set()

    async with anyio.create_task_group() as group:
        group.start_soon(
            lambda: run(
                DaemonOptions(workspace=Path.cwd(), port=0, owns_process=False),
                paths,
                report,
                live_sessions=live_sessions,
            )
        )
        with anyio.fail_after(10 * PATIENCE):
            await ready.wait()
        try:
            yield started[0]
        finally:
            group.cancel_scope.cancel()


@dataclass
class Cli:
    """The `dragoman` command with a home of its own."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> Paths:
        return find_paths(self.variables())

    def variables(self) -> dict[str, str]:
        return {**os.environ, "DRAGOMAN_HOME": str(self.home), "DRAGOMAN_LANG": "en", **self.environment}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-P", "-m", "dragoman.cli.main", *arguments]

    def __call__(self, *arguments: str, within_s: float = 40, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            env=self.variables(),
            capture_output=True,
            text=True,
            timeout=within_s * PATIENCE,
            stdin=options.pop("stdin", subprocess.DEVNULL),
            check=False,
            **options,
        )

    def begin(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments), env=self.variables(), text=True, stdin=subprocess.DEVNULL,
            stdout=options.pop("stdout", subprocess.PIPE), stderr=options.pop("stderr", subprocess.PIPE), **options,
        )  # fmt: skip

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json").stdout)

    def status(self) -> dict[str, Any]:
        value: dict[str, Any] = self.json("status")
        return value

    def token(self, purpose: str) -> str:
        return self.paths.token_file(purpose).read_text().strip()

    def kill(self) -> None:
        """However a test left it: end the daemon of this home, and nothing else."""
        for process in daemons_of(self.home):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)
                process.kill()
        # Whoever inherits an orphan may be slow to bury it: a corpse counts as gone.
        eventually(lambda: not daemons_of(self.home))


def daemons_of(home: Path) -> list[psutil.Process]:
    """Every daemon process of a home, by the variable in its environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if "dragoman.daemon" in process.cmdline() and process.environ().get("DRAGOMAN_HOME") == str(home):
                found.append(process)
    return [process for process in found if _is_itself(process, {it.pid for it in found})]


def _is_itself(process: psutil.Process, daemons: set[int]) -> bool:
    """Not a dead one, nor a child that is just being started and still looks like its parent."""
    with contextlib.suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE and process.ppid() not in daemons
    return False


@contextlib.contextmanager
def cli_with_home(home: Path, environment: Mapping[str, str] | None = None) -> Iterator[Cli]:
    cli = Cli(home, dict(environment or {}))
    try:
        yield cli
    finally:
        cli.kill()


def call(paths: Paths, method: str, params: Mapping[str, Any] | None = None) -> Any:
    with ControlClient.open(paths) as link:
        return link.call(method, params)


def code_of(action: Callable[[], Any]) -> str:
    try:
        action()
    except DragomanError as error:
        return error.code
    return ""
