"""The socket to the daemon: connecting is tried now and then, never waited for."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from dragoman.core.errors import ProtocolError
from dragoman.core.paths import Paths
from dragoman.protocols.omnish import BASE_REVISION, ClientConnection, PushReceived, ReplyReceived
from dragoman.protocols.omnish.messages import Ack, Request, Response
from dragoman.shell.recording.outbox import RecordingOutbox

_FIRST_RETRY_S, _LAST_RETRY_S = 0.25, 5.0
_READ = 64 * 1024
# The most that is sent at once: a key that arrives meanwhile waits no longer than this.
_AT_ONCE = 256 * 1024
_NOT_TAKEN = (BlockingIOError, InterruptedError)


class DaemonLink:
    """The connection to the daemon, which may be absent.

    `received` collects what the daemon sent besides acknowledgements. Nothing here blocks.
    """

    def __init__(self, outbox: RecordingOutbox, paths: Paths, environment: Mapping[str, str] = os.environ) -> None:
        self._outbox = outbox
        self._paths, self._environment = paths, environment
        self._socket: socket.socket | None = None
        self._connection = ClientConnection(BASE_REVISION)
        self._unsent: list[bytes | memoryview] = []
        self._retry_s = _FIRST_RETRY_S / 2
        self._looked_at_s = 0.0
        self.retry_at_s: float | None = 0.0
        self.fd: int | None = None
        self.received: list[object] = []

    @property
    def connected(self) -> bool:
        return self._socket is not None

    @property
    def events(self) -> int:
        return select.POLLIN | select.POLLOUT if self._unsent else select.POLLIN

    @property
    def settled(self) -> bool:
        return self._outbox.empty and not self._unsent

    def connect_if_due(self, now_s: float) -> None:
        """Try to connect. A connect to a Unix socket succeeds or fails at once."""
        if self._socket is None and self.retry_at_s is not None and now_s >= self.retry_at_s:
            self._socket = _connected(self._address())
            self.fd = None if self._socket is None else self._socket.fileno()
            self._looked_at_s = now_s
            self.retry_at_s = None if self._socket else self._later(now_s)

    def send(self, now_s: float) -> None:
        """Send as much as the socket accepts without waiting."""
        budget = _AT_ONCE
        while self._socket is not None and budget > 0 and (self._unsent or self._encode_next()):
            try:
                sent = self._socket.sendmsg(self._unsent)
            except _NOT_TAKEN:
                return
            except OSError:
                self._disconnected(now_s)
                return
            self._unsent = _after(self._unsent, sent)
            budget -= sent

    def ask(self, message: object) -> bool:
        """Send a message that only matters now: it is not kept, and not sent without a daemon."""
        if self._socket is None:
            return False
        self._unsent.append(self._connection.request(message, streams=isinstance(message, Request))[1])
        return True

    def receive(self, now_s: float) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(_READ)
        except _NOT_TAKEN:
            return
        except OSError:
            data = b""
        try:
            self._connection.receive_data(data)
            self._handle_events()
        except ProtocolError:
            data = b""
        if not data:
            self._disconnected(now_s)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = self.fd = None

    def _handle_events(self) -> None:
        for event in self._connection.events():
            if isinstance(event, ReplyReceived) and isinstance(event.message, Ack):
                self._outbox.acknowledge(event.request_id)
            elif isinstance(event, ReplyReceived):
                self._answered(event.request_id, event.message)
            elif isinstance(event, PushReceived):
                self.received.append(event.message)

    def _answered(self, request_id: int, message: object) -> None:
        if isinstance(message, Response) and message.is_final:
            self._connection.forget(request_id)
        self.received.append(message)

    def _encode_next(self) -> bool:
        taken = self._outbox.pop()
        if taken is None:
            return False
        message, entry = taken
        request_id, parts = self._connection.request_parts(message)
        self._unsent += parts
        if entry is not None:
            self._outbox.sent(request_id, entry)
        return True

    def _disconnected(self, now_s: float) -> None:
        self.close()
        self._connection, self._unsent = ClientConnection(BASE_REVISION), []
        self._outbox.handle_disconnect()
        if now_s - self._looked_at_s > _LAST_RETRY_S:
            self._retry_s = _FIRST_RETRY_S / 2
        self.retry_at_s = self._later(now_s)

    def _later(self, now_s: float) -> float:
        """A daemon that accepts us and cannot store what we send, as with a full disk, is not retried all the time."""
        self._retry_s = min(2 * self._retry_s, _LAST_RETRY_S)
        return now_s + self._retry_s

    def _address(self) -> str:
        named = self._environment.get("OMNISH_SOCKET", "")
        return named or _from_state(self._paths.state_file) or str(self._paths.omnish_socket)


def _after(parts: list[bytes | memoryview], sent: int) -> list[bytes | memoryview]:
    """The rest of the buffers, without copying."""
    for at, part in enumerate(parts):
        if sent < len(part):
            return [memoryview(part)[sent:], *parts[at + 1 :]]
        sent -= len(part)
    return []


def _from_state(state_file: Path) -> str:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        state = state_file.read_bytes()
        import json  # noqa: PLC0415  without a daemon there is nothing to read

        return str(json.loads(state).get("omnish_socket", ""))
    return ""


def _listener_uid(connection: socket.socket) -> int:
    """The uid of the listener, from the kernel: the file's owner proves nothing, and the socket may be replaced
    meanwhile."""
    if sys.platform == "darwin":
        return int.from_bytes(connection.getsockopt(0, 1, 76)[4:8], sys.byteorder)  # LOCAL_PEERCRED: struct xucred
    return int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[4:8], sys.byteorder)


def _connected(address: str) -> socket.socket | None:
    """Connect only to a socket of this person or of root: nobody else may see what a terminal shows."""
    if not address.startswith("/"):
        return None
    own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if os.stat(address).st_uid not in (os.getuid(), 0):  # noqa: PTH116
            raise PermissionError(address)
        own.setblocking(False)
        own.connect(address)
        if _listener_uid(own) not in (os.getuid(), 0):
            raise PermissionError(address)
    except OSError:
        own.close()
        return None
    return own
