"""Several breakpoints at one place: clients have their own, and an adapter keeps only the last it is sent for a place.

So each place is sent once, stopping whenever one of those there would stop. What cannot be joined is left out and told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from dragoman.workspace.breakpoints import Breakpoint


@dataclass(frozen=True, slots=True)
class Shared:
    sent: Breakpoint
    stands_for: tuple[Breakpoint, ...]
    left_out: tuple[Breakpoint, ...] = ()


def one_a_place(
    group: Iterable[Breakpoint], *, or_word: str, is_sound: Callable[[Breakpoint], bool]
) -> tuple[Shared, ...]:
    by_place: defaultdict[tuple[int, int | None], list[Breakpoint]] = defaultdict(list)
    for breakpoint in group:
        by_place[breakpoint.line, breakpoint.column].append(breakpoint)
    return tuple(_shared(there, or_word, is_sound) for there in by_place.values())


def _shared(there: list[Breakpoint], or_word: str, is_sound: Callable[[Breakpoint], bool]) -> Shared:
    if len(there) == 1:
        return Shared(there[0], (there[0],))
    joined = tuple(it for it in there if not it.hit_condition and not it.log_message and is_sound(it))
    chosen = joined or (there[-1],)
    left_out = tuple(it for it in there if it not in chosen)
    return Shared(_joined(chosen, or_word), chosen, left_out)


def _joined(chosen: tuple[Breakpoint, ...], or_word: str) -> Breakpoint:
    conditions = list(dict.fromkeys(it.condition for it in chosen))
    if len(conditions) == 1:
        return chosen[0]
    whole = "" if "" in conditions else f" {or_word} ".join(f"({condition})" for condition in conditions)
    return msgspec.structs.replace(chosen[0], condition=whole)
