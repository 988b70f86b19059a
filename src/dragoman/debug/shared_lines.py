"""Several breakpoints at one place: clients have their own, and an adapter keeps only the last it is sent for a place.

So each place is sent once, stopping whenever one of those there would stop. What cannot be joined is left out and told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec

from dragoman.phrases import say, spoken
from dragoman.workspace.breakpoints import Breakpoint

SHARES = spoken(say("Another breakpoint stands at this place, and an adapter takes only one: remove it first."))


@dataclass(frozen=True, slots=True)
class Shared:
    sent: Breakpoint
    stands_for: tuple[Breakpoint, ...]
    left_out: tuple[Breakpoint, ...] = ()


def one_a_place(
    group: Iterable[Breakpoint],
    *,
    or_word: str,
    can_join: Callable[[Breakpoint], bool],
    lines: Mapping[int, int] | None = None,
) -> tuple[Shared, ...]:
    """`lines` are those that the adapter moved breakpoints to, by id."""
    moved = lines or {}
    by_place: defaultdict[tuple[int, int | None], list[Breakpoint]] = defaultdict(list)
    for breakpoint in group:
        by_place[moved.get(breakpoint.id, breakpoint.line), breakpoint.column].append(breakpoint)
    return tuple(shared(there, line, or_word, can_join) for (line, _), there in by_place.items())


def shared(there: list[Breakpoint], line: int, or_word: str, can_join: Callable[[Breakpoint], bool]) -> Shared:
    """All of one place, or of one function."""
    joined = tuple(it for it in there if not it.hit_condition and can_join(it)) if len(there) > 1 else tuple(there)
    chosen = joined or (there[-1],)
    left_out = tuple(it for it in there if it not in chosen)
    sent = msgspec.structs.replace(chosen[0], line=line, condition=either([it.condition for it in chosen], or_word))
    return Shared(sent, chosen, left_out)


def either(conditions: Iterable[str], or_word: str) -> str:
    """One that holds where one of them does; an empty one always holds."""
    several = list(dict.fromkeys(conditions))
    if len(several) == 1:
        return several[0]
    return "" if "" in several else f" {or_word} ".join(f"({condition})" for condition in several)
