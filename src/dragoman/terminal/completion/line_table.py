"""Every distinct command line, indexed by prefix, with how often and how recently it was used, and whether it worked.

The weight of a use halves every two weeks. Weights are stored relative to one fixed time, so nothing has to be aged:
the order of two lines changes only when one of them is used.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

_HALF_LIFE_S = 14 * 86_400
_FEW = 400
"""Up to this many lines are scanned; above that, the best lines of a prefix are cached."""
_BEST = 64
_TYPO_CODES = frozenset({126, 127})
_AFTER_ALL = "\U0010ffff"


@dataclass(slots=True)
class BestLines:
    """The best lines with one prefix, and their total weight."""

    ids: list[int] = field(default_factory=list)
    mass: float = 0.0
    uses: int = 0
    kinds: int = 0


class LineTable:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.weights = array("d")
        self.uses = array("L")
        self.worked = array("L")
        self.typos = array("L")
        self.last_use = array("L")
        self.count = 0
        self._ids: dict[str, int] = {}
        self._sorted: list[str] = []
        self._order = array("L")
        self._best: dict[str, BestLines] = {}
        self._longest_best = -1
        self._since_s: float | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def number_of(self, text: str) -> int | None:
        return self._ids.get(text)

    def use(self, text: str, at_s: float, exit_code: int | None) -> int:
        """Count one use, and return the line's number."""
        number = self._ids.get(text)
        is_new = number is None
        if number is None:
            number = self._add(text)
        added = self._weight_of_one(at_s)
        self.weights[number] += added
        self.uses[number] += 1
        self.worked[number] += exit_code == 0
        self.typos[number] += exit_code in _TYPO_CODES
        self.count += 1
        self.last_use[number] = self.count
        self._update_best(text, number, added, is_new)
        return number

    def is_typo(self, number: int) -> bool:
        """Whether the line never got as far as running."""
        return self.typos[number] == self.uses[number]

    def with_beginning(self, beginning: str) -> BestLines:
        low, high = self._range(beginning)
        if high - low > _FEW:
            return self._best.get(beginning) or self._keep_best(beginning, low, high)
        return self._summed(self._order[low:high])

    def build_best(self) -> None:
        """Build the best lines for every prefix with many lines, before the first request."""
        waiting = list(self._longer("", 0, len(self._sorted)))
        while waiting:
            beginning, low, high = waiting.pop()
            if high - low > _FEW:
                self.with_beginning(beginning)
                waiting += self._longer(beginning, low, high)

    def heaviest(self, count: int) -> list[int]:
        return heapq.nlargest(count, range(len(self.texts)), key=self.weights.__getitem__)

    def kept(self, numbers: Sequence[int]) -> LineTable:
        """A smaller table with only these lines. Their new numbers are their positions in `numbers`."""
        lines = LineTable()
        lines.count, lines._since_s = self.count, self._since_s
        lines.texts = [self.texts[number] for number in numbers]
        for name in ("weights", "uses", "worked", "typos", "last_use"):
            old: array[float] = getattr(self, name)
            setattr(lines, name, array(old.typecode, (old[number] for number in numbers)))
        lines._ids = {text: number for number, text in enumerate(lines.texts)}
        lines._order = array("L", sorted(range(len(lines)), key=lines.texts.__getitem__))
        lines._sorted = [lines.texts[number] for number in lines._order]
        return lines

    def _add(self, text: str) -> int:
        number = self._ids[text] = len(self.texts)
        self.texts.append(text)
        self.weights.append(0.0)
        for counts in (self.uses, self.worked, self.typos, self.last_use):
            counts.append(0)
        at = bisect_left(self._sorted, text)
        self._sorted.insert(at, text)
        self._order.insert(at, number)
        return number

    def _weight_of_one(self, at_s: float) -> float:
        """The exponent is bounded: a clock that is wrong by centuries must not overflow the float."""
        if self._since_s is None:
            self._since_s = at_s
        return float(2.0 ** max(-500.0, min(500.0, (at_s - self._since_s) / _HALF_LIFE_S)))

    def _range(self, beginning: str) -> tuple[int, int]:
        return bisect_left(self._sorted, beginning), bisect_left(self._sorted, beginning + _AFTER_ALL)

    def _longer(self, beginning: str, low: int, high: int) -> Iterable[tuple[str, int, int]]:
        """Each prefix that is one character longer, found by bisection."""
        at = low + (low < high and self._sorted[low] == beginning)
        while at < high:
            longer = self._sorted[at][: len(beginning) + 1]
            end = bisect_left(self._sorted, longer + _AFTER_ALL, at, high)
            yield longer, at, end
            at = end

    def _keep_best(self, beginning: str, low: int, high: int) -> BestLines:
        best = self._best[beginning] = self._summed(self._order[low:high])
        self._longest_best = max(self._longest_best, len(beginning))
        return best

    def _summed(self, numbers: Sequence[int]) -> BestLines:
        ids = heapq.nlargest(_BEST, numbers, key=self.weights.__getitem__) if len(numbers) > _BEST else list(numbers)
        mass = sum(map(self.weights.__getitem__, numbers))
        return BestLines(ids, mass, sum(map(self.uses.__getitem__, numbers)), len(numbers))

    def _update_best(self, text: str, number: int, added: float, is_new: bool) -> None:
        for length in range(min(len(text), self._longest_best) + 1):
            if best := self._best.get(text[:length]):
                best.mass += added
                best.uses += 1
                best.kinds += is_new
                self._offer(best, number)

    def _offer(self, best: BestLines, number: int) -> None:
        if number in best.ids:
            return
        if len(best.ids) < _BEST:
            best.ids.append(number)
            return
        least = min(best.ids, key=self.weights.__getitem__)
        if self.weights[number] > self.weights[least]:
            best.ids[best.ids.index(least)] = number
