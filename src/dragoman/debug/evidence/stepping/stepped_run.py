"""A run in which calls are stepped through: where functions begin, which calls are recorded, and the budget."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.debug.evidence.evidence_probe import EvidenceProbe
from dragoman.debug.evidence.run import EvidenceRun, RunOutcome
from dragoman.debug.evidence.stepping.function_search import FunctionSearch
from dragoman.debug.evidence.stepping.source_functions import ANONYMOUS, SourceFunction
from dragoman.debug.evidence.stepping.source_languages import language_of_file
from dragoman.debug.evidence.stepping.stepped_call import NOTHING, CallExit, Outcome, SteppedCall
from dragoman.debug.evidence.tracepoints import Tracepoint, TraceTable
from dragoman.debug.model import ProgramEnd, StepKind, Stop
from dragoman.workspace.breakpoints import Breakpoint

MAX_STEPS = 500
MAX_SECONDS = 20.0
_MOST_EXCEPTIONS = 60
_MOST_CALLS_KEPT = 12
"""Of one function: further calls are only counted."""
_MOST_CALLS_LISTED = 6
_MOST_OTHERS = 4
_MOST_DEPTH = 4
_MOST_PASSED = 300
_MOST_COUNTED = 2000
"""Of a function whose last call is wanted: another run steps through that one."""


@dataclass(frozen=True, slots=True)
class SteppedTarget:
    """A function whose call is recorded: which one, by its number, or 0 for the newest."""

    function: SourceFunction
    number: int = 0
    condition: str = ""
    prefers_raised: bool = False
    """Of several, the newest that ended with an exception."""


class SteppingProbe(EvidenceProbe):
    """Stops where each function begins, except in those that are muted."""

    def __init__(
        self,
        functions: Sequence[SourceFunction],
        table: TraceTable,
        targets: Sequence[SteppedTarget],
        caught: Mapping[str, str],
    ) -> None:
        conditions = {it.function: it.condition for it in targets}  # the functions that they call have other names
        points = [_entry(it, conditions.get(it, "")) for it in functions]
        super().__init__(points, table, should_continue=lambda _: False, by_stops=True, caught=caught)
        self.muted: set[int] = set()

    @property
    def breakpoints(self) -> list[Breakpoint]:
        if self.is_suspended:
            return []
        asked = [self._breakpoint(at) for at in range(len(self.points)) if at not in self.muted]
        return asked if self.watched is None else [*asked, self.watched]


def _entry(function: SourceFunction, condition: str) -> Tracepoint:
    language = language_of_file(function.path)
    at_header = language is not None and language.enters_at == "header"
    return Tracepoint(path=function.path, line=function.header if at_header else function.first, condition=condition)


@dataclass(slots=True)
class _Counted:
    """The calls of one function so far."""

    calls: int = 0
    kept: int = 0
    active: int = 0
    deepest: int = 0
    ended: list[list[Any]] = field(default_factory=list)
    record: dict[str, Any] | None = None
    is_inner: bool = False
    """Whether the record is of a call within a call of the same function."""
    newest_passed: int = 0
    """The number of the newest call that was not stepped through, without those within a call of the same function."""
    is_muted: bool = False
    """Whether further calls are not counted."""


class CallStepper:
    """One run. `functions` are those whose calls become a line of their caller; the targets are among them."""

    def __init__(
        self,
        run: EvidenceRun,
        targets: Sequence[SteppedTarget],
        functions: Sequence[SourceFunction],
        search: FunctionSearch,
    ) -> None:
        self.run = run
        self._targets = {it.function: it for it in targets}
        self._functions = list(dict.fromkeys([*self._targets, *functions]))
        self.counted = {it: _Counted() for it in self._functions}
        self.search = search
        self._steps = 0
        self._from_s: float | None = None

    async def records(self) -> tuple[list[Mapping[str, Any]], RunOutcome]:
        """From the run's start to the program's end, or to where a borrowed session is left."""
        end = await self.run.run_to_end()
        failed: RunOutcome | None = None
        exceptions = 0
        while end.stop is not None and end.how in {"stopped", "exception"} and self.run.remaining_s:
            if end.how == "exception":
                exceptions += 1
                is_fatal = end.raised is not None and end.raised.uncaught
                failed = end if is_fatal or failed is None else failed
                if not self.run.owns_session or exceptions > _MOST_EXCEPTIONS:
                    break
            else:
                outcome = await self._calls_from(end.stop)
                if isinstance(outcome, ProgramEnd):
                    end = RunOutcome("exited", ended=outcome, output=end.output)
                    break
                if outcome is None:
                    end = await self.run.end_at_limit("seconds")
                    break
                if outcome.reason == "exception":
                    end = RunOutcome("exception", stop=outcome)
                    continue
                if not self.run.owns_session and self._is_complete():
                    end = RunOutcome("stopped", stop=outcome)
                    break
            self.run.probe.table.reopen()
            end = await self.run.run_on()
        if failed is not None and end.ended is not None and end.ended.exit_code:
            end = RunOutcome("exception", stop=failed.stop, ended=end.ended, output=end.output)
        return [self._record_of(it) for it in self._targets], end

    def _is_complete(self) -> bool:
        """The newest call is known when the program ends."""
        return all(it.number and self.counted[function].record is not None for function, it in self._targets.items())

    def _record_of(self, function: SourceFunction) -> Mapping[str, Any]:
        counted, target = self.counted[function], self._targets[function]
        found: dict[str, Any] = {"calls": counted.calls, "deepest": max(1, counted.deepest)}
        limits = {"most_steps": MAX_STEPS, "most_seconds": int(MAX_SECONDS)}
        if counted.is_muted:
            found["counted_to"] = counted.calls
        if counted.record is None:
            return found | (limits if counted.newest_passed and self.is_over else {})
        found |= {**counted.record, **_listed(counted)}
        if counted.record["end"]["how"] == "limit":
            found |= limits
        if not target.number and counted.newest_passed > counted.record["call"]:
            found["newest_passed"] = counted.newest_passed
        if target.prefers_raised and counted.record["end"]["how"] != "raised":
            found["not_failing"] = True
        return found

    # One stop

    def function_at(self, stop: Stop) -> SourceFunction | None:
        """The function that begins there."""
        frame = stop.frames[0] if stop.frames else None
        if frame is None or "breakpoint" not in stop.reason:  # a step can end in the middle of a line, after a call
            return None
        around = [it for it in self._functions if it.path == frame.path and it.has(frame.line)]
        named = [it for it in around if _has_name(frame.name, it)]
        return max(named, key=lambda it: it.header, default=None)

    async def _calls_from(self, stop: Stop) -> Outcome:
        """Through the calls that begin at this stop and at once behind it; the stop after them."""
        outcome: Outcome = stop
        before: Stop | None = None
        while isinstance(outcome, Stop) and outcome is not before and (function := self.function_at(outcome)):
            before = outcome
            outcome = (await self.through(function, outcome, 0)).outcome
        return outcome

    @property
    def is_over(self) -> bool:
        return self._steps >= MAX_STEPS or self._left_s() <= 0 or not self.run.remaining_s

    def _left_s(self) -> float:
        if self._from_s is None:
            self._from_s = self.run.remaining_s
        return MAX_SECONDS - (self._from_s - self.run.remaining_s)

    def _is_wanted(self, function: SourceFunction) -> bool:
        counted, target = self.counted[function], self._targets.get(function)
        if target is not None and target.number:
            is_listed = target.number <= _MOST_CALLS_LISTED and counted.kept < _MOST_CALLS_LISTED
            return counted.calls == target.number or is_listed
        return counted.kept < (_MOST_CALLS_KEPT if target is not None else _MOST_DEPTH)

    async def through(self, function: SourceFunction, stop: Stop, depth: int) -> CallExit:
        counted = self.counted[function]
        counted.calls += 1
        is_wanted = self._is_wanted(function)
        if not counted.active and (not is_wanted or self.is_over):
            counted.newest_passed = counted.calls
        if not is_wanted and depth == 0:
            await self._mute_what_is_known(function)
            return CallExit(stop)
        # An asynchronous call continues after its caller. Stepping through it would use up the steps of the caller.
        if not is_wanted or depth >= _MOST_DEPTH or self.is_over or (function.is_async and depth):
            return await self._passed_over(stop, depth)
        counted.active += 1
        counted.kept += 1
        number = counted.calls
        call = SteppedCall(self, function, stop, depth)
        counted.deepest = max(counted.deepest, counted.active if call.is_inner else 1)
        left = await call.run()
        counted.active -= 1
        result = None if left.value == NOTHING else left.value
        ended = [number, counted.active + 1, call.short_args(), result, left.error]
        counted.ended = [*counted.ended, ended][-_MOST_CALLS_KEPT:]
        target = self._targets.get(function)
        is_chosen = target is not None and target.number in {0, number}
        # Concurrent calls end in a different order than they began. A call comes after the calls inside it.
        is_newer = counted.record is None or counted.is_inner or number > counted.record["call"]
        if target is not None and target.prefers_raised and counted.record is not None and not left.error:
            is_newer = is_newer and counted.record["end"]["how"] != "raised"
        if is_chosen and (counted.record is None or (is_newer and not call.is_inner)):
            counted.is_inner = call.is_inner
            counted.record = {**await call.record(), "call": number}
        return left

    async def _mute_what_is_known(self, function: SourceFunction) -> None:
        """A function that is called very often is no longer counted either."""
        counted, target = self.counted[function], self._targets.get(function)
        most = _MOST_COUNTED if target is not None and self.run.owns_session else _MOST_PASSED
        if counted.calls > most and (target is None or target.number < counted.calls):
            counted.is_muted = True
            await self.mute([function])

    async def mute(self, functions: Sequence[SourceFunction]) -> None:
        probe = self.run.probe
        assert isinstance(probe, SteppingProbe)
        probe.muted |= {self._functions.index(it) for it in functions}
        await self.run.session.probe(probe)

    async def _passed_over(self, stop: Stop, depth: int) -> CallExit:
        """Out of the function, without stops inside it."""
        if not depth:
            return CallExit(stop)
        probe = self.run.probe
        is_quiet = probe.is_suspended
        if not is_quiet:
            probe.is_suspended = True
            await self.run.session.probe(probe)
        outcome = await self.step("out", stop.thread_id)
        if not is_quiet and not isinstance(outcome, ProgramEnd):
            probe.is_suspended = False
            await self.run.session.probe(probe)
        return CallExit(outcome)

    async def step(self, kind: StepKind, thread: int) -> Outcome:
        self._steps += 1
        within_s = max(0.05, min(self.run.remaining_s, max(1.0, self._left_s())))
        run = self.run
        try:
            stepped = await run.service.step(run.client, run.session.id, kind, thread_id=thread, within_s=within_s)
        except DragomanError:
            return run.session.ended
        return stepped.outcome


def _listed(counted: _Counted) -> Mapping[str, Any]:
    """The other calls: of a recursion all, else those that are nearest to the call that is shown."""
    assert counted.record is not None
    if counted.deepest > 1:
        cut = max(0, counted.calls - len(counted.ended))
        return {"all": counted.ended[:6], "all_last": counted.ended[6:], "all_cut": cut}
    others = [it for it in counted.ended if it[0] != counted.record["call"]]
    first = others[:2] if counted.record["call"] == 1 else []
    last = others[len(first) :][-(_MOST_OTHERS - len(first)) :]
    cut = max(0, counted.calls - 1 - len(first) - len(last))
    return {"all": first, "all_last": last, "all_cut": cut}


def _has_name(shown: str, function: SourceFunction) -> bool:
    """Debuggers add modules, classes, types and parameters to the name of a function; some know none."""
    if function.name == ANONYMOUS or not shown or "anonymous" in shown:
        return True
    is_made = function.name == "constructor" and "new " in shown
    return is_made or bool(re.search(rf"(?<![\w$]){re.escape(function.name)}(?![\w$])", shown))
