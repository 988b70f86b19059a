"""Bytes in any pieces to whole lines. One that is too long leaves only its ends, and the stream goes on after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.wire.json_weight import PartLimits

LINE_CAP = 64 << 20
# What a client may say at once: a program's whole standard input, each letter of it escaped.
MESSAGE_CAP = 12 << 20
# From here on a message is one of long texts, not of many parts; and it is decoded in a worker thread.
LARGE = 256 << 10
PARTS_AT_MOST = 50_000
TOO_MANY_PARTS = "too_many_parts"
# Of a line that is not kept: enough at both ends to find the id, which some clients write first and others last.
ENDS_KEPT = 4096
_PARTS = PartLimits(strings=PARTS_AT_MOST, others=PARTS_AT_MOST, light_bytes=LARGE, is_exact=True)


def has_too_many_parts(message: bytes) -> bool:
    """Whether it holds more members, elements and texts than any call of ours takes. A text counts once."""
    return _PARTS.exceeded_by(message)


@dataclass(frozen=True, slots=True)
class Overlong:
    head: bytes
    tail: bytes


class CappedLines:
    """Holds at most one unfinished line, without its end-of-line byte."""

    def __init__(self, cap: int = LINE_CAP) -> None:
        self.cap = cap
        self._buffer = bytearray()
        self._scanned = 0
        self._head: bytes | None = None  # of the overlong line that is passing by

    @property
    def held(self) -> int:
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[bytes | Overlong]:
        self._buffer += data
        while (end := self._buffer.find(b"\n", self._scanned)) >= 0:
            line = self._line(end)
            del self._buffer[: end + 1]
            self._scanned = 0
            yield line
        self._let_pass()
        self._scanned = len(self._buffer)

    def _line(self, end: int) -> bytes | Overlong:
        head, self._head = self._head, None
        if head is None and end <= self.cap:
            return bytes(self._buffer[:end])
        return Overlong(head or bytes(self._buffer[:ENDS_KEPT]), bytes(self._buffer[max(0, end - ENDS_KEPT) : end]))

    def _let_pass(self) -> None:
        if self._head is None and len(self._buffer) > self.cap:
            self._head = bytes(self._buffer[:ENDS_KEPT])
        if self._head is not None:
            del self._buffer[:-ENDS_KEPT]
