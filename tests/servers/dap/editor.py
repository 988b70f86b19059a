"""An editor that is nothing but frames: it says anything, keeps everything, and expects no order but that of causes."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.daemons import PATIENCE, Cli

Message = dict[str, Any]
WITHIN_S = 15.0


class Editor:
    """Over any pair of functions that read and write bytes."""

    def __init__(self, read: Callable[[], bytes], write: Callable[[bytes], None], name: str) -> None:
        self.name = name
        self.messages: list[Message] = []
        self.has_ended = False
        self._write = write
        self._seq = 0
        self._taken: set[int] = set()
        self._arrived = threading.Condition()
        self._reading = threading.Event()
        self._reading.set()
        threading.Thread(target=self._receive, args=(read,), daemon=True).start()

    # Saying.

    def send(self, message: Message) -> None:
        body = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send_bytes(self, data: bytes) -> None:
        self._write(data)

    def begin(self, command: str, **arguments: Any) -> int:
        self._seq += 1
        self.send({"seq": self._seq, "type": "request", "command": command, "arguments": arguments})
        return self._seq

    def ask(self, command: str, **arguments: Any) -> Any:
        return self.answer(self.begin(command, **arguments)).get("body", {})

    def refused(self, command: str, **arguments: Any) -> tuple[str, str]:
        """The code and the words of a refusal."""
        return self.refusal(self.begin(command, **arguments))

    def refusal(self, seq: int) -> tuple[str, str]:
        got = self.response(seq)
        assert not got["success"], got
        result = got["body"]["error"]["variables"]
        assert got["message"] == result["text"]
        return result["code"], result["text"]

    def stop_reading(self) -> None:
        self._reading.clear()

    def read_on(self) -> None:
        self._reading.set()

    # Hearing.

    def response(self, seq: int) -> Message:
        return self.next(lambda it: it["type"] == "response" and it["request_seq"] == seq, f"the answer to {seq}")

    def answer(self, seq: int) -> Message:
        got = self.response(seq)
        assert got["success"], got
        return got

    def event(self, name: str, **fields: Any) -> Any:
        """The first that was not taken before, with these fields."""

        def is_it(it: Message) -> bool:
            body = it.get("body", {})
            return bool(it["type"] == "event" and it["event"] == name and fields.items() <= body.items())

        return self.next(is_it, f"{name} {fields}").get("body", {})

    def request(self, command: str) -> Message:
        return self.next(lambda it: it["type"] == "request" and it["command"] == command, f"a request {command}")

    def next(self, is_it: Callable[[Message], bool], what: str) -> Message:
        deadline = time.monotonic() + WITHIN_S * PATIENCE
        with self._arrived:
            while True:
                for at, message in enumerate(self.messages):
                    if at not in self._taken and is_it(message):
                        self._taken.add(at)
                        return message
                left_s = deadline - time.monotonic()
                assert left_s > 0, f"{self.name} did not get {what}: {self.messages[-8:]}"
                assert not self.has_ended, f"{self.name} was left without {what}: {self.messages[-8:]}"
                self._arrived.wait(left_s)

    def events(self, name: str) -> list[Any]:
        """All so far, taken or not."""
        with self._arrived:
            return [it.get("body", {}) for it in self.messages if it["type"] == "event" and it["event"] == name]

    def output(self) -> str:
        return "".join(it["output"] for it in self.events("output"))

    def ends(self) -> None:
        deadline = time.monotonic() + WITHIN_S * PATIENCE
        with self._arrived:
            while not self.has_ended:
                assert time.monotonic() < deadline, "the connection stays open"
                self._arrived.wait(0.1)

    def _receive(self, read: Callable[[], bytes]) -> None:
        data = bytearray()
        with contextlib.suppress(OSError, ValueError):
            while self._reading.wait() and (piece := read()):
                data += piece
                while (message := _taken(data)) is not None:
                    with self._arrived:
                        self.messages.append(message)
                        self._arrived.notify_all()
        with self._arrived:
            self.has_ended = True
            self._arrived.notify_all()

    # The usual ways in.

    def initialize(self, **more: Any) -> Any:
        return self.ask("initialize", clientID="test", clientName=self.name, adapterID="dragoman", **more)

    def join(self, session: str = "", breakpoints: dict[Path, list[Any]] | None = None, **more: Any) -> Any:
        """As editors do: initialize, attach, `initialized`, breakpoints, configurationDone. The capabilities."""
        arguments = {"session": session} if session else {}
        self.initialize(**more.pop("initialize", {}))
        begun = self.begin("attach", **arguments, **more)
        self.event("initialized")
        for path, lines in (breakpoints or {}).items():
            self.set_lines(path, *lines)
        self.ask("configurationDone")
        self.answer(begun)
        return self.event("capabilities")["capabilities"]

    def launch(self, breakpoints: dict[Path, list[Any]] | None = None, **configuration: Any) -> int:
        """Until it is configured; the number of the launch, which is answered when the program runs."""
        self.initialize(supportsRunInTerminalRequest=bool(configuration.get("console")))
        begun = self.begin("launch", **configuration)
        self.event("initialized")
        for path, lines in (breakpoints or {}).items():
            self.set_lines(path, *lines)
        self.ask("setExceptionBreakpoints", filters=[])
        self.ask("configurationDone")
        return begun

    def set_lines(self, path: Path, *lines: Any) -> list[Message]:
        wanted = [it if isinstance(it, dict) else {"line": it} for it in lines]
        messages: list[Message] = self.ask("setBreakpoints", source={"path": str(path)}, breakpoints=wanted)[
            "breakpoints"
        ]
        return messages

    def frames(self, thread: int, **page: int) -> list[Message]:
        messages: list[Message] = self.ask("stackTrace", threadId=thread, **page)["stackFrames"]
        return messages

    def locals(self, frame: int) -> dict[str, str]:
        scopes = self.ask("scopes", frameId=frame)["scopes"]
        found = self.ask("variables", variablesReference=scopes[0]["variablesReference"])["variables"]
        return {it["name"]: it["value"] for it in found}


def _taken(data: bytearray) -> Message | None:
    header, gap, rest = bytes(data[:200]).partition(b"\r\n\r\n")
    if not gap:
        return None
    assert header.startswith(b"Content-Length: "), header
    begin, length = len(header) + len(gap), int(header.split(b": ")[1])
    if len(data) < begin + length:
        return None
    message: Message = json.loads(bytes(data[begin : begin + length]))
    del data[: begin + length]
    assert rest is not None
    return message


@contextlib.contextmanager
def at_socket(path: str, name: str = "Editor") -> Iterator[Editor]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        try:
            yield Editor(lambda: connection.recv(1 << 16), connection.sendall, name)
        finally:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def at_pump(cli: Cli, *arguments: str, name: str = "Editor", cwd: Path | None = None) -> Iterator[Editor]:
    """The real `dragoman dap --stdio`."""
    process = subprocess.Popen(
        cli.command("dap", "--stdio", *arguments),
        env=cli.variables(),
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    reading, writing = process.stdout.fileno(), process.stdin.fileno()

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(writing, data) :]

    editor = Editor(lambda: os.read(reading, 1 << 16), write, name)
    editor.process = process  # type: ignore[attr-defined]
    try:
        yield editor
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()
