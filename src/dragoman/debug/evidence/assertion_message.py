"""A failed assertion's message with both sides whole, without the differences that a runner computes from them.

pytest is run so that it cuts nothing. What it says is then far too long: what stands in both sides is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SIDES = 1200
_BEFORE, _AFTER = 80, 160
_DETAIL = 300
_MOST_DETAILS = 12
_OPERATORS = (" == ", " != ", " not in ", " in ", " is not ", " is ", " <= ", " >= ", " < ", " > ")
_OPENING, _CLOSING = "([{", ")]}"
# Blocks of pytest's message that repeat both sides: a headline, and the lines up to the next headline.
_REPEATS = re.compile(r"\s*(?:Full diff|Common items|Matching attributes):|\s*Use -v|\s*Omitting \d+|\s*Skipping \d+")
_DIFFERENCE = re.compile(r"\s*[-+?] |\s*[-+?]$")
_ORIGIN = re.compile(r"\s*\+\s+(?:where|and) ")
_HEADLINE = re.compile(r"\s{0,4}(?:\S.*:|At index .*|(?:Left|Right) contains .*)$|\s*\+\s+(?:where|and) ")


def readable_assertion(message: str) -> str:
    """The message, if it is one of `assert`; others stay as they are."""
    lines = message.splitlines()
    at = next((at for at, line in enumerate(lines) if line.startswith("assert ")), None)
    if at is None:
        return message
    sides = "\n".join([lines[at], *_continued(lines[at + 1 :])])
    rest = lines[at + 1 + sides.count("\n") :]
    # pytest puts an empty line before a comparison of the sides, and none before the lines that say where they come
    # from.
    separator = [""] if rest and not rest[0].strip() else []
    return "\n".join([*lines[:at], _whole_sides(sides), *separator, *list(_details(rest))[:_MOST_DETAILS]]).rstrip()


def _continued(lines: list[str]) -> Iterator[str]:
    """A value's own text may have several lines; pytest's words begin with two blanks or a plus sign."""
    for line in lines:
        if not line.strip() or line.startswith((" ", "+")):
            return
        yield line


def _details(lines: list[str]) -> Iterator[str]:
    is_repeated = False
    for line in lines:
        if _REPEATS.match(line):
            is_repeated = True
        elif _HEADLINE.match(line):
            is_repeated = False
        is_difference = _DIFFERENCE.match(line) and not _ORIGIN.match(line)
        if line.strip() and not is_repeated and not is_difference:
            yield line if len(line) <= _DETAIL else f"{line[:_DETAIL]}…"


def _whole_sides(text: str) -> str:
    if len(text) <= _SIDES:
        return text
    split = _operator(text)
    if split is None:
        return f"{text[: _SIDES // 2]}… ({len(text)} chars) …{text[-_SIDES // 4 :]}"
    at, operator = split
    left, right = text[len("assert ") : at], text[at + len(operator) :]
    first = next((it for it, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return f"assert {_around(left, first)}{operator}{_around(right, first)}"


def _around(side: str, at: int) -> str:
    """The side from its beginning if it fits, else where it differs from the other one."""
    if len(side) <= _SIDES // 2:
        return side
    start = max(0, at - _BEFORE)
    shown = side[start : at + _AFTER]
    head = f"{side[:_BEFORE]}…" if start > _BEFORE else side[:start]
    tail = "" if at + _AFTER >= len(side) else "…"
    return f"{head}{shown}{tail} ({len(side)} chars)"


def _operator(text: str) -> tuple[int, str] | None:
    """The comparison outside of brackets and quotes."""
    depth, quote, at = 0, "", len("assert ")
    while at < len(text):
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in _OPENING or char in _CLOSING:
            depth += 1 if char in _OPENING else -1
        elif not depth and char == " ":
            found = next((it for it in _OPERATORS if text.startswith(it, at)), None)
            if found is not None:
                return at, found
        at += 1
    return None
