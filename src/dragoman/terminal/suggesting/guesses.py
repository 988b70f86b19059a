"""Guesses: a mixture of what is run often, here, after this, and lately, by shares that are probabilities.

How sure a guess is, is measured beside: what the mixture calls likely, and how often that was what was typed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dragoman.terminal.suggesting.calibration import Calibration
from dragoman.terminal.suggesting.habits import Together, shape
from dragoman.terminal.suggesting.lines import Lines

_MAX_LINES = 200_000
_KEPT_LINES = 150_000
_RECENT = 200
# A guess costs as much as ten lessons: of a long history fewer are measured.
_MEASURED_EVERY, _MEASURED_EVERY_LATER, _YOUNG = 7, 97, 10_000
# How much each habit says once it is sure, and how much must have been seen of it to be half sure.
_OFTEN = 0.20
_SHARES = {"here": (0.25, 3.0), "after": (0.30, 1.0), "after_such": (0.15, 3.0), "lately": (0.20, 0.0)}


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a line is typed."""

    cwd: str = ""
    before: str = ""
    """The command that ran before it in the same terminal."""


class Guesses:
    def __init__(self) -> None:
        self.lines = Lines()
        self._here: Together[str] = Together(keys=2_000, lines=400)
        self._after: Together[str] = Together(keys=50_000, lines=32)
        self._after_such: Together[str] = Together(keys=5_000, lines=64)
        self._recent: deque[int] = deque(maxlen=_RECENT)
        self._calibration = Calibration()
        self._measured = 0

    def learn(self, line: str, moment: Moment, at_s: float, exit_code: int | None) -> None:
        if self.is_full and self.lines.number_of(line) is None:
            return  # the next start makes room
        if self.lines.count % (_MEASURED_EVERY if self.lines.count < _YOUNG else _MEASURED_EVERY_LATER) == 0:
            self._measure(line, moment)
        number = self.lines.use(line, at_s, exit_code)
        if self.lines.is_typo(number):
            return
        if moment.cwd:
            self._here.add(moment.cwd, number, 1.0)
        if moment.before:
            self._after.add(moment.before, number, 1.0)
            self._after_such.add(shape(moment.before), number, 1.0)
        self._recent.append(number)

    def guess(self, beginning: str, moment: Moment, limit: int) -> list[tuple[str, float]]:
        """Lines that begin so and go on, the likeliest first, each with how sure that is."""
        found = self._likeliest(beginning, moment, limit)
        if not found:
            return []
        sure = self._calibration.confidence(found[0][1]) / found[0][1]
        return [(line, min(1.0, likelihood * sure)) for line, likelihood in found]

    def _measure(self, line: str, moment: Moment) -> None:
        """What would have been guessed from the first few characters of what was typed, before it is learnt."""
        length = 2 + self._measured % 5
        self._measured += 1
        guessed = self._likeliest(line[:length], moment, 1) if len(line) > length else []
        if guessed:
            self._calibration.observe(guessed[0][1], guessed[0][0] == line)

    def _likeliest(self, beginning: str, moment: Moment, limit: int) -> list[tuple[str, float]]:
        best = self.lines.with_beginning(beginning)
        rows = {
            "here": self._beginning(self._here.of(moment.cwd), beginning),
            "after": self._beginning(self._after.of(moment.before), beginning),
            "after_such": self._beginning(self._after_such.of(shape(moment.before)), beginning)
            if moment.before
            else {},
            "lately": self._lately(beginning),
        }
        often, shares = _shares({name: sum(row.values()) for name, row in rows.items()})
        seen = {number for row in rows.values() for number in row} | set(best.ids)
        # A line not seen yet may be meant: the more distinct ones a beginning has had, the likelier (Witten and Bell).
        known = best.uses / (best.uses + best.kinds) if best.uses else 0.0
        often *= known / best.mass if best.mass else 0.0
        weighed = [(known * shares[name], row) for name, row in rows.items() if row]
        found = [
            (self._probability(number, often, weighed), number)
            for number in seen
            if not self.lines.is_typo(number) and len(self.lines.texts[number]) > len(beginning)
        ]
        return [(self.lines.texts[number], chance) for chance, number in sorted(found, key=self._order)[:limit]]

    def _order(self, found: tuple[float, int]) -> tuple[float, int]:
        """The likelier first; of equals the one used last."""
        return -found[0], -self.lines.last_use[found[1]]

    def _probability(self, number: int, often: float, weighed: Iterable[tuple[float, Mapping[int, float]]]) -> float:
        chance = often * self.lines.weights[number]
        chance += sum(share * row.get(number, 0.0) for share, row in weighed)
        worked = (self.lines.worked[number] + 2) / (self.lines.uses[number] + 2)
        return min(1.0, chance * (0.5 + 0.5 * worked))

    def _lately(self, beginning: str) -> dict[int, float]:
        """By how many commands ago: the last one counts most."""
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

    def smaller(self) -> Guesses:
        """Without the lines that count least; takes a second, and nothing may be learnt meanwhile."""
        kept = self.lines.heaviest(_KEPT_LINES)
        numbers = {old: new for new, old in enumerate(kept)}
        left = Guesses()
        left.lines = self.lines.kept(kept)
        left._here, left._after = self._here.renumbered(numbers), self._after.renumbered(numbers)
        left._after_such = self._after_such.renumbered(numbers)
        left._recent.extend(numbers[old] for old in self._recent if old in numbers)
        left._calibration, left._measured = self._calibration, self._measured
        return left


def _shares(seen: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """Habits that have seen little say little; what they do not say goes to those that know more.

    What is run often comes apart from the others, whose shares are already divided by all that they have seen.
    """
    weighed = {name: _SHARES[name][0] * count / (count + _SHARES[name][1]) for name, count in seen.items() if count}
    whole = _OFTEN + sum(weighed.values())
    return _OFTEN / whole, {name: share / whole / seen[name] for name, share in weighed.items()}
