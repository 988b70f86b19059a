"""A session's breakpoints at its backend: the union of all clients', file by file, and what became of each.

DAP's `setBreakpoints` replaces a whole file's list, so a file is always sent whole. Hit conditions are parsed by us;
an adapter gets the forms that mean the same to it, and the rest is counted here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dragoman.debug.backend import Backend
from dragoman.debug.dialect import Dialect
from dragoman.debug.hit_conditions import HitCondition, parse_hit_condition
from dragoman.debug.model import Binding, Frame
from dragoman.debug.shared_lines import Shared, one_a_place
from dragoman.phrases import say
from dragoman.wire.dap import answers, bodies, read_body
from dragoman.workspace.breakpoints import Breakpoint

_SENT_WITHIN_S = 10.0


class Bindings:
    """Owns what the adapter knows of our breakpoints."""

    def __init__(self, backend: Backend, dialect: Dialect) -> None:
        self._backend = backend
        self._dialect = dialect
        self._binding_by_id: dict[int, Binding] = {}
        self._fault_by_id: dict[int, str] = {}
        self._shared_by_adapters: dict[int, Shared] = {}
        self._sent: dict[str, tuple[Breakpoint, ...]] = {}
        self._counted: dict[int, HitCondition] = {}
        self._hits: defaultdict[int, int] = defaultdict(int)

    def of(self, id: int) -> Binding:
        if id in self._fault_by_id:
            return Binding(message=self._fault_by_id[id])
        return self._binding_by_id.get(id, Binding())

    def unbound(self) -> list[tuple[Breakpoint, Binding]]:
        """What is set and did not bind, with the adapter's reason: told at the moment it matters."""
        sent = [breakpoint for group in self._sent.values() for breakpoint in group]
        return [(breakpoint, self.of(breakpoint.id)) for breakpoint in sent if not self.of(breakpoint.id).verified]

    async def send(self, breakpoints: Iterable[Breakpoint]) -> None:
        """Everything that changed since the last time, one file after another."""
        wanted: defaultdict[str, list[Breakpoint]] = defaultdict(list)
        for breakpoint in breakpoints:
            if breakpoint.enabled and breakpoint.kind == "line":
                wanted[breakpoint.path].append(breakpoint)
        for path in sorted({*wanted, *self._sent}):
            group = tuple(wanted.get(path, ()))
            if group != self._sent.get(path, ()):
                await self._send_file(path, group)

    def learn(self, body: bodies.BreakpointBody) -> None:
        """A `breakpoint` event: what was provisional has bound, moved or gone."""
        shared = self._shared_by_adapters.get(body.breakpoint.id if body.breakpoint.id is not None else -1)
        if shared is not None and body.reason != "removed":
            self._bind(shared, body.breakpoint)

    def hit(self, adapters_ids: Iterable[int] | None, top: Frame | None) -> tuple[int, ...]:
        """Ours that were hit: by the adapter's ids where it sends them, by place where it does not."""
        known = self._shared_by_adapters
        ids = tuple(ours for id in adapters_ids or () if id in known for ours in known[id].told_at_a_hit)
        return ids or tuple(breakpoint.id for breakpoint in self._at(top))

    def counts(self, hit: Iterable[int]) -> bool:
        """Count a hit; False when every breakpoint that was hit says "not this time"."""
        verdicts = []
        for id in hit:
            self._hits[id] += 1
            condition = self._counted.get(id)
            verdicts.append(condition is None or condition.holds(self._hits[id]))
        return not verdicts or any(verdicts)

    def _at(self, top: Frame | None) -> list[Breakpoint]:
        if top is None:
            return []
        group = self._sent.get(top.path, ())
        return [breakpoint for breakpoint in group if (self.of(breakpoint.id).line or breakpoint.line) == top.line]

    async def _send_file(self, path: str, group: tuple[Breakpoint, ...]) -> None:
        places = one_a_place(group, or_word=self._dialect.or_word, is_sound=lambda it: not self._fault_in(it))
        source = {"path": path, "name": Path(path).name}
        asked = {"source": source, "breakpoints": [self._translated(place.sent) for place in places]}
        response = await self._backend.request("setBreakpoints", asked, timeout_s=_SENT_WITHIN_S)
        self._sent[path] = group
        for place in places:
            self._note_faults(place)
        for place, answer in zip(places, read_body(response, answers.BreakpointsAnswer).breakpoints, strict=False):
            self._bind(place, answer)
            if answer.id is not None:
                self._shared_by_adapters[answer.id] = place

    def _bind(self, place: Shared, answer: bodies.Breakpoint) -> None:
        self._binding_by_id |= {breakpoint.id: _binding(answer) for breakpoint in place.stands_for}

    def _note_faults(self, place: Shared) -> None:
        shares = str(say("Another breakpoint stands at this place, and an adapter takes only one: remove it first."))
        faults = {it.id: self._fault_in(it) for it in place.stands_for}
        faults |= {it.id: self._fault_in(it) or shares for it in place.left_out}
        for id, fault in faults.items():
            self._fault_by_id.pop(id, None)
            self._fault_by_id |= {id: fault} if fault else {}

    def _fault_in(self, breakpoint: Breakpoint) -> str:
        return self._dialect.fault_of(breakpoint.condition) if breakpoint.condition else ""

    def _translated(self, breakpoint: Breakpoint) -> dict[str, Any]:
        asked: dict[str, Any] = {"line": breakpoint.line}
        asked |= {"column": breakpoint.column} if breakpoint.column else {}
        asked |= {"condition": breakpoint.condition} if breakpoint.condition else {}
        asked |= {"logMessage": breakpoint.log_message} if breakpoint.log_message else {}
        return asked | self._hit_condition(breakpoint)

    def _hit_condition(self, breakpoint: Breakpoint) -> dict[str, str]:
        self._counted.pop(breakpoint.id, None)
        if not breakpoint.hit_condition:
            return {}
        condition = parse_hit_condition(breakpoint.hit_condition)
        if condition.compare not in self._dialect.hit_forms:
            self._counted[breakpoint.id] = condition
            return {}
        spelling = self._dialect.hit_spelling.get(condition.compare)
        return {"hitCondition": spelling.format(number=condition.number) if spelling else str(condition)}


def _binding(answer: bodies.Breakpoint) -> Binding:
    """Line 0 is how debugpy says, of a line above all code, that it found none."""
    if answer.line == 0:
        return Binding(message=answer.message or str(say("There is no code at this line.")))
    return Binding(verified=answer.verified, line=answer.line, message=answer.message or "")
