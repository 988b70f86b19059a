"""The status of each breakpoint at the adapter, and breakpoints of several clients merged into one per place.

An adapter keeps only the last breakpoint that it is sent for a place. So each place is sent once, with a condition
that holds when any of them would stop. A breakpoint that cannot be merged is left out, and its status says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec

from dragoman.core.localization import localize, localized_str
from dragoman.debug.model import Binding
from dragoman.protocols.dap import bodies
from dragoman.workspace.breakpoints import Breakpoint

SHARED_PLACE_MESSAGE = localized_str(
    localize("Another breakpoint is at this place, and an adapter takes only one: remove it first.")
)


@dataclass(frozen=True, slots=True)
class MergedBreakpoint:
    """Breakpoints at one place, sent to the adapter as one."""

    sent: Breakpoint
    merged: tuple[Breakpoint, ...]
    left_out: tuple[Breakpoint, ...] = ()


def merge_by_location(
    group: Iterable[Breakpoint],
    *,
    or_word: str,
    can_join: Callable[[Breakpoint], bool],
    lines: Mapping[int, int] | None = None,
) -> tuple[MergedBreakpoint, ...]:
    """`lines` are those that the adapter moved breakpoints to, by id."""
    moved = lines or {}
    by_place: defaultdict[tuple[int, int | None], list[Breakpoint]] = defaultdict(list)
    for breakpoint in group:
        by_place[moved.get(breakpoint.id, breakpoint.line), breakpoint.column].append(breakpoint)
    return tuple(merge_breakpoints(there, line, or_word, can_join) for (line, _), there in by_place.items())


def merge_breakpoints(
    there: list[Breakpoint], line: int, or_word: str, can_join: Callable[[Breakpoint], bool]
) -> MergedBreakpoint:
    """All of one place, or of one function."""
    joined = tuple(it for it in there if not it.hit_condition and can_join(it)) if len(there) > 1 else tuple(there)
    chosen = joined or (there[-1],)
    left_out = tuple(it for it in there if it not in chosen)
    sent = msgspec.structs.replace(
        chosen[0], line=line, condition=any_condition([it.condition for it in chosen], or_word)
    )
    return MergedBreakpoint(sent, chosen, left_out)


def any_condition(conditions: Iterable[str], or_word: str) -> str:
    """One that holds where one of them does; an empty one always holds."""
    several = list(dict.fromkeys(conditions))
    if len(several) == 1:
        return several[0]
    return "" if "" in several else f" {or_word} ".join(f"({condition})" for condition in several)


# js-debug has no text for some reasons and sends the key of the message instead.
_MESSAGE_KEY = re.compile(r"[A-Za-z]+(?:\.[A-Za-z]+)+")


# Used if the adapter sends no message.
_NO_CODE = localized_str(localize("No code at this line."))
_NOT_LOADED = localized_str(localize("The debugger did not bind it: no code is loaded for this line."))
_FROZEN = localized_str(
    localize(
        "This module is frozen into the interpreter, without line numbers. To stop in it, start the program "
        "with `python -X frozen_modules=off`."
    )
)
_MESSAGE_BY_CODE = {"dragoman:frozen": _FROZEN}


_CHANGEABLE = ("verified", "line", "column")


class BreakpointStatus:
    """The binding of each breakpoint, as the adapter reported it. Adapters number breakpoints of all kinds together."""

    def __init__(self) -> None:
        self._binding_by_id: dict[int, Binding] = {}
        self._fault_by_id: dict[int, str] = {}
        self._reports: dict[int, tuple[MergedBreakpoint, bodies.DapBreakpoint | bodies.ChangedBreakpoint]] = {}
        """The last report by the adapter's id, and what it is about. Ids of a list that was replaced stay: the program
        may have stopped there in the same moment."""

    def binding_of(self, id: int) -> Binding:
        if id in self._fault_by_id:
            return Binding(message=self._fault_by_id[id])
        return self._binding_by_id.get(id, Binding())

    def set_fault(self, id: int, fault: str) -> None:
        """A fault hides what the adapter says about the binding. Without a fault, the adapter's answer counts again."""
        self._fault_by_id.pop(id, None)
        self._fault_by_id |= {id: fault} if fault else {}

    def bind(self, place: MergedBreakpoint, answer: bodies.DapBreakpoint | bodies.ChangedBreakpoint) -> None:
        self._binding_by_id |= {breakpoint.id: _binding(answer) for breakpoint in place.merged}
        if answer.id is not None:
            self._reports[answer.id] = (place, answer)

    def update(self, body: bodies.BreakpointBody) -> None:
        """A `breakpoint` event: what was provisional has bound or moved. DAP lets it carry only what changed; a reason
        why it was not bound is over unless it is sent again."""
        id = body.breakpoint.id
        if id is None or id not in self._reports or body.reason == "removed":
            return
        place, last = self._reports[id]
        changed = {name: value for name in _CHANGEABLE if (value := getattr(body.breakpoint, name)) is not None}
        known = {name: getattr(last, name) for name in _CHANGEABLE}
        self.bind(place, bodies.ChangedBreakpoint(id=id, message=body.breakpoint.message, **{**known, **changed}))

    def mark_hit(self, ids: Iterable[int]) -> None:
        """A breakpoint at which the program stopped is bound, even if its adapter says so only a little later."""
        for id in ids:
            before = self._binding_by_id.get(id)
            if before is not None and not before.verified:
                self._binding_by_id[id] = msgspec.structs.replace(before, verified=True, message="")

    def ids_at(self, adapters_ids: Iterable[int]) -> tuple[int, ...]:
        """All breakpoints at these places: which of their conditions held, the adapter does not say. None where it
        names an id that we do not know: the location says more than some of several ids."""
        ids = tuple(adapters_ids)
        if not all(id in self._reports for id in ids):
            return ()
        return tuple(ours.id for id in ids for ours in self._reports[id][0].merged)


def _binding(answer: bodies.DapBreakpoint | bodies.ChangedBreakpoint) -> Binding:
    """Line 0 is how debugpy says, of a line above all code, that it found none."""
    if answer.message in _MESSAGE_BY_CODE:
        return Binding(message=_MESSAGE_BY_CODE[answer.message])
    if answer.line == 0:
        return Binding(message=answer.message or _NO_CODE)
    message = "" if _MESSAGE_KEY.fullmatch(answer.message or "") else answer.message
    return Binding(verified=bool(answer.verified), line=answer.line, message=message or _unbound_reason(answer))


def _unbound_reason(answer: bodies.DapBreakpoint | bodies.ChangedBreakpoint) -> str:
    """A breakpoint that is not bound always has a reason, though lldb-dap gives none."""
    if answer.verified:
        return ""
    return _NOT_LOADED
