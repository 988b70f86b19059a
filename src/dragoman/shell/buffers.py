"""Buffers of the pump: what the sidecar has not seen yet, and what a terminal has not accepted yet."""

from __future__ import annotations

import os

FRAME = 64 * 1024

TypedKeys = tuple[bytes, int, float]
"""Keys, the terminal's modes when they arrived, and the time."""


class PumpBacklog:
    """Bytes that the shell and the screen already have, but the sidecar has not seen yet, in order."""

    __slots__ = ("_items", "_shown", "_unjoined", "size")

    def __init__(self) -> None:
        self._items: list[bytes | TypedKeys] = []
        self._shown: list[bytes] = []
        self._unjoined = 0
        self.size = 0
        """Bytes of output."""

    def __bool__(self) -> bool:
        return bool(self._items or self._shown)

    def add_shown(self, data: bytes) -> None:
        self._shown.append(data)
        self.size += len(data)
        self._unjoined += len(data)
        if self._unjoined >= FRAME:
            self._join()

    def add_typed(self, typed: TypedKeys) -> None:
        self._join()
        self._items.append(typed)

    def pop(self) -> list[bytes | TypedKeys]:
        """Output without a key in between is joined, up to one frame."""
        self._join()
        items, self._items, self.size = self._items, [], 0
        return items

    def _join(self) -> None:
        if self._shown:
            self._items.append(self._shown[0] if len(self._shown) == 1 else b"".join(self._shown))
            self._shown, self._unjoined = [], 0


_NOTHING = memoryview(b"")


class OutputBuffer:
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
