"""Judge whether an answer exposes a bug: whether it shows the values that give the wrong computation away.

A condition names values, not notations. `values = { pages = 2 }` accepts `pages = 2`, `pages: 2`, `pages=2`,
`pages (int) = 2` and `pages = 1 → 2`; strings in any quotes or none; lists as `[1, 2]`, `(2) [1, 2]`,
`[]int len: 2, cap: 2, [1,2]` or `{1, 2}`. All values of a condition, and the function or a line of its file, have to
stand near each other, so that a number that happens to be somewhere in a long answer does not count.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NEAR = 1000
"""Characters between the first and the last part of a condition: about what a reader sees as one place."""
NONE = "<none>"
RETURN = "return"

Span = tuple[int, int]

_NOTHING = r"(?:None|null|nil|undefined|NULL|0x0+|<nil>|<none>)"
_QUOTE = r"""["'`]?"""
_TYPE = r"(?:\s*\([^()\n]{0,40}\)|:\s*[\w\[\]*<>. |]{1,30}(?==))?"
_IS = r"\s*(?:=|:|=>|->|→|\bis\b|\bwas\b)\s*"
# What a value was before: `total = 0 → 10 → 25` shows all three.
_EARLIER = r"(?:[^\n=]{0,200}?(?:→|->|⇒|=>)\s*)?"
_ARROW = r"(?:->|→|⇒|=>)"
# not the bare `return 3` of a source line
_RETURNED = r"\breturn(?:(?:ed|s|ing|\s+value)\b\s*[:=]?|\s*(?:[:=]|->|→))"
_END = r"(?![\w]|\.\d)"
_LABEL = r"(?:\[?\d+\]?\s*[:=]\s*)?"


@dataclass(frozen=True, slots=True)
class Condition:
    """One way to expose a bug: named values and patterns, near the function that computes them.

    `in_order`: the values come in this order, which tells one call's values from those of the call before it.
    """

    function: str
    place: str
    values: Mapping[str, Any]
    text: Sequence[str] = ()
    in_order: bool = False

    @property
    def value_patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(pattern_of(name, value, self.function)) for name, value in self.values.items()]

    def matches(self, answer: str) -> bool:
        parts = [*self.value_patterns, *(re.compile(it) for it in self.text)]
        found = [[it.span() for it in one.finditer(answer)] for one in parts]
        places = [it.span() for it in re.finditer(self.place, answer)]
        return near_each_other(found, places, in_order=self.in_order)


def exposes(conditions: Iterable[Condition], answer: str) -> bool:
    return any(it.matches(answer) for it in conditions)


def pattern_of(name: str, value: Any, function: str = "") -> str:
    """A regular expression for "this name has this value", in the notation of any tool."""
    # Two passes over one line are two values of one name: `i` and `i#2` are the same name.
    name = name.partition("#")[0]
    shown = shown_as(value)
    if name == RETURN:
        return returned(function, shown)
    return rf"(?<!\w){re.escape(name)}{_QUOTE}{_TYPE}{_IS}{_EARLIER}{shown}"


def returned(function: str, shown: str) -> str:
    """`price(2) -> 3`, `price(2) -> total = 3`, `price(2) = 3`, `return shop.py:7 price -> 3`, `returned 3 from price`,
    or `price` and, some lines below it, `returned 3`."""
    named = rf"(?<!\w){re.escape(function)}(?!\w)"
    return "|".join(
        (
            rf"{named}\([^\n]{{0,200}}?\)\s*(?:{_ARROW}|=|:)\s*(?:[\w.]+ = )?{shown}",
            rf"{named}[^\n=]{{0,80}}?(?:{_ARROW}|{_RETURNED})\s*{shown}",
            rf"{named}[^\n]{{0,200}}?{_RETURNED}\s*{shown}",
            rf"{_RETURNED}\s*{shown}\s+(?:from|by|in)\s+[^\n]{{0,40}}?{named}",
            rf"{named}[^\n]*\n(?:[^\n]*\n){{0,8}}?[^\n\w]{{0,20}}(?:{_RETURNED}|{_ARROW}|←|<-)\s*{shown}",
        )
    )


def shown_as(value: Any) -> str:
    """A regular expression for a value. `/…/` is one already; `<none>` is the nothing of any language."""
    if isinstance(value, bool):
        return f"(?i:{value}){_END}"
    if isinstance(value, int):
        return rf"{value}(?:\.0)?{_END}"
    if isinstance(value, float):
        return re.escape(repr(value)) + r"\d*" + _END
    if isinstance(value, list):
        inside = r"\s*[,\s;]\s*".join(_LABEL + shown_as(it) for it in value)
        return rf"[^\n=]{{0,60}}?[\[({{<]\s*{inside},?\s*[\])}}>]"
    if isinstance(value, dict):
        pairs = (rf"{_QUOTE}{re.escape(key)}{_QUOTE}\s*[:=]\s*{shown_as(it)}" for key, it in value.items())
        return r"[^\n]{0,40}?" + r"[^\n]{0,80}?".join(pairs)
    if value == NONE:
        return _NOTHING + _END
    if len(value) > 1 and value.startswith("/") and value.endswith("/"):
        return f"(?:{value[1:-1]})"
    if not value:
        return r"""(?:''|""|``)"""
    # debuggers of C show the address of a string before it
    return rf"(?:0x[0-9a-f]+\s+)?{_QUOTE}{re.escape(value)}(?:{_QUOTE}{_END})"


def near_each_other(
    found: Sequence[Sequence[Span]], places: Sequence[Span], near: int = NEAR, *, in_order: bool = False
) -> bool:
    """Whether one match of each part, each at a place of its own, and one of `places` are within `near` characters."""
    if not found or not all(found):
        return False
    starts = sorted({span[0] for one in [*found, places] for span in one})
    return any(_fits(start, found, places, near, in_order) for start in starts)


def _fits(start: int, found: Sequence[Sequence[Span]], places: Sequence[Span], near: int, in_order: bool) -> bool:
    taken: set[Span] = set()
    begin = start
    for spans in found:
        free = (it for it in spans[bisect_left(spans, (begin, 0)) :] if it not in taken)
        span = next(free, None)
        if span is None or span[1] > start + near:
            return False
        taken.add(span)
        begin = span[0] if in_order else start
    at = bisect_left(places, (start, 0))
    return at < len(places) and places[at][1] <= start + near
