"""How each debugger is asked for several values at once; where it cannot be, they are asked for one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dragoman.debug.evidence import javascript_rows, python_rows
from dragoman.debug.evidence.points import Point
from dragoman.debug.evidence.sheet import Cell


@dataclass(frozen=True, slots=True)
class Combination:
    asked: Callable[[Sequence[str]], str]
    answered: Callable[[str], list[Cell]]
    context: str = "watch"


@dataclass(frozen=True, slots=True)
class Logging:
    """Rows said by logpoints, which cost the program less than stops."""

    logged: Callable[[str, int, int, Sequence[str]], str]
    heard: Callable[[str], tuple[int, int, list[Cell]]]


@dataclass(frozen=True, slots=True)
class Language:
    combination: Combination | None = None
    logging: Logging | None = None
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
        Logging(python_rows.logged, python_rows.heard),
        truth="bool({claim})",
    ),
    "pwa-node": Language(Combination(javascript_rows.asked, javascript_rows.answered), truth="!!({claim})"),
}
_OTHER = Language()


def language_of(adapter_id: str) -> Language:
    return _BY_ADAPTER.get(adapter_id, _OTHER)
