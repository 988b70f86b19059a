"""Where functions are defined, by their names: a Lua runtime knows lines alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.debug.luapanda.code_lines import has_code, next_code_line

_DEFINES = re.compile(
    r"\bfunction\s+(?P<plain>[\w.:]+)\s*\("
    r"|(?P<set>[A-Za-z_][\w.]*)\s*(?:<\w+>\s*)?=\s*function\s*\("
    r"|\[\s*[\"'](?P<key>[^\"'\]]+)[\"']\s*\]\s*=\s*function\s*\("
)
_FILES_AT_MOST, _BYTES_AT_MOST = 2_000, 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Definition:
    path: str
    name: str
    defined: int
    """The line of the word `function`, by which a runtime tells functions apart."""
    line: int
    """The first that runs when it is called."""


def definitions(name: str, paths: Iterable[str]) -> list[Definition]:
    """`f` is any function of that name; `M.f` and `M:f` those whose written name ends so."""
    wanted = name.strip().replace(":", ".")
    word = wanted.rpartition(".")[2]
    found: list[Definition] = []
    for path in list(dict.fromkeys(paths))[:_FILES_AT_MOST]:
        text = _text(path)
        if word and word in text:
            found += [it for it in _in_file(path, text.splitlines()) if f".{it.name}".endswith(f".{wanted}")]
    return found


def _in_file(path: str, lines: Sequence[str]) -> Iterator[Definition]:
    counts = has_code(lines)
    for number, line in enumerate(lines, 1):
        code = line.partition("--")[0] if counts[number - 1] else ""
        for match in _DEFINES.finditer(code):
            written = match["plain"] or match["set"] or match["key"]
            first = _first_line(lines, number, match.end())
            if first is not None:
                yield Definition(path, written.replace(":", "."), number, first)


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


def _text(path: str) -> str:
    try:
        file = Path(path)
        return file.read_text("utf-8", "replace") if file.stat().st_size <= _BYTES_AT_MOST else ""
    except (OSError, ValueError):
        return ""
