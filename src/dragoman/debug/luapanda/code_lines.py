"""Lines that hold code: the runtime takes a breakpoint at any line and never says that it cannot be hit."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPENS = re.compile(r"--\[(=*)\[|--|\[(=*)\[|\"|'")


def next_code_line(lines: Sequence[str], line: int) -> int | None:
    """The line itself, or the next one that is neither blank nor all comment; none after the last."""
    if not lines or not 1 <= line <= len(lines):
        return None
    counts = has_code(lines)
    return next((number for number in range(line, len(lines) + 1) if counts[number - 1]), None)


def has_code(lines: Sequence[str]) -> list[bool]:
    """Of each line."""
    found: list[bool] = []
    closing = ""
    is_comment = False
    for line in lines:
        closing, is_comment, has_code = _scanned(line, closing, is_comment=is_comment)
        found.append(has_code)
    return found


def _scanned(line: str, closing: str, *, is_comment: bool) -> tuple[str, bool, bool]:
    """What is open at the end of the line, and whether there was code. A long string's inner lines are none."""
    has_code, at = False, 0
    while True:
        if closing:
            end = line.find(closing, at)
            if end < 0:
                return closing, is_comment, has_code
            at, closing = end + len(closing), ""
            has_code = has_code or not is_comment
        found = _OPENS.search(line, at)
        has_code = has_code or bool(line[at : found.start() if found else len(line)].strip())
        if found is None or found[0] == "--":
            return "", False, has_code
        has_code = has_code or not found[0].startswith("--")
        at = found.end()
        if found[0] in "\"'":
            at = _quoted_end(line, at, found[0])
        else:
            is_comment = found[0].startswith("--")
            closing = "]" + (found[1] or found[2] or "") + "]"


def _quoted_end(line: str, at: int, quote: str) -> int:
    found = re.compile(rf"(?:\\.|[^{quote}\\])*{quote}").match(line, at)
    return found.end() if found else len(line)
