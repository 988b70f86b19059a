"""An agent with nothing but lines at `dragoman mcp`, which counts what it pays: calls, bytes, seconds."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-P", "-m", "dragoman.cli.main"]
PROGRAMS = Path(__file__).parent / "programs"
_PATIENCE_S = 120.0
INTRODUCTION = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


@dataclass
class Agent:
    process: subprocess.Popen[bytes]
    workspace: Path
    calls: int = 0
    text: str = ""
    """Of the last answer, as its model reads it."""
    text_bytes: int = 0
    whole_bytes: int = 0
    took_s: float = 0.0
    _buffer: bytes = b""
    _last: int = 0
    _early: dict[int, bytes] = field(default_factory=dict)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The tool's object; `took_s` is what it took."""
        begun = time.perf_counter()
        line = self.line(self.begin(tool, **arguments))
        self.took_s = time.perf_counter() - begun
        result = json.loads(line)["result"]
        self.calls += 1
        self.text = "\n".join(it["text"] for it in result["content"])
        self.text_bytes += len(self.text.encode())
        self.whole_bytes += len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode())
        answer: dict[str, Any] = result["structuredContent"]
        assert answer.get("status") != "error", answer
        return answer

    def ping_s(self) -> float:
        begun = time.perf_counter()
        self.line(self._request("ping", {}))
        return time.perf_counter() - begun

    def begin(self, tool: str, **arguments: Any) -> int:
        return self._request("tools/call", {"name": tool, "arguments": arguments})

    def line(self, id: int) -> bytes:
        while id not in self._early:
            at, line = self.next()
            self._early[at] = line
        return self._early.pop(id)

    def next(self) -> tuple[int, bytes]:
        """The next answer, whichever it is: its id and its line."""
        while True:
            line = self._next_line()
            if line.startswith(b'{"jsonrpc":"2.0","id":') or b'"id":' in line:
                message = json.loads(line)
                if "result" in message or "error" in message:
                    return message["id"], line

    def initialize(self) -> None:
        self.line(self._request("initialize", INTRODUCTION))
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _request(self, method: str, params: dict[str, Any]) -> int:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def _next_line(self) -> bytes:
        assert self.process.stdout is not None
        out = self.process.stdout.fileno()
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([out], [], [], _PATIENCE_S)
            assert ready, "no answer"
            piece = os.read(out, 1 << 20)
            assert piece, "the pump has ended"
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


@contextlib.contextmanager
def home_with_daemon() -> Iterator[dict[str, str]]:
    """The environment of clients. A program's Python is the one behind ours, which is never used for a program."""
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "DRAGOMAN_HOME": f"{folder}/home", "DRAGOMAN_PORT": "0", "PATH": path}
        environment.pop("VIRTUAL_ENV", None)
        subprocess.run([*COMMAND, "up"], env=environment, check=True, capture_output=True)
        try:
            yield environment
        finally:
            subprocess.run([*COMMAND, "down", "--yes"], env=environment, check=True, capture_output=True)


@contextlib.contextmanager
def agent_in(environment: Mapping[str, str], workspace: Path, *options: str) -> Iterator[Agent]:
    command = [*COMMAND, "mcp", "--workspace", str(workspace), *options]
    with subprocess.Popen(
        command, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd=workspace
    ) as process:
        agent = Agent(process, workspace)
        agent.initialize()
        try:
            yield agent
        finally:
            assert process.stdin is not None
            process.stdin.close()
