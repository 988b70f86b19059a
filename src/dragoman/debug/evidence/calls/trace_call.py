"""Runs a program until one call of a function has been recorded, and the program has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from dragoman.core.errors import ErrorSpec
from dragoman.debug.evidence.calls.injection import (
    PYTHON_ADAPTERS,
    CallProbe,
    inject_tracer,
    mark_failure,
    read_record,
    remove_tracer,
    write_record,
)
from dragoman.debug.evidence.javascript_evaluation import own_code_throw_condition
from dragoman.debug.evidence.run import EvidenceRun, EvidenceService, EvidenceSource, RunOutcome
from dragoman.debug.evidence.stepping.function_search import FunctionSearch
from dragoman.debug.evidence.stepping.source_functions import SourceFunction
from dragoman.debug.evidence.stepping.source_languages import language_of_file
from dragoman.debug.evidence.stepping.stepped_run import CallStepper, SteppedTarget, SteppingProbe
from dragoman.debug.evidence.tracepoints import TraceLimits, TraceTable
from dragoman.debug.model import LaunchRequest
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.caller import Caller

_MOST_HITS = 100_000
_MOST_STOPS = 60
_MOST_CALLEES = 8
_ASYNC_SHARE = 0.6
_SPARE = 1.5  # another run is begun only if there is time for it
_NEWEST_SHARE = 0.6
"""Of the time, for a run that counts the calls, if the last one is wanted."""
_MOST_POINTS = 24
_CAUGHT_BY_ADAPTER = {"pwa-node": own_code_throw_condition()}
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
    runs: int = 1


async def trace_call(
    evidence: EvidenceService, caller: Caller, subject: EvidenceSource, query: CallQuery, seconds: float
) -> TracedCall:
    """By the tracer in a Python program."""
    return await _traced(evidence, caller, subject, [query], seconds)


async def trace_calls(
    evidence: EvidenceService, caller: Caller, subject: EvidenceSource, queries: Sequence[CallQuery], seconds: float
) -> TracedCalls:
    """Several functions in one run."""
    if any(language_of_file(it.file) for it in queries):
        return await _stepped_calls(evidence, caller, subject, queries, seconds)
    traced = await _traced(evidence, caller, subject, queries, seconds)
    records = traced.record.get("records")
    found = records[: len(queries)] if isinstance(records, list) else [traced.record]
    return TracedCalls([it for it in found if isinstance(it, dict)], has_failed=_has_failed(traced.end))


def _has_failed(end: RunOutcome) -> bool:
    return not (end.how == "exited" and end.ended is not None and end.ended.exit_code == 0)


async def _stepped_calls(
    evidence: EvidenceService, caller: Caller, subject: EvidenceSource, queries: Sequence[CallQuery], seconds: float
) -> TracedCalls:
    search = FunctionSearch(caller.workspace)
    found = [await search.around(it.file, it.line) for it in queries]
    targets = [SteppedTarget(it) for it in dict.fromkeys(found) if it is not None]
    if not targets:
        return TracedCalls([], has_failed=True, runs=0)
    is_async = any(it.function.is_async for it in targets)
    share = _ASYNC_SHARE if is_async else 1.0
    began_s = anyio.current_time()
    records, end, _ = await _stepped(evidence, caller, subject, targets, search, seconds * share)
    took_s = anyio.current_time() - began_s
    # An asynchronous call below another one is only passed over: it gets a run in which nothing above it is stepped.
    # So does the last one of many calls, if there is time for it.
    has_time = seconds - took_s > took_s * _SPARE
    missed = list[SteppedTarget]()
    for target, record in zip(targets, records, strict=True):
        if "function" not in record and record.get("calls") and target.function.is_async:
            missed.append(target)
        elif has_time and record.get("newest_passed"):
            missed.append(replace(target, number=record["newest_passed"]))
    if missed:
        others, _, _ = await _stepped(evidence, caller, subject, missed, search, seconds - took_s)
        others = [it for it in others if "function" in it]
        shown = {(it["file"], it["first"]) for it in others}
        records = [*others, *(it for it in records if "function" in it and (it["file"], it["first"]) not in shown)]
    return TracedCalls(records, has_failed=_has_failed(end), runs=2 if missed else 1)


def _has_raised(record: Mapping[str, Any]) -> bool:
    return "function" in record and record["end"]["how"] == "raised"


async def step_through_call(
    evidence: EvidenceService,
    caller: Caller,
    subject: EvidenceSource,
    query: CallQuery,
    functions: Sequence[SourceFunction],
    search: FunctionSearch,
    seconds: float,
) -> TracedCall:
    """By single steps: the call of the first of these functions that was called at all."""
    is_newest = query.call in {"last", "failing"}
    number = 0 if is_newest else query.number
    targets = [SteppedTarget(it, number, query.where, query.call == "failing") for it in functions]
    until_s = anyio.current_time() + seconds
    is_repeatable = is_newest and isinstance(subject.launch_request, LaunchRequest)
    share = _NEWEST_SHARE if is_repeatable else 1.0
    records, end, session = await _stepped(evidence, caller, subject, targets, search, seconds * share)
    target, record = max(
        zip(targets, records, strict=True), key=lambda it: ("function" in it[1], it[1].get("calls", 0))
    )
    if is_repeatable and (passed := record.get("newest_passed")) and (left_s := until_s - anyio.current_time()) > 1:
        again = replace(target, number=passed)
        repeated, repeated_end, repeated_session = await _stepped(evidence, caller, subject, [again], search, left_s)
        if "function" in repeated[0] and (_has_raised(repeated[0]) or not _has_raised(record)):
            record, end, session = repeated[0], repeated_end, repeated_session
    is_left = not isinstance(subject.launch_request, LaunchRequest) and session.ended is None
    state = session.state.value if is_left else ""
    return TracedCall(end, record, session.id if is_left else "", state, session.id)


async def _stepped(
    evidence: EvidenceService,
    caller: Caller,
    subject: EvidenceSource,
    targets: Sequence[SteppedTarget],
    search: FunctionSearch,
    seconds: float,
) -> tuple[list[Mapping[str, Any]], RunOutcome, DebugSession]:
    functions = [it.function for it in targets]
    called = [it for function in functions for it in await search.callees(function, _MOST_CALLEES)]
    functions = list(dict.fromkeys([*functions, *called]))[:_MOST_POINTS]
    table = TraceTable(TraceLimits(hits=_MOST_HITS, seconds=seconds, rows=1))
    probe = SteppingProbe(functions, table, targets, _CAUGHT_BY_ADAPTER)
    async with evidence.run(caller, subject, probe) as run:
        records, end = await CallStepper(run, targets, functions, search).records()
    return records, end, run.session


async def _traced(
    evidence: EvidenceService, caller: Caller, subject: EvidenceSource, queries: Sequence[CallQuery], seconds: float
) -> TracedCall:
    table = TraceTable(TraceLimits(hits=_MOST_HITS, seconds=seconds, rows=1))
    probe = CallProbe((), table, should_continue=lambda _: False)
    probe.stops_at_entry = True
    async with evidence.run(caller, subject, probe) as run:
        if run.session.launch.adapter_id not in PYTHON_ADAPTERS:
            raise _not_python()
        probe.grace_polls = _GRACE_POLLS if run.owns_session else 0
        end = await run.wait_for_entry() or await _run_traced(run, probe, queries)
        record = await _final_record(run, probe)
        is_left = not run.owns_session and run.session.ended is None
        if is_left and run.session.is_at_stop:
            await remove_tracer(run.session)
    session = run.session
    state = session.state.value if is_left else ""
    return TracedCall(end, record, session.id if is_left else "", state, session.id)


_not_python = ErrorSpec(
    "no_such_function",
    "No function of the workspace has this name.",
    "Name it by a line of its file, such as cart.go:12.",
)


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
