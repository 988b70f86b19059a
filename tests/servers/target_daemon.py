"""A daemon of its own process to attack: its memory, descriptors and lag can be watched, and its record filled.

It is the real one, with a few methods more (`test_…`), and a lag of its own (`own_lag`).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import psutil

from dragoman.core.paths import Paths, find_paths
from dragoman.daemon.app import DaemonOptions, RunningDaemon, run
from dragoman.io.event_loop import EventLoopLagMeter
from dragoman.servers.control.methods import ControlMethods
from tests.daemons import PATIENCE, call
from tests.machine import machine_lag, ready_s
from tests.proving import Proof, calls, log_in
from tests.raw_http import Answer, Ask, WebSocket, ask
from tests.servers import daemon_forks
from tests.servers.daemon_forks import DaemonStart

MB = 1_000_000
_LOOK_EVERY_S = 0.02
_LAGS_S = deque([0.0], maxlen=round(60 / _LOOK_EVERY_S))


@dataclass
class TargetDaemon:
    process: psutil.Process
    port: int
    paths: Paths
    sessions: dict[str, Proof] = field(default_factory=dict)

    @property
    def host(self) -> tuple[str, str]:
        return ("Host", f"127.0.0.1:{self.port}")

    @property
    def page_host(self) -> str:
        """Where the page is, as `HOST:PORT`."""
        return f"{call(self.paths, 'state')['instance']}.localhost:{self.port}"

    @property
    def mcp_bearer(self) -> tuple[str, str]:
        """What a program sends to `/mcp`, the one address that takes a token over HTTP."""
        return ("Authorization", f"Bearer {self.paths.token_file('mcp').read_text().strip()}")

    def ask_page(self, path: str, method: str = "GET", body: Any = None, *, language: str = "en") -> Answer:
        """As the page asks, over a socket that both sides have proved."""
        with calls(self.session()) as page:
            return page.ask(path, method, body, language=language)

    def feed(self, *, receive_buffer: int = 0) -> WebSocket:
        return self.session().open("/link/feed", receive_buffer=receive_buffer)

    def session(self) -> Proof:
        """One for all that a test does, until the page's token is rotated: that ends it."""
        token = self.paths.token_file("page").read_text()
        if token not in self.sessions:
            self.sessions[token] = log_in(self.paths)
        return self.sessions[token]

    def health(self) -> Answer:
        return ask(self.port, Ask("/health", headers=[self.host]))

    def assert_punctual(self) -> None:
        """The event loop was never held up by what it did itself: see `own_lag`."""
        assert self.health().json()["worst_lag_ms"] < 100 * PATIENCE

    @contextlib.contextmanager
    def lag_at_most(self, most_s: float) -> Iterator[None]:
        """As `assert_punctual`, for what happens in the block alone."""
        call(self.paths, "test_forget_lag")
        yield
        assert self.health().json()["worst_lag_ms"] < 1000 * most_s

    def resident(self) -> int:
        return int(self.process.memory_info().rss)

    def descriptors(self) -> int:
        return int(self.process.num_fds())

    def connections(self) -> int:
        """Of HTTP, also those that only the kernel still knows."""
        return sum(1 for it in self.process.net_connections("tcp") if it.status != psutil.CONN_LISTEN)

    def callers(self) -> int:
        """Connections of the control socket, beside its listener."""
        path = str(self.paths.socket)
        return sum(str(it.laddr) == path for it in self.process.net_connections("unix")) - 1

    def links(self) -> int:
        return int(call(self.paths, "status")["links"]["page"])

    def append(self, count: int, *, size: int = 100) -> int:
        return int(call(self.paths, "test_append", {"count": count, "size": size})["last"])

    def record_event(self, kind: str, body: dict[str, Any], *, text: str = "") -> int:
        """An event as some part of the daemon would."""
        data = {"count": 1, "size": 0, "kind": kind, "body": body, "text": text}
        return int(call(self.paths, "test_append", data)["last"])

    def patch(self, name: str, value: float) -> None:
        """One of the daemon's deadlines or caps: `module:NAME`."""
        call(self.paths, "test_patch", {"name": name, "value": value})

    @contextlib.contextmanager
    def patched(self, name: str, value: float) -> Iterator[None]:
        """For as long as a test needs it: then as the source has it, and others can use the daemon again."""
        module, _, constant = name.partition(":")
        self.patch(name, value)
        try:
            yield
        finally:
            self.patch(name, getattr(importlib.import_module(module), constant))

    def switch_off(self, name: str, answer: object) -> None:
        """A guard that from now on answers the same to everybody: what it kept out must then come in."""
        call(self.paths, "test_patch", {"name": name, "answer": answer})

    def assert_serves(self) -> None:
        """The next ordinary request of both listeners succeeds."""
        assert self.health().status == 200
        assert call(self.paths, "status")["state"] == "running"


@contextlib.contextmanager
def target_daemon(home: Path, *, folder: Path | None = None, descriptors: int | None = None) -> Iterator[TargetDaemon]:
    """Without a folder it works in that of the repository."""
    machine_lag()
    environment = {**os.environ, "DRAGOMAN_HOME": str(home), "DRAGOMAN_LANG": "en"}
    place = folder or Path(__file__).parents[2]
    started = daemon_forks.start(DaemonStart(environment, str(place), descriptors))
    process = psutil.Process(started.pid)
    try:
        yield TargetDaemon(process, started.port, find_paths(environment))
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
            process.wait(20)


@contextlib.contextmanager
def many_descriptors(wanted: int = 8192) -> Iterator[None]:
    """The attacker's own table of descriptors must be the larger one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(wanted, hard)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def settled(value: Any, at_most: float, *, within_s: float = 10) -> float:
    """The value once it is small enough, or what it was at the deadline."""
    deadline = time.monotonic() + within_s * PATIENCE
    while (now := float(value())) > at_most and time.monotonic() < deadline:
        time.sleep(0.05)
    return now


def run_here(report: Callable[[int], None]) -> None:
    """Until it is ended; its port is told as soon as it serves."""
    plain_table = ControlMethods.table

    def table(self: ControlMethods) -> Any:
        return {**plain_table(self), "test_append": lambda params: _append(self, params), **_OWN_METHODS}

    def ready(running: RunningDaemon) -> None:
        report(running.state.port)

    ControlMethods.table = table  # type: ignore[method-assign]
    EventLoopLagMeter.run = own_lag  # type: ignore[method-assign, assignment]
    anyio.run(run, DaemonOptions(workspace=Path.cwd(), port=0), find_paths(), ready)


async def own_lag(meter: EventLoopLagMeter, thread: int | str = "*") -> None:
    """Without what the machine gave to others meanwhile. A sleeper beside us is no measure of that: who has worked
    waits longer than who has slept. Often, so that what others had before the timer was due hides little."""
    every_s = _LOOK_EVERY_S
    meter._lags_s = _LAGS_S
    while True:
        due = anyio.current_time() + every_s
        with contextlib.suppress(OSError):  # a test has filled its table of descriptors: nothing can be read
            crowded = ready_s("self", thread)
            await anyio.sleep_until(due)
            late = anyio.current_time() - due
            meter._lags_s.append(max(0.0, late - (ready_s("self", thread) - crowded)))
        await anyio.sleep_until(due)


async def _append(methods: Any, params: Any) -> AsyncIterator[Any]:
    from dragoman.core.events import Event

    last, left = 0, int(params["count"])
    while left > 0:
        some = min(left, 500)
        body = params.get("body", {"x": "y" * params["size"]})
        event = Event(kind=params.get("kind", "test.told"), text=params.get("text", ""), body=body)
        last = await methods.journal.append([event] * some)
        left -= some
    yield {"last": last}


async def _forget_lag(_: Any) -> AsyncIterator[Any]:
    _LAGS_S.clear()
    _LAGS_S.append(0.0)
    yield None


async def _stall(params: Any) -> AsyncIterator[Any]:
    """What no part of the daemon may do: hold the loop up."""
    until = time.thread_time() + params["seconds"]
    while time.thread_time() < until:
        pass
    yield None


async def _patch(params: Any) -> AsyncIterator[Any]:
    module, _, name = params["name"].partition(":")
    setattr(importlib.import_module(module), name, params.get("value", lambda *_: params["answer"]))
    yield None


_OWN_METHODS = {"test_patch": _patch, "test_stall": _stall, "test_forget_lag": _forget_lag}
