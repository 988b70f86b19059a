"""What became of each breakpoint in a session: the adapter's word for it, or why we know better."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from dragoman.debug.model import Binding
from dragoman.debug.shared_lines import Shared
from dragoman.phrases import say, spoken
from dragoman.wire.dap import bodies

# The name of a sentence that js-debug has in no language: it stands in the place of the reason.
_NAME_OF_A_SENTENCE = re.compile(r"[A-Za-z]+(?:\.[A-Za-z]+)+")

# Ours, where an adapter gives none.
_NO_CODE = spoken(say("There is no code at this line."))
_NOT_LOADED = spoken(say("The debugger has not bound it: no code that is loaded now stands at this line."))
_FROZEN = spoken(
    say(
        "The interpreter has this module's code inside (frozen), without its lines. To stop in it, start the program "
        "with `python -X frozen_modules=off`."
    )
)
_BY_WORD = {"dragoman:frozen": _FROZEN}


class Bound:
    """One numbering at the adapter for breakpoints of all kinds."""

    def __init__(self) -> None:
        self._binding_by_id: dict[int, Binding] = {}
        self._fault_by_id: dict[int, str] = {}
        self._shared_by_adapters: dict[int, Shared] = {}

    def of(self, id: int) -> Binding:
        if id in self._fault_by_id:
            return Binding(message=self._fault_by_id[id])
        return self._binding_by_id.get(id, Binding())

    def note(self, id: int, fault: str) -> None:
        """A fault outlasts what the adapter says of its binding; without one, the adapter's word counts again."""
        self._fault_by_id.pop(id, None)
        self._fault_by_id |= {id: fault} if fault else {}

    def bind(self, place: Shared, answer: bodies.Breakpoint) -> None:
        self._binding_by_id |= {breakpoint.id: _binding(answer) for breakpoint in place.stands_for}
        if answer.id is not None:
            self._shared_by_adapters[answer.id] = place

    def learn(self, body: bodies.BreakpointBody) -> None:
        """A `breakpoint` event: what was provisional has bound, moved or gone."""
        shared = self._shared_by_adapters.get(body.breakpoint.id if body.breakpoint.id is not None else -1)
        if shared is not None and body.reason != "removed":
            self.bind(shared, body.breakpoint)

    def stopped_at(self, ids: Iterable[int]) -> None:
        """What a program stops at is bound, also where its adapter says so a little later."""
        for id in ids:
            before = self._binding_by_id.get(id)
            if before is not None and not before.verified:
                self._binding_by_id[id] = msgspec.structs.replace(before, verified=True, message="")

    def ours(self, adapters_ids: Iterable[int]) -> tuple[int, ...]:
        """All that stand there: which of their conditions held, the adapter does not say."""
        known = self._shared_by_adapters
        return tuple(ours.id for id in adapters_ids if id in known for ours in known[id].stands_for)


def _binding(answer: bodies.Breakpoint) -> Binding:
    """Line 0 is how debugpy says, of a line above all code, that it found none."""
    if answer.message in _BY_WORD:
        return Binding(message=_BY_WORD[answer.message])
    if answer.line == 0:
        return Binding(message=answer.message or _NO_CODE)
    said = "" if _NAME_OF_A_SENTENCE.fullmatch(answer.message or "") else answer.message
    return Binding(verified=answer.verified, line=answer.line, message=said or _why_not(answer))


def _why_not(answer: bodies.Breakpoint) -> str:
    """What is not bound always has a reason, though lldb-dap gives none."""
    if answer.verified:
        return ""
    return _NOT_LOADED
