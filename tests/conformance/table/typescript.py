"""The program of JavaScript as a compiler of TypeScript leaves it: typed source, the script, and the map between."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_FIRST = "type Whole = number;"


def written(script: Path, folder: Path) -> Path:
    """Line n of the script is line n + 1 of the source, where a type stands first."""
    lines = script.read_text().splitlines()
    typed = [_FIRST, *(line.replace("(n) {", "(n: Whole): Whole {") for line in lines)]
    (folder / "walk.ts").write_text("\n".join(typed) + "\n")
    mapped = {"version": 3, "file": "walk.js", "sources": ["walk.ts"], "names": [], "mappings": _mappings(lines)}
    (folder / "walk.js.map").write_text(json.dumps(mapped))
    bare = [line.partition(" // @")[0] for line in lines]
    (folder / "walk.js").write_text("\n".join([*bare, "//# sourceMappingURL=walk.js.map", ""]))
    return folder / "walk.js"


def _mappings(lines: Sequence[str]) -> str:
    """By the specification of source maps: a segment a word, each number as its difference to the one before."""
    shown, line_before, column_before = [], 0, 0
    for number, line in enumerate(lines, 1):
        segments, here = [], 0
        for column in _words(line):
            segments.append(_vlq(column - here, 0, number - line_before, column - column_before))
            here, line_before, column_before = column, number, column
        shown.append(",".join(segments))
    return ";".join(shown)


def _words(line: str) -> Iterator[int]:
    """Where a line was changed for its types, only its beginning is known."""
    starts = (found.start() for found in re.finditer(r"[A-Za-z_]\w*|[^\s\w]", line))
    for start in starts:
        yield start
        if "(n) {" in line:
            return


def _vlq(*numbers: int) -> str:
    return "".join(_digits((-number << 1 | 1) if number < 0 else number << 1) for number in numbers)


def _digits(value: int) -> str:
    low, rest = value & 31, value >> 5
    return _ALPHABET[low | 32] + _digits(rest) if rest else _ALPHABET[low]
