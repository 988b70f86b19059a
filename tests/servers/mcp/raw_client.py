"""A client that is nothing but lines at the real `dragoman mcp`, so that a test can say anything and see everything."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from typing import Any

import psutil

from tests.daemons import PATIENCE, Cli

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


class RawClient:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._buffer = b""
        self._others: list[dict[str, Any]] = []
        self._last_id = 0

    @property
    def _in(self) -> int:
        assert self.process.stdin is not None
        return self.process.stdin.fileno()

    @property
    def _out(self) -> int:
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def send(self, *messages: object) -> None:
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.send_bytes(data + b"\n")

    def send_bytes(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._in, data) :]

    def request(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Sends and does not wait; the id."""
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params or {}})
        return self._last_id

    def begin_call(self, name: str, **arguments: Any) -> int:
        return self.request("tools/call", {"name": name, "arguments": arguments})

    def next(self, within_s: float = 20) -> dict[str, Any]:
        """The next line, which must be a message: anything else on standard output is a fault."""
        deadline = time.monotonic() + within_s * PATIENCE
        pieces = [self._buffer]
        while b"\n" not in pieces[-1]:
            ready, _, _ = select.select([self._out], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"nothing within {within_s} s"
            pieces.append(os.read(self._out, 1 << 20))
            assert pieces[-1], "the pump has ended"
        line, _, self._buffer = b"".join(pieces).partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def answer(self, id: int | str | None, within_s: float = 20) -> dict[str, Any]:
        """The answer to one request; what comes before it is kept."""
        for at, message in enumerate(self._others):
            if message.get("id") == id:
                return self._others.pop(at)
        while (message := self.next(within_s)).get("id") != id:
            self._others.append(message)
        return message

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return self.answer(self.request(method, params))

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = self.answer(self.begin_call(name, **arguments))
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def initialize(self, revision: str = REVISIONS[-1]) -> dict[str, Any]:
        answer = self.ask("initialize", introduction(revision))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def silent(self, seconds: float) -> bool:
        return not self._others and not select.select([self._out], [], [], seconds)[0]

    def is_idle(self) -> bool:
        """Whether the pump has read everything there is and sleeps: what it could pass on, it has."""
        unread = struct.unpack("i", fcntl.ioctl(self._in, termios.FIONREAD, b"\0" * 4))[0]
        return unread == 0 and psutil.Process(self.process.pid).status() == psutil.STATUS_SLEEPING

    def resident_mb(self) -> float:
        return float(psutil.Process(self.process.pid).memory_info().rss / 1e6)

    def leave(self) -> int:
        """Closes the client's end; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(5 * PATIENCE)

    def errors(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()


def introduction(revision: str, name: str = "raw") -> dict[str, Any]:
    return {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": name, "version": "1.2"}}


@contextlib.contextmanager
def raw_client(cli: Cli, *arguments: str, **options: Any) -> Iterator[RawClient]:
    process = subprocess.Popen(
        cli.command("mcp", *arguments), env=cli.variables(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, bufsize=0, **options,
    )  # fmt: skip
    with process:
        try:
            yield RawClient(process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
