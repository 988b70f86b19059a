"""The text of what was recorded: at most thirty lines for all functions together.

Where that is too little, functions that call another one of them are shortened first: they mostly pass values on, while
those at the end of the chain make them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from .call_text import call_lines
from .subjects import is_preparation

MOST_LINES = 30
_MOST_BLOCKS = 5
_LEAST_LINES = 6
_WIDTH = 150
_CHARACTERS = 1800
_ENDING = 3
_WHOLE, _WITHOUT_SOURCE, _CALLS_ALONE = range(3)


def shown(records: Sequence[dict[str, Any]], folder: str) -> list[str]:
    """The functions behind the failure, then what they called. What only prepared it is left out, if there is more."""
    distinct = _distinct(records)
    chosen = ([it for it in distinct if not is_preparation(it)] or distinct)[:_MOST_BLOCKS]
    names = {it["function"] for it in chosen}
    callers = [at for at, it in enumerate(chosen) if _called(it) & (names - {it["function"]})]
    others = [at for at in range(len(chosen)) if at not in callers]
    blocks = [_block(it, folder, _WHOLE) for it in chosen]
    steps = [(at, how) for how in (_WITHOUT_SOURCE, _CALLS_ALONE) for at in callers]
    for at, how in [*steps, *((at, _WITHOUT_SOURCE) for at in others)]:
        if _size(blocks) <= MOST_LINES:
            break
        blocks[at] = _block(chosen[at], folder, how)
    return _within(blocks)


def _size(blocks: Iterable[Sequence[str]]) -> int:
    return sum(len(it) + 1 for it in blocks) - 1


def _within(blocks: Sequence[Sequence[str]]) -> list[str]:
    """The longest are cut in the middle, and what finds no room is left out."""
    lines: list[str] = []
    for at, block in enumerate(blocks):
        following = sum(min(len(it), _LEAST_LINES) + 1 for it in blocks[at + 1 :])
        left = MOST_LINES - len(lines) - bool(lines)
        if left < min(len(block), _LEAST_LINES):
            break
        most = min(left, max(left - following, _LEAST_LINES))
        cut = block if len(block) <= most else [*block[: most - _ENDING - 1], "…", *block[-_ENDING:]]
        lines += [*([""] if lines else []), *cut]
    return lines


def _distinct(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for it in records:
        found.setdefault((it["file"], it["first"]), it)
    return list(found.values())


def _called(record: dict[str, Any]) -> set[str]:
    return {str(call[0]) for row in _rows_with_calls(record) for call in row["calls"]}


def _rows_with_calls(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [it for it in record["rows"] if isinstance(it.get("calls"), list)]


def _block(record: dict[str, Any], folder: str, how: int) -> list[str]:
    record = {**record, "file": os.path.relpath(record["file"], folder)}
    if how >= _WITHOUT_SOURCE:  # the lines that ran are in the rows, by their numbers
        record["source"] = record["source"][:1]
    if how >= _CALLS_ALONE:
        record["rows"] = [{**it, "changes": []} for it in _rows_with_calls(record)]
    lines = call_lines(record, limit=_CHARACTERS)
    return [it if len(it) <= _WIDTH else it[: _WIDTH - 1] + "…" for it in lines]
