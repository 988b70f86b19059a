"""Which lines belong together: what is run in a folder, and what follows what. Every table has a bound."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Together(Generic[Key]):
    """For each key the lines that went with it, and how much; the least of a full row and the oldest keys go."""

    def __init__(self, *, keys: int, lines: int) -> None:
        self._keys = keys
        self._lines = lines
        self._rows: dict[Key, dict[int, float]] = {}

    def add(self, key: Key, line: int, weight: float) -> None:
        row = self._rows.pop(key, None) or {}
        self._rows[key] = row  # last in the order: it was used last
        row[line] = row.get(line, 0.0) + weight
        if len(row) > self._lines:
            for least in sorted(row, key=row.__getitem__)[: self._lines // 4]:
                del row[least]
        if len(self._rows) > self._keys:
            del self._rows[next(iter(self._rows))]

    def of(self, key: Key) -> Mapping[int, float]:
        return self._rows.get(key, {})

    def renumbered(self, numbers: Mapping[int, int]) -> Together[Key]:
        """With the lines that are left under their new numbers."""
        kept = Together[Key](keys=self._keys, lines=self._lines)
        for key, row in self._rows.items():
            if left := {numbers[line]: weight for line, weight in row.items() if line in numbers}:
                kept._rows[key] = left
        return kept


def shape(line: str) -> str:
    """What is done, without to what: the program and its first word, as in `git add`."""
    first, *rest = line.split(maxsplit=2)
    return f"{first} {rest[0]}" if rest and not rest[0].startswith("-") else first
