"""The first line of a function, found in its source, for debuggers that know no functions by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

# js-debug has no function breakpoints.
_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"})
_DEFINED = (
    r"\bfunction\s*\*?\s*{name}\s*[(<]",
    r"\b{name}\s*[:=]\s*(?:async\s*)?(?:function\b|\(|[\w$]+\s*=>)",
    r"^\s*(?:(?:public|private|protected|static|async|get|set)\s+|\*\s*)*#?{name}\s*(?:<[^>]*>)?\([^;]*$",
)


def is_searched(path: str) -> bool:
    return Path(path).suffix in _SUFFIXES


def first_line_of(function: str, lines: Sequence[str]) -> int | None:
    """Of its body; of several that are called so, of the first."""
    name = re.escape(function.rsplit(".", 1)[-1])
    for pattern in _DEFINED:
        for at, line in enumerate(lines):
            if re.search(pattern.format(name=name), line):
                return _body(at, lines)
    return None


def _body(at: int, lines: Sequence[str]) -> int:
    """The first line with something in it behind the one that opens the body; the same, where all is in one."""
    opening = next((it for it in range(at, len(lines)) if re.search(r"\{\s*$|=>\s*$", lines[it])), None)
    if opening is None or re.search(r"\{.*\}|=>\s*[^\s{]", lines[at]):
        return at + 1
    inside = (it for it in range(opening + 1, len(lines)) if lines[it].strip() and not _is_comment(lines[it]))
    return next(inside, at) + 1


def _is_comment(line: str) -> bool:
    return line.strip().startswith(("//", "/*", "*"))
