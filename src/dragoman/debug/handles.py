"""Numbers that we hand out for frames and variables: ours, made of the stop and an index, never the adapter's.

An adapter reuses its own numbers from stop to stop. Ours name their stop, so that one of an earlier stop is told as
such instead of showing a wrong value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dragoman.errors import DragomanError
from dragoman.phrases import say

Kind = Literal["frame", "variables"]

_A_STOP = 1_000_000  # handles a stop can have; numbers stay whole in any JSON reader for nine thousand million stops


@dataclass(slots=True)
class Handles:
    """Of one stop: what each number stands for at the adapter."""

    stop: int
    _targets: list[tuple[Kind, int]] = field(default_factory=list)
    _number_by_target: dict[tuple[Kind, int], int] = field(default_factory=dict)

    def give_variables(self, target: int) -> int:
        """Zero means "nothing to expand" in the protocol and stays zero."""
        return self._give("variables", target) if target else 0

    def give_frame(self, target: int) -> int:
        return self._give("frame", target)

    def take_variables(self, number: int) -> int:
        return self._take("variables", number)

    def take_frame(self, number: int) -> int:
        return self._take("frame", number)

    def _give(self, kind: Kind, target: int) -> int:
        if (kind, target) not in self._number_by_target:
            if len(self._targets) >= _A_STOP - 1:
                raise _too_many()
            self._targets.append((kind, target))
            self._number_by_target[kind, target] = self.stop * _A_STOP + len(self._targets)
        return self._number_by_target[kind, target]

    def _take(self, kind: Kind, number: int) -> int:
        """Adapters number frames and variables apart: one taken for the other would show something else."""
        stop, index = divmod(number, _A_STOP)
        if stop == self.stop and 0 < index <= len(self._targets) and self._targets[index - 1][0] == kind:
            return self._targets[index - 1][1]
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
