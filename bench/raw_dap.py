"""A DAP client as plain as they come, and debuggers as shipped behind it: what others pay, measured beside us."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

_PATIENCE_S = 60.0


class RawDap:
    """One request at a time; what comes in between is kept until somebody asks for it."""

    def __init__(self, reading: IO[bytes], writing: IO[bytes]) -> None:
        self._reading = reading
        self._writing = writing
        self._last = 0
        self._kept: list[dict[str, Any]] = []

    def begin(self, command: str, **arguments: Any) -> int:
        self._last += 1
        self._send({"seq": self._last, "type": "request", "command": command, "arguments": arguments})
        return self._last

    def answer(self, seq: int) -> dict[str, Any]:
        got = self._wait(lambda it: it["type"] == "response" and it["request_seq"] == seq)
        assert got["success"], got
        body: dict[str, Any] = got.get("body") or {}
        return body

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self.answer(self.begin(command, **arguments))

    def event(self, name: str) -> dict[str, Any]:
        body: dict[str, Any] = self._wait(lambda it: it["type"] == "event" and it["event"] == name).get("body") or {}
        return body

    def served(self, command: str) -> dict[str, Any]:
        """What the adapter asked of us, which is said to be done."""
        got = self._wait(lambda it: it["type"] == "request" and it["command"] == command)
        done = {"type": "response", "request_seq": got["seq"], "command": command, "success": True, "body": {}}
        self._last += 1
        self._send({"seq": self._last, **done})
        arguments: dict[str, Any] = got["arguments"]
        return arguments

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        self._writing.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._writing.flush()

    def _wait(self, wanted: Any) -> dict[str, Any]:
        for at, message in enumerate(self._kept):
            if wanted(message):
                return self._kept.pop(at)
        deadline = time.monotonic() + _PATIENCE_S
        while not wanted(message := self._receive()):
            self._kept.append(message)
            assert time.monotonic() < deadline, self._kept[-3:]
        return message

    def _receive(self) -> dict[str, Any]:
        length = 0
        while line := self._reading.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the adapter has gone"
        message: dict[str, Any] = json.loads(self._reading.read(length))
        return message


@dataclass(slots=True)
class Stock:
    """A program stopped for the first time, under a debugger as shipped."""

    dap: RawDap
    thread: int
    first_stop_s: float
    looks_s: list[float] = field(default_factory=list)
    """What single requests took."""

    def step(self) -> float:
        """A step over, with the stack and the locals after it."""
        begun = time.perf_counter()
        self._timed("next", threadId=self.thread)
        self.dap.event("stopped")
        self.look()
        return time.perf_counter() - begun

    def look(self) -> None:
        frame = self._timed("stackTrace", threadId=self.thread, startFrame=0, levels=20)["stackFrames"][0]["id"]
        scopes = self._timed("scopes", frameId=frame)["scopes"]
        chosen = [it for it in scopes if it.get("presentationHint") == "locals"] or scopes[:1]
        for scope in chosen:
            self._timed("variables", variablesReference=scope["variablesReference"])

    def _timed(self, command: str, **arguments: Any) -> dict[str, Any]:
        begun = time.perf_counter()
        body = self.dap.ask(command, **arguments)
        self.looks_s.append(time.perf_counter() - begun)
        return body


@contextlib.contextmanager
def stock_python(program: Path, line: int, condition: str = "") -> Iterator[Stock]:
    """debugpy's adapter over its standard streams."""
    begun = time.perf_counter()
    with _ended(subprocess.Popen([sys.executable, "-P", "-m", "debugpy.adapter"], stdin=-1, stdout=-1)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        dap = RawDap(process.stdout, process.stdin)
        dap.ask("initialize", adapterID="debugpy", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        python = str(Path(sys.base_prefix) / "bin" / "python3")
        launched = dap.begin(
            "launch", program=str(program), cwd=str(program.parent), python=[python], console="internalConsole",
            redirectOutput=True, subProcess=False,
        )  # fmt: skip
        _configure(dap, program, line, condition)
        dap.answer(launched)
        yield _first_stop(dap, begun)


@contextlib.contextmanager
def stock_node(adapter: list[str], program: Path, line: int, condition: str = "") -> Iterator[Stock]:
    """js-debug by TCP: a first session that asks for a second one, which is the program's."""
    begun = time.perf_counter()
    port = _free_port()
    with _ended(subprocess.Popen([*adapter, str(port), "127.0.0.1"], stdout=subprocess.DEVNULL)):
        root = _connected(port)
        root.ask("initialize", adapterID="pwa-node", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        configuration = {"type": "pwa-node", "request": "launch", "name": "x", "program": str(program)}
        root.begin("launch", **configuration, cwd=str(program.parent), console="internalConsole")
        root.event("initialized")
        root.begin("configurationDone")
        child = root.served("startDebugging")
        dap = _connected(port)
        dap.ask("initialize", adapterID="pwa-node", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        dap.begin(child["request"], **child["configuration"])
        _configure(dap, program, line, condition)
        yield _first_stop(dap, begun)


def _configure(dap: RawDap, program: Path, line: int, condition: str) -> None:
    dap.event("initialized")
    wanted = {"line": line, **({"condition": condition} if condition else {})}
    dap.ask("setBreakpoints", source={"path": str(program)}, breakpoints=[wanted])
    dap.ask("setExceptionBreakpoints", filters=["uncaught"])
    dap.ask("configurationDone")


def _first_stop(dap: RawDap, begun: float) -> Stock:
    stock = Stock(dap, dap.event("stopped")["threadId"], 0.0)
    stock.look()
    stock.first_stop_s = time.perf_counter() - begun
    return stock


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _connected(port: int) -> RawDap:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            sock = socket.create_connection(("127.0.0.1", port))
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.005)
            continue
        return RawDap(sock.makefile("rb"), sock.makefile("wb"))


@contextlib.contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """With all that it started."""
    import psutil

    try:
        yield process
    finally:
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        for child in family:
            with contextlib.suppress(psutil.Error):
                child.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def js_debug() -> list[str] | None:
    """How js-debug is started here, or None where there is none."""
    from dragoman.debug.backends.adapters.discovery import find_adapter

    found = find_adapter("javascript", os.environ)
    if found is None:
        return None
    return ["node", str(found.path)] if found.path.suffix in {".js", ".cjs"} else [str(found.path)]
