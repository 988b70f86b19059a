"""The debug tools as an agent sees them: names, order, descriptions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from dragoman.clock import Clock
from dragoman.debug.service import DebugService
from dragoman.tools.debug import answers
from dragoman.tools.debug import parameters as take
from dragoman.tools.debug.breakpoints import BreakpointTools
from dragoman.tools.debug.ends import Ends
from dragoman.tools.debug.failures import Failures
from dragoman.tools.debug.looking import LookingTools
from dragoman.tools.debug.places import Places
from dragoman.tools.debug.running import Running
from dragoman.tools.debug.sessions import Configurations, SessionTools
from dragoman.tools.debug.sources import FileSources, SourceReader
from dragoman.tools.debug.stops import Stops
from dragoman.tools.debug.values import Values
from dragoman.tools.debug.waits import Waits
from dragoman.tools.operation import READS, Caller, Effects, Failing, Operation, Outcome, Parameters, Result
from dragoman.tools.redaction import Redactor

_Row = tuple[str, str, str, type[Parameters], type[Result], Callable[[Caller, Any], Awaitable[Outcome]], Effects]
_CHANGES = Effects()
_RUNS = Effects(destroys=True, leaves_machine=True)
_ENDS = Effects(destroys=True)


def debug_operations(
    service: DebugService,
    configurations: Configurations,
    waits: Waits,
    clock: Clock,
    *,
    sources: SourceReader | None = None,
    redactor: Redactor | None = None,
) -> list[Operation]:
    sources = sources or FileSources()
    values, places = Values(redactor or Redactor()), Places(sources)
    failing = Failing(answers.Failure, Failures(service, values).tell)
    rows = [
        *_session_rows(SessionTools(service, configurations, values, clock)),
        *_breakpoint_rows(BreakpointTools(service, places, values, clock)),
        *_running_rows(Running(service, Ends(Stops(sources, values)), waits, clock)),
        *_looking_rows(LookingTools(service, places, values)),
    ]
    by_name = {row[0]: Operation(*row, failing=failing) for row in rows}
    return [by_name[name] for name in ORDER]


ORDER = (
    "get_debugger_configurations",
    "set_breakpoint",
    "remove_breakpoint",
    "get_breakpoints",
    "start_debugging",
    "continue_debugging",
    "step_execution",
    "get_scopes",
    "get_variables",
    "evaluate_expression",
    "stop_debugging",
    "pause_debugging",
    "wait_for_stop",
    "list_sessions",
    "get_output",
    "get_source",
)


def _session_rows(tools: SessionTools) -> list[_Row]:
    return [
        (
            "get_debugger_configurations",
            "Debug configurations",
            "The configurations of .vscode/launch.json, as written. Call it before start_debugging.",
            take.Nothing,
            answers.Configurations,
            tools.offered,
            READS,
        ),
        (
            "list_sessions",
            "Debug sessions",
            "Sessions of this workspace with their states; ended ones for ten minutes.",
            take.Nothing,
            answers.Sessions,
            tools.sessions,
            READS,
        ),
        (
            "get_output",
            "Program output",
            "What the program printed since `cursor`.",
            take.GetOutput,
            answers.ProgramOutput,
            tools.output,
            READS,
        ),
    ]


def _breakpoint_rows(tools: BreakpointTools) -> list[_Row]:
    return [
        (
            "set_breakpoint",
            "Set a breakpoint",
            (
                "Set a breakpoint or logpoint; needs no session, and lasts over sessions. "
                "Setting the same place again replaces its conditions."
            ),
            take.SetBreakpoint,
            answers.BreakpointSet,
            tools.set,
            Effects(repeatable=True),
        ),
        (
            "remove_breakpoint",
            "Remove breakpoints",
            "Remove by exactly one of: breakpoint_id, location (all columns of the line), clear_all.",
            take.RemoveBreakpoint,
            answers.BreakpointsRemoved,
            tools.remove,
            _ENDS,
        ),
        (
            "get_breakpoints",
            "List breakpoints",
            "All breakpoints of this workspace, and whether the debugger has bound them (verified).",
            take.Nothing,
            answers.Breakpoints,
            tools.list,
            READS,
        ),
    ]


def _running_rows(tools: Running) -> list[_Row]:
    return [
        (
            "start_debugging",
            "Start debugging",
            (
                "Start or attach, by exactly one of configuration_name, configuration, program; waits for the first "
                "stop or the end. status: stopped (with stop_event_data: place, stack, locals, output), completed, "
                "timeout, interrupted or error. Runs code of the workspace."
            ),
            take.Start,
            answers.Awaited,
            tools.start,
            _RUNS,
        ),
        (
            "continue_debugging",
            "Continue",
            "Resume the stopped program; waits for the next stop or the end, answers like start_debugging.",
            take.Resuming,
            answers.Resumed,
            tools.resume,
            _RUNS,
        ),
        (
            "step_execution",
            "Step",
            "Step over the line, into the call, or out of the function; answers like start_debugging.",
            take.Step,
            answers.Resumed,
            tools.step,
            _RUNS,
        ),
        (
            "stop_debugging",
            "Stop debugging",
            "End the session at once: a launched program is ended, an attached one let go.",
            take.OfSession,
            answers.StopRequested,
            tools.stop,
            _ENDS,
        ),
        (
            "pause_debugging",
            "Pause",
            "Halt the running program wherever it is; answers like start_debugging.",
            take.Waiting,
            answers.Resumed,
            tools.pause,
            _CHANGES,
        ),
        (
            "wait_for_stop",
            "Wait for a stop",
            "After timeout, interrupted, moved_on or wait: false. The present stop at once, else the next or the end.",
            take.Waiting,
            answers.Resumed,
            tools.wait,
            READS,
        ),
    ]


def _looking_rows(tools: LookingTools) -> list[_Row]:
    return [
        (
            "get_scopes",
            "Scopes of a frame",
            "Scopes (locals, globals, closures) of a frame of the stopped program.",
            take.Scopes,
            answers.Scopes,
            tools.scopes,
            READS,
        ),
        (
            "get_variables",
            "Variables",
            "Variables of a scope, or members of a variable whose variables_reference is above 0.",
            take.Variables,
            answers.Variables,
            tools.variables,
            READS,
        ),
        (
            "evaluate_expression",
            "Evaluate",
            "Evaluate an expression in a frame of the stopped program; it may change the program.",
            take.Evaluate,
            answers.Evaluation,
            tools.evaluate,
            _RUNS,
        ),
        (
            "get_source",
            "Source lines",
            "Lines of a file of the workspace, or of one that a stopped program's call stack names.",
            take.GetSource,
            answers.SourceText,
            tools.source,
            READS,
        ),
    ]
