"""Parse terminal output into tokens (ECMA-48), in any chunking; OSC, DCS and APC strings are left out.

The 8-bit forms of the introducers are not taken: in UTF-8 their bytes are parts of letters. CAN, SUB and ESC abort a
sequence, as in a terminal. Between two chunks one unfinished sequence of bounded length is held back.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

MOST_BODY = 4096
"""A longer sequence is not one. A string may never end, and none of it is kept."""

_TEXT = re.compile(rb"[^\x00-\x1f\x7f]+")
_CSI = re.compile(rb"\x1b\[([<-?]?)([0-9:;]*)([ -/]*)([@-~])")
_CSI_BEGUN = re.compile(rb"\x1b\[[0-?]*[ -/]*\Z")
_CSI_BROKEN = re.compile(rb"\x1b\[[0-?]*[ -/]*(?:[@-~])?")
_ESCAPE = re.compile(rb"\x1b([ -/]*)([0-Z\\^-~])")
_ESCAPE_BEGUN = re.compile(rb"\x1b[ -/]*\Z")
_STRING = b"]PX^_"
_STRING_ENDS = re.compile(rb"[\x07\x18\x1a]|\x1b\\?")


@dataclass(frozen=True, slots=True)
class Text:
    """Printable characters, or one control character."""

    text: str

    @property
    def is_control(self) -> bool:
        return self.text < " " or self.text == "\x7f"


@dataclass(frozen=True, slots=True)
class Escape:
    intermediates: str
    final: str


@dataclass(frozen=True, slots=True)
class Csi:
    prefix: str
    parameters: tuple[int, ...]
    """The first number of each parameter; an omitted one is 0."""
    intermediates: str
    final: str
    raw: bytes


Token: TypeAlias = Text | Escape | Csi


class SequenceParser:
    """Parses one stream. `feed` returns complete tokens; a sequence that never ends is never returned."""

    def __init__(self) -> None:
        self._held = b""
        self._in_string = False
        self._letters = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> Iterator[Token]:
        data, self._held = self._held + data, b""
        at = 0
        while at < len(data):
            if self._in_string:
                at = self._through_string(data, at)
                continue
            match = _TEXT.match(data, at)
            if match is not None:
                at = match.end()
                yield from self._text(match[0])
                continue
            yield from self._text(b"", ends=True)
            if data[at] == 0x1B:
                token, at = self._sequence(data, at)
                if token is not None:
                    yield token
            else:
                yield Text(chr(data[at]))
                at += 1

    def _text(self, data: bytes, *, ends: bool = False) -> Iterator[Token]:
        """A character may be split over chunks, but not by a sequence."""
        text = self._letters.decode(data, ends)
        if text:
            yield Text(text)

    def _sequence(self, data: bytes, at: int) -> tuple[Token | None, int]:
        if data[at + 1 : at + 2] == b"[":
            return self._csi(data, at)
        if data[at + 1 : at + 2] in {bytes([one]) for one in _STRING}:
            self._in_string = True
            return None, at + 2
        match = _ESCAPE.match(data, at)
        if match is not None:
            return Escape(match[1].decode(), match[2].decode()), match.end()
        return None, self._hold(data, at) if _ESCAPE_BEGUN.match(data, at) else at + 1

    def _csi(self, data: bytes, at: int) -> tuple[Token | None, int]:
        match = _CSI.match(data, at)
        if match is not None and len(match[0]) <= MOST_BODY:
            prefix, parameters, intermediates, final = (part.decode() for part in match.groups())
            return Csi(prefix, _numbers(parameters), intermediates, final, match[0]), match.end()
        if _CSI_BEGUN.match(data, at):
            return None, self._hold(data, at)
        broken = _CSI_BROKEN.match(data, at)
        return None, broken.end() if broken else at + 1

    def _hold(self, data: bytes, at: int) -> int:
        self._held = data[at:][:MOST_BODY]
        return len(data)

    def _through_string(self, data: bytes, at: int) -> int:
        """An escape that does not end the string begins the next sequence. The next byte decides which."""
        match = _STRING_ENDS.search(data, at)
        if match is None:
            return len(data)
        if match[0] == b"\x1b" and match.end() == len(data):
            return self._hold(data, match.start())
        self._in_string = False
        return match.start() if match[0] == b"\x1b" else match.end()


def _numbers(parameters: str) -> tuple[int, ...]:
    """A number beyond the range of terminals is clamped to the highest."""
    if not parameters:
        return ()
    firsts = (one.partition(":")[0] for one in parameters.split(";"))
    return tuple(min(int(first[:6]), 99_999) if first else 0 for first in firsts)
