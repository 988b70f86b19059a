"""The way out to a terminal."""

from __future__ import annotations

import os

_NOTHING = memoryview(b"")


class Outlet:
    """Bytes on their way to a descriptor that may not take all of them at once."""

    __slots__ = ("fd", "pending")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.pending = _NOTHING

    def write(self, data: bytes | memoryview) -> None:
        if self.pending:
            self.pending = memoryview(bytes(self.pending) + data)
            return
        try:
            sent = os.write(self.fd, data)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            self.pending = memoryview(data)[sent:]

    def drop(self) -> None:
        self.pending = _NOTHING

    def flush(self) -> None:
        data, self.pending = self.pending, _NOTHING
        if data:
            self.write(data)
