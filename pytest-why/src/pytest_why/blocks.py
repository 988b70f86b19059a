"""The text of what was recorded: at most thirty lines for all functions together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .call_text import call_lines
from .subjects import is_preparation

MOST_LINES = 30
_MOST_BLOCKS = 4
_LEAST_LINES = 6
_CHARACTERS = 2400
_CHARACTERS_A_LINE = 60
_ENDING = 4


def shown(records: Sequence[dict[str, Any]], folder: str) -> list[str]:
    """The functions behind the failure, then what they called. What only prepared it is left out, if there is more."""
    called = {(it["file"], it["first"]): it for it in reversed(records)}
    distinct = list(reversed(list(called.values())))
    telling = [it for it in distinct if not is_preparation(it)]
    lines: list[str] = []
    chosen = (telling or distinct)[:_MOST_BLOCKS]
    for at, record in enumerate(chosen):
        left = MOST_LINES - len(lines) - bool(lines)
        if left < _LEAST_LINES:
            break
        # A function that leaves room for the next one is not cut: the share grows with what those before did not use.
        share = max(left // (len(chosen) - at), _LEAST_LINES)
        block = _block(record, folder, share if at + 1 < len(chosen) else left)
        lines += [*([""] if lines else []), *block]
    return lines


def _block(record: dict[str, Any], folder: str, most: int) -> list[str]:
    record = {**record, "file": os.path.relpath(record["file"], folder)}
    limit = min(_CHARACTERS, most * _CHARACTERS_A_LINE)
    lines = call_lines(record, limit=limit)
    if len(lines) > most:  # the lines that ran are in the rows, by their numbers
        lines = call_lines({**record, "source": record["source"][:1]}, limit=limit)
    return lines if len(lines) <= most else [*lines[: most - _ENDING - 1], "\u2026", *lines[-_ENDING:]]
