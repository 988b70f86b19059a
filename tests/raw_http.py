"""An HTTP client that sends exactly the given bytes, also what no library would send."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

WEBSOCKET_HEADERS = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Ask:
    path: str
    method: str = "GET"
    headers: Sequence[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def encode(self) -> bytes:
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers)]
        if "Connection" not in dict(self.headers):
            lines.append("Connection: close")
        if self.body:
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + self.body


def ask(port: int, request: Ask | bytes, *, within_s: float = 10) -> Answer:
    """One request on a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), within_s) as connection:
        connection.sendall(request if isinstance(request, bytes) else request.encode())
        return read_answer(connection)


def read_answer(connection: socket.socket) -> Answer:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return Answer(0, {}, data)
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    wanted = int(headers.get("content-length", 0))
    while len(body) < wanted and (piece := connection.recv(65536)):
        body += piece
    return Answer(int(first.split()[1]), headers, body)


def frame(payload: bytes = b"", *, opcode: int = 1, length: int | None = None, first: int = 0x80) -> bytes:
    """A client's frame, masked with zeros; `first` has the final and the reserved bits."""
    size = len(payload) if length is None else length
    small = struct.pack("!BB", first | opcode, 0x80 | size) if size < 126 else b""
    return (small or struct.pack("!BBQ", first | opcode, 0xFF, size)) + bytes(4) + payload


class WebSocket:
    """Just enough of RFC 6455 to be rude with."""

    def __init__(self, port: int, path: str, headers: Sequence[tuple[str, str]], *, receive_buffer: int = 0) -> None:
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall(Ask(path, headers=[*headers, *WEBSOCKET_HEADERS]).encode())
        self._data = b""
        self.status = int(self._head().split()[1])

    def __enter__(self) -> WebSocket:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, payload: bytes, *, opcode: int = 1, length: int | None = None, first: int = 0x80) -> None:
        self.send_raw(frame(payload, opcode=opcode, length=length, first=first))

    def send_raw(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # the other side may have closed for good reason
            self.socket.sendall(data)

    def receive(self) -> tuple[int, bytes]:
        """Opcode and payload; opcode 8 with a two-byte code is a close, and -1 the end of the stream."""
        try:
            first, second = self._take(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack("!H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self._take(8))[0]
            return first & 0x0F, self._take(size)
        except (EOFError, ConnectionError):
            return -1, b""

    def receive_json(self) -> Any:
        """The next message. Who is asked whether it is still there says so, as every client does."""
        opcode, payload = self.receive()
        while opcode == 9:
            self.send(payload, opcode=10)
            opcode, payload = self.receive()
        assert opcode == 1, (opcode, payload)
        return json.loads(payload)

    def close_code(self) -> int:
        """Read until the close frame; 0 when the stream just ended."""
        while True:
            opcode, payload = self.receive()
            if opcode == 8:
                return int(struct.unpack("!H", payload[:2])[0])
            if opcode == -1:
                return 0

    def _head(self) -> str:
        while b"\r\n\r\n" not in self._data:
            piece = self.socket.recv(65536)
            if not piece:
                break
            self._data += piece
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        return head.decode("latin-1")

    def _take(self, count: int) -> bytes:
        while len(self._data) < count:
            piece = self.socket.recv(65536)
            if not piece:
                raise EOFError
            self._data += piece
        taken, self._data = self._data[:count], self._data[count:]
        return taken
