"""A wrapper's connection without a shell: it tells of output that is known by its position, and resumes as ours does.

What is not acknowledged is kept and sent again on the next connection, after a start that says where it goes on. So the
record must hold every byte once, whatever happened to the daemon in between.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections import OrderedDict
from pathlib import Path

from dragoman.protocols.omnish import BASE_REVISION, ClientConnection, ReplyReceived
from dragoman.protocols.omnish import messages as m
from dragoman.terminal.model import RESUMES_AT, VERIFIES
from tests.daemons import PATIENCE

_LINE = b"line %012d of the output, with nothing in it to hide .......\r\n"
_LENGTH = len(_LINE % 0)
_WINDOW = 64
_RETRY_S = 0.02
_HEARD_WITHIN_S = 30


def output_at(start: int, length: int) -> bytes:
    """Lines that say where they stand: a lost, doubled or swapped byte is seen."""
    first, last = start // _LENGTH, (start + length) // _LENGTH + 1
    lines = b"".join(_LINE % number for number in range(first, last))
    return lines[start - first * _LENGTH :][:length]


class ResumingClient:
    """Blocking, one thread. `reported` counts what was handed over, `known` what the daemon acknowledged."""

    def __init__(self, path: Path, session_id: str) -> None:
        self.path = path
        self.session_id = session_id
        self.reported = 0
        self.known = 0
        self.reconnects = -1
        self._kept: OrderedDict[int, tuple[object, int]] = OrderedDict()
        self._socket: socket.socket | None = None
        self._connection = ClientConnection(BASE_REVISION)

    def report(self, length: int) -> None:
        """So many more bytes of output, in one frame."""
        data = output_at(self.reported, length)
        self.reported += length
        self._send(m.IoData(self.session_id, m.IoDirection.OUTPUT, self.reported, data), length)

    def report_command(self, number: int) -> None:
        record = m.CommandRecord(
            f"{self.session_id}:{number}",
            self.session_id,
            f"make {number}",
            "/srv",
            number + 1,
            number + 2,
            "",
            0,
            0,
            0,
        )
        self._send(m.CommandComplete(self.session_id, record), 0)

    def settle(self, within_s: float = 30) -> None:
        """Until everything is acknowledged, over as many connections as it takes."""
        deadline = time.monotonic() + within_s * PATIENCE
        while self._kept:
            assert time.monotonic() < deadline, (len(self._kept), self.known, self.reported)
            if self._alive():
                self._receive(0.2)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, message: object, length: int) -> None:
        """Kept first: a connection that breaks just now takes nothing with it."""
        self._alive()
        frame_id, data = self._connection.request(message)
        self._kept[frame_id] = (message, length)
        if self._socket is not None:
            self._push(data)
        deadline = time.monotonic() + _HEARD_WITHIN_S * PATIENCE
        while len(self._kept) > _WINDOW and self._alive():
            assert time.monotonic() < deadline, "nothing is acknowledged any more"
            self._receive(0.2)

    def _alive(self) -> bool:
        if self._socket is not None:
            return True
        caller = socket.socket(socket.AF_UNIX)
        caller.settimeout(5 * PATIENCE)
        try:
            caller.connect(str(self.path))
        except OSError:
            caller.close()
            time.sleep(_RETRY_S)
            return False
        self._socket = caller
        self._resume()
        return True

    def _resume(self) -> None:
        self.reconnects += 1
        kept = [it for it in self._kept.values() if not isinstance(it[0], m.SessionStart)]
        self._kept, self._connection = OrderedDict(), ClientConnection(BASE_REVISION)
        attributes = {RESUMES_AT: str(self.known), VERIFIES: "1", "shell": "bash"}
        frames = [(m.SessionStart(self.session_id, None, 1, attributes), 0), *kept]
        for message, length in frames:
            frame_id, data = self._connection.request(message)
            self._kept[frame_id] = (message, length)
            self._push(data)

    def _push(self, data: bytes) -> None:
        if self._socket is not None:
            try:
                self._socket.sendall(data)
            except OSError:
                self.close()

    def _receive(self, within_s: float) -> None:
        if self._socket is None:
            return
        self._socket.settimeout(within_s)
        try:
            data = self._socket.recv(65536)
        except TimeoutError:
            return
        except OSError:
            data = b""
        finally:
            with contextlib.suppress(OSError, AttributeError):
                self._socket.settimeout(5 * PATIENCE)
        if not data:
            self.close()
            return
        self._connection.receive_data(data)
        for event in self._connection.events():
            if isinstance(event, ReplyReceived):
                self.known += self._kept.pop(event.request_id)[1]
