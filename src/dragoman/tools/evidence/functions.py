"""Functions, found in their source: the first line, where a debugger knows none by name."""

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
    """Of its body; of several that are called so, of the first; of a class's, of the one in it."""
    owner, _, last = function.rpartition(".")
    start, end = _class(owner.rpartition(".")[2], lines) or (0, len(lines))
    name = re.escape(last)
    for pattern in _DEFINED:
        for at in range(start, end):
            if re.search(pattern.format(name=name), lines[at]):
                return _body(at, lines)
    return None


def _class(name: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """Where it begins and ends, by its indentation."""
    pattern = re.compile(rf"^(\s*)(?:export\s+|default\s+|abstract\s+|const\s+\w+\s*=\s*)*class\s+{re.escape(name)}\b")
    for at, line in enumerate(lines if name else ()):
        found = pattern.match(line)
        if found:
            ends = (it for it in range(at + 1, len(lines)) if re.match(rf"{found[1]}\S", lines[it]))
            return at, next(ends, len(lines))
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
