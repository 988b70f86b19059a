"""Sends hit conditions in the spelling of the adapter, and counts hits here where the adapter cannot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.breakpoints.hit_conditions import HitCondition, parse_hit_condition
from dragoman.workspace.breakpoints import Breakpoint

# A hit that we count costs a stop, some milliseconds of the program's time.
_MAX_LOCAL_COUNT = 100


class HitCounter:
    """Counts hits here where an adapter has no such condition or forgets its counts; large counts stay with the
    adapter.
    """

    def __init__(self, quirks: AdapterQuirks) -> None:
        self._quirks = quirks
        self._counted: dict[int, HitCondition] = {}
        self._hits: defaultdict[int, int] = defaultdict(int)
        self._spent: set[int] = set()
        self._left_to_adapter: set[int] = set()
        self._restarted: set[int] = set()

    def translated(self, breakpoint: Breakpoint) -> dict[str, str]:
        self._counted.pop(breakpoint.id, None)
        if not breakpoint.hit_condition:
            return {}
        condition = parse_hit_condition(breakpoint.hit_condition)
        spelling = self._quirks.hit_spelling.get(condition.compare)
        if not self._is_left_to_adapter(breakpoint, condition, spelling):
            self._counted[breakpoint.id] = condition
            return {}
        if self._quirks.resets_hit_counts and breakpoint.id in self._left_to_adapter:
            self._restarted.add(breakpoint.id)
        self._left_to_adapter.add(breakpoint.id)
        shown = spelling.format(number=condition.number, remainder=condition.remainder) if spelling else str(condition)
        return {"hitCondition": shown}

    def _is_left_to_adapter(self, breakpoint: Breakpoint, condition: HitCondition, spelling: str | None) -> bool:
        if breakpoint.condition:  # some count every pass, some stop where either holds: we count where both do
            return False
        if self._quirks.resets_hit_counts and condition.number <= _MAX_LOCAL_COUNT:
            return False
        if self._quirks.takes_one_option_only and breakpoint.log_message:
            return False
        has_no_word_for_it = spelling is not None and condition.remainder != 0 and "{remainder}" not in spelling
        return condition.compare in self._quirks.hit_forms and not has_no_word_for_it

    def is_spent(self, id: int) -> bool:
        """It will not stop the program again, which would only be slowed down by it."""
        return id in self._spent

    def restarts_count(self, id: int) -> bool:
        return id in self._restarted

    def counts_here(self, id: int) -> bool:
        return id in self._counted

    def counts(self, hit: Iterable[int]) -> bool:
        """Count a hit; False when every breakpoint that was hit says "not this time"."""
        verdicts = []
        for id in hit:
            self._hits[id] += 1
            condition = self._counted.get(id)
            verdicts.append(condition is None or condition.holds(self._hits[id]))
            if condition is not None and condition.is_spent(self._hits[id]):
                self._spent.add(id)
        return not verdicts or any(verdicts)
