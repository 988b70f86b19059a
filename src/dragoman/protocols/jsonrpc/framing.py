"""Bytes in any chunks to whole lines. An overlong line keeps only its ends, and the stream continues after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.protocols.json_input import PartLimits

LINE_CAP = 64 << 20
# The longest line of a client: a program's whole standard input, with each character escaped.
MESSAGE_CAP = 12 << 20
# A larger message consists of long texts, not of many parts, and is decoded in a worker thread.
LARGE = 256 << 10
PARTS_AT_MOST = 50_000
TOO_MANY_PARTS = "too_many_parts"
# What is kept of a dropped line: enough at both ends to find the id, which some clients write first and others last.
ENDS_KEPT = 4096
_MAX_DEPTH = 200
_BRACKETS = re.compile(rb"[\[\]{}]")
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"')
_PARTS = PartLimits(strings=PARTS_AT_MOST, others=PARTS_AT_MOST, unchecked_bytes=LARGE, is_exact=True)


def has_too_many_parts(message: bytes) -> bool:
    """Whether it has more members, elements and texts than any call needs. A text counts once."""
    return _PARTS.exceeded_by(message)


def is_too_deep(message: bytes) -> bool:
    """Whether JSON is nested so deeply that encoding it again may fail, although decoding it did not."""
    return message.count(b"[") + message.count(b"{") > _MAX_DEPTH and _depth(message) > _MAX_DEPTH


def _depth(message: bytes) -> int:
    """Outside of texts."""
    depth = most = 0
    for found in _BRACKETS.finditer(_TEXTS.sub(b"", message)):
        depth += 1 if found[0] in b"[{" else -1
        most = max(most, depth)
    return most


@dataclass(frozen=True, slots=True)
class OverlongLine:
    head: bytes
    tail: bytes


class CappedLines:
    """Holds at most one unfinished line, without its end-of-line byte."""

    def __init__(self, cap: int = LINE_CAP) -> None:
        self.cap = cap
        self._buffer = bytearray()
        self._scanned = 0
        self._head: bytes | None = None  # of the overlong line that is being dropped

    @property
    def held(self) -> int:
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[bytes | OverlongLine]:
        self._buffer += data
        while (end := self._buffer.find(b"\n", self._scanned)) >= 0:
            line = self._line(end)
            del self._buffer[: end + 1]
            self._scanned = 0
            yield line
        self._let_pass()
        self._scanned = len(self._buffer)

    def _line(self, end: int) -> bytes | OverlongLine:
        head, self._head = self._head, None
        if head is None and end <= self.cap:
            return bytes(self._buffer[:end])
        return OverlongLine(head or bytes(self._buffer[:ENDS_KEPT]), bytes(self._buffer[max(0, end - ENDS_KEPT) : end]))

    def _let_pass(self) -> None:
        if self._head is None and len(self._buffer) > self.cap:
            self._head = bytes(self._buffer[:ENDS_KEPT])
        if self._head is not None:
            del self._buffer[:-ENDS_KEPT]
