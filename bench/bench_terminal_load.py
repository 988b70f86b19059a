"""Fifty wrappers at 1 MB/s each into one daemon: nothing is lost, and nobody else notices.

The load is made by a process of its own, in frames such as our wrapper sends. Meanwhile a 51st wrapper's frames are
acknowledged and a debug session steps; both are compared with the quiet daemon before. BENCH_LOAD_S shortens it.
"""

from __future__ import annotations

import multiprocessing
import os
import pty
import select
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import anyio

from bench.agent import COMMAND, PROGRAMS, Agent, agent_in, home_with_daemon
from bench.claims import Claim
from dragoman.core.paths import Paths, find_paths
from dragoman.core.redaction import Redactor
from dragoman.daemon.app import STORES
from dragoman.daemon.terminal_wiring import COMMAND_STORE
from dragoman.io.drivers.control_client import ControlClient
from dragoman.journal import Journal
from dragoman.protocols.omnish import BASE_REVISION, OmnishFrame, encode_frame
from dragoman.protocols.omnish import messages as m
from dragoman.terminal.service import TerminalService

WRAPPERS = 50
BYTES_A_SECOND = 1_000_000
SECONDS = float(os.environ.get("BENCH_LOAD_S", "30"))
_FRAME_BYTES = 25_000  # what our wrapper sends at that rate: what came within 25 ms
_ACK_BYTES = 22
_QUIET_S = 3.0
_SETTLED_WITHIN_S = 60.0
_PROGRAM = "total = 0\nfor number in range(10**9):\n    total += number\n    total -= 1\n    total += 2\n"
_LINE = b"2026-11-15T12:00:00Z worker-%02d [info] request %07d took 12.5 ms, 200 OK, nothing to see here\r\n"
_ID = struct.Struct(">Q")


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory(prefix="bench") as folder, home_with_daemon() as environment:
        workspace = Path(shutil.copytree(PROGRAMS, f"{folder}/project"))
        (workspace / "loop.py").write_text(_PROGRAM)
        paths = find_paths(environment)
        with agent_in(environment, workspace) as agent:
            agent.call("set_breakpoint", file_path="loop.py", line_number=3)
            agent.call("start_debugging", program="loop.py")
            quiet = _Watched(agent, environment, paths.omnish_socket).for_seconds(_QUIET_S)
            done, busy = _under_load(agent, environment, paths.omnish_socket)
        with ControlClient.open(paths) as link:
            status = link.call("status")
        subprocess.run([*COMMAND, "down", "--yes"], env=environment, check=True, capture_output=True)
        recorded = anyio.run(_recorded, paths, done["frames"] // WRAPPERS)
        subprocess.run([*COMMAND, "up"], env=environment, check=True, capture_output=True)
    return _claims(done, recorded, quiet, busy, status)


@dataclass
class _Watched:
    """One step, one acknowledged frame and one echoed key after the other."""

    agent: Agent
    environment: dict[str, str]
    path: Path
    steps_s: list[float] = field(default_factory=list)
    acks_s: list[float] = field(default_factory=list)
    keys_s: list[float] = field(default_factory=list)

    def for_seconds(self, seconds: float) -> _Watched:
        with _Wrapper(self.path, "the-51st", b"k") as wrapper, _keyboard(self.environment) as keyboard:
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                self.agent.call("step_execution", step_type="over")
                self.steps_s.append(self.agent.took_s)
                self.acks_s.append(wrapper.acked_s())
                self.keys_s.append(_echoed_s(keyboard))
                time.sleep(0.02)
        return self


@contextmanager
def _keyboard(environment: dict[str, str]) -> Iterator[int]:
    """The outer side of a wrapped `cat`, whose terminal echoes each key."""
    pid, master = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-P", "-m", "dragoman.shell", "--", "cat"], environment)
    try:
        time.sleep(1.5)
        os.write(master, b"x")
        _drain(master)
        yield master
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(master)


def _echoed_s(keyboard: int) -> float:
    begun = time.perf_counter()
    os.write(keyboard, b"k")
    _drain(keyboard)
    return time.perf_counter() - begun


def _drain(keyboard: int) -> None:
    assert select.select([keyboard], [], [], 10)[0], "a key was not echoed"
    os.read(keyboard, 65536)


def _under_load(agent: Agent, environment: dict[str, str], path: Path) -> tuple[dict[str, Any], _Watched]:
    ours, theirs = multiprocessing.Pipe()
    load = multiprocessing.get_context("spawn").Process(target=_load, args=(str(path), SECONDS, theirs))
    load.start()
    try:
        assert ours.recv() == "begun"
        busy = _Watched(agent, environment, path).for_seconds(SECONDS)
        done: dict[str, Any] = ours.recv()
    finally:
        load.join(_SETTLED_WITHIN_S)
        load.kill()
    return done, busy


class _Wrapper:
    """One connection that sends the same frame again and again, under a new id each time."""

    def __init__(self, path: Path, session: str, data: bytes) -> None:
        frame = encode_frame(OmnishFrame(0, m.IoData(session, m.IoDirection.OUTPUT, 1, data)), BASE_REVISION)
        self._frame = bytearray(len(frame).to_bytes(4, "big") + frame)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.frames = self.acks = 0
        self.unsent = memoryview(b"")
        self._received = 0

    def __enter__(self) -> _Wrapper:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def acked_s(self) -> float:
        begun = time.perf_counter()
        self.socket.sendall(self.next_frame())
        received = 0
        while received < _ACK_BYTES:
            received += len(self.socket.recv(_ACK_BYTES - received))
        return time.perf_counter() - begun

    def next_frame(self) -> bytes:
        self.frames += 1
        _ID.pack_into(self._frame, 4, self.frames)
        return bytes(self._frame)

    def pump(self, due_frames: int) -> None:
        """Send what is due, as far as the daemon takes it, and count what it acknowledged."""
        try:
            while self.unsent or self.frames < due_frames:
                self.unsent = self.unsent or memoryview(self.next_frame())
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except BlockingIOError:
            pass

    def receive_acks(self) -> None:
        self._received += len(self.socket.recv(65536))
        self.acks = self._received // _ACK_BYTES


def _load(path: str, seconds: float, pipe: Connection) -> None:
    """In a process of its own: paced by the clock, so that a daemon that is too slow is seen as a debt."""
    wrappers = [_Wrapper(Path(path), f"load-{number:02}", _text(number)) for number in range(WRAPPERS)]
    poll, by_fd = select.poll(), {it.socket.fileno(): it for it in wrappers}
    for fd, wrapper in by_fd.items():
        wrapper.socket.setblocking(False)
        poll.register(fd, select.POLLIN)
    pipe.send("begun")
    begun = time.monotonic()
    worst_debt = 0
    while (now := time.monotonic() - begun) < seconds + _SETTLED_WITHIN_S:
        due = int(min(now, seconds) * BYTES_A_SECOND / _FRAME_BYTES)
        for wrapper in wrappers:
            wrapper.pump(due)
        worst_debt = max(worst_debt, *(due - it.acks for it in wrappers))
        for fd, _ in poll.poll(5):
            by_fd[fd].receive_acks()
        if now > seconds and all(it.acks == it.frames == due for it in wrappers):
            break
    frames, acks = (sum(getattr(it, name) for it in wrappers) for name in ("frames", "acks"))
    pipe.send({"frames": frames, "acks": acks, "took_s": time.monotonic() - begun, "worst_debt": worst_debt})


def _text(number: int) -> bytes:
    lines = b"".join(_LINE % (number, count) for count in range(1 + _FRAME_BYTES // 80))
    return lines[:_FRAME_BYTES]


async def _recorded(paths: Paths, frames: int) -> int:
    """Of how many wrappers every byte stands in the record, once and in order."""
    redactor, whole = Redactor(True, ()), 0
    async with (
        Journal.open(paths.journal_folder, stores=STORES, redact=redactor.event) as journal,
        TerminalService.open(journal, COMMAND_STORE, paths.terminal_folder, redactor=redactor) as service,
    ):
        for number in range(WRAPPERS):
            text, seen = _text(number), sha256()
            async for piece in service.pieces(f"load-{number:02}"):
                seen.update(piece.data)
            whole += seen.digest() == sha256(text * frames).digest()
    return whole


def _claims(
    done: dict[str, Any], recorded: int, quiet: _Watched, busy: _Watched, status: dict[str, Any]
) -> list[Claim]:
    sent = done["frames"] * _FRAME_BYTES
    steps = statistics.median(busy.steps_s) / statistics.median(quiet.steps_s)
    added = statistics.median(busy.keys_s) - statistics.median(quiet.keys_s)
    debt_s = done["worst_debt"] * _FRAME_BYTES / BYTES_A_SECOND
    return [
        Claim("50 wrappers at 1 MB/s: taken in all", sent / done["took_s"] / 1e6, "MB/s", 49, "higher"),
        Claim("acknowledged of what was sent", 100 * done["acks"] / max(1, done["frames"]), "%", 100, "higher"),
        Claim("wrappers of which every byte is recorded once, in order", recorded, "of 50", 50, "higher"),
        Claim("a 51st's keys: what the load adds to the echo, p50", 1000 * added, "ms", 1.5, "lower"),
        Claim("the most that a wrapper waited for its Acks", debt_s, "s", 4, "lower"),
        Claim("a 51st's Ack, p50 of the busy daemon", 1000 * statistics.median(busy.acks_s), "ms", 20, "lower"),
        Claim("a 51st's Ack, p50 of the quiet daemon", 1000 * statistics.median(quiet.acks_s), "ms", 5, "lower"),
        Claim("a debug step meanwhile, to the quiet one", steps, "x", 3, "lower"),
        Claim("the event loop, at worst", float(status["worst_lag_ms"]), "ms late", 100, "lower"),
    ]
