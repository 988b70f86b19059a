"""How often a first guess of some likelihood was right: what a mixture calls likely is measured, not believed."""

from __future__ import annotations

from itertools import accumulate

_STEPS = 20
_DOUBT = 10.0
"""So many guesses of one likelihood are needed until what was measured counts as much as what was computed."""


class Calibration:
    def __init__(self) -> None:
        self._tried = [0] * _STEPS
        self._right = [0] * _STEPS

    def observe(self, likelihood: float, right: bool) -> None:
        step = _step(likelihood)
        self._tried[step] += 1
        self._right[step] += right

    def confidence(self, likelihood: float) -> float:
        """Never less for a likelier guess than for a less likely one."""
        measured = [
            (right + _DOUBT * (step + 0.5) / _STEPS) / (tried + _DOUBT)
            for step, (right, tried) in enumerate(zip(self._right, self._tried, strict=True))
        ]
        return list(accumulate(measured, max))[_step(likelihood)]


def _step(likelihood: float) -> int:
    return min(_STEPS - 1, int(likelihood * _STEPS))
