"""Marks as bytes, as our shell hooks print them: each mark in its own dialect, with plain keys and short numbers."""

from __future__ import annotations

import re

from dragoman.errors import LocalProtocolError
from dragoman.wire.osc.marks import (
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    OutputStarted,
    PromptStarted,
    PropertyReported,
)
from dragoman.wire.osc.quoting import percent_encode, serialize
from dragoman.wire.osc.scanner import MAX_BODY

_LETTERS: dict[type[Mark], str] = {
    PromptStarted: "A",
    InputStarted: "B",
    OutputStarted: "C",
    CommandFinished: "D",
    CommandLineReported: "E",
    PropertyReported: "P",
}
# A nonce and a parameter must not end the field, the mark or the terminal's patience.
_SAFE = re.compile(r"[^\x00-\x1f;\x7f]*")


def encode_mark(mark: Mark) -> bytes:
    """Ended by BEL, which every terminal takes and tmux passes on."""
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
