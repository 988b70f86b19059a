"""Finds marks in a terminal's output without changing or delaying it.

Every byte comes out again, in order, either as plain bytes or as a mark with its own bytes; who strips marks leaves
them out. Held back is only what may still become a mark: a beginning of its introducer, or the introducer and a body
up to the cap. A terminal shows nothing of that either until the mark ends.

A mark is introduced by ESC ] and ended by BEL or ESC \\. The 8-bit forms (0x9D, 0x9C) are not taken: in UTF-8 they are
parts of letters, as in “ (E2 80 9C), and no UTF-8 terminal takes them. CAN, SUB or another escape sequence abort a
mark, as they do in a terminal.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from dragoman.wire.osc.marks import Mark, parse_mark

MAX_BODY = 8 * 1024

Piece: TypeAlias = bytes | Mark

_INTRODUCER = re.compile(rb"\x1b\](133|633);")
_LONGEST_START = len(b"\x1b]133")
_START = re.compile(rb"\x1b(?:\](?:1|13|133|6|63|633)?)?\Z")


class MarkScanner:
    """One stream of output. `feed` what was read; `flush` at its end."""

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self._held = b""
        unended = rb"[^\x07\x18\x1a\x1b]{0,%d}+" % max_body
        self._whole = re.compile(rb"(%s)(?:\x07|\x1b\\)" % unended)
        self._unfinished = re.compile(rb"%s\x1b?\Z" % unended)

    @property
    def held(self) -> bytes:
        """What may still become a mark."""
        return self._held

    def passes(self, data: bytes) -> bool:
        """Whether it comes out of `feed` as it is: nothing in it is of a mark."""
        return not self._held and (b"\x1b" not in data or (b"\x1b]" not in data and not data.endswith(b"\x1b")))

    def feed(self, data: bytes) -> list[Piece]:
        if self.passes(data):
            return [data] if data else []
        return self._scan(self._held + data)

    def flush(self) -> list[Piece]:
        """The stream ended: what was held was no mark."""
        held, self._held = self._held, b""
        return [held] if held else []

    def _scan(self, data: bytes) -> list[Piece]:
        pieces: list[Piece] = []
        plain = at = 0
        while found := _INTRODUCER.search(data, at):
            at = found.end()
            whole = self._whole.match(data, at)
            if whole:
                _take_plain(pieces, data[plain : found.start()])
                plain = at = whole.end()
                raw = data[found.start() : at]
                pieces.append(parse_mark(133 if found[1] == b"133" else 633, whole[1], raw))
            elif self._unfinished.match(data, at):
                return self._hold(pieces, data, plain, found.start())
        start = _START.search(data, max(at, len(data) - _LONGEST_START))
        return self._hold(pieces, data, plain, start.start() if start else len(data))

    def _hold(self, pieces: list[Piece], data: bytes, plain: int, start: int) -> list[Piece]:
        _take_plain(pieces, data[plain:start])
        self._held = data[start:]
        return pieces


def _take_plain(pieces: list[Piece], plain: bytes) -> None:
    if plain:
        pieces.append(plain)
