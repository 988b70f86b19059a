"""Runs a program until one call of a function has been recorded, and the program has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dragoman.debug.evidence.calls.injection import (
    PYTHON_ADAPTERS,
    CallProbe,
    inject_tracer,
    mark_failure,
    read_record,
    remove_tracer,
    write_record,
)
from dragoman.debug.evidence.calls.stepped_call import step_through_call
from dragoman.debug.evidence.frame_values import ReadLines
from dragoman.debug.evidence.run import EvidenceRun, EvidenceService, RunOutcome, RunSubject
from dragoman.debug.evidence.tracepoints import TraceLimits, Tracepoint, TraceTable
from dragoman.workspace.caller import Caller

_MOST_HITS = 100_000
_MOST_STOPS = 60
_GRACE_POLLS = 30  # of a tenth of a second: a program that is started for this ends by itself if it ends soon


@dataclass(frozen=True, slots=True)
class CallQuery:
    """Which function, by its name or by a line of its file, and which of its calls."""

    function: str = ""
    file: str = ""
    line: int = 0
    call: str = "outermost"
    where: str = ""

    @property
    def number(self) -> int:
        return int(self.call) if self.call.isdigit() else 1

    def options(self, seconds: float) -> Mapping[str, Any]:
        return {
            "function": self.function,
            "file": self.file,
            "line": self.line,
            "call": self.call,
            "where": self.where,
            "max_seconds": max(1.0, seconds * 0.7),
        }


@dataclass(frozen=True, slots=True)
class TracedCall:
    end: RunOutcome
    record: Mapping[str, Any] = field(default_factory=dict)
    session_id: str = ""
    """Of a session that is left to go on with."""
    state: str = ""
    ran_as: str = ""


@dataclass(frozen=True, slots=True)
class TracedCalls:
    """A record of each function, in the order of the queries. A failure that comes and goes may not have come."""

    records: list[Mapping[str, Any]]
    has_failed: bool


async def trace_call(
    evidence: EvidenceService,
    client: Caller,
    subject: RunSubject,
    query: CallQuery,
    seconds: float,
    *,
    point: Tracepoint | None = None,
    lines: ReadLines | None = None,
) -> TracedCall:
    """`point` and `lines`: where the function begins, and its source, for languages that are stepped through."""
    return await _traced(evidence, client, subject, [query], seconds, point, lines)


async def trace_calls(
    evidence: EvidenceService, client: Caller, subject: RunSubject, queries: Sequence[CallQuery], seconds: float
) -> TracedCalls:
    """Several functions of a Python program in one run."""
    traced = await _traced(evidence, client, subject, queries, seconds)
    records = traced.record.get("records")
    found = records if isinstance(records, list) else [traced.record]
    ended = traced.end.ended
    has_passed = traced.end.how == "exited" and ended is not None and ended.exit_code == 0
    return TracedCalls([it for it in found if isinstance(it, dict)], has_failed=not has_passed)


async def _traced(
    evidence: EvidenceService,
    client: Caller,
    subject: RunSubject,
    queries: Sequence[CallQuery],
    seconds: float,
    point: Tracepoint | None = None,
    lines: ReadLines | None = None,
) -> TracedCall:
    table = TraceTable(TraceLimits(hits=_MOST_HITS, seconds=seconds, rows=1))
    probe = CallProbe([point] if point else (), table, should_continue=lambda _: False)
    probe.stops_at_entry = True
    async with evidence.run(client, subject, probe) as run:
        probe.grace_polls = _GRACE_POLLS if run.owns_session else 0
        is_python = run.session.launch.adapter_id in PYTHON_ADAPTERS
        if is_python:
            end = await run.wait_for_entry() or await _run_traced(run, probe, queries)
            record = await _final_record(run, probe)
        else:
            record, end = await step_through_call(run, lines or _no_lines, queries[0].number)
        is_left = not run.owns_session and run.session.ended is None
        if is_python and is_left and run.session.is_at_stop:
            await remove_tracer(run.session)
    session = run.session
    state = session.state.value if is_left else ""
    return TracedCall(end, record, session.id if is_left else "", state, session.id)


async def _no_lines(_: str) -> None:
    return None


async def _run_traced(run: EvidenceRun, probe: CallProbe, queries: Sequence[CallQuery]) -> RunOutcome:
    """Through the exceptions that debugpy stops at, up to the end: a test runner catches them and goes on."""
    first, *also = [probe.start_options(it.options(run.remaining_s)) for it in queries]
    await inject_tracer(run.session, {**first, **({"also": tuple(also)} if also else {})})
    end = await run.run_on()
    failed: RunOutcome | None = None
    stops = 0
    while end.how == "exception" and run.remaining_s and stops < _MOST_STOPS:
        stops += 1
        failed = failed or end
        await mark_failure(run.session, end.raised.type if end.raised else "")
        if not run.owns_session:
            break
        end = await run.run_on()
    if failed is not None and end.ended is not None and end.ended.exit_code:
        return replace(failed, ended=end.ended, output=end.output)
    return end


async def _final_record(run: EvidenceRun, probe: CallProbe) -> Mapping[str, Any]:
    if run.session.is_at_stop:
        await write_record(run.session)
    found = probe.record()
    if not found and run.session.is_at_stop:
        return await read_record(run.session)
    return found
