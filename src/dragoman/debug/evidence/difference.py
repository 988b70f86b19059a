"""Two traces of the same points: the first thing in which they differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest

from dragoman.debug.evidence.run import End
from dragoman.debug.evidence.sheet import Cell, Row
from dragoman.debug.evidence.trace import Trace

_CONTEXT = 2
# Where something lies in memory is never the same twice.
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")


@dataclass(frozen=True, slots=True)
class Difference:
    """One of the rows is missing where a run had no more; neither is there where the ends alone differ."""

    before: tuple[Row, ...]
    one: Row | None = None
    other: Row | None = None

    @property
    def cells(self) -> list[int]:
        """The numbers of the expressions that differ."""
        if self.one is None or self.other is None or self.one.point != self.other.point:
            return []
        pairs = zip_longest(self.one.cells, self.other.cells, fillvalue=Cell(""))
        return [at for at, (one, other) in enumerate(pairs) if not _is_same(one, other)]


def first_difference(one: Trace, other: Trace) -> Difference | None:
    rows = one.sheet.rows
    for at, (left, right) in enumerate(zip_longest(rows, other.sheet.rows)):
        found = Difference(tuple(rows[max(0, at - _CONTEXT) : at]), left, right)
        if left is None or right is None or left.point != right.point or found.cells:
            return found
    return None if _how(one.end) == _how(other.end) else Difference(tuple(rows[-_CONTEXT:]))


def _is_same(one: Cell, other: Cell) -> bool:
    return one.failed == other.failed and _ADDRESS.sub("0x", one.text) == _ADDRESS.sub("0x", other.text)


def _how(end: End) -> tuple[object, ...]:
    ended, raised = end.ended, end.raised
    return (
        end.how,
        end.limit,
        ended and (ended.exit_code, ended.signal),
        raised and (raised.type, _ADDRESS.sub("0x", raised.message)),
        _ADDRESS.sub("0x", end.output),
    )
