"""Lines of JSON with a cap: a line that grows past it is refused before it is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dragoman.errors import RemoteProtocolError

LINE_CAP = 1 << 20


class Lines:
    """Bytes in any pieces to JSON objects; holds at most one unfinished line."""

    def __init__(self, cap: int = LINE_CAP) -> None:
        self._cap = cap
        self._rest = bytearray()

    @property
    def unfinished(self) -> bool:
        return bool(self._rest)

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._hold(data[start:end])
            start = end + 1
            line = bytes(self._rest)
            self._rest.clear()
            if line.strip():
                yield decode_line(line)
        self._hold(data[start:])

    def take_rest(self) -> bytes:
        """What came after the last whole line, for a connection that changes hands."""
        rest = bytes(self._rest)
        self._rest.clear()
        return rest

    def _hold(self, piece: bytes) -> None:
        if len(self._rest) + len(piece) > self._cap:
            self._rest.clear()
            raise RemoteProtocolError("line_too_long", f"a line of more than {self._cap} bytes")
        self._rest += piece


def decode_line(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RemoteProtocolError("not_json", f"a line is not JSON: {type(error).__name__}") from error
    if not isinstance(value, dict):
        raise RemoteProtocolError("not_an_object", "a line is JSON, but not an object")
    return value


def encode_line(value: Mapping[str, Any]) -> bytes:
    """ASCII JSON: a lone surrogate in a file name then travels as an escape instead of breaking the encoding."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
