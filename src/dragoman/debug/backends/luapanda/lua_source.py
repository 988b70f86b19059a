"""Reads Lua source: which lines hold code, and where functions are defined. A Lua runtime knows lines only, and
accepts a breakpoint on any of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_OPENING_TOKEN = re.compile(r"--\[(=*)\[|--|\[(=*)\[|\"|'")


def next_code_line(lines: Sequence[str], line: int) -> int | None:
    """The line itself, or the next one that is neither blank nor all comment; none after the last."""
    if not lines or not 1 <= line <= len(lines):
        return None
    counts = has_code(lines)
    return next((number for number in range(line, len(lines) + 1) if counts[number - 1]), None)


def has_code(lines: Sequence[str]) -> list[bool]:
    """One entry per line."""
    found: list[bool] = []
    closing = ""
    is_comment = False
    for line in lines:
        closing, is_comment, has_code = _scan_line(line, closing, is_comment=is_comment)
        found.append(has_code)
    return found


def _scan_line(line: str, closing: str, *, is_comment: bool) -> tuple[str, bool, bool]:
    """What is still open at the end of the line, and whether the line has code. Inner lines of a long string have
    none."""
    has_code, at = False, 0
    while True:
        if closing:
            end = line.find(closing, at)
            if end < 0:
                return closing, is_comment, has_code
            at, closing = end + len(closing), ""
            has_code = has_code or not is_comment
        match = _OPENING_TOKEN.search(line, at)
        has_code = has_code or bool(line[at : match.start() if match else len(line)].strip())
        if match is None or match[0] == "--":
            return "", False, has_code
        has_code = has_code or not match[0].startswith("--")
        at = match.end()
        if match[0] in "\"'":
            at = _quoted_end(line, at, match[0])
        else:
            is_comment = match[0].startswith("--")
            closing = "]" + (match[1] or match[2] or "") + "]"


def _quoted_end(line: str, at: int, quote: str) -> int:
    found = re.compile(rf"(?:\\.|[^{quote}\\])*{quote}").match(line, at)
    return found.end() if found else len(line)


_DEFINITION = re.compile(
    r"\bfunction\s+(?P<plain>[\w.:]+)\s*\("
    r"|(?P<set>[A-Za-z_][\w.]*)\s*(?:<\w+>\s*)?=\s*function\s*\("
    r"|\[\s*[\"'](?P<key>[^\"'\]]+)[\"']\s*\]\s*=\s*function\s*\("
)
_MOST_FILES, _MOST_BYTES = 2_000, 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    path: str
    name: str
    defined: int
    """The line of the word `function`, by which a runtime tells functions apart."""
    line: int
    """The first that runs when it is called."""


def find_definitions(name: str, paths: Iterable[str]) -> list[FunctionDefinition]:
    """`f` is any function of that name; `M.f` and `M:f` are those whose written name ends so."""
    wanted = name.strip().replace(":", ".")
    word = wanted.rpartition(".")[2]
    definitions: list[FunctionDefinition] = []
    for path in list(dict.fromkeys(paths))[:_MOST_FILES]:
        text = _read_text(path)
        if word and word in text:
            definitions += [
                it for it in _definitions_in(path, text.splitlines()) if f".{it.name}".endswith(f".{wanted}")
            ]
    return definitions


def _definitions_in(path: str, lines: Sequence[str]) -> Iterator[FunctionDefinition]:
    counts = has_code(lines)
    for number, line in enumerate(lines, 1):
        code = line.partition("--")[0] if counts[number - 1] else ""
        for match in _DEFINITION.finditer(code):
            written = match["plain"] or match["set"] or match["key"]
            first = _first_line(lines, number, match.end())
            if first is not None:
                yield FunctionDefinition(path, written.replace(":", "."), number, first)


def _first_line(lines: Sequence[str], number: int, at: int) -> int | None:
    """Behind the parameters, which may stand on lines of their own."""
    for current in range(number, len(lines) + 1):
        line = lines[current - 1]
        end = line.find(")", at)
        if end >= 0:
            is_empty = not line[end + 1 :].partition("--")[0].strip()
            return next_code_line(lines, current + 1) if is_empty else current
        at = 0
    return None


def _read_text(path: str) -> str:
    try:
        file = Path(path)
        return file.read_text("utf-8", "replace") if file.stat().st_size <= _MOST_BYTES else ""
    except (OSError, ValueError):
        return ""
