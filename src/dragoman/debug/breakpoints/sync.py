"""Sends the breakpoints of all clients to the adapter, and says which of them were hit.

DAP's `setBreakpoints` replaces the whole list of a file, so a file is always sent whole.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize, localized_str
from dragoman.debug.backends.port import AdapterRefusedError, Backend
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.breakpoints import functions_and_data
from dragoman.debug.breakpoints.exceptions import ExceptionBreakpoints
from dragoman.debug.breakpoints.functions_and_data import library_arguments
from dragoman.debug.breakpoints.hit_conditions import HitCondition, parse_hit_condition
from dragoman.debug.breakpoints.status import (
    SHARED_PLACE_MESSAGE,
    BreakpointStatus,
    MergedBreakpoint,
    merge_by_location,
)
from dragoman.debug.model import Binding, FrameInfo, RaisedException, is_person
from dragoman.debug.session.stop_permissions import NOT_SET, StopPermissions
from dragoman.debug.source_files import is_other_language
from dragoman.debug.stops.snapshot import Probe
from dragoman.protocols.dap import Capabilities, bodies, read_body
from dragoman.workspace.breakpoints import Breakpoint

log = logging.getLogger(__name__)

_RESPONSE_TIMEOUT_S = 10.0
_NO_CAPABILITIES = Capabilities(msgspec.Raw(b"{}"))
_TEMPORARY_ID = 0
"""The id of a breakpoint that exists for one run. Neither it nor negative ids are shown to anybody."""


def temporary_breakpoint(path: str, line: int) -> Breakpoint:
    return Breakpoint(id=_TEMPORARY_ID, path=path, line=line)


# If Dragoman counts the hits, each hit is a stop, which costs the program some milliseconds.
_MAX_LOCAL_COUNT = 100


class HitCounter:
    """Counts hits here where an adapter has no such condition or forgets its counts; large counts stay with the
    adapter.
    """

    def __init__(self, quirks: AdapterQuirks) -> None:
        self._quirks = quirks
        self._counted: dict[int, HitCondition] = {}
        self._hits: defaultdict[int, int] = defaultdict(int)
        self._spent: set[int] = set()
        self._left_to_adapter: set[int] = set()
        self._restarted: set[int] = set()

    def to_adapter(self, breakpoint: Breakpoint) -> dict[str, str]:
        self._counted.pop(breakpoint.id, None)
        if not breakpoint.hit_condition:
            return {}
        condition = parse_hit_condition(breakpoint.hit_condition)
        spelling = self._quirks.hit_spelling.get(condition.compare)
        if not self._is_left_to_adapter(breakpoint, condition, spelling):
            self._counted[breakpoint.id] = condition
            return {}
        if self._quirks.resets_hit_counts and breakpoint.id in self._left_to_adapter:
            self._restarted.add(breakpoint.id)
        self._left_to_adapter.add(breakpoint.id)
        shown = spelling.format(number=condition.number, remainder=condition.remainder) if spelling else str(condition)
        return {"hitCondition": shown}

    def must_count(self, breakpoint: Breakpoint) -> bool:
        condition = parse_hit_condition(breakpoint.hit_condition)
        return not self._is_left_to_adapter(breakpoint, condition, self._quirks.hit_spelling.get(condition.compare))

    def _is_left_to_adapter(self, breakpoint: Breakpoint, condition: HitCondition, spelling: str | None) -> bool:
        # With both, some adapters count every hit and some stop if either is true, so Dragoman counts the hits
        # itself.
        if breakpoint.condition:
            return False
        if self._quirks.resets_hit_counts and condition.number <= _MAX_LOCAL_COUNT:
            return False
        if self._quirks.takes_one_option_only and breakpoint.log_message:
            return False
        has_no_spelling = spelling is not None and condition.remainder != 0 and "{remainder}" not in spelling
        return condition.compare in self._quirks.hit_forms and not has_no_spelling

    def is_spent(self, id: int) -> bool:
        """It will not stop the program again, which would only be slowed down by it."""
        return id in self._spent

    def restarts_count(self, id: int) -> bool:
        return id in self._restarted

    def counts_here(self, id: int) -> bool:
        return id in self._counted

    def record_hit(self, hit: Iterable[int]) -> bool:
        """Count a hit; False when every breakpoint that was hit says "not this time"."""
        verdicts = []
        for id in hit:
            self._hits[id] += 1
            condition = self._counted.get(id)
            verdicts.append(condition is None or condition.holds(self._hits[id]))
            if condition is not None and condition.is_spent(self._hits[id]):
                self._spent.add(id)
        return not verdicts or any(verdicts)


class BreakpointSync:
    """Owns what the adapter knows about our breakpoints: lines, functions, data and exceptions."""

    def __init__(
        self,
        backend: Backend,
        quirks: AdapterQuirks,
        exception_filters: Iterable[str] = (),
        session: str = "",
        permissions: StopPermissions | None = None,
    ) -> None:
        self._permissions = permissions or StopPermissions()
        if self._permissions.traces_only:  # logging or counting in Dragoman would stop the program
            quirks = replace(quirks, takes_log_messages=True, resets_hit_counts=False)
        self._backend = backend
        self._quirks = quirks
        self._exception_filters = tuple(exception_filters)
        self._not_set: tuple[Breakpoint, ...] = ()
        self._session = session
        self.probe: Probe | None = None
        self.is_unreachable = False
        """Whether the adapter did not answer the last update, so that it is not known which breakpoints are bound."""
        self._bound = BreakpointStatus()
        self._hits = HitCounter(quirks)
        self._lines: tuple[Breakpoint, ...] = ()
        self._sent: dict[str, tuple[Breakpoint, ...]] = {}
        self._lines_ever_sent: defaultdict[str, set[int]] = defaultdict(set)
        self._logged_here: dict[int, str] = {}
        self._failed: dict[tuple[int, str], str] = {}
        self._functions = functions_and_data.function_breakpoints(backend, self._bound, self._function, quirks)
        self._data = functions_and_data.data_breakpoints(backend, self._bound, self._conditions)
        self._exceptions = ExceptionBreakpoints(backend, quirks, self._exception_filters, self._bound)

    def binding_of(self, id: int) -> Binding:
        if any(it.id == id for it in self._not_set):
            return Binding(message=NOT_SET)
        return self._bound.binding_of(id)

    def unbound(self) -> list[tuple[Breakpoint, Binding]]:
        """Breakpoints that did not bind, with the adapter's reason. Without the exception filters that an editor sets
        by default: an agent should not read of them at each stop."""
        lines = [breakpoint for group in self._sent.values() for breakpoint in group]
        exceptions = [it for it in self._exceptions.enabled if not is_person(it.owner)]
        not_set = [it for it in self._not_set if not is_person(it.owner) or it.kind != "exception"]
        sent = [*lines, *self._functions.sent, *self._data.sent, *exceptions, *not_set]
        pairs = [(breakpoint, self.binding_of(breakpoint.id)) for breakpoint in sent if breakpoint.id > _TEMPORARY_ID]
        return [(breakpoint, binding) for breakpoint, binding in pairs if not binding.verified]

    def of_other_languages(self) -> list[tuple[Breakpoint, Binding]]:
        """Breakpoints in files of another language. They are not sent to this adapter."""
        why = localized_str(localize("This session's debugger does not support this file type."))
        return [
            (it, Binding(message=why))
            for it in self._lines
            if it.id > _TEMPORARY_ID and it.enabled and is_other_language(it.path, self._quirks.suffixes)
        ]

    async def send(self, breakpoints: Iterable[Breakpoint], capabilities: Capabilities = _NO_CAPABILITIES) -> None:
        """Everything that changed since the last time, one list after another."""
        try:
            await self._send_all(breakpoints, capabilities)
        except DragomanError as error:
            self.is_unreachable = not isinstance(error, AdapterRefusedError)
            raise
        self.is_unreachable = False

    async def _send_all(self, breakpoints: Iterable[Breakpoint], capabilities: Capabilities) -> None:
        by_kind: defaultdict[str, list[Breakpoint]] = defaultdict(list)
        ours = [it for it in breakpoints if it.session in {"", self._session}]
        self._not_set = tuple(it for it in ours if not self.permits(it))
        for breakpoint in (*ours, *self._permissions.without_halts(self._exception_filters)):
            if breakpoint not in self._not_set:
                by_kind[breakpoint.kind].append(breakpoint)
        await self._send_lines(by_kind["line"])
        await self._functions.send(by_kind["function"], capabilities)
        await self._data.send(by_kind["data"], capabilities)
        await self._exceptions.send(by_kind["exception"], capabilities)

    def permits(self, breakpoint: Breakpoint) -> bool:
        """Hits that we count would halt the program as well."""
        is_counted_locally = bool(breakpoint.hit_condition) and self._hits.must_count(breakpoint)
        return self._permissions.permits(breakpoint) and not (self._permissions.traces_only and is_counted_locally)

    def update_binding(self, body: bodies.BreakpointBody) -> None:
        self._bound.update(body)

    def add_lent(self, breakpoint: Breakpoint, *, is_bound: bool) -> None:
        """Records a breakpoint that the person's editor has set in a lent session."""
        answer = bodies.DapBreakpoint(verified=is_bound, line=breakpoint.line)
        self._bound.bind(MergedBreakpoint(breakpoint, (breakpoint,), ()), answer)

    def note_output(self, output: str) -> bool:
        """Some adapters report a failed condition only in their output. Returns whether this output was such a
        report."""
        found = (
            re.search(self._quirks.condition_error_pattern, output, re.DOTALL)
            if self._quirks.condition_error_pattern
            else None
        )
        if found is None:
            return False
        for breakpoint in self._with_condition(found["condition"].strip()):
            self.note_failed_condition(breakpoint.id, breakpoint.condition, found["error"].strip())
        return True

    def find_hits(
        self,
        reason: str,
        adapters_ids: Iterable[int] | None,
        top: FrameInfo | None,
        raised: RaisedException | None = None,
    ) -> tuple[int, ...] | None:
        """Ours that were hit: by the adapter's ids where it sends them, else by place, name or kind.

        None where the stop has nothing to do with breakpoints."""
        if reason == "exception":
            return self._exceptions.find_hits(raised) or None
        if "breakpoint" not in reason:
            return None
        found = self._bound.ids_at(adapters_ids or ()) or tuple(it.id for it in self._by_reason(reason, top))
        self._bound.mark_hit(found)
        return found

    def with_uncaught(self, raised: RaisedException | None) -> RaisedException | None:
        return raised and self._exceptions.with_uncaught(raised)

    def condition_of(self, id: int) -> str:
        """The condition to check here for an adapter that does not check it. Only breakpoints on lines and functions
        have one."""
        lines = (it.condition for group in self._sent.values() for it in group if it.id == id)
        functions = (self._function_condition(it) for it in self._functions.sent if it.id == id)
        return next(chain(lines, functions), "")

    def note_failed_condition(self, id: int, condition: str, error: str) -> None:
        reason = localized_str(localize("The condition failed: {reason}", reason=error))
        self._failed[id, condition] = reason
        self._bound.set_fault(id, reason)

    def without_temporary(self, hit: tuple[int, ...] | None) -> tuple[int, ...] | None:
        return hit if hit is None else tuple(id for id in hit if id > _TEMPORARY_ID)

    async def record_hit(self, hit: Iterable[int]) -> bool:
        """Whether a hit is one to stop at. What never will be again is taken from the adapter."""
        is_counted = self._hits.record_hit(hit)
        if any(self._hits.is_spent(it.id) for group in self._sent.values() for it in group):
            try:
                await self._send_lines(self._lines)
            except DragomanError as error:
                log.warning("a breakpoint that will not stop again could not be taken away: %s", error)
        return is_counted

    def messages_to_log(self, hit: Sequence[int]) -> list[str]:
        """The messages of logpoints that the adapter only stops at. If all that were hit are logpoints, nothing
        stops."""
        return [message for id in hit if (message := self._logged_here.get(id, ""))]

    def _by_reason(self, reason: str, top: FrameInfo | None) -> list[Breakpoint]:
        if reason.startswith("data"):
            return list(self._data.sent)
        name = top.name if top else ""
        by_name = [it for it in self._functions.sent if it.function and _unqualified(name) == _unqualified(it.function)]
        return by_name if reason.startswith("function") else self._at(top) or by_name

    def _at(self, top: FrameInfo | None) -> list[Breakpoint]:
        if top is None:
            return []
        group = self._sent.get(top.path, ())
        # The adapter moves the breakpoint to the next line with code without reporting it.
        if self._quirks.condition_expression:
            asked = max((line for line in self._lines_ever_sent[top.path] if line <= top.line), default=0)
            return [breakpoint for breakpoint in group if breakpoint.line == asked]
        return [
            breakpoint for breakpoint in group if (self.binding_of(breakpoint.id).line or breakpoint.line) == top.line
        ]

    def _with_condition(self, condition: str) -> list[Breakpoint]:
        lines = [breakpoint for group in self._sent.values() for breakpoint in group]
        return [it for it in (*lines, *self._functions.sent) if it.condition and it.condition.strip() in condition]

    async def _send_lines(self, breakpoints: Iterable[Breakpoint]) -> None:
        self._lines = tuple(breakpoints)
        wanted: defaultdict[str, list[Breakpoint]] = defaultdict(list)
        for breakpoint in self._lines:
            if is_other_language(breakpoint.path, self._quirks.suffixes) or self._is_set_by_others(breakpoint):
                continue
            if breakpoint.enabled and not self._hits.is_spent(breakpoint.id):
                wanted[breakpoint.path].append(breakpoint)
        for path in sorted({*wanted, *self._sent}):
            group = tuple(wanted.get(path, ()))
            if group != self._sent.get(path, ()):
                await self._send_file(path, group)

    def _is_set_by_others(self, breakpoint: Breakpoint) -> bool:
        """In a lent session, the person's debugger has the person's breakpoints and counts their hits."""
        return bool(breakpoint.owner) and breakpoint.owner == self._backend.ownership.person

    async def _send_file(self, path: str, group: tuple[Breakpoint, ...]) -> None:
        self._sent[path] = group
        self._lines_ever_sent[path] |= {breakpoint.line for breakpoint in group}
        places = self._places(group)
        try:
            answered = await self._set_breakpoints(path, places)
            if self._quirks.keeps_last_on_line and _have_common_line(answered):
                moved = {it.id: answer.line for place, answer in answered for it in place.merged if answer.line}
                places = self._places(group, moved)
                answered = await self._set_breakpoints(path, places)
        except AdapterRefusedError as error:
            self._note_all(group, error.reason)
            return
        for place in places:
            self._note_faults(place)
        for place, answer in answered:
            self._bound.bind(place, self._with_count(place, answer))

    def _places(
        self, group: Iterable[Breakpoint], lines: Mapping[int, int] | None = None
    ) -> tuple[MergedBreakpoint, ...]:
        def can_join(breakpoint: Breakpoint) -> bool:
            is_logged_by_adapter = bool(breakpoint.log_message) and self._quirks.takes_log_messages
            return not is_logged_by_adapter and not self._condition_fault(breakpoint)

        return merge_by_location(group, or_word=self._quirks.or_word, can_join=can_join, lines=lines)

    async def _set_breakpoints(
        self, path: str, places: Sequence[MergedBreakpoint]
    ) -> list[tuple[MergedBreakpoint, bodies.DapBreakpoint]]:
        source = {"path": path, "name": Path(path).name}
        asked = {"source": source, "breakpoints": [self._translated(place) for place in places]}
        asked |= library_arguments(self._quirks, [place.sent for place in places])
        response = await self._backend.request("setBreakpoints", asked, timeout_s=_RESPONSE_TIMEOUT_S)
        answers = read_body(response, bodies.SetBreakpointsResponse).of_requested(len(places))
        return list(zip(places, answers, strict=True))

    def _with_count(self, place: MergedBreakpoint, answer: bodies.DapBreakpoint) -> bodies.DapBreakpoint:
        if answer.message or not self._hits.restarts_count(place.sent.id):
            return answer
        anew = localize("This file's breakpoints changed, so the debugger restarted its hit count.")
        return msgspec.structs.replace(answer, message=localized_str(anew))

    def _note_all(self, group: Iterable[Breakpoint], reason: str) -> None:
        for breakpoint in group:
            self._bound.set_fault(
                breakpoint.id, reason or localized_str(localize("The adapter rejected the breakpoint."))
            )

    def _note_faults(self, place: MergedBreakpoint) -> None:
        for it in place.merged:
            self._bound.set_fault(it.id, self._condition_fault(it) or self._failed.get((it.id, it.condition), ""))
        for it in place.left_out:
            self._bound.set_fault(it.id, self._condition_fault(it) or SHARED_PLACE_MESSAGE)

    def _condition_fault(self, breakpoint: Breakpoint) -> str:
        if not breakpoint.condition:
            return ""
        return self._quirks.fault_of(breakpoint.condition)

    def _translated(self, place: MergedBreakpoint) -> dict[str, Any]:
        breakpoint = place.sent
        asked: dict[str, Any] = {"line": breakpoint.line, **self._conditions(breakpoint)}
        asked |= {"column": breakpoint.column} if breakpoint.column else {}
        return asked | self._log_message(place, is_counted_here=self._hits.counts_here(breakpoint.id))

    def _log_message(self, place: MergedBreakpoint, *, is_counted_here: bool) -> dict[str, str]:
        """An adapter that logs would log each hit: where we count them, we log as well."""
        breakpoint = place.sent
        for it in (*place.merged, *place.left_out):
            self._logged_here.pop(it.id, None)
        adapter_logs = self._quirks.takes_log_messages and not (
            self._quirks.takes_one_option_only and breakpoint.condition
        )
        if adapter_logs and not is_counted_here:
            return {"logMessage": breakpoint.log_message} if breakpoint.log_message else {}
        self._logged_here |= {it.id: it.log_message for it in place.merged}
        return {}

    def _function(self, breakpoint: Breakpoint) -> dict[str, Any]:
        """An adapter that knows functions only by their unqualified name gets that name, and a condition that checks
        the rest."""
        asked, condition = self._conditions(breakpoint), self._function_condition(breakpoint)
        if condition == breakpoint.condition:
            return {"name": breakpoint.function, **asked}
        return {**asked, "name": _unqualified(breakpoint.function), "condition": condition}

    def _function_condition(self, breakpoint: Breakpoint) -> str:
        condition, qualified_expression = breakpoint.condition, self._quirks.qualified_expression
        if "." not in breakpoint.function or not qualified_expression:
            return condition
        is_it = qualified_expression.format(name=breakpoint.function)
        return f"({is_it}) and ({condition})" if condition else is_it

    def _conditions(self, breakpoint: Breakpoint) -> dict[str, Any]:
        is_sent = bool(breakpoint.condition) and not self._quirks.condition_expression
        asked: dict[str, Any] = {"condition": breakpoint.condition} if is_sent else {}
        return asked | self._hits.to_adapter(breakpoint)


def _have_common_line(answered: Iterable[tuple[MergedBreakpoint, bodies.DapBreakpoint]]) -> bool:
    """Whether some were moved to a line at which there is another."""
    lines = [(answer.line, place.sent.column) for place, answer in answered if answer.line]
    return len(set(lines)) < len(lines)


def _unqualified(function: str) -> str:
    """Without the class, module or namespace that it is of."""
    return re.split(r"\.|::", function)[-1]
