"""JSON lines with a cap: a line that grows past it is refused before it is complete."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dragoman.core.errors import RemoteProtocolError

LINE_CAP = 1 << 20
EMPTY_LINES_AT_MOST = 16
"""In a row: each is only one byte, but costs as much work as a full line."""


class ControlLines:
    """Bytes in any chunks to JSON objects. It holds one unfinished line and the lines that were not read yet."""

    def __init__(self, cap: int = LINE_CAP) -> None:
        self._cap = cap
        self._buffer = bytearray()
        self._scanned = 0
        self._empty = 0

    @property
    def unfinished(self) -> bool:
        return bool(self._buffer)

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Lazy: a caller may stop after a line and pass the rest to another reader (`take_rest`)."""
        self._buffer += data
        while (line := self._next_line()) is not None:
            if line.strip():
                self._empty = 0
                yield decode_line(line)
            else:
                self._count_empty()

    def take_rest(self) -> bytes:
        rest = bytes(self._buffer)
        self._buffer.clear()
        self._scanned = 0
        return rest

    def _count_empty(self) -> None:
        self._empty += 1
        if self._empty > EMPTY_LINES_AT_MOST:
            self.take_rest()
            raise RemoteProtocolError("empty_lines", f"more than {EMPTY_LINES_AT_MOST} empty lines")

    def _next_line(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._scanned)
        if (len(self._buffer) if end < 0 else end) > self._cap:
            self.take_rest()
            raise RemoteProtocolError("line_too_long", f"a line of more than {self._cap} bytes")
        self._scanned = len(self._buffer) if end < 0 else 0
        if end < 0:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line


def decode_line(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RemoteProtocolError("not_json", f"a line is not JSON: {type(error).__name__}") from error
    if not isinstance(value, dict):
        raise RemoteProtocolError("not_an_object", "a line is JSON, but not an object")
    return value


def encode_line(value: Mapping[str, Any]) -> bytes:
    """ASCII JSON: a lone surrogate in a file name is sent as an escape instead of breaking the encoding."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
