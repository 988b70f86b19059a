"""The tools that run a failure again under the debugger: `explain_crash`, `debug_test` and `debug_last_failure`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import Field

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.evidence.assertion_message import readable_assertion
from dragoman.debug.evidence.crash import CrashReport, ExplainedFrame, explain_crash
from dragoman.debug.evidence.failing_test import DoctestFailure, SuiteResult, run_test
from dragoman.debug.evidence.printed_crash import CrashCause
from dragoman.debug.evidence.run import EvidenceSource
from dragoman.debug.evidence.tracepoints import Cell, ReadLines
from dragoman.debug.launch.commands.command_line import CommandTarget, read_command_line
from dragoman.debug.launch.commands.shell_words import cannot_debug
from dragoman.debug.model import VariableInfo
from dragoman.terminal.model import RecordedCommand
from dragoman.tools.agent_text import escaped, one_line
from dragoman.tools.debug.parameters import MAX_VARIABLES, Text
from dragoman.tools.debug.source_locations import SourceReader
from dragoman.tools.debug.stop_results import short_path
from dragoman.tools.debug.values import name
from dragoman.tools.evidence.commands import MAX_COMMAND_LINE, MAX_TEST_ID, command_target
from dragoman.tools.evidence.context import EvidenceContext
from dragoman.tools.evidence.failure_results import (
    CrashFrame,
    DebugLastFailureResult,
    DebugTestResult,
    ExceptionCause,
    ExplainCrashResult,
    FailedTest,
    crash_lines,
    test_lines,
)
from dragoman.tools.evidence.schema import ExceptionSummary, Seconds
from dragoman.tools.evidence.target import RunTargetParameters, evidence_source
from dragoman.tools.tool import RUNS_CODE, Parameters, ToolOutcome, tool
from dragoman.workspace.caller import Caller

_VALUE = 400
_MESSAGE = 400
_LOCALS = 20
_SOURCE = 160
_TEST_MESSAGE = 2000
_NAME = 200
_NAMES = 100
_LINE = 300
_REDACTED = "<redacted "

_STACK = re.compile(r"(?s)\n    at .*")  # JavaScript errors, which are shown in full


class ExplainCrashParameters(RunTargetParameters):
    timeout_s: Seconds = 60.0


class DebugTestParameters(Parameters):
    test: Annotated[str, Field(max_length=MAX_TEST_ID, description="Test id: tests/test_app.py::test_total.")] = ""
    command: Annotated[str, Field(max_length=MAX_COMMAND_LINE, description="Or a command.")] = ""
    cwd: Annotated[str, Field(max_length=4096)] = ""
    env: Annotated[dict[str, Text], Field(default_factory=dict, max_length=MAX_VARIABLES)]
    timeout_s: Seconds = 120.0


class DebugLastFailureParameters(Parameters):
    terminal: Annotated[str, Field(max_length=200, description="Default: any.")] = ""
    command_id: Annotated[str, Field(max_length=200, description="Or a command.")] = ""
    timeout_s: Seconds = 120.0


@dataclass(frozen=True, slots=True)
class ExplainCrashTool:
    context: EvidenceContext
    sources: SourceReader

    @tool(
        "explain_crash",
        "Explain a crash",
        (
            "Run to an uncaught exception or fatal signal and explain it: causes, and each user frame with "
            "line, locals and values in the failing line. Also for a session stopped at one."
        ),
        ExplainCrashParameters,
        ExplainCrashResult,
        RUNS_CODE,
    )
    async def explain(self, caller: Caller, wanted: ExplainCrashParameters) -> ToolOutcome:
        answer = await self.explained(caller, evidence_source(caller, wanted), wanted.timeout_s)
        return ToolOutcome(crash_lines(answer), answer)

    async def explained(self, caller: Caller, subject: EvidenceSource, within_s: float) -> ExplainCrashResult:
        return self.answer(caller, await self.report(caller, subject, within_s))

    async def report(self, caller: Caller, subject: EvidenceSource, within_s: float) -> CrashReport:
        async def act() -> CrashReport:
            evidence, lines = self.context.evidence, self.lines(caller)
            return await explain_crash(evidence, caller, subject, lines, within_s)

        return await self.context.wait_for_run(caller, "explain_crash", within_s, act)

    def lines(self, caller: Caller) -> ReadLines:
        async def lines(path: str) -> Sequence[str] | None:
            return await self.sources.lines(path, caller.workspace, (path,))

        return lines

    def answer(self, caller: Caller, crash: CrashReport) -> ExplainCrashResult:
        ended, printed = self.context.ends.data(caller, crash.end), crash.printed
        exception = self.context.ends.exception(printed) if printed else ended.exception
        return ExplainCrashResult(
            status="success",
            crashed=crash.has_crashed,
            frames=[self.frame(caller, it) for it in crash.frames],
            more_frames=crash.more_frames or None,
            caused_by=[self.cause(caller, it) for it in crash.causes] or None,
            printed=True if printed else None,
            ended=ended.model_copy(update={"frames": None, "exception": exception}),
            session_id=crash.session_id or None,
            state=crash.state or None,
        )

    def cause(self, caller: Caller, cause: CrashCause) -> ExceptionCause:
        at = cause.frame
        return ExceptionCause(
            type=name(cause.type),
            message=self.context.values.text(cause.message, _MESSAGE),
            at=f"{short_path(at.path, caller.workspace)}:{at.line} {name(at.name)}" if at else None,
            locals={name(it.name): self._local(it) for it in cause.variables[:_LOCALS]} or None,
        )

    def frame(self, caller: Caller, seen: ExplainedFrame) -> CrashFrame:
        own = seen.variables
        return CrashFrame(
            function=name(seen.frame.name),
            file_path=short_path(seen.frame.path, caller.workspace) if seen.frame.path else None,
            line=seen.frame.line or None,
            source=self.context.values.text(seen.source, _SOURCE) or None,
            values={escaped(it): self._cell(it, cell) for it, cell in seen.values} or None,
            locals={name(it.name): self._local(it) for it in own[:_LOCALS]},
            more_locals=max(0, len(own) - _LOCALS) or None,
        )

    def _local(self, variable: VariableInfo) -> str:
        return self._shown(variable.name, _STACK.sub("", variable.value))

    def _cell(self, expression: str, cell: Cell) -> str:
        shown = self._shown(expression, cell.text)
        return f"!{shown}" if cell.failed else shown

    def _shown(self, expression: str, text: str) -> str:
        shown = self.context.values.value(expression, text, _VALUE)
        return shown.text if shown.is_whole else f"{shown.text}… ({shown.length} chars)"


@dataclass(frozen=True, slots=True)
class DebugTestTool:
    context: EvidenceContext
    crash_tool: ExplainCrashTool
    clock: Clock

    @tool(
        "debug_test",
        "Debug a test",
        (
            "Find out why a test fails: runs a test id or test command (pytest, unittest, jest, vitest, "
            "mocha, node --test, go test, via npx or npm) in the debugger. Returns the failed assertion, "
            "compared values, user frames with locals."
        ),
        DebugTestParameters,
        DebugTestResult,
        RUNS_CODE,
    )
    async def run(self, caller: Caller, wanted: DebugTestParameters) -> ToolOutcome:
        what = command_target(caller, wanted.test, wanted.command, wanted.cwd, wanted.env)
        found = await self.tested(caller, what, wanted.timeout_s)
        answer = self.answer(caller, found)
        return ToolOutcome(test_lines(answer), answer)

    async def tested(self, caller: Caller, what: CommandTarget, within_s: float) -> SuiteResult:
        async def act() -> SuiteResult:
            lines = self.crash_tool.lines(caller)
            return await run_test(self.context.evidence, caller, what, lines, within_s, self.clock)

        return await self.context.wait_for_run(caller, "debug_test", within_s, act)

    def answer(self, caller: Caller, found: SuiteResult) -> DebugTestResult:
        return DebugTestResult(
            status="success",
            verdict=found.verdict,
            seconds=round(found.seconds, 2),
            failed=[one_line(it, _NAME) for it in found.names[:_NAMES]] or None,
            failures=[
                *(self._failure(caller, crash, test) for crash, test in zip(found.failures, found.tests, strict=True)),
                *(self._doctest(caller, it, found.names) for it in found.doctests),
            ]
            or None,
            ended=self.context.ends.data(caller, found.end).model_copy(update={"frames": None, "exception": None}),
        )

    def _failure(self, caller: Caller, crash: CrashReport, test: str) -> FailedTest:
        raised = crash.end.raised or crash.printed
        return FailedTest(
            test=one_line(test, _NAME) or None,
            more_frames=crash.more_frames or None,
            exception=self._raised(raised.type, raised.message) if raised else None,
            caused_by=[self.crash_tool.cause(caller, it) for it in crash.causes] or None,
            frames=[self.crash_tool.frame(caller, it) for it in crash.frames],
        )

    def _doctest(self, caller: Caller, found: DoctestFailure, names: Sequence[str]) -> FailedTest:
        test = next((it for it in names if it.endswith(f"::{found.name}")), found.name)
        outcome = f"{found.example}\nexpected: {found.expected or '-'}\ngot: {found.got or '-'}"
        place = CrashFrame(
            function=name(found.name),
            file_path=short_path(found.path, caller.workspace),
            line=found.line,
            locals={},
        )
        return FailedTest(test=one_line(test, _NAME), exception=self._raised("doctest", outcome), frames=[place])

    def _raised(self, type: str, message: str) -> ExceptionSummary:
        readable = self.context.values.text(readable_assertion(message), _TEST_MESSAGE)
        return ExceptionSummary(type=one_line(type, _NAME), message=readable)


class FailedCommands(Protocol):
    """The part of the terminal record that `debug_last_failure` needs."""

    async def last_failure(
        self, *, terminal: str = "", cwd: str = "", verified: bool = True
    ) -> RecordedCommand | None: ...

    async def command(self, command_id: str) -> RecordedCommand: ...


@dataclass(frozen=True, slots=True)
class DebugLastFailureTool:
    commands: FailedCommands
    crash_tool: ExplainCrashTool
    test_tool: DebugTestTool

    @tool(
        "debug_last_failure",
        "Debug the last failure",
        (
            "Rerun the last failed terminal command in the debugger (Python, pytest, node, go, Lua, compiled "
            "programs). Returns as debug_test or explain_crash, or why it cannot rerun."
        ),
        DebugLastFailureParameters,
        DebugLastFailureResult,
        RUNS_CODE,
    )
    async def debug(self, caller: Caller, wanted: DebugLastFailureParameters) -> ToolOutcome:
        command, what = await self.recorded(caller, wanted)
        if what.runner:
            test = self.test_tool.answer(caller, await self.test_tool.tested(caller, what, wanted.timeout_s))
            return _outcome(command, test, test_lines(test), is_well=test.verdict == "passed")
        crash = await self.crash_tool.explained(
            caller, EvidenceSource(launch_request=what.launch_request), wanted.timeout_s
        )
        return _outcome(command, crash, crash_lines(crash), is_well=not crash.crashed)

    async def recorded(
        self, caller: Caller, wanted: DebugLastFailureParameters
    ) -> tuple[RecordedCommand, CommandTarget]:
        """The failed command, and how to run it under a debugger."""
        command = await self._command(caller, wanted)
        return command, _runnable_command(command, caller)

    async def _command(self, caller: Caller, wanted: DebugLastFailureParameters) -> RecordedCommand:
        """The failed command, only from the caller's workspace."""
        own = caller.record_workspace
        found: RecordedCommand | None
        if wanted.command_id:
            found = await self.commands.command(wanted.command_id)
        else:
            found = await self.commands.last_failure(terminal=wanted.terminal, cwd=own or "")
        if found is None or (own is not None and not f"{found.cwd}/".startswith(f"{own.rstrip('/')}/")):
            raise DragomanError(
                "no_failure",
                localize("No failed command is recorded."),
                hint=localize("Only terminals opened with `dragoman shell` record commands."),
            )
        return found


def _runnable_command(command: RecordedCommand, caller: Caller) -> CommandTarget:
    """Refuse a command that may be faked output, or a line that is incomplete."""
    if not command.verified:
        raise cannot_debug(
            localize("It may never have been typed: text in a terminal can look like a command."),
            localize("Ask the user, then pass the command to debug_test or its program to explain_crash."),
        )
    if not command.line or _REDACTED in command.line:
        raise cannot_debug(
            localize("Its command line has a secret or was not recorded."),
            localize("Call explain_crash with its program, and its environment in `env`."),
        )
    cwd = Path(command.cwd or caller.cwd)
    return read_command_line(command.line, cwd, caller.environment, workspace=caller.workspace)


def _outcome(
    command: RecordedCommand, found: DebugTestResult | ExplainCrashResult, lines: list[LocalizedText], *, is_well: bool
) -> ToolOutcome:
    answer = DebugLastFailureResult(
        status="success",
        command=one_line(command.line, _LINE),
        command_id=command.id,
        cwd=one_line(command.cwd, _LINE),
        failed_with=command.exit_code,
        fails_again=not is_well,
        test=found if isinstance(found, DebugTestResult) else None,
        crash=found if isinstance(found, ExplainCrashResult) else None,
        ended=found.ended,
    )
    head = localize("{text}", text=f"$ {answer.command}  [{answer.failed_with}]")
    well = [localize("It did not fail this time.")] if is_well else []
    return ToolOutcome([head, *well, *lines], answer)
