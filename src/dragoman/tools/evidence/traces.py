"""The tools `trace` (values at several locations over a whole run) and `compare_runs` (where two traces first
differ).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from pydantic import ConfigDict, Field

from dragoman.core.errors import DragomanError
from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import Language, LocalizedText, localize, localized_str, text_in_language
from dragoman.debug.evidence.expressions import impure_expressions
from dragoman.debug.evidence.trace import (
    RecordedTrace,
    TraceDifference,
    align_columns,
    first_difference,
    merge_tracepoints,
    run_trace,
)
from dragoman.debug.evidence.tracepoints import CELL_IN_TEXT, UNSET, Cell, TraceLimits, Tracepoint, TraceRow, TraceTable
from dragoman.debug.evidence.worktree import workspace_at
from dragoman.debug.model import Binding, LaunchRequest
from dragoman.tools.agent_text import escaped, one_line
from dragoman.tools.debug.breakpoint_validation import FUNCTION_NOT_FOUND
from dragoman.tools.debug.parameters import MAX_STDIN, MAX_VARIABLES, Text
from dragoman.tools.debug.results import OmitNone, only_required
from dragoman.tools.debug.stop_results import short_path
from dragoman.tools.evidence.commands import MAX_COMMAND_LINE, MAX_TEST_ID
from dragoman.tools.evidence.context import EvidenceContext, end_lines
from dragoman.tools.evidence.schema import (
    MAX_CHARACTERS,
    MAX_POINTS,
    Condition,
    EvidenceResult,
    Expressions,
    LimitedRunParameters,
    RunEnd,
)
from dragoman.tools.evidence.target import START_PARAMETERS, TraceLocationParameters, evidence_source
from dragoman.tools.json_schema import Maybe
from dragoman.tools.tool import RUNS_CODE, Parameters, Result, ToolOutcome, tool
from dragoman.workspace.caller import Caller

_EXPRESSION_IN_TEXT = 80
_REASON = 400
_AS_ABOVE = "="
_NOT_SET = "-"
_CELL_IN_TEXT = 120


class TracePointParameters(TraceLocationParameters):
    expressions: Annotated[Expressions, Field(description="Default: arguments or locals.")]
    condition: Condition = ""


class TraceParameters(LimitedRunParameters):
    points: Annotated[list[TracePointParameters], Field(min_length=1, max_length=MAX_POINTS)]
    max_chars: Annotated[int, Field(ge=100, le=MAX_CHARACTERS)] = 6000

    @property
    def limits(self) -> TraceLimits:
        return TraceLimits(self.max_hits, self.max_chars, self.timeout_s, runs_on=True)


class OtherRunParameters(Parameters):
    test: Annotated[str, Field(max_length=MAX_TEST_ID)] = ""
    command: Annotated[str, Field(max_length=MAX_COMMAND_LINE)] = ""
    configuration_name: Annotated[str, Field(max_length=1000)] = ""
    configuration: Annotated[dict[str, Any], Field(default_factory=dict)]
    program: Annotated[str, Field(max_length=4096)] = ""
    args: Annotated[list[Text], Field(default_factory=list, max_length=1000)]
    cwd: Annotated[str, Field(max_length=4096)] = ""
    env: Annotated[dict[str, Text], Field(default_factory=dict, max_length=MAX_VARIABLES)]
    stdin: Annotated[Maybe[str], Field(max_length=MAX_STDIN)] = None
    commit: Annotated[str, Field(max_length=200, description="The workspace at this commit.")] = ""


class CompareRunsParameters(TraceParameters):
    against: Annotated[OtherRunParameters, Field(description="What the second run changes.")]

    @property
    def limits(self) -> TraceLimits:
        """Keep every row: rows that are left out cannot be compared."""
        return TraceLimits(self.max_hits, self.max_chars, self.timeout_s)


class TracePointResult(Result):
    model_config = ConfigDict(json_schema_extra=only_required)

    place: str
    expressions: list[str]
    hits: int
    condition: OmitNone[str] = None
    not_bound: OmitNone[str] = None


class TraceResult(EvidenceResult):
    """A row: hit, point (both from 1), then the cells that changed, by the number of their expression (from 1)."""

    hits: int
    points: list[TracePointResult]
    rows: list[dict[str, Any]]
    rows_left_out: OmitNone[int] = None
    """Rows in the middle that were left out because of `max_chars`."""


class CompareRunsResult(EvidenceResult):
    """`hits`: of both runs. `one` and `other`: what differs at `hit`; missing if a run did not get there."""

    verdict: Literal["same", "different"]
    hits: list[int]
    other_ended: RunEnd
    hit: OmitNone[int] = None
    place: OmitNone[str] = None
    one: OmitNone[dict[str, str]] = None
    other: OmitNone[dict[str, str]] = None
    before: OmitNone[list[dict[str, str]]] = None


@dataclass(frozen=True, slots=True)
class TraceTool:
    context: EvidenceContext

    @tool(
        "trace",
        "Trace a run",
        (
            "See how values change over a run: records expressions at each hit of each point; returns a table of "
            "changes and how the run ended."
        ),
        TraceParameters,
        TraceResult,
        RUNS_CODE,
    )
    async def trace(self, caller: Caller, wanted: TraceParameters) -> ToolOutcome:
        subject = evidence_source(caller, wanted)
        points = await trace_points(self.context, caller, wanted)

        async def act() -> RecordedTrace:
            lines = self.context.finder.lines(caller)
            return await run_trace(self.context.evidence, caller, subject, points, wanted.limits, lines=lines)

        trace = await self.context.wait_for_run(caller, "trace", wanted.timeout_s, act)
        answer = self._answer(caller, trace)
        lines = table_lines(answer, trace.table)
        locations = ", ".join(it.place for it in answer.points)
        table = "\n".join(map(str, lines))
        self.context.evidence.service.record_trace(caller, trace.ran_as, locations, table, answer.rows)
        return ToolOutcome([*lines, *self.context.closing_lines(answer)], answer)

    def _answer(self, caller: Caller, trace: RecordedTrace) -> TraceResult:
        expressions = [it for point in trace.points for it in (*point.expressions, point.condition) if it]
        return TraceResult(
            status="success",
            hits=trace.table.hits,
            points=point_results(trace, caller, self.context),
            rows=[self._row(trace, row) for row in (*trace.table.rows, *trace.table.tail)],
            rows_left_out=trace.table.left_out or None,
            ended=self.context.ends.data(caller, trace.end),
            session_id=trace.session_id or None,
            state=trace.state or None,
            side_effects=[escaped(it) for it in impure_expressions(expressions)] or None,
        )

    def _row(self, trace: RecordedTrace, row: TraceRow) -> dict[str, object]:
        result: dict[str, object] = {"hit": row.number}
        result |= {"point": row.point + 1} if len(trace.points) > 1 else {}
        result |= {"thread": row.thread} if trace.table.threads > 1 else {}
        pairs = list(zip(trace.points[row.point].expressions, row.changed, strict=False))
        values = {escaped(it): self._shown(it, cell) for it, cell in pairs if cell and not cell.failed}
        errors = {escaped(it): self._shown(it, cell) for it, cell in pairs if cell and cell.failed}
        return result | ({"values": values} if values else {}) | ({"errors": errors} if errors else {})

    def _shown(self, expression: str, cell: Cell) -> str:
        return self.context.values.value(expression, cell.text, len(cell.text)).text


async def trace_points(context: EvidenceContext, caller: Caller, wanted: TraceParameters) -> tuple[Tracepoint, ...]:
    """Those without expressions show the arguments at a function's entry, and locals elsewhere."""
    points = []
    for it in wanted.points:
        found = await context.finder.points(caller, wanted, it, tuple(it.expressions), it.condition)
        is_entry = bool(it.function)
        points += [msgspec.structs.replace(p, shows_frame=not it.expressions, at_entry=is_entry) for p in found]
    merged = merge_tracepoints(points)
    require_distinct_points(merged)
    return merged


def require_distinct_points(points: Sequence[Tracepoint]) -> None:
    if len({point.place for point in points}) < len(points):
        raise DragomanError(
            "same_place",
            localize("Two points at one place have different conditions; a debugger supports only one."),
            hint=localize("Pass one of them, with the condition as an expression."),
        )


def point_results(trace: RecordedTrace, caller: Caller, context: EvidenceContext) -> list[TracePointResult]:
    return [
        TracePointResult(
            place=_place(point, binding, caller.workspace),
            expressions=[escaped(it) for it in point.expressions],
            hits=trace.table.hits_of(at),
            condition=escaped(point.condition) or None,
            not_bound=_why_not_bound(trace, at, binding, context, caller.language),
        )
        for at, (point, binding) in enumerate(zip(trace.points, trace.bindings, strict=True))
    ]


def _why_not_bound(
    trace: RecordedTrace, at: int, binding: Binding, context: EvidenceContext, language: Language
) -> str | None:
    """Why a point has no hits: no code at its line, or a condition that failed. None if it was just not reached."""
    if trace.table.hits_of(at):
        return None
    fault = trace.faults.get(at)
    why = localized_str(localize("The condition failed: {reason}", reason=fault)) if fault else binding.message
    why = why or (localized_str(FUNCTION_NOT_FOUND) if trace.points[at].is_unknown else "")
    return context.values.text(text_in_language(why, language), _REASON) or None


def _place(point: Tracepoint, binding: Binding, workspace: Path) -> str:
    if point.function:
        return one_line(point.function, _EXPRESSION_IN_TEXT) + (" (return)" if point.at_return else "")
    return f"{short_path(point.path, workspace)}:{binding.line or point.line}"


# Lines: the expressions first, then one row per hit. `=` means as above; alone, the whole row.


def table_lines(answer: TraceResult, table: TraceTable) -> list[LocalizedText]:
    several, is_over = len(answer.points) > 1, answer.ended.how != "limit"
    heads = [
        line for at, it in enumerate(answer.points, 1) for line in _head(at if several else 0, it, is_over=is_over)
    ]
    kept = len(table.rows)
    first = _rows(answer.rows[:kept], table.rows, answer, table, several=several)
    last = _rows(answer.rows[kept:], table.tail, answer, table, several=several)
    gap = [localize("… {count} rows omitted …", count=table.left_out)] if table.left_out else []
    return [*heads, *_plain(first), *gap, *_plain(last)]


def _plain(lines: Iterator[str]) -> Iterator[LocalizedText]:
    return (localize("{text}", text=line) for line in lines)


def _head(at: int, point: TracePointResult, *, is_over: bool) -> Iterator[LocalizedText]:
    asked = " | ".join(one_line(it, _EXPRESSION_IN_TEXT) for it in point.expressions)
    place: str | LocalizedText = f"{f'@{at} ' if at else ''}{point.place}"
    if point.condition:
        place = localize(
            "{place} if {condition}", place=place, condition=one_line(point.condition, _EXPRESSION_IN_TEXT)
        )
    yield localize("{place}: {asked}", place=place, asked=asked)
    if point.not_bound:
        yield localize("  not bound: {reason}", reason=one_line(point.not_bound))
    elif not point.hits and is_over:
        yield localize("  never reached")


def _rows(
    shown: Sequence[dict[str, Any]], rows: Sequence[TraceRow], answer: TraceResult, table: TraceTable, *, several: bool
) -> Iterator[str]:
    begun = 0
    for at, row in enumerate(rows):
        last = at + 1 == len(rows)
        begun = begun or row.number
        if not any(row.changed) and not several and not last and not any(rows[at + 1].changed):
            continue  # the last of these unchanged rows shows the range
        number = f"{begun}" if begun == row.number else f"{begun}-{row.number}"
        point = f" @{row.point + 1}" if several else ""
        thread = f" t{row.thread}" if table.threads > 1 else ""
        shown_row = shown[at]
        cells = (
            [
                _cell(shown_row, it) if column < len(row.changed) else _NOT_SET
                for column, it in enumerate(answer.points[row.point].expressions)
            ]
            if any(row.changed)
            else [_AS_ABOVE]
        )
        yield f"{number}{point}{thread} | {' | '.join(cells)}"
        begun = 0


def _cell(row: dict[str, object], expression: str) -> str:
    for kind, mark in (("values", ""), ("errors", "!")):
        found = row.get(kind)
        if isinstance(found, dict) and expression in found:
            if kind == "errors" and found[expression] == UNSET.text:
                return _NOT_SET
            return mark + one_line(str(found[expression]), CELL_IN_TEXT)
    return _AS_ABOVE


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs."""

    caller: Caller
    client: Caller
    wanted: CompareRunsParameters

    @property
    def start(self) -> tuple[Caller, LaunchRequest]:
        launch_request = evidence_source(self.client, self.wanted).launch_request
        assert launch_request is not None, "two runs are started for this"
        return self.client, launch_request


@dataclass(frozen=True, slots=True)
class CompareRunsTool:
    context: EvidenceContext

    @tool(
        "compare_runs",
        "Compare two runs",
        (
            "Find where two runs diverge, the second with `against`: traces both, returns the first difference "
            "and its context."
        ),
        CompareRunsParameters,
        CompareRunsResult,
        RUNS_CODE,
    )
    async def compare(self, caller: Caller, wanted: CompareRunsParameters) -> ToolOutcome:
        if wanted.session_id:
            raise DragomanError("bad_arguments", localize("This starts two runs and cannot use an existing session."))

        changed = _other_parameters(wanted)
        first = _Side(caller, caller, wanted)

        async def act() -> tuple[RecordedTrace, RecordedTrace]:
            service = self.context.evidence.service
            # First, because git may only run in a trusted workspace.
            one_disclosed = await service.preview_launch(*first.start)
            async with self._other(first, changed) as other:
                service.approve([one_disclosed, await service.preview_launch(*other.start)])
                return await self._traced(first), await self._traced(other)

        one, other = align_columns(*await self.context.wait_for_run(caller, "compare_runs", 2 * wanted.timeout_s, act))
        answer = self._answer(caller, one, other, first_difference(one, other))
        drawn = {
            "points": [it.model_dump(mode="json") for it in point_results(one, caller, self.context)],
            "one": self._rows(one),
            "other": self._rows(other),
        }
        return ToolOutcome(self._lines(answer), answer, page_data=drawn)

    @asynccontextmanager
    async def _other(self, first: _Side, wanted: CompareRunsParameters) -> AsyncIterator[_Side]:
        caller = first.caller
        if not wanted.against.commit:
            yield replace(first, wanted=wanted)
            return
        async with workspace_at(wanted.against.commit, caller.workspace, caller.environment) as tree:
            environment = _environment_with_python(caller)
            elsewhere = replace(
                caller, workspace=tree.path, cwd=tree.path, environment=environment, trusts_workspace=True
            )
            client = replace(elsewhere, moved={str(tree.root): f"{caller.workspace}@{tree.commit}"})
            yield _Side(elsewhere, client, _in_worktree(wanted, caller.workspace, tree.path))

    async def _traced(self, side: _Side) -> RecordedTrace:
        wanted = side.wanted
        points = await trace_points(self.context, side.caller, wanted)
        return await run_trace(
            self.context.evidence, side.client, evidence_source(side.client, wanted), points, wanted.limits
        )

    def _answer(
        self, caller: Caller, one: RecordedTrace, other: RecordedTrace, found: TraceDifference | None
    ) -> CompareRunsResult:
        expressions = [it for point in one.points for it in (*point.expressions, point.condition) if it]
        row = found and (found.one or found.other)
        locations = [it.place for it in point_results(one, caller, self.context)]
        return CompareRunsResult(
            status="success",
            verdict="different" if found else "same",
            hits=[one.table.hits, other.table.hits],
            hit=row.number if row else None,
            place=locations[row.point] if row else None,
            one=self._values(one, found, found.one) if found and found.one else None,
            other=self._values(other, found, found.other) if found and found.other else None,
            before=[self._values(one, None, it) for it in found.before] if found and found.before else None,
            ended=self.context.ends.data(caller, one.end),
            other_ended=self.context.ends.data(caller, other.end),
            side_effects=[escaped(it) for it in impure_expressions(expressions)] or None,
        )

    def _rows(self, trace: RecordedTrace) -> list[dict[str, object]]:
        """Every row with all its values, so that both runs can be drawn beside each other."""
        return [
            {
                "hit": row.number,
                "point": row.point + 1,
                "cells": [
                    self._shown(expression, cell)
                    for expression, cell in zip(trace.points[row.point].expressions, row.cells, strict=False)
                ],
            }
            for row in trace.table.rows
        ]

    def _values(self, trace: RecordedTrace, found: TraceDifference | None, row: TraceRow) -> dict[str, str]:
        """The values that differ; all values if the rows differ otherwise."""
        pairs = list(zip(trace.points[row.point].expressions, row.cells, strict=False))
        chosen = [pairs[at] for at in found.cells if at < len(pairs)] if found and found.cells else pairs
        return {escaped(it): self._shown(it, cell) for it, cell in chosen}

    def _shown(self, expression: str, cell: Cell) -> str:
        shown = self.context.values.value(expression, cell.text, len(cell.text)).text
        return f"!{shown}" if cell.failed else shown

    def _lines(self, answer: CompareRunsResult) -> list[LocalizedText]:
        if answer.verdict == "same":
            return [localize("The runs are identical; hits: {hits}.", hits=answer.hits[0]), *end_lines(answer.ended)]
        head = localize("The runs end differently; hits before that: {hits}.", hits=answer.hits[0])
        if answer.hit is not None:
            head = localize("The runs first differ at hit {hit}, {place}.", hit=answer.hit, place=answer.place)
        lines = [with_label(localize("before"), _pairs(it)) for it in answer.before or ()]
        if answer.hit is not None:
            one, other = ("-" if it is None else _pairs(it) for it in (answer.one, answer.other))
            lines += [localize("one: {values}", values=one), localize("other: {values}", values=other)]
        lines += [localize("one ended: {how}", how=label_of(answer.ended.how)), *end_lines(answer.ended)]
        lines += [localize("other ended: {how}", how=label_of(answer.other_ended.how)), *end_lines(answer.other_ended)]
        return [head, *lines]


def _other_parameters(wanted: CompareRunsParameters) -> CompareRunsParameters:
    """The parameters of the second run: the first run's, with the changes in `against`; another target replaces the
    first.
    """
    given = {name: getattr(wanted.against, name) for name in wanted.against.model_fields_set - {"commit"}}
    if not given and not wanted.against.commit:
        raise DragomanError("bad_arguments", localize("Set `against` to what differs in the other run."))
    cleared: dict[str, Any] = (
        {**dict.fromkeys(START_PARAMETERS, ""), "configuration": {}} if given.keys() & set(START_PARAMETERS) else {}
    )
    # The words of a program mean nothing to the runner of a test.
    cleared |= {"args": []} if given.keys() & {"test", "command"} else {}
    return wanted.model_copy(update={**cleared, **given})


def _environment_with_python(caller: Caller) -> Mapping[str, str]:
    """Use the workspace's virtual environment, because a commit does not contain one."""
    found = [folder for name in (".venv", "venv") if (folder := caller.workspace / name).is_dir()]
    return {"VIRTUAL_ENV": str(found[0]), **caller.environment} if found else caller.environment


def _in_worktree(wanted: CompareRunsParameters, workspace: Path, tree: Path) -> CompareRunsParameters:
    """Convert paths in the workspace to paths in the worktree."""

    def moved(path: str) -> str:
        inside = path and Path(path).is_absolute() and Path(path).is_relative_to(workspace)
        return str(tree / Path(path).relative_to(workspace)) if inside else path

    points = [it.model_copy(update={"file_path": moved(it.file_path)}) for it in wanted.points]
    update = {"program": moved(wanted.program), "cwd": moved(wanted.cwd), "points": points}
    update |= {name: getattr(wanted, name).replace(f"{workspace}/", f"{tree}/") for name in ("test", "command")}
    return wanted.model_copy(update=update)


def _pairs(values: dict[str, str]) -> str:
    shown: Sequence[str] = [f"{name} = {one_line(value, _CELL_IN_TEXT)}" for name, value in values.items()]
    return ", ".join(shown)
