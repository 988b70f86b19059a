"""Traces a run: its tracepoints record a row at each hit, until the end or a limit. Two traces can be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Literal

import msgspec

from dragoman.core.errors import ErrorSpec
from dragoman.debug.evidence.calls.injection import inject_return_tracer, remove_return_tracer
from dragoman.debug.evidence.evaluation import is_true
from dragoman.debug.evidence.evidence_probe import ContinuePredicate, EvidenceProbe
from dragoman.debug.evidence.expressions import names_in
from dragoman.debug.evidence.run import EvidenceRun, EvidenceService, EvidenceSource, RunOutcome
from dragoman.debug.evidence.tracepoints import (
    UNSET,
    Cell,
    ReadLines,
    TraceLimits,
    Tracepoint,
    TraceRow,
    TraceTable,
    breakpoint_id,
)
from dragoman.debug.model import Binding
from dragoman.workspace.caller import Caller

_OWN_EXIT_TIMEOUT_S = 2.0
_CONTEXT_ROWS = 2


@dataclass(frozen=True, slots=True)
class RecordedTrace:
    """What a trace recorded, and how its run ended."""

    points: tuple[Tracepoint, ...]
    bindings: tuple[Binding, ...]
    table: TraceTable
    end: RunOutcome
    timed_out_expression: str = ""
    breaking_row: TraceRow | None = None
    faults: Mapping[int, str] = field(default_factory=dict)
    session_id: str = ""
    """Of a session that is left to go on with."""
    state: str = ""
    ran_as: str = ""
    """The session that ran, whether it is left or not."""


def merge_tracepoints(points: Sequence[Tracepoint]) -> tuple[Tracepoint, ...]:
    """Those of one place and condition as one: a debugger stops there once."""
    found: dict[tuple[object, ...], Tracepoint] = {}
    for point in points:
        key = (*point.place, point.condition)
        before = found.get(key, point)
        asked = tuple(dict.fromkeys((*before.expressions, *point.expressions)))
        shows_frame = before.shows_frame or point.shows_frame
        found[key] = msgspec.structs.replace(point, expressions=asked, shows_frame=shows_frame)
    return tuple(found.values())


async def run_trace(
    evidence: EvidenceService,
    caller: Caller,
    subject: EvidenceSource,
    points: Sequence[Tracepoint],
    limits: TraceLimits,
    *,
    should_continue: ContinuePredicate = lambda _: True,
    by_stops: bool = False,
    keeps_session: bool = False,
    lines: ReadLines | None = None,
) -> RecordedTrace:
    """By stops also where the program could write its rows down: to be measured, and compared with the other way."""
    table = TraceTable(limits)
    probe = EvidenceProbe(points, table, should_continue=should_continue, by_stops=by_stops, lines=lines)
    probe.stops_at_entry = probe.has_return_points
    async with evidence.run(caller, subject, probe) as run:
        end = await (_run_with_returns(run, probe) if probe.has_return_points else run.run_to_end())
        bindings = tuple(run.session.breakpoint_sync.binding_of(breakpoint_id(at)) for at in range(len(probe.points)))
        run.keeps_session = keeps_session and end.how == "stopped"
        if end.how == "exception" and run.owns_session and not run.keeps_session:
            end = replace(end, ended=await run.wait_for_exit(_OWN_EXIT_TIMEOUT_S))
        is_left = run.session.ended is None and (run.keeps_session or not run.owns_session)
    session = run.session
    return RecordedTrace(
        probe.shown_points,
        bindings,
        table,
        end,
        probe.timed_out_expression,
        probe.breaking_row,
        probe.faults,
        session.id if is_left else "",
        session.state.value if is_left else "",
        session.id,
    )


async def _run_with_returns(run: EvidenceRun, probe: EvidenceProbe) -> RunOutcome:
    if not probe.writes_rows:
        raise no_return_points()
    ended = await run.wait_for_entry()
    if ended is not None:
        return ended
    await inject_return_tracer(run.session, probe)
    end = await run.run_on()
    if not run.owns_session and run.session.is_at_stop:
        await remove_return_tracer(run.session)
    return end


no_return_points = ErrorSpec(
    "bad_arguments",
    "This debugger cannot write rows at the return of a function by its name.",
    "Pass the `line_number` of a `return` statement.",
)


# Memory addresses differ in every run.
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")


@dataclass(frozen=True, slots=True)
class TraceDifference:
    """The first difference of two traces. A row is missing where a run had no more; both are where only the ends
    differ.
    """

    before: tuple[TraceRow, ...]
    one: TraceRow | None = None
    other: TraceRow | None = None

    @property
    def cells(self) -> list[int]:
        """The numbers of the expressions that differ."""
        if self.one is None or self.other is None or self.one.point != self.other.point:
            return []
        pairs = zip_longest(self.one.cells, self.other.cells, fillvalue=Cell(""))
        return [at for at, (one, other) in enumerate(pairs) if not _is_same(one, other)]


def first_difference(one: RecordedTrace, other: RecordedTrace) -> TraceDifference | None:
    rows = one.table.rows
    for at, (left, right) in enumerate(zip_longest(rows, other.table.rows)):
        found = TraceDifference(tuple(rows[max(0, at - _CONTEXT_ROWS) : at]), left, right)
        if left is None or right is None or left.point != right.point or found.cells:
            return found
    return None if _end_summary(one.end) == _end_summary(other.end) else TraceDifference(tuple(rows[-_CONTEXT_ROWS:]))


def align_columns(one: RecordedTrace, other: RecordedTrace) -> tuple[RecordedTrace, RecordedTrace]:
    """Two traces whose points show frames, with the same columns: a name may come later in one of them, or never."""
    points = tuple(
        msgspec.structs.replace(left, expressions=tuple(dict.fromkeys((*left.expressions, *right.expressions))))
        for left, right in zip(one.points, other.points, strict=True)
    )
    for trace in (one, other):
        trace.table.rows[:] = [
            row._replace(cells=_cells_of(row, trace.points[row.point].expressions, points[row.point].expressions))
            for row in trace.table.rows
        ]
    return replace(one, points=points), replace(other, points=points)


def _cells_of(row: TraceRow, known: Sequence[str], wanted: Sequence[str]) -> tuple[Cell, ...]:
    by_name = dict(zip(known, row.cells, strict=False))
    return tuple(by_name.get(it, UNSET) for it in wanted)


def _is_same(one: Cell, other: Cell) -> bool:
    return one.failed == other.failed and _ADDRESS.sub("0x", one.text) == _ADDRESS.sub("0x", other.text)


def _end_summary(end: RunOutcome) -> tuple[object, ...]:
    ended, raised = end.ended, end.raised
    return (
        end.how,
        end.limit,
        ended and (ended.exit_code, ended.signal),
        raised and (raised.type, _ADDRESS.sub("0x", raised.message)),
        _ADDRESS.sub("0x", end.output),
    )


CheckVerdict = Literal["holds", "broken", "never reached"]


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    verdict: CheckVerdict
    hits: int
    trace: RecordedTrace
    asked: tuple[str, ...] = ()
    before: TraceRow | None = None
    """The last row that held, where one did."""
    broken: TraceRow | None = None

    def values(self, row: TraceRow) -> list[tuple[str, Cell]]:
        return list(zip(self.asked, row.cells[1:], strict=False))

    @property
    def error(self) -> str:
        """Why the claim could not be judged at the hit where it is taken for broken."""
        return self.broken.cells[0].text if self.broken and self.broken.cells and self.broken.cells[0].failed else ""


async def run_check(
    evidence: EvidenceService,
    caller: Caller,
    subject: EvidenceSource,
    points: Sequence[Tracepoint],
    claim: str,
    limits: TraceLimits,
    *,
    besides: Sequence[str] = (),
    stops: bool = False,
) -> ClaimCheck:
    asked = tuple(dict.fromkeys((*names_in(claim), *besides)))
    points = [
        msgspec.structs.replace(it, claim=it.readable(claim), expressions=tuple(map(it.readable, asked)))
        for it in points
    ]
    limits = replace(limits, rows=2)
    trace = await run_trace(evidence, caller, subject, points, limits, should_continue=_holds, keeps_session=stops)
    rows, hits = trace.table.rows, trace.table.hits
    if trace.breaking_row is not None:
        before = rows[-2] if len(rows) > 1 else None
        return ClaimCheck("broken", hits, trace, asked, before, trace.breaking_row)
    return ClaimCheck("holds" if hits else "never reached", hits, trace, asked)


def _holds(row: TraceRow) -> bool:
    return bool(row.cells) and is_true(row.cells[0])
