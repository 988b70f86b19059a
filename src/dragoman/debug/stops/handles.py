"""Handles for frames and variables: numbers of our own, made of the stop and an index.

An adapter reuses its numbers from stop to stop. Ours name their stop, so that an old one is rejected as stale instead
of showing a wrong value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dragoman.debug.errors import stale_reference, too_many_references, unknown_reference

HandleKind = Literal["frame", "variables"]

# Numbers stay below 2**53, which every JSON reader represents exactly, for nine thousand million stops.
_HANDLES_PER_STOP = 1_000_000


@dataclass(slots=True)
class Handles:
    """The numbers of one stop, and the adapter's references behind them."""

    stop: int
    _targets: list[tuple[HandleKind, int]] = field(default_factory=list)
    _number_by_target: dict[tuple[HandleKind, int], int] = field(default_factory=dict)

    def assign_variables(self, target: int) -> int:
        """Zero means "nothing to expand" in the protocol and stays zero."""
        return self._assign("variables", target) if target else 0

    def assign_frame(self, target: int) -> int:
        return self._assign("frame", target)

    def resolve_variables(self, number: int) -> int:
        return self._resolve("variables", number)

    def resolve_frame(self, number: int) -> int:
        return self._resolve("frame", number)

    def _assign(self, kind: HandleKind, target: int) -> int:
        if (kind, target) not in self._number_by_target:
            if len(self._targets) >= _HANDLES_PER_STOP - 1:
                raise too_many_references()
            self._targets.append((kind, target))
            self._number_by_target[kind, target] = self.stop * _HANDLES_PER_STOP + len(self._targets)
        return self._number_by_target[kind, target]

    def _resolve(self, kind: HandleKind, number: int) -> int:
        """Adapters number frames and variables apart: one taken for the other would show something else."""
        stop, index = divmod(number, _HANDLES_PER_STOP)
        if stop == self.stop and 0 < index <= len(self._targets) and self._targets[index - 1][0] == kind:
            return self._targets[index - 1][1]
        raise stale_reference(number=number) if 0 < stop < self.stop and index else unknown_reference(number=number)
