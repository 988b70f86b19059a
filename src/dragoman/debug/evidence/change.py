"""Finds where a value changes or an invariant breaks, by a data breakpoint if the debugger has them, else by steps.

Steps stay in the function in which they began; the debugger steps over calls. When the function returns, the next
pass over the place starts again, as long as the budget lasts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from dragoman.core.errors import DragomanError
from dragoman.debug.evidence.evaluation import is_true, language_of
from dragoman.debug.evidence.evidence_probe import EVALUATION_TIMEOUT_S, EvidenceProbe, error_line
from dragoman.debug.evidence.run import EvidenceRun, EvidenceService, EvidenceSource, RunOutcome
from dragoman.debug.evidence.tracepoints import (
    CELL_CHARACTERS,
    Cell,
    TraceLimits,
    Tracepoint,
    TraceTable,
    breakpoint_id,
)
from dragoman.debug.model import Binding, FrameInfo, ProgramEnd, Stop
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller

_LOOKUP_TIMEOUT_S = 2.0
_UNBOUNDED = 1_000_000

# Console commands of the debuggers that support data breakpoints: they print the location of the previous
# instruction.
_LOOKUP_COMMANDS: Mapping[str, str] = {
    "lldb-dap": "`image lookup --address $pc-1",
    "codelldb": "image lookup --address $pc-1",
}
_SOURCE_LOCATION = re.compile(r" at (?P<file>[^\s:]+):(?P<line>\d+)")


async def last_executed_line(session: DebugSession) -> FrameInfo | None:
    """The top frame, at that line; as it is, where the debugger does not say."""
    stop = session.stop
    top = stop.frames[0] if stop and stop.frames else None
    asked = _LOOKUP_COMMANDS.get(session.launch.adapter_id)
    if top is None or asked is None:
        return top
    try:
        answer = await session.inspection.evaluate(
            asked, top.id, "console", timeout_s=_LOOKUP_TIMEOUT_S, thread_id=None
        )
    except DragomanError:
        return top
    found = _SOURCE_LOCATION.search(answer.result)
    if found is None or not top.path.endswith(found["file"].rsplit("/", 1)[-1]):
        return top
    return msgspec.structs.replace(top, line=int(found["line"]))


ChangeVerdict = Literal["changed", "unchanged", "never reached"]
DetectionMethod = Literal["data breakpoint", "steps"]


@dataclass(frozen=True, slots=True)
class DetectedChange:
    """`at` is the line that did it, in the frame that did it; the stack is that of where it stood then."""

    old: Cell
    new: Cell
    at: FrameInfo | None
    frames: tuple[FrameInfo, ...]


@dataclass(frozen=True, slots=True)
class ChangeResult:
    verdict: ChangeVerdict
    by: DetectionMethod
    steps: int
    end: RunOutcome
    change: DetectedChange | None = None
    binding: Binding | None = None
    session_id: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    expression: str
    invariant: str = ""


async def find_change(
    evidence: EvidenceService,
    caller: Caller,
    subject: EvidenceSource,
    point: Tracepoint | None,
    question: ChangeQuery,
    *,
    steps: int,
    seconds: float,
) -> ChangeResult:
    """Without a point it begins where the session stands."""
    table = TraceTable(TraceLimits(_UNBOUNDED, _UNBOUNDED, seconds, rows=1))
    probe = EvidenceProbe([point] if point else [], table, should_continue=lambda _: False, by_stops=True)
    async with evidence.run(caller, subject, probe) as run:
        looked = await _ChangeSearch(run, question, steps, has_point=point is not None).result()
        is_left = not run.owns_session and run.session.ended is None
    session_id, state = (run.session.id, run.session.state.value) if is_left else ("", "")
    return ChangeResult(
        looked.verdict, looked.by, looked.steps, looked.end, looked.change, looked.binding, session_id, state
    )


class _ChangeSearch:
    def __init__(self, run: EvidenceRun, question: ChangeQuery, steps: int, *, has_point: bool) -> None:
        self._run = run
        self._question = question
        self._budget = steps
        self._has_point = has_point
        self._steps = 0
        self._by: DetectionMethod = "steps"
        self._truth = language_of(run.session.launch.adapter_id).truth

    async def result(self) -> ChangeResult:
        end = await self._run.run_to_end() if self._has_point else None
        if end is not None and end.how != "stopped":
            hits = self._run.probe.table.hits
            return self._result("unchanged" if hits else "never reached", end)
        old = await self._value()
        if await self._set_data_breakpoint():
            self._by = "data breakpoint"
            return await self._watch(old)
        await self._suspend(resting=True)  # a recursive call would end a step over it
        return await self._step(old)

    def _result(self, verdict: ChangeVerdict, end: RunOutcome, change: DetectedChange | None = None) -> ChangeResult:
        binding = self._run.session.breakpoint_sync.binding_of(breakpoint_id(0)) if self._has_point else None
        return ChangeResult(verdict, self._by, self._steps, end, change, binding)

    async def _watch(self, old: Cell) -> ChangeResult:
        while self._steps < self._budget and self._run.remaining_s:
            self._steps += 1
            end = await self._resume()
            if end.how != "stopped" or end.stop is None:
                return self._result("unchanged", end)
            new = await self._value()
            if await self._has_changed(old, new):
                at = await last_executed_line(self._run.session)
                return self._result(
                    "changed", RunOutcome("stopped"), DetectedChange(old, new, at, _with_top(at, end.stop.frames))
                )
            old = new
        return self._result("unchanged", await self._end_at_limit())

    async def _step(self, old: Cell) -> ChangeResult:
        home = self._stop().total_frames
        while self._steps < self._budget and self._run.remaining_s:
            stood = self._stop()
            self._steps += 1
            outcome = await self._stepped()
            if not isinstance(outcome, Stop) or outcome.reason == "exception":
                return self._result("unchanged", await self._ended(outcome))
            is_home = outcome.total_frames >= home
            new = await self._value() if is_home else old
            if is_home and await self._has_changed(old, new):
                return self._result(
                    "changed", RunOutcome("stopped"), DetectedChange(old, new, stood.frame, stood.frames)
                )
            old = new
            if not is_home:
                end = await self._next_pass(outcome)
                if end is not None:
                    return self._result("unchanged", end)
                home, old = self._stop().total_frames, await self._value()
        return self._result("unchanged", await self._end_at_limit())

    async def _next_pass(self, left: Stop) -> RunOutcome | None:
        """The function was left: on to the next pass over the place, or what came instead."""
        if not self._has_point:
            return RunOutcome("stopped", stop=left)
        await self._suspend(resting=False)
        end = await self._resume()
        if end.how != "stopped":
            return end
        await self._suspend(resting=True)
        return None

    async def _suspend(self, *, resting: bool) -> None:
        self._run.probe.is_suspended = resting
        await self._run.session.probe(self._run.probe)

    async def _resume(self) -> RunOutcome:
        self._run.probe.table.reopen()
        return await self._run.run_on()

    async def _stepped(self) -> Stop | ProgramEnd | None:
        run = self._run
        stepped = await run.service.step(run.client, run.session.id, "over", thread_id=None, within_s=run.remaining_s)
        return stepped.outcome

    async def _has_changed(self, old: Cell, new: Cell) -> bool:
        if not self._question.invariant:
            return new != old
        holds = await self._evaluated(self._truth.format(claim=self._question.invariant))
        return not holds.failed and not is_true(holds)

    async def _value(self) -> Cell:
        return await self._evaluated(self._question.expression)

    async def _evaluated(self, expression: str) -> Cell:
        inspection = self._run.session.inspection
        try:
            found = await inspection.evaluate(expression, None, "watch", timeout_s=EVALUATION_TIMEOUT_S, thread_id=None)
        except DragomanError as error:
            return Cell(error_line(error)[:CELL_CHARACTERS], failed=True)
        return Cell(found.result)

    async def _set_data_breakpoint(self) -> bool:
        """A debugger that cannot watch this data, or none, steps."""
        session = self._run.session
        wanted = Breakpoint(id=breakpoint_id(1), kind="data", variable=self._question.expression, session=session.id)
        try:
            self._run.probe.watched = await session.inspection.resolve_data_breakpoint(wanted)
            await session.probe(self._run.probe)
        except DragomanError:
            self._run.probe.watched = None
            return False
        if session.breakpoint_sync.binding_of(breakpoint_id(1)).verified:
            return True
        self._run.probe.watched = None
        return False

    def _stop(self) -> Stop:
        return self._run.session.require_stopped()

    async def _end_at_limit(self) -> RunOutcome:
        limit: Literal["steps", "seconds"] = "seconds" if not self._run.remaining_s else "steps"
        return await self._run.end_at_limit(limit, self._run.session.stop if self._run.session.is_at_stop else None)

    async def _ended(self, outcome: Stop | ProgramEnd | None) -> RunOutcome:
        if isinstance(outcome, ProgramEnd):
            return RunOutcome("exited", ended=outcome)
        return RunOutcome("exception", stop=outcome) if outcome else await self._run.end_at_limit("seconds")


def _with_top(top: FrameInfo | None, frames: tuple[FrameInfo, ...]) -> tuple[FrameInfo, ...]:
    return (top, *frames[1:]) if top else frames
