"""Bytes in any chunks to messages of JSON, and back. What is no message passes as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from dragoman.protocols.jsonrpc import is_too_deep

MAX_MESSAGE = 16 << 20
"""A longer one passes without translation, and is not kept until it is whole."""
_MAX_HEADER = 8 << 10
_HEADER_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"(?:\A|\r\n)content-length:[ \t]*(\d{1,9})[ \t]*(?=\r\n)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StreamChunk:
    """`data` is what arrived, with its end or its header; `body` is None for what is no whole message."""

    data: bytes
    body: bytes | None

    @property
    def message(self) -> Any:
        """None if it is not JSON, or nested too deeply to be encoded again: whoever reads it may refuse it."""
        try:
            return None if self.body is None or is_too_deep(self.body) else json.loads(self.body)
        except (ValueError, RecursionError):
            return None


class MessageStream(Protocol):
    def feed(self, data: bytes) -> list[StreamChunk]: ...

    def encode(self, message: Any) -> bytes: ...


class LineStream:
    def __init__(self) -> None:
        self._buffer = bytearray()
        self._is_overlong = False

    def feed(self, data: bytes) -> list[StreamChunk]:
        return list(self._pieces(data))

    def encode(self, message: Any) -> bytes:
        return _json(message) + b"\n"

    def _pieces(self, data: bytes) -> Iterator[StreamChunk]:
        *ends, rest = data.split(b"\n")
        for end in ends:
            line = bytes(self._buffer) + end
            self._buffer.clear()
            yield StreamChunk(line + b"\n", None if self._is_overlong else line)
            self._is_overlong = False
        self._buffer += rest
        if self._is_overlong or len(self._buffer) > MAX_MESSAGE:
            self._is_overlong = True
            passed = bytes(self._buffer)
            self._buffer.clear()
            yield StreamChunk(passed, None)


class DapStream:
    """One line, the hello or the welcome, and then the frames of the Debug Adapter Protocol."""

    def __init__(self) -> None:
        self._first_line = LineStream()
        self._is_framed = False
        self._buffer = bytearray()
        self._passes = 0
        """Bytes of a message that is too long; -1 once the framing was lost."""

    def feed(self, data: bytes) -> list[StreamChunk]:
        if self._is_framed:
            self._buffer += data
            return list(self._frames())
        end = data.find(b"\n") + 1
        pieces = self._first_line.feed(data[:end] if end else data)
        if not end:
            return pieces
        self._is_framed = True
        self._buffer += data[end:]
        return [*pieces, *self._frames()]

    def encode(self, message: Any) -> bytes:
        body = _json(message)
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    def _frames(self) -> Iterator[StreamChunk]:
        while self._buffer:
            if self._passes:
                count = len(self._buffer) if self._passes < 0 else min(self._passes, len(self._buffer))
                self._passes -= count if self._passes > 0 else 0
                yield self._pop(count, None)
                continue
            start = self._buffer.find(_HEADER_END, 0, _MAX_HEADER) + len(_HEADER_END)
            if start < len(_HEADER_END):
                if len(self._buffer) >= _MAX_HEADER:
                    self._passes = -1
                    continue
                return
            match = _LENGTH.search(bytes(self._buffer[:start]))
            if match is None:
                self._passes = -1
            elif int(match[1]) > MAX_MESSAGE:
                self._passes = start + int(match[1])
            elif len(self._buffer) < start + int(match[1]):
                return
            else:
                yield self._pop(start + int(match[1]), start)

    def _pop(self, count: int, start: int | None) -> StreamChunk:
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return StreamChunk(data, None if start is None else data[start:])


def _json(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()
