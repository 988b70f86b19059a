"""The tool `explain_failure`: from a failing test, command or program to the line that did it, in one call.

It runs the failure as `debug_test` or `explain_crash` does, then once more with the call tracer on the functions behind
it: those whose results stand in the assertion, the one that raised, or the one that does not return.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.evidence.calls.chosen_calls import choose_calls, is_preparation
from dragoman.debug.evidence.calls.failure_calls import (
    MAX_QUERIES,
    callee_queries,
    failure_queries,
    hang_queries,
    printed_queries,
)
from dragoman.debug.evidence.calls.trace_call import CallQuery, TracedCalls, trace_calls
from dragoman.debug.evidence.run import RunSubject
from dragoman.debug.launch.commands.command_line import CommandTarget
from dragoman.debug.model import LaunchRequest
from dragoman.tools.agent_text import one_line
from dragoman.tools.debug.parameters import MAX_VARIABLES, Text
from dragoman.tools.debug.results import OmitNone
from dragoman.tools.evidence.calls import RecordRedactor, lines_within, translator
from dragoman.tools.evidence.commands import command_target
from dragoman.tools.evidence.context import EvidenceContext
from dragoman.tools.evidence.failure_summary import summarize_crash, summarize_test
from dragoman.tools.evidence.failures import (
    DebugLastFailureParameters,
    DebugLastFailureTool,
    DebugTestResult,
    DebugTestTool,
    ExplainCrashResult,
    ExplainCrashTool,
    crash_lines,
    test_lines,
)
from dragoman.tools.evidence.schema import EvidenceResult, Seconds
from dragoman.tools.tool import RUNS_CODE, Parameters, Result, ToolOutcome, tool
from dragoman.workspace.caller import Caller

log = logging.getLogger(__name__)

MAX_CHARACTERS = 3800
_FIRST_LINES_CHARACTERS = 1600
_CALLS = 4
_LEVELS = 3
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
    repeat: Annotated[int, Field(ge=1, le=_REPEATS, description="Run until it fails.")] = 1
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

    @property
    def data(self) -> DebugTestResult | ExplainCrashResult:
        found = self.test or self.crash
        assert found is not None
        return found

    def lines(self, records: Sequence[Mapping[str, Any]], asked: str) -> list[LocalizedText]:
        """What failed, without what the recorded calls tell."""
        if self.test is not None:
            return test_lines(summarize_test(self.test, records, asked))
        assert self.crash is not None
        return crash_lines(summarize_crash(self.crash, records))

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
            "Start here when a test, command or program fails or hangs: runs it again and returns the failed assertion "
            "or exception with its values, and each call behind it line by line."
        ),
        ExplainFailureParameters,
        ExplainFailureResult,
        RUNS_CODE,
    )
    async def explain(self, caller: Caller, wanted: ExplainFailureParameters) -> ToolOutcome:
        target = await self._target(caller, wanted)
        until_s = self.clock.monotonic_s() + wanted.timeout_s
        failure = await self._run(caller, target, wanted.timeout_s * _FIRST_RUN_SHARE)
        run = 1
        while not failure.has_failed and run < wanted.repeat and self._left_s(until_s) > _SHORTEST_S:
            failure = await self._run(caller, target, self._left_s(until_s) * _FIRST_RUN_SHARE)
            run += 1
        records = await self._calls(caller, target, failure, self._left_s(until_s))
        head = _head_lines(target, failure, run, wanted.repeat)
        most = _FIRST_LINES_CHARACTERS if records else MAX_CHARACTERS
        shown = lines_within([*head, *failure.lines(records, wanted.test)], caller, most)
        chosen = choose_calls(records, translator(caller), MAX_CHARACTERS - _characters(shown, caller))
        calls = [CallTrace(function=it["function"], text="\n".join(lines)) for it, lines in chosen]
        passed = [localize("The traced run did not fail, so its values may differ:")]
        shown += passed[: any(_HAS_PASSED in it for it in records)]
        answer = ExplainFailureResult(
            status="success",
            verdict=failure.verdict,
            runs=run,
            calls=calls or None,
            command=one_line(target.command, _LINE) or None,
            command_id=target.command_id or None,
            test=failure.test,
            crash=failure.crash,
            ended=failure.data.ended,
        )
        texts = [line for it in calls for line in ("", *it.text.split("\n"))]
        return ToolOutcome([*shown, *(localize("{text}", text=it) for it in texts)], answer)

    def _left_s(self, until_s: float) -> float:
        return max(0.0, until_s - self.clock.monotonic_s())

    async def _target(self, caller: Caller, wanted: ExplainFailureParameters) -> _Target:
        given = [it for it in ("test", "command", "program") if getattr(wanted, it)]
        if len(given) > 1:
            raise DragomanError("bad_arguments", localize("Pass only one of `test`, `command` and `program`."))
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

    async def _run(self, caller: Caller, target: _Target, within_s: float) -> _Failure:
        lines = self.crash_tool.lines(caller)
        if target.suite is not None:
            found = await self.test_tool.tested(caller, target.suite, within_s)
            test = self.test_tool.answer(caller, found)
            queries = [it for crash in found.failures for it in await failure_queries(crash, lines, caller.workspace)]
            if test.verdict == "limit":
                queries = hang_queries(found.end)
            elif test.verdict == "failed" and not queries:
                queries = await printed_queries(found.end.output, lines)
            return _Failure(test.verdict, queries, test=test)
        report = await self.crash_tool.report(caller, RunSubject(launch_request=target.subject), within_s)
        crash = self.crash_tool.answer(caller, report)
        if report.end.how == "limit":
            return _Failure("limit", hang_queries(report.end), crash=crash)
        verdict: FailureVerdict = "crashed" if crash.crashed else "passed"
        queries = await failure_queries(report, lines, caller.workspace) if crash.crashed else []
        return _Failure(verdict, queries, crash=crash)

    async def _calls(self, caller: Caller, target: _Target, failure: _Failure, within_s: float) -> list[dict[str, Any]]:
        """The same run again, with the tracer. Calls that do not take place are left out."""
        queries = list(dict.fromkeys(failure.queries))[:MAX_QUERIES]
        known = set(queries)
        until_s = self.clock.monotonic_s() + within_s
        found: list[dict[str, Any]] = []
        for _ in range(1 if failure.verdict == "limit" else _LEVELS):
            began_s = self.clock.monotonic_s()
            if not queries or until_s - began_s < _SHORTEST_S:
                break
            try:
                records = await self._records(caller, target, queries, until_s - began_s)
            except DragomanError as error:  # the failure itself is explained already
                log.info("the calls behind a failure could not be traced: %s", error.code)
                break
            found += records
            known.update(CallQuery(function=it["function"], call="last") for it in records)
            queries = callee_queries(records, known)
            known.update(queries)
            took_s = self.clock.monotonic_s() - began_s
            is_enough = sum(not is_preparation(it) for it in found) >= _CALLS
            if is_enough or self._left_s(until_s) < took_s * _SPARE:
                break
        return found

    async def _records(
        self, caller: Caller, target: _Target, queries: Sequence[CallQuery], within_s: float
    ) -> list[dict[str, Any]]:
        """Of those functions that were called, without secrets."""

        async def act() -> TracedCalls:
            subject = RunSubject(launch_request=target.subject)
            return await trace_calls(self.context.evidence, caller, subject, queries, within_s)

        traced = await self.context.wait_for_run(caller, "explain_failure", within_s, act)
        redactor = RecordRedactor(self.context.values)
        redacted = [redactor.redacted(it, caller.workspace) for it in traced.records]
        passed = {} if traced.has_failed else {_HAS_PASSED: True}
        return [{**it, **passed} for it in redacted if "function" in it]


def _head_lines(target: _Target, failure: _Failure, runs: int, repeat: int) -> list[LocalizedText]:
    command = [localize("{text}", text=f"$ {one_line(target.command, _LINE)}")] if target.command else []
    if failure.has_failed:
        again = [localize("Failed in run {run} of {count}.", run=runs, count=repeat)] if repeat > 1 else []
        return [*command, *again]
    if failure.verdict == "no tests":
        return command
    again = [localize("It did not fail again ({count} of {count}).", count=runs)]
    more = [localize("Pass repeat: 20 to run it until it fails.")] if repeat == 1 else []
    return [*command, *again, *more]


def _characters(lines: Sequence[LocalizedText], caller: Caller) -> int:
    return sum(len(it.in_language(caller.language)) + 1 for it in lines)
