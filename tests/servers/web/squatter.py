"""Another user's program on a port of ours: it takes whatever comes, writes every byte down, and plays the daemon."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from dragoman.access.proof import Transcript
from tests.daemons import eventually

NOBODY = 65534
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
ADDRESSES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
LARGEST = 1 << 20
LISTENS = b"listens\n"

Answer = Callable[[str, dict[str, Any]], str]
"""What it says to a client's first message on a WebSocket, by the socket's path; empty is nothing."""


def reflects(_: str, result: dict[str, Any]) -> str:
    return json.dumps(result)


def lies(_: str, __: dict[str, Any]) -> str:
    return json.dumps({"nonce": "0" * 64, "instance": "0" * 32, "mac": "0" * 64})


def claims_all_is_well(_: str, __: dict[str, Any]) -> str:
    return '{"proved":true}'


def knows(secret: str, instance: str) -> Answer:
    """What nobody else can be: for comparison."""

    def answer(path: str, result: dict[str, Any]) -> str:
        transcript = Transcript(result["key"], path, result["nonce"], "1" * 64, instance, result["dialled"])
        return json.dumps({"nonce": "1" * 64, "instance": instance, "mac": transcript.mac(secret, "daemon")})

    return answer


@dataclass(frozen=True)
class Squatter:
    record: int
    """A file in memory that its process shares with us."""

    def received(self) -> bytes:
        return os.pread(self.record, LARGEST, 0)

    def messages(self) -> list[dict[str, Any]]:
        """What clients said on WebSockets."""
        return [json.loads(line) for line in re.findall(rb"^said (.*)$", self.received(), re.MULTILINE)]


@contextlib.contextmanager
def squatter(port: int, answer: Answer = lies, pages: dict[str, tuple[str, str]] | None = None) -> Iterator[Squatter]:
    """As another user, on both addresses of loopback. `pages`: by path, a type and a body."""
    record = os.memfd_create("record")
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            _serve(port, record, answer, pages or {})
        os._exit(1)
    try:
        eventually(lambda: LISTENS in os.pread(record, LARGEST, 0))
        yield Squatter(record)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(record)


def _serve(port: int, record: int, answer: Answer, pages: dict[str, tuple[str, str]]) -> None:
    for family, host in ADDRESSES:
        listener = eventually(partial(_bound, port, family, host))
        threading.Thread(target=_accept, args=(listener, record, answer, pages), daemon=True).start()
    os.write(record, LISTENS)
    threading.Event().wait()


def _bound(port: int, family: socket.AddressFamily, host: str) -> socket.socket | None:
    """A killed daemon's threads may hold its sockets a moment longer than its main thread lives."""
    try:
        return socket.create_server((host, port), family=family)
    except OSError:
        return None


def _accept(listener: socket.socket, record: int, answer: Answer, pages: dict[str, tuple[str, str]]) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_converse, args=(connection, record, answer, pages), daemon=True).start()


def _converse(connection: socket.socket, record: int, answer: Answer, pages: dict[str, tuple[str, str]]) -> None:
    with contextlib.suppress(OSError, ValueError), connection:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return
            head += piece
        os.write(record, head)
        path = head.split(b" ", 2)[1].decode()
        key = re.search(rb"(?i)sec-websocket-key: *(\S+)", head)
        if key is None:
            kind, body = pages.get(path, ("text/html", "<title>squatted</title>"))
            fields = f"Content-Type: {kind}\r\nCache-Control: max-age=31536000, immutable\r\nConnection: close\r\n"
            connection.sendall(f"HTTP/1.1 200 OK\r\n{fields}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            return
        accepted = base64.b64encode(hashlib.sha1(key[1] + GUID, usedforsecurity=False).digest()).decode()
        upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        connection.sendall(f"HTTP/1.1 101 Switching Protocols\r\n{upgrade}{accepted}\r\n\r\n".encode())
        text = _read_text(connection)
        os.write(record, b"\nsaid " + text + b"\n")
        _send_text(connection, answer(path, json.loads(text)))
        while more := _read_text(connection):
            os.write(record, b"\nsaid " + more + b"\n")


def _read_text(connection: socket.socket) -> bytes:
    """A client's frame, unmasked; empty where it closes."""
    first, second = _exactly(connection, 2)
    size = second & 0x7F
    if size == 126:
        size = struct.unpack("!H", _exactly(connection, 2))[0]
    mask, data = _exactly(connection, 4), _exactly(connection, size)
    return bytes(it ^ mask[at % 4] for at, it in enumerate(data)) if first & 0x0F == 1 else b""


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise OSError
        data += piece
    return data


def _send_text(connection: socket.socket, text: str) -> None:
    data = text.encode()
    size = struct.pack("!B", len(data)) if len(data) < 126 else struct.pack("!BH", 126, len(data))
    connection.sendall(b"\x81" + size + data)


@contextlib.contextmanager
def relayed(listener: socket.socket, port: int, rewritten: str) -> Iterator[None]:
    """One connection is passed on to the daemon's port, under a Host that it takes. `rewritten`: the address that the
    client dialled, which the relay replaces by the daemon's wherever it is said."""

    def run() -> None:
        with contextlib.suppress(OSError):
            client, _ = listener.accept()
            with client, socket.create_connection(("127.0.0.1", port)) as daemon:
                back = threading.Thread(target=_pour, args=(daemon, client, b"", b""), daemon=True)
                back.start()
                own = f"127.0.0.1:{listener.getsockname()[1]}".encode()
                head = client.recv(65536)
                daemon.sendall(head.replace(own, f"127.0.0.1:{port}".encode()))
                _pour(client, daemon, rewritten.encode(), f"127.0.0.1:{port}".encode())
                back.join(5)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield
    thread.join(10)


def _pour(source: socket.socket, sink: socket.socket, old: bytes, new: bytes) -> None:
    """Frames keep their length: both addresses have as many digits, and the client masks with zeros."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data.replace(old, new) if old else data)
        sink.shutdown(socket.SHUT_WR)
