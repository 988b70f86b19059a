"""What was seen at each hit, within limits: one row a hit, and of each row what has changed since the last."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import anyio

Limit = Literal["", "hits", "characters", "seconds", "expression", "steps"]
CELL_CHARACTERS = 400
CELL_IN_TEXT = 120
"""As much of a cell as is shown in a table."""
_BETWEEN_CELLS = 3
_BEFORE_CELLS = 8


class Cell(NamedTuple):
    """A value as its debugger shows it, or why there is none."""

    text: str
    failed: bool = False


class Written(NamedTuple):
    """What a program that is probed says: that a row is `begun`, the `row`, or why a `condition` failed."""

    kind: str
    point: int
    thread: int
    cells: list[Cell]
    fault: str = ""


class Row(NamedTuple):
    number: int
    point: int
    thread: int
    cells: tuple[Cell, ...]
    changed: tuple[Cell | None, ...]
    """None where the cell is as in the row before of the same point."""


@dataclass(frozen=True, slots=True)
class Limits:
    hits: int = 200
    characters: int = 6000
    seconds: float = 30.0
    rows: int = 0
    """How many of the last rows are kept; zero: all, and then characters count."""
    runs_on: bool = False
    """More characters do not end it: the first rows and the last are kept, half and half."""


def _shown(cells: Sequence[Cell | None]) -> int:
    """How much of them a table shows."""
    return sum(min(len(cell.text), CELL_IN_TEXT) + _BETWEEN_CELLS for cell in cells if cell)


class Sheet:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.rows: list[Row] = []
        self.limit: Limit = ""
        """Which limit ended it."""
        self.is_over = anyio.Event()
        self.hits = 0
        self._characters = 0
        self._hits_of: Counter[int] = Counter()
        self._last: dict[int, tuple[Cell, ...]] = {}
        self._threads: dict[int, int] = {}
        self._tail: deque[tuple[Row, int]] = deque()
        self._tail_characters = 0

    @property
    def has_room(self) -> bool:
        return self.hits < self.limits.hits and (self.limits.runs_on or self._characters < self.limits.characters)

    @property
    def tail(self) -> tuple[Row, ...]:
        """The last rows, where there were more than fit: each point's first of them is told whole."""
        seen: set[int] = set()
        return tuple(self._whole_once(row, seen) for row, _ in self._tail)

    @staticmethod
    def _whole_once(row: Row, seen: set[int]) -> Row:
        is_first = row.point not in seen
        seen.add(row.point)
        return row._replace(changed=row.cells) if is_first else row

    @property
    def left_out(self) -> int:
        """How many rows between the first and the last are not kept."""
        return self.hits - len(self.rows) - len(self._tail) if self._tail else 0

    def add(self, point: int, thread: int, cells: Sequence[Cell]) -> Row | None:
        """None: this hit is one too many. A limit is reached by what does not fit, not by the last that does."""
        if self.limit:
            return None
        if not self.has_room:
            self.end("hits" if self.hits >= self.limits.hits else "characters")
            return None
        before = self._last.get(point, ())
        now = tuple(cells)
        changed = tuple(None if before[at : at + 1] == (cell,) else cell for at, cell in enumerate(now))
        self.hits += 1
        self._hits_of[point] += 1
        row = Row(self.hits, point, self._number_of(thread), now, changed)
        self._last[point] = now
        self._keep(row)
        return row

    def _keep(self, row: Row) -> None:
        if self.limits.rows:
            self.rows.append(row)
            del self.rows[: -self.limits.rows]
            return
        shown = _BEFORE_CELLS + _shown(row.changed)
        half = self.limits.characters // 2
        self._characters += shown
        if not self.limits.runs_on or (not self._tail and self._characters <= half):
            self.rows.append(row)
            return
        self._tail.append((row, shown))
        self._tail_characters += shown
        while len(self._tail) > 1 and self._tail_characters > half:
            self._tail_characters -= self._tail.popleft()[1]

    def end(self, limit: Limit) -> None:
        self.limit = self.limit or limit
        self.is_over.set()

    def again(self) -> None:
        """What was over goes on."""
        self.is_over = anyio.Event()

    def hits_of(self, point: int) -> int:
        return self._hits_of[point]

    @property
    def threads(self) -> int:
        return len(self._threads)

    def _number_of(self, thread: int) -> int:
        """Small numbers, in the order in which they came."""
        return self._threads.setdefault(thread, len(self._threads) + 1)
