"""Find marks in terminal output without changing or delaying it, and encode them as bytes.

Every byte comes out again, in order, either as plain bytes or as a mark with its own bytes. Only what may still
become a mark is held back: a beginning of its introducer, or the introducer and a body up to the cap. A terminal
shows nothing of that either until the mark ends.

A mark is introduced by ESC ] and ended by BEL or ESC \\. The 8-bit forms (0x9D, 0x9C) are not taken: in UTF-8 they
are parts of letters, as in “ (E2 80 9C), and no UTF-8 terminal takes them. CAN, SUB or another escape sequence abort
a mark, as they do in a terminal.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.osc.marks import (
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    OutputStarted,
    PromptStarted,
    PropertyReported,
    parse_mark,
    percent_encode,
    serialize,
)

MAX_BODY = 8 * 1024

OutputPart: TypeAlias = bytes | Mark


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
        """Whether `feed` would return it unchanged: it contains no part of a mark."""
        return not self._held and (b"\x1b" not in data or (b"\x1b]" not in data and not data.endswith(b"\x1b")))

    def feed(self, data: bytes) -> list[OutputPart]:
        if self.passes(data):
            return [data] if data else []
        return self._scan(self._held + data)

    def flush(self) -> list[OutputPart]:
        """The stream ended: what was held is not a mark."""
        held, self._held = self._held, b""
        return [held] if held else []

    def _scan(self, data: bytes) -> list[OutputPart]:
        pieces: list[OutputPart] = []
        plain = at = 0
        while match := _INTRODUCER.search(data, at):
            at = match.end()
            whole = self._whole.match(data, at)
            if whole:
                _add_plain(pieces, data[plain : match.start()])
                plain = at = whole.end()
                raw = data[match.start() : at]
                pieces.append(parse_mark(133 if match[1] == b"133" else 633, whole[1], raw))
            elif self._unfinished.match(data, at):
                return self._hold(pieces, data, plain, match.start())
        start = _START.search(data, max(at, len(data) - _LONGEST_START))
        return self._hold(pieces, data, plain, start.start() if start else len(data))

    def _hold(self, pieces: list[OutputPart], data: bytes, plain: int, start: int) -> list[OutputPart]:
        _add_plain(pieces, data[plain:start])
        self._held = data[start:]
        return pieces


def _add_plain(pieces: list[OutputPart], plain: bytes) -> None:
    if plain:
        pieces.append(plain)


_LETTERS: dict[type[Mark], str] = {
    PromptStarted: "A",
    InputStarted: "B",
    OutputStarted: "C",
    CommandFinished: "D",
    CommandLineReported: "E",
    PropertyReported: "P",
}
# A nonce and a parameter must end neither the field nor the mark, nor be too long for a terminal.
_SAFE = re.compile(r"[^\x00-\x1f;\x7f]*")


def encode_mark(mark: Mark) -> bytes:
    """Ended by BEL, which every terminal accepts and tmux passes on."""
    letter = _LETTERS.get(type(mark))
    if letter is None:
        raise LocalProtocolError("not_ours", f"{type(mark).__name__} is not a mark that we print")
    body = ";".join([letter, *_fields(mark)]).encode(errors="replace")
    if len(body) > MAX_BODY:
        raise LocalProtocolError("mark_too_long", f"a mark of {len(body)} bytes; the cap is {MAX_BODY}")
    return b"\x1b]%d;%s\x07" % (mark.dialect, body)


def _fields(mark: Mark) -> list[str]:
    if isinstance(mark, CommandLineReported):
        return [serialize(mark.command_line), *_checked([mark.nonce] if mark.nonce else [])]
    return [*_own_fields(mark), *_checked(_named(mark))]


def _own_fields(mark: Mark) -> list[str]:
    if isinstance(mark, CommandFinished):
        return ["" if mark.exit_code is None else str(mark.exit_code)]
    if isinstance(mark, OutputStarted) and mark.command_line is not None:
        return [f"cmdline_url={percent_encode(mark.command_line)}"]
    if isinstance(mark, PropertyReported):
        return [serialize(f"{mark.key}={mark.value}")]
    return []


def _named(mark: Mark) -> list[str]:
    named = mark.parameters if mark.nonce is None else {**mark.parameters, "nonce": mark.nonce}
    return [f"{key}={value}" for key, value in named.items()]


def _checked(fields: list[str]) -> list[str]:
    for each in fields:
        if not _SAFE.fullmatch(each):
            raise LocalProtocolError("unsafe_field", f"{each!r} would break out of its field")
    return fields
