"""Predicts the line being typed, from what is run often, in this folder, after this command, and recently.

The confidence of a prediction is calibrated: the predictor measures how often a prediction of that probability was
right.

Each distinct command line is indexed by prefix, with how often and how recently it was used and whether it worked. The
weight of a use halves every two weeks. Weights are stored relative to one fixed time, so nothing has to be aged: the
order of two lines changes only when one of them is used.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Generic, TypeVar

_HALF_LIFE_S = 14 * 86_400
_MOST_SCANNED = 400
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
        if high - low > _MOST_SCANNED:
            return self._best.get(beginning) or self._keep_best(beginning, low, high)
        return self._summed(self._order[low:high])

    def build_best(self) -> None:
        """Build the best lines for every prefix with many lines, before the first request."""
        waiting = list(self._longer("", 0, len(self._sorted)))
        while waiting:
            beginning, low, high = waiting.pop()
            if high - low > _MOST_SCANNED:
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


_STEPS = 20
_PRIOR_WEIGHT = 10.0
"""How many predictions of one probability give the measurement as much weight as the computed value."""
_MAX_LINES = 200_000
_KEPT_LINES = 150_000
_RECENT = 200
# The weight of each habit once it is certain, and how many observations make it half certain.
_FREQUENCY_WEIGHT = 0.20

Key = TypeVar("Key", bound=Hashable)


class CooccurrenceTable(Generic[Key]):
    """For each key (a folder, a previous command) the lines that went with it, and their weight.

    Every table is bounded: the lightest lines of a full row and the oldest keys are dropped.
    """

    def __init__(self, *, keys: int, lines: int) -> None:
        self._keys = keys
        self._lines = lines
        self._rows: dict[Key, dict[int, float]] = {}

    def add(self, key: Key, line: int, weight: float) -> None:
        row = self._rows.pop(key, None) or {}
        self._rows[key] = row  # re-inserted last: the order is by last use
        row[line] = row.get(line, 0.0) + weight
        if len(row) > self._lines:
            for least in sorted(row, key=row.__getitem__)[: self._lines // 4]:
                del row[least]
        if len(self._rows) > self._keys:
            del self._rows[next(iter(self._rows))]

    def of(self, key: Key) -> Mapping[int, float]:
        return self._rows.get(key, {})

    def renumbered(self, numbers: Mapping[int, int]) -> CooccurrenceTable[Key]:
        """The table with the remaining lines under their new numbers."""
        kept = CooccurrenceTable[Key](keys=self._keys, lines=self._lines)
        for key, row in self._rows.items():
            if left := {numbers[line]: weight for line, weight in row.items() if line in numbers}:
                kept._rows[key] = left
        return kept


def command_shape(line: str) -> str:
    """The program and its first word, without arguments, as in `git add`."""
    first, *rest = line.split(maxsplit=2)
    return f"{first} {rest[0]}" if rest and not rest[0].startswith("-") else first


class Calibration:
    """How often the first prediction of a given probability was right. Confidence is measured, not assumed."""

    def __init__(self) -> None:
        self._tried = [0] * _STEPS
        self._right = [0] * _STEPS

    def observe(self, likelihood: float, right: bool) -> None:
        step = _step(likelihood)
        self._tried[step] += 1
        self._right[step] += right

    def confidence(self, likelihood: float) -> float:
        """The confidence is monotonic: a likelier prediction never gets less."""
        measured = [
            (right + _PRIOR_WEIGHT * (step + 0.5) / _STEPS) / (tried + _PRIOR_WEIGHT)
            for step, (right, tried) in enumerate(zip(self._right, self._tried, strict=True))
        ]
        return list(accumulate(measured, max))[_step(likelihood)]


def _step(likelihood: float) -> int:
    return min(_STEPS - 1, int(likelihood * _STEPS))


# A prediction costs as much as ten updates, so a long history is sampled.
_MEASURED_EVERY, _MEASURED_EVERY_LATER, _FEW_LINES_LEARNT = 7, 97, 10_000
_SHARES = {"here": (0.25, 3.0), "after": (0.30, 1.0), "after_such": (0.15, 3.0), "lately": (0.20, 0.0)}


@dataclass(frozen=True, slots=True)
class TypingContext:
    """The context in which a line is typed."""

    cwd: str = ""
    before: str = ""
    """The command that ran before it in the same terminal."""


class CommandPredictor:
    def __init__(self) -> None:
        self.lines = LineTable()
        self._here: CooccurrenceTable[str] = CooccurrenceTable(keys=2_000, lines=400)
        self._after: CooccurrenceTable[str] = CooccurrenceTable(keys=50_000, lines=32)
        self._after_such: CooccurrenceTable[str] = CooccurrenceTable(keys=5_000, lines=64)
        self._recent: deque[int] = deque(maxlen=_RECENT)
        self._calibration = Calibration()
        self._measured = 0

    def train(self, line: str, context: TypingContext, at_s: float, exit_code: int | None) -> None:
        if self.is_full and self.lines.number_of(line) is None:
            return  # the next start prunes the table
        if self.lines.count % (_MEASURED_EVERY if self.lines.count < _FEW_LINES_LEARNT else _MEASURED_EVERY_LATER) == 0:
            self._measure(line, context)
        number = self.lines.use(line, at_s, exit_code)
        if self.lines.is_typo(number):
            return
        if context.cwd:
            self._here.add(context.cwd, number, 1.0)
        if context.before:
            self._after.add(context.before, number, 1.0)
            self._after_such.add(command_shape(context.before), number, 1.0)
        self._recent.append(number)

    def predict(self, beginning: str, context: TypingContext, limit: int) -> list[tuple[str, float]]:
        """Lines that continue this prefix, likeliest first, each with its probability."""
        found = self._likeliest(beginning, context, limit)
        if not found:
            return []
        sure = self._calibration.confidence(found[0][1]) / found[0][1]
        return [(line, min(1.0, likelihood * sure)) for line, likelihood in found]

    def _measure(self, line: str, context: TypingContext) -> None:
        """Measure what the predictor would have suggested for the first few characters, before the line is learnt."""
        length = 2 + self._measured % 5
        self._measured += 1
        guessed = self._likeliest(line[:length], context, 1) if len(line) > length else []
        if guessed:
            self._calibration.observe(guessed[0][1], guessed[0][0] == line)

    def _likeliest(self, beginning: str, context: TypingContext, limit: int) -> list[tuple[str, float]]:
        best = self.lines.with_beginning(beginning)
        rows = {
            "here": self._beginning(self._here.of(context.cwd), beginning),
            "after": self._beginning(self._after.of(context.before), beginning),
            "after_such": self._beginning(self._after_such.of(command_shape(context.before)), beginning)
            if context.before
            else {},
            "lately": self._recent_lines(beginning),
        }
        often, shares = _normalized_shares({name: sum(row.values()) for name, row in rows.items()})
        seen = {number for row in rows.values() for number in row} | set(best.ids)
        # The line may be a new one. The more distinct lines a prefix has had, the likelier that is (Witten and Bell).
        known = best.uses / (best.uses + best.kinds) if best.uses else 0.0
        often *= known / best.mass if best.mass else 0.0
        weighed = [(known * shares[name], row) for name, row in rows.items() if row]
        found = [
            (self._probability(number, often, weighed), number)
            for number in seen
            if not self.lines.is_typo(number) and len(self.lines.texts[number]) > len(beginning)
        ]
        return [
            (self.lines.texts[number], probability) for probability, number in sorted(found, key=self._order)[:limit]
        ]

    def _order(self, found: tuple[float, int]) -> tuple[float, int]:
        """Likelier lines first; ties go to the line used last."""
        return -found[0], -self.lines.last_use[found[1]]

    def _probability(self, number: int, often: float, weighed: Iterable[tuple[float, Mapping[int, float]]]) -> float:
        probability = often * self.lines.weights[number]
        probability += sum(share * row.get(number, 0.0) for share, row in weighed)
        worked = (self.lines.worked[number] + 2) / (self.lines.uses[number] + 2)
        return min(1.0, probability * (0.5 + 0.5 * worked))

    def _recent_lines(self, beginning: str) -> dict[int, float]:
        """A weight by how many commands ago the line ran."""
        ages: dict[int, float] = {}
        for age, number in enumerate(reversed(self._recent)):
            if number not in ages and self.lines.texts[number].startswith(beginning):
                ages[number] = 1.0 / (1.0 + age)
        return ages

    def _beginning(self, row: Mapping[int, float], beginning: str) -> dict[int, float]:
        texts = self.lines.texts
        return {number: weight for number, weight in row.items() if texts[number].startswith(beginning)}

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= _MAX_LINES

    def pruned(self) -> CommandPredictor:
        """A predictor without the least used lines. It takes a second, and nothing may be learnt meanwhile."""
        kept = self.lines.heaviest(_KEPT_LINES)
        numbers = {old: new for new, old in enumerate(kept)}
        left = CommandPredictor()
        left.lines = self.lines.kept(kept)
        left._here, left._after = self._here.renumbered(numbers), self._after.renumbered(numbers)
        left._after_such = self._after_such.renumbered(numbers)
        left._recent.extend(numbers[old] for old in self._recent if old in numbers)
        left._calibration, left._measured = self._calibration, self._measured
        return left


def _normalized_shares(seen: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """Weight each habit by how much it has seen; the remainder goes to those that have seen more.

    The overall frequency is kept apart from the others, whose shares are already normalised.
    """
    weighed = {name: _SHARES[name][0] * count / (count + _SHARES[name][1]) for name, count in seen.items() if count}
    whole = _FREQUENCY_WEIGHT + sum(weighed.values())
    return _FREQUENCY_WEIGHT / whole, {name: share / whole / seen[name] for name, share in weighed.items()}
