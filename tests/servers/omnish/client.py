"""A shell wrapper that is nothing but its connection, so that a test can say anything and see every frame."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from dragoman.protocols.omnish import BASE_REVISION, OmnishFrame, Schema, decode_frame, encode_frame
from dragoman.protocols.omnish import messages as m
from dragoman.protocols.omnish.framing import FrameSplitter
from tests.daemons import PATIENCE

LENGTH = 4


def on_the_wire(frame: bytes) -> bytes:
    return len(frame).to_bytes(LENGTH, "big") + frame


class Client:
    """Blocking. Replies are taken in whatever order they come; pushes (id 0) are kept apart."""

    def __init__(self, path: Path, schema: Schema = BASE_REVISION, *, within_s: float = 10) -> None:
        self.schema = schema
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(within_s * PATIENCE)
        self.socket.connect(str(path))
        self.pushed: list[Any] = []
        self._splitter = FrameSplitter()
        self._arrived: list[OmnishFrame] = []
        self._kept: list[OmnishFrame] = []
        self._last_id = 0

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, message: object, frame_id: int | None = None) -> int:
        """Without waiting; the frame's id."""
        self._last_id = self._last_id + 1 if frame_id is None else frame_id
        self.send_frame(encode_frame(OmnishFrame(self._last_id, message), self.schema))
        return self._last_id

    def send_frame(self, frame: bytes) -> None:
        self.socket.sendall(on_the_wire(frame))

    def ask(self, message: object) -> Any:
        """The reply to this message; what else comes meanwhile is kept."""
        return self.reply_to(self.send(message))

    def reply_to(self, frame_id: int) -> Any:
        while True:
            for frame in self._kept:
                if frame.request_id == frame_id:
                    self._kept.remove(frame)
                    return frame.payload
            self._kept.append(self.next())

    def next(self) -> OmnishFrame:
        """The next frame that is no push."""
        while True:
            frame = self._next()
            if frame.request_id:
                return frame
            self.pushed.append(frame.payload)

    def push(self) -> Any:
        """The next push."""
        while not self.pushed:
            frame = self._next()
            if frame.request_id:
                self._kept.append(frame)
            else:
                self.pushed.append(frame.payload)
        return self.pushed.pop(0)

    def is_closed(self) -> bool:
        """Whether the daemon closes it, within the deadline, and says nothing more."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def _next(self) -> OmnishFrame:
        while not self._arrived:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError
            for buffer, start, end in self._splitter.feed(data):
                self._arrived.append(decode_frame(buffer[start:end], self.schema))
        return self._arrived.pop(0)


def began(session_id: str, **attributes: str) -> m.SessionStart:
    return m.SessionStart(
        session_id, None, 1_000, {name.replace("__", "."): value for name, value in attributes.items()}
    )


def shown(session_id: str, data: bytes, at_ms: int = 2_000) -> m.IoData:
    return m.IoData(session_id, m.IoDirection.OUTPUT, at_ms, data)


def ended(session_id: str, number: int, line: str, *, exit_code: int = 0, cwd: str = "/home") -> m.CommandComplete:
    record = m.CommandRecord(f"{session_id}:{number}", session_id, line, cwd, 2_000, 3_000, "", 0, 0, exit_code)
    return m.CommandComplete(session_id, record)
