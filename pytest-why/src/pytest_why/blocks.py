"""The text of what was recorded: at most thirty lines for all functions together.

As in `explain_failure` of Dragoman, a function that calls others which are shown too is shown by its calls and values,
and those at the end of the chain, where values are made, with their source.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from .call_text import call_lines
from .subjects import is_preparation

MOST_LINES = 30
_LEAST_LINES = 5
_WIDTH = 160
_ENDING = 3
# Characters: of a function alone, of one that computes, of one that passes on, and of all together.
# A little more than `explain_failure` has: a reader scrolls through lines, and an agent reads pytest's own text too.
_ONLY = 1200
_COMPUTING = 720
_PASSING_ON = 480
_TOTAL = 1200
_ENOUGH = 1000
_FOLLOWING = 2
_SHORTER = (1.0, 0.75, 0.55, 0.4, 0.3)


def shown(records: Sequence[dict[str, Any]], folder: str) -> list[str]:
    """The functions behind the failure, each followed by what it called."""
    ordered = _ordered(records)
    names = {it["function"] for it in ordered}
    known: set[str] = set()
    lines: list[str] = []
    used = 0
    for at, record in enumerate(ordered):
        passes_on = any(it != record["function"] and it in names for it in _called(record))
        left = MOST_LINES - len(lines) - bool(lines)
        if used > _ENOUGH or left < _LEAST_LINES:
            break
        most = _ONLY if len(ordered) == 1 else _PASSING_ON if passes_on else _COMPUTING
        kept = min(len(ordered) - at - 1, _FOLLOWING) * (_LEAST_LINES + 1)
        named = {**record, "file": os.path.relpath(record["file"], folder)}
        block, known = _block(named, min(most, _TOTAL - used), max(left - kept, _LEAST_LINES), not passes_on, known)
        lines += [*([""] if lines else []), *block]
        used += sum(len(it) + 1 for it in block) + 1
    return [it if len(it) <= _WIDTH else it[: _WIDTH - 1] + "…" for it in lines]


def _block(
    record: dict[str, Any], limit: int, most: int, has_source: bool, known: set[str]
) -> tuple[list[str], set[str]]:
    """Its lines, at most so many, and the long values that the reader has seen then."""
    block: list[str] = []
    seen = known
    for share in _SHORTER:
        seen = set(known)
        block = call_lines(record, limit=int(limit * share), has_source=has_source, known=seen)
        if len(block) <= most:
            return block, seen
    return [*block[: most - _ENDING - 1], "…", *block[-_ENDING:]], seen


def _ordered(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each function once, followed by those that it called. What only prepared the failure is left out, if there is
    anything else.
    """
    known: dict[tuple[str, int], dict[str, Any]] = {}
    for it in records:
        known.setdefault((it["file"], it["first"]), it)
    computing = [it for it in known.values() if not is_preparation(it)] or list(known.values())
    found: list[dict[str, Any]] = []
    waiting = computing[::-1]
    while waiting:
        record = waiting.pop()
        if record not in found:
            found.append(record)
            names = dict.fromkeys(_called(record))
            waiting += [it for name in reversed(list(names)) for it in computing if it["function"] == name]
    return found


def _called(record: dict[str, Any]) -> list[str]:
    rows = [it for it in record["rows"] if isinstance(it.get("calls"), list)]
    return [str(call[0]) for row in rows for call in row["calls"]]
