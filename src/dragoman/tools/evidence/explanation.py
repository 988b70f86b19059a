"""The tool `explain_failure`: from a failing test, command or program to the line that did it, in one call.

It runs the failure as `debug_test` or `explain_crash` does, then once more with the call tracer on the functions behind
it: those whose results stand in the assertion, the one that raised, or the one that does not return.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.evidence.calls.assertion_calls import calls_behind
from dragoman.debug.evidence.calls.call_selection import choose_calls, is_preparation, ordered_calls
from dragoman.debug.evidence.calls.failure_calls import (
    MAX_QUERIES,
    callee_queries,
    failure_queries,
    hang_queries,
    printed_queries,
)
from dragoman.debug.evidence.calls.trace_call import CallQuery, TracedCalls, trace_calls
from dragoman.debug.evidence.failing_test import DoctestFailure
from dragoman.debug.evidence.run import EvidenceSource
from dragoman.debug.launch.commands.command_line import CommandTarget
from dragoman.debug.model import LaunchRequest
from dragoman.tools.agent_text import one_line
from dragoman.tools.debug.parameters import MAX_VARIABLES, Text
from dragoman.tools.debug.results import OmitNone
from dragoman.tools.evidence.calls import RecordRedactor, lines_within, translator
from dragoman.tools.evidence.commands import command_target
from dragoman.tools.evidence.context import EvidenceContext
from dragoman.tools.evidence.failure_results import (
    DebugTestResult,
    ExplainCrashResult,
    crash_lines,
    failure_blocks,
    test_end_lines,
    test_head_lines,
)
from dragoman.tools.evidence.failure_summary import summarize_crash, summarize_test
from dragoman.tools.evidence.failures import (
    DebugLastFailureParameters,
    DebugLastFailureTool,
    DebugTestTool,
    ExplainCrashTool,
)
from dragoman.tools.evidence.schema import EvidenceResult, Seconds
from dragoman.tools.tool import RUNS_CODE, Parameters, Result, ToolOutcome, tool
from dragoman.workspace.caller import Caller

log = logging.getLogger(__name__)

MAX_CHARACTERS = 3800
_FIRST_LINES_CHARACTERS = 1600
_CALLS = 4
_LEVELS = 3
_FLAKY_TRIES = 5
_SPARE = 1.5  # another run is begun only if there is time for it
_REPEATS = 50
_FIRST_RUN_SHARE = 0.6  # of the time: what it leaves is for the second run, which says how a hang goes on
_SHORTEST_S = 1.0
_HAS_PASSED = "has_passed"
"""Marks the records of a run that did not fail again: a flaky failure."""
_LINE = 300

FailureVerdict = Literal["failed", "crashed", "passed", "no tests", "limit"]


class ExplainFailureParameters(Parameters):
    test: Annotated[str, Field(max_length=2000, description="Test id: tests/test_app.py::test_total.")] = ""
    command: Annotated[str, Field(max_length=8000, description="Or a command line.")] = ""
    program: Annotated[str, Field(max_length=4096, description="Or a program. Default: the last failed command.")] = ""
    args: Annotated[list[Text], Field(default_factory=list, max_length=1000)]
    cwd: Annotated[str, Field(max_length=4096)] = ""
    env: Annotated[dict[str, Text], Field(default_factory=dict, max_length=MAX_VARIABLES)]
    repeat: Annotated[int, Field(ge=1, le=_REPEATS, description="Runs at most, until it fails.")] = 1
    timeout_s: Seconds = 50.0


class CallTrace(Result):
    function: str
    text: str


class ExplainFailureResult(EvidenceResult):
    """`calls`: one call of each function behind the failure, whole. `test` or `crash`: the failure itself."""

    verdict: FailureVerdict
    runs: int
    calls: OmitNone[list[CallTrace]] = None
    command: OmitNone[str] = None
    command_id: OmitNone[str] = None
    test: OmitNone[DebugTestResult] = None
    crash: OmitNone[ExplainCrashResult] = None


@dataclass(frozen=True, slots=True)
class _Target:
    subject: LaunchRequest
    suite: CommandTarget | None = None
    """Set if a test runner runs it."""
    command: str = ""
    command_id: str = ""


@dataclass(frozen=True, slots=True)
class _Failure:
    verdict: FailureVerdict
    queries: list[CallQuery]
    test: DebugTestResult | None = None
    crash: ExplainCrashResult | None = None
    has_workers: bool = False

    @property
    def data(self) -> DebugTestResult | ExplainCrashResult:
        found = self.test or self.crash
        assert found is not None
        return found

    def blocks(self, records: Sequence[Mapping[str, Any]], asked: str) -> list[list[LocalizedText]]:
        """What failed, without what the recorded calls tell. Of several tests, each has a block."""
        if self.test is not None:
            test = summarize_test(self.test, records, asked)
            return [test_head_lines(test), *failure_blocks(test), test_end_lines(test)]
        assert self.crash is not None
        return [crash_lines(summarize_crash(self.crash, records))]

    @property
    def has_failed(self) -> bool:
        return self.verdict not in {"passed", "no tests"}


@dataclass(frozen=True, slots=True)
class ExplainFailureTool:
    context: EvidenceContext
    crash_tool: ExplainCrashTool
    test_tool: DebugTestTool
    last_tool: DebugLastFailureTool
    clock: Clock

    @tool(
        "explain_failure",
        "Explain a failure",
        (
            "Start here when a test, command or program fails or hangs: runs it again and shows the failed "
            "assertion or exception with its values, and each call behind it line by line."
        ),
        ExplainFailureParameters,
        ExplainFailureResult,
        RUNS_CODE,
    )
    async def explain(self, caller: Caller, wanted: ExplainFailureParameters) -> ToolOutcome:
        target = await self._target(caller, wanted)
        until_s = self.clock.monotonic_s() + wanted.timeout_s
        failure, run, late_s = await self._first_failure(caller, target, wanted.repeat, until_s)
        traced = _in_one_process(target) if failure.has_workers else target
        records, traced_runs = await self._calls(caller, traced, failure, self._left_s(until_s) - late_s)
        head = _head_lines(target, failure, run, wanted.repeat)
        most = _FIRST_LINES_CHARACTERS if records else MAX_CHARACTERS
        shown = _shared([head, *failure.blocks(records, wanted.test)], caller, most)
        chosen = choose_calls(records, translator(caller), [it.in_language(caller.language) for it in shown])
        calls = [CallTrace(function=it["function"], text="\n".join(lines)) for it, lines in chosen]
        passed = [localize("The traced run did not fail, so its values may differ:")]
        shown += passed[: any(_HAS_PASSED in it for it in records)]
        answer = ExplainFailureResult(
            status="success",
            verdict=failure.verdict,
            runs=run + traced_runs,
            calls=calls or None,
            command=one_line(target.command, _LINE) or None,
            command_id=target.command_id or None,
            test=_without_output(failure.test),
            crash=_without_output(failure.crash),
            ended=failure.data.ended,
        )
        texts = [localize("{text}", text=line) for it in calls for line in ("", *it.text.split("\n"))]
        counted = [localize("(run {count} times)", count=answer.runs)] if answer.runs > 1 else []
        drawn = {"records": ordered_calls(records)} if records else None
        return ToolOutcome([*shown, *texts, *counted], answer, page_data=drawn)

    async def _first_failure(
        self, caller: Caller, target: _Target, repeat: int, until_s: float
    ) -> tuple[_Failure, int, float]:
        """The first run that fails, its number, and how much longer than allowed it took: to start and end a program
        takes time too, which the next run has to leave.
        """
        run = 0
        while True:
            run += 1
            began_s = self.clock.monotonic_s()
            within_s = self._left_s(until_s) * _FIRST_RUN_SHARE
            failure = await self._run(caller, target, within_s)
            late_s = max(0.0, self.clock.monotonic_s() - began_s - within_s)
            if failure.has_failed or run == repeat or self._left_s(until_s) <= _SHORTEST_S:
                return failure, run, late_s

    def _left_s(self, until_s: float) -> float:
        return max(0.0, until_s - self.clock.monotonic_s())

    async def _target(self, caller: Caller, wanted: ExplainFailureParameters) -> _Target:
        given = [it for it in ("test", "command", "program") if getattr(wanted, it)]
        if len(given) > 1:
            raise DragomanError("bad_arguments", localize("Pass only one of `test`, `command` and `program`."))
        if wanted.program and (suite := self._suite(caller, wanted)) is not None:
            return _Target(suite.launch_request, suite)
        if wanted.program:
            request = LaunchRequest(program=wanted.program, args=tuple(wanted.args), cwd=wanted.cwd, env=wanted.env)
            return _Target(request)
        if wanted.args:
            raise DragomanError("bad_arguments", localize("`args` needs `program`."))
        if given:
            found = command_target(caller, wanted.test, wanted.command, wanted.cwd, wanted.env)
            return _Target(found.launch_request, found if found.runner else None)
        command, found = await self.last_tool.recorded(caller, DebugLastFailureParameters())
        return _Target(found.launch_request, found if found.runner else None, command.line, command.id)

    def _suite(self, caller: Caller, wanted: ExplainFailureParameters) -> CommandTarget | None:
        """A program that is a test runner, such as pytest, or a file that calls one."""
        try:
            line = shlex.join([wanted.program, *wanted.args])
            found = command_target(caller, "", line, wanted.cwd, wanted.env)
        except DragomanError:
            return None
        return found if found.runner else None

    async def _run(self, caller: Caller, target: _Target, within_s: float) -> _Failure:
        lines = self.crash_tool.lines(caller)
        if target.suite is not None:
            found = await self.test_tool.tested(caller, target.suite, within_s)
            test = self.test_tool.answer(caller, found)
            queries = [it for crash in found.failures for it in await failure_queries(crash, lines, caller.workspace)]
            queries += doctest_queries(found.doctests)
            if test.verdict == "limit":
                queries = hang_queries(found.end)
            elif test.verdict == "failed" and not queries:
                queries = await printed_queries(found.end.output, lines)
            return _Failure(test.verdict, queries, test=test, has_workers=found.has_workers)
        report = await self.crash_tool.report(caller, EvidenceSource(launch_request=target.subject), within_s)
        crash = self.crash_tool.answer(caller, report)
        if report.end.how == "limit":
            return _Failure("limit", hang_queries(report.end), crash=crash)
        verdict: FailureVerdict = "crashed" if crash.crashed else "passed"
        queries = await failure_queries(report, lines, caller.workspace) if crash.crashed else []
        return _Failure(verdict, queries, crash=crash)

    async def _calls(
        self, caller: Caller, target: _Target, failure: _Failure, within_s: float
    ) -> tuple[list[dict[str, Any]], int]:
        """The same run again, with the tracer, and how many runs it took. Calls that do not take place are left out."""
        runs = 0
        queries = list(dict.fromkeys(failure.queries))[:MAX_QUERIES]
        known = set(queries)
        until_s = self.clock.monotonic_s() + within_s
        found: list[dict[str, Any]] = []
        for _ in range(1 if failure.verdict == "limit" else _LEVELS):
            began_s = self.clock.monotonic_s()
            if not queries or until_s - began_s < _SHORTEST_S:
                break
            try:
                records, taken = await self._failing_records(caller, target, queries, until_s, failure.verdict)
                runs += taken
            except DragomanError as error:  # the failure itself is explained already
                log.info("the calls behind a failure could not be traced: %s", error.code)
                break
            found += records
            known.update(CallQuery(it["function"], it["file"], it["first"], "last") for it in records)
            queries = callee_queries(records, known)
            known.update(queries)
            took_s = self.clock.monotonic_s() - began_s
            is_enough = sum(not is_preparation(it) for it in found) >= _CALLS
            if is_enough or self._left_s(until_s) < took_s * _SPARE:
                break
        return found, runs

    async def _failing_records(
        self, caller: Caller, target: _Target, queries: Sequence[CallQuery], until_s: float, verdict: FailureVerdict
    ) -> tuple[list[dict[str, Any]], int]:
        """Of a run that fails, if one of the next runs does: a flaky failure may not come again at once."""
        tries, runs, records, has_failed = 0, 0, list[dict[str, Any]](), False
        while not has_failed and tries < _FLAKY_TRIES:
            began_s = self.clock.monotonic_s()
            traced = await self._traced(caller, target, queries, until_s - began_s)
            records, has_failed = self._records(caller, traced), traced.has_failed
            tries, runs = tries + 1, runs + traced.runs
            took_s = self.clock.monotonic_s() - began_s
            if verdict == "limit" or self._left_s(until_s) < took_s * _SPARE:
                break
        return records, runs

    async def _traced(
        self, caller: Caller, target: _Target, queries: Sequence[CallQuery], within_s: float
    ) -> TracedCalls:
        async def act() -> TracedCalls:
            subject = EvidenceSource(launch_request=target.subject)
            return await trace_calls(self.context.evidence, caller, subject, queries, within_s)

        return await self.context.wait_for_run(caller, "explain_failure", within_s, act)

    def _records(self, caller: Caller, traced: TracedCalls) -> list[dict[str, Any]]:
        """Of those functions that were called, without secrets."""
        redactor = RecordRedactor(self.context.values)
        redacted = [redactor.redacted(it, caller.workspace) for it in traced.records]
        passed = {} if traced.has_failed else {_HAS_PASSED: True}
        return [{**it, **passed} for it in redacted if "function" in it]


_Explained = TypeVar("_Explained", DebugTestResult, ExplainCrashResult)


def _without_output(found: _Explained | None) -> _Explained | None:
    """What the program printed stands in the answer's own `ended`."""
    return found and found.model_copy(update={"ended": found.ended.model_copy(update={"output": None})})


def _in_one_process(target: _Target) -> _Target:
    """The tracer is in one process. The last `-n` of pytest's words counts, and what follows `--` are no options."""
    configuration = target.subject.configuration
    words = list(configuration.get("args", ()))
    at = words.index("--") if "--" in words else len(words)
    words[at:at] = ["-n", "0"]
    return replace(target, subject=replace(target.subject, configuration={**configuration, "args": words}))


def doctest_queries(found: Sequence[DoctestFailure]) -> list[CallQuery]:
    """The functions whose results the examples show."""
    names = (name for it in found for name in calls_behind(f"assert ({it.example.strip()})", 1))
    return [CallQuery(function=it, call="last") for it in names]


def _head_lines(target: _Target, failure: _Failure, runs: int, repeat: int) -> list[LocalizedText]:
    command = [localize("{text}", text=f"$ {one_line(target.command, _LINE)}")] if target.command else []
    if failure.has_failed:
        again = [localize("Failed in run {run} of {count}.", run=runs, count=repeat)] if repeat > 1 else []
        return [*command, *again]
    if failure.verdict == "no tests":
        return command
    passed = localize("It did not fail again ({count} of {most}).", count=runs, most=repeat)
    if runs < repeat:
        passed = localize(
            "It did not fail again in {count} of {most} runs; then the time limit was reached.", count=runs, most=repeat
        )
    more = [localize("Pass repeat: 20 to run it until it fails.")] if repeat == 1 else []
    return [*command, passed, *more]


def _shared(blocks: Sequence[Sequence[LocalizedText]], caller: Caller, characters: int) -> list[LocalizedText]:
    """What fits: each block has its share of what the blocks before it have left."""
    shown: list[LocalizedText] = []
    filled = [it for it in blocks if it]
    for at, block in enumerate(filled):
        left = characters - _characters(shown, caller)
        shown += lines_within(block, caller, left // (len(filled) - at))
    return shown


def _characters(lines: Sequence[LocalizedText], caller: Caller) -> int:
    return sum(len(it.in_language(caller.language)) + 1 for it in lines)
