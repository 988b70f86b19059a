"""How each debugger is asked for several values at once; where it cannot be, they are asked for one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dragoman.debug.evidence import javascript_rows, python_rows
from dragoman.debug.evidence.points import Point
from dragoman.debug.evidence.sheet import Cell, Written


@dataclass(frozen=True, slots=True)
class Combination:
    asked: Callable[[Sequence[str]], str]
    answered: Callable[[str], list[Cell]]
    context: str = "watch"


@dataclass(frozen=True, slots=True)
class Standing:
    """One question alone: at which point the thread stands, and the values there."""

    asked: Callable[[Sequence[tuple[str, int, Sequence[str]]]], str]
    answered: Callable[[str], tuple[int, int, list[Cell]] | None]


@dataclass(frozen=True, slots=True)
class Writing:
    """Rows that conditions write down, which costs a program less than a stop."""

    condition: Callable[..., str]
    written: Callable[[str], Written]


@dataclass(frozen=True, slots=True)
class Language:
    combination: Combination | None = None
    writing: Writing | None = None
    standing: Standing | None = None
    truth: str = "{claim}"
    """An expression that is shown as true or false for a claim."""

    def asked(self, point: Point) -> tuple[str, ...]:
        claim = (self.truth.format(claim=point.claim),) if point.claim else ()
        return (*claim, *point.expressions)


_FALSE = re.compile(r"(?i)(?:\(\w+\) *)?(?:false|0|0x0+|-?0\.0+|nil|null|none|undefined|'\\(?:0|x00)')")


def is_true(cell: Cell) -> bool:
    """As debuggers show it, in the languages that say it by words and in those that say it by numbers."""
    return not cell.failed and not _FALSE.fullmatch(cell.text.strip())


_BY_ADAPTER: Mapping[str, Language] = {
    "debugpy": Language(
        Combination(python_rows.asked, python_rows.answered),
        Writing(python_rows.condition, python_rows.written),
        Standing(python_rows.asked_where_it_stands, python_rows.answered_where_it_stands),
        truth="bool({claim})",
    ),
    # No conditions: js-debug judges them again where something was thrown at their line, and sends the program on.
    "pwa-node": Language(Combination(javascript_rows.asked, javascript_rows.answered), truth="!!({claim})"),
}
_OTHER = Language()


def language_of(adapter_id: str) -> Language:
    return _BY_ADAPTER.get(adapter_id, _OTHER)
