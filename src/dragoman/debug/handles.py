"""Numbers that we hand out for frames and variables: ours, made of the stop and an index, never the adapter's.

An adapter reuses its own numbers from stop to stop. Ours name their stop, so that one of an earlier stop is told as
such instead of showing a wrong value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dragoman.errors import DragomanError
from dragoman.phrases import say

_A_STOP = 1_000_000  # handles a stop can have; numbers stay whole in any JSON reader for nine thousand million stops


@dataclass(slots=True)
class Handles:
    """Of one stop: what each number stands for at the adapter."""

    stop: int
    _targets: list[int] = field(default_factory=list)
    _number_by_target: dict[int, int] = field(default_factory=dict)

    def give(self, target: int) -> int:
        """Zero means "nothing to expand" in the protocol and stays zero."""
        if target == 0:
            return 0
        if target not in self._number_by_target:
            if len(self._targets) >= _A_STOP - 1:
                raise _too_many()
            self._targets.append(target)
            self._number_by_target[target] = self.stop * _A_STOP + len(self._targets)
        return self._number_by_target[target]

    def take(self, number: int) -> int:
        stop, index = divmod(number, _A_STOP)
        if stop == self.stop and 0 < index <= len(self._targets):
            return self._targets[index - 1]
        raise _stale(number) if 0 < stop < self.stop and index else _unknown(number)


def _stale(number: int) -> DragomanError:
    return DragomanError(
        "stale_reference",
        say("{number} belongs to an earlier stop.", number=number),
        hint=say("Take a frame or variables reference from the latest stop."),
    )


def _unknown(number: int) -> DragomanError:
    return DragomanError(
        "unknown_reference",
        say("{number} was never handed out by this session.", number=number),
        hint=say("Take a frame or variables reference from the latest stop."),
    )


def _too_many() -> DragomanError:
    return DragomanError(
        "too_many_references",
        say("This stop has handed out as many references as it can."),
        hint=say("Step or continue: the next stop starts afresh."),
    )
