"""The tools `check` (does a claim hold at each hit?) and `find_change` (which line changes a value or breaks an
invariant?).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from dragoman.core.errors import DragomanError
from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import LocalizedText, localize, localized_str, text_in_language
from dragoman.debug.evidence.change import ChangeQuery, ChangeResult, find_change
from dragoman.debug.evidence.expressions import impure_expressions
from dragoman.debug.evidence.trace import ClaimCheck, run_check
from dragoman.debug.evidence.tracepoints import Cell, TraceLimits, Tracepoint, TraceRow, names_return
from dragoman.debug.model import FrameInfo
from dragoman.tools.agent_text import escaped, one_line
from dragoman.tools.debug.breakpoint_validation import FUNCTION_NOT_FOUND
from dragoman.tools.debug.results import OmitNone
from dragoman.tools.debug.source_locations import SourceReader
from dragoman.tools.debug.stop_results import short_path
from dragoman.tools.evidence.context import EvidenceContext, frame_summaries, stack_line
from dragoman.tools.evidence.schema import (
    MAX_CHARACTERS,
    Condition,
    EvidenceResult,
    Expression,
    Expressions,
    FrameSummary,
    Hits,
    LimitedRunParameters,
    Seconds,
)
from dragoman.tools.evidence.target import (
    LocationParameters,
    RunTargetParameters,
    TraceLocationParameters,
    evidence_source,
)
from dragoman.tools.evidence.traces import point_results
from dragoman.tools.tool import RUNS_CODE, ToolOutcome, tool
from dragoman.workspace.caller import Caller

_VALUE_IN_TEXT = 160
_VALUE = 800
_LINE = 160
_REASON = 400


class CheckParameters(LimitedRunParameters, TraceLocationParameters):
    claim: Annotated[Expression, Field(description="Expression expected to be true at each hit.")]
    expressions: Annotated[Expressions, Field(description="More values to show.")]
    condition: Condition = ""
    stop: Annotated[bool, Field(description="Stay stopped where it fails.")] = False
    max_hits: Hits = 10_000

    @property
    def limits(self) -> TraceLimits:
        return TraceLimits(self.max_hits, MAX_CHARACTERS, self.timeout_s)


class FindChangeParameters(RunTargetParameters, LocationParameters):
    expression: Expression
    invariant: Annotated[str, Field(max_length=2000, description="Instead: find where this turns false.")] = ""
    max_steps: Annotated[int, Field(ge=1, le=10_000)] = 500
    timeout_s: Seconds = 30.0


class CheckResult(EvidenceResult):
    """If the claim is broken, `hits` is the hit that broke it; the values are those of the names in the claim."""

    verdict: Literal["holds", "broken", "never reached"]
    hits: int
    place: str
    not_bound: OmitNone[str] = None
    error: OmitNone[str] = None
    before: OmitNone[dict[str, str]] = None
    at_break: OmitNone[dict[str, str]] = None


class FindChangeResult(EvidenceResult):
    """`place` is the line of the change, `old` and `new` the values before and after it, `steps` the number of steps
    taken.
    """

    verdict: Literal["changed", "unchanged", "never reached"]
    by: Literal["data breakpoint", "steps"]
    steps: int
    place: OmitNone[str] = None
    source: OmitNone[str] = None
    old: OmitNone[str] = None
    new: OmitNone[str] = None
    frames: OmitNone[list[FrameSummary]] = None
    not_bound: OmitNone[str] = None


@dataclass(frozen=True, slots=True)
class CheckTool:
    context: EvidenceContext

    @tool(
        "check",
        "Check a claim",
        (
            "Check whether `claim` holds at each hit of a location. verdict: holds, broken (hit, values before "
            "and at it), never reached."
        ),
        CheckParameters,
        CheckResult,
        RUNS_CODE,
    )
    async def check(self, caller: Caller, wanted: CheckParameters) -> ToolOutcome:
        subject = evidence_source(caller, wanted)
        points = await self._points(caller, wanted)

        async def act() -> ClaimCheck:
            return await run_check(
                self.context.evidence,
                caller,
                subject,
                points,
                wanted.claim,
                wanted.limits,
                besides=wanted.expressions,
                stops=wanted.stop,
            )

        found = await self.context.wait_for_run(caller, "check", wanted.timeout_s, act)
        answer = self._answer(caller, wanted, found)
        return ToolOutcome([*_check_lines(answer), *self.context.closing_lines(answer)], answer)

    async def _points(self, caller: Caller, wanted: CheckParameters) -> list[Tracepoint]:
        points = await self.context.finder.points(
            caller, wanted, wanted, tuple(filter(names_return, (wanted.claim, *wanted.expressions))), wanted.condition
        )
        if wanted.stop and any(it.at_return for it in points):
            raise DragomanError("bad_arguments", localize("`stop` needs a line: the function has returned by then."))
        return points

    def _answer(self, caller: Caller, wanted: CheckParameters, found: ClaimCheck) -> CheckResult:
        seen, *others = point_results(found.trace, caller, self.context)
        unbound = [it.not_bound for it in (seen, *others)]
        expressions = [wanted.claim, wanted.condition, *wanted.expressions]
        return CheckResult(
            status="success",
            verdict=found.verdict,
            hits=found.hits,
            place=f"{wanted.returns} (return)" if others else seen.place,
            not_bound=seen.not_bound if all(unbound) else None,
            error=self.context.values.text(found.error, _VALUE_IN_TEXT) or None,
            before=self._values(found, found.before),
            at_break=self._values(found, found.broken),
            ended=self.context.ends.data(caller, found.trace.end),
            session_id=found.trace.session_id or None,
            state=found.trace.state or None,
            side_effects=[escaped(it) for it in impure_expressions(filter(None, expressions))] or None,
        )

    def _values(self, found: ClaimCheck, row: TraceRow | None) -> dict[str, str] | None:
        if row is None:
            return None
        return {escaped(it): self._shown(it, cell) for it, cell in found.values(row)}

    def _shown(self, expression: str, cell: Cell) -> str:
        shown = self.context.values.value(expression, cell.text, len(cell.text)).text
        return f"!{shown}" if cell.failed else shown


def _check_lines(answer: CheckResult) -> list[LocalizedText]:
    heads = {
        "holds": localize("holds: {place}, hits: {hits}", hits=answer.hits, place=answer.place),
        "broken": localize("broken at hit {hits} of {place}", hits=answer.hits, place=answer.place),
        "never reached": localize("never reached: {place}", place=answer.place),
    }
    reason = [localize("  not bound: {reason}", reason=one_line(answer.not_bound))] if answer.not_bound else []
    facts = [
        (label_of("error"), answer.error),
        (localize("before"), _pairs(answer.before)),
        (localize("at the break"), _pairs(answer.at_break)),
    ]
    return [heads[answer.verdict], *reason, *(with_label(label, text) for label, text in facts if text)]


def _pairs(values: dict[str, str] | None) -> str:
    shown: Sequence[str] = [f"{name} = {one_line(value, _VALUE_IN_TEXT)}" for name, value in (values or {}).items()]
    return ", ".join(shown)


@dataclass(frozen=True, slots=True)
class FindChangeTool:
    context: EvidenceContext
    sources: SourceReader

    @tool(
        "find_change",
        "Find a change",
        (
            "Find the line that changes `expression` or breaks `invariant`, after the first hit of a location: "
            "old and new value, stack."
        ),
        FindChangeParameters,
        FindChangeResult,
        RUNS_CODE,
    )
    async def find(self, caller: Caller, wanted: FindChangeParameters) -> ToolOutcome:
        subject, point = evidence_source(caller, wanted), await self._point(caller, wanted)

        async def act() -> ChangeResult:
            return await find_change(
                self.context.evidence,
                caller,
                subject,
                point,
                ChangeQuery(wanted.expression, wanted.invariant),
                steps=wanted.max_steps,
                seconds=wanted.timeout_s,
            )

        found = await self.context.wait_for_run(caller, "find_change", wanted.timeout_s, act)
        answer = await self._answer(caller, wanted, found, point)
        return ToolOutcome([*_change_lines(answer), *self.context.closing_lines(answer)], answer)

    async def _point(self, caller: Caller, wanted: FindChangeParameters) -> Tracepoint | None:
        if wanted.is_given:
            return await self.context.finder.point(caller, wanted, wanted, ())
        if wanted.session_id:
            return None
        raise DragomanError(
            "bad_arguments",
            localize("Pass the place from which the expression can be evaluated."),
            hint=localize("A stopped session needs none: it starts where it is."),
        )

    async def _answer(
        self, caller: Caller, wanted: FindChangeParameters, found: ChangeResult, point: Tracepoint | None
    ) -> FindChangeResult:
        change = found.change
        at = change.at if change else None
        return FindChangeResult(
            status="success",
            verdict=found.verdict,
            by=found.by,
            steps=found.steps,
            place=f"{short_path(at.path, caller.workspace)}:{at.line}" if at else None,
            source=await self._source(caller, at),
            old=self._shown(wanted.expression, change.old) if change else None,
            new=self._shown(wanted.expression, change.new) if change else None,
            frames=frame_summaries(change.frames, caller.workspace) if change else None,
            not_bound=self._why_not_bound(caller, found, point),
            ended=self.context.ends.data(caller, found.end),
            session_id=found.session_id or None,
            state=found.state or None,
            side_effects=[escaped(it) for it in impure_expressions(filter(None, (wanted.expression, wanted.invariant)))]
            or None,
        )

    def _why_not_bound(self, caller: Caller, found: ChangeResult, point: Tracepoint | None) -> str | None:
        if found.verdict != "never reached":
            return None
        why = found.binding.message if found.binding else ""
        why = why or (localized_str(FUNCTION_NOT_FOUND) if point is not None and point.is_unknown else "")
        return self.context.values.text(text_in_language(why, caller.language), _REASON) or None

    async def _source(self, caller: Caller, at: FrameInfo | None) -> str | None:
        lines = await self.sources.lines(at.path, caller.workspace, {at.path}) if at and at.path else None
        if at is None or lines is None or not 0 < at.line <= len(lines):
            return None
        return self.context.values.text(lines[at.line - 1].strip(), _LINE)

    def _shown(self, expression: str, cell: Cell) -> str:
        shown = self.context.values.value(expression, cell.text, _VALUE).text
        return f"!{shown}" if cell.failed else shown


def _change_lines(answer: FindChangeResult) -> list[LocalizedText]:
    heads = {
        "changed": localize("changed at {place}", place=answer.place or "?"),
        "unchanged": localize("unchanged ({steps} steps)", steps=answer.steps),
        "never reached": localize("The place was never reached."),
    }
    reason = [localize("  not bound: {reason}", reason=one_line(answer.not_bound))] if answer.not_bound else []
    facts = [(label_of("line"), answer.source), (localize("old"), answer.old), (localize("new"), answer.new)]
    facts.append((localize("stack"), stack_line(answer.frames or ())))
    shown = [with_label(label, one_line(text, _VALUE_IN_TEXT)) for label, text in facts if text]
    return [heads[answer.verdict], *reason, *shown]
