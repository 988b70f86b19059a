"""The debug tools as an agent sees them: names, order, descriptions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from dragoman.clock import Clock
from dragoman.debug.service import DebugService
from dragoman.debug.session import Session
from dragoman.redaction import Redactor
from dragoman.tools.debug import answers
from dragoman.tools.debug import parameters as take
from dragoman.tools.debug.breakpoints import BreakpointTools
from dragoman.tools.debug.client import client_of, live_besides
from dragoman.tools.debug.ends import Ends
from dragoman.tools.debug.failures import Failures
from dragoman.tools.debug.looking import LookingTools
from dragoman.tools.debug.places import Places
from dragoman.tools.debug.running import Running
from dragoman.tools.debug.sessions import Configurations, NotLent, SessionTools
from dragoman.tools.debug.sources import FileSources, SourceReader
from dragoman.tools.debug.stops import Stops
from dragoman.tools.debug.threads import ThreadList
from dragoman.tools.debug.values import Values
from dragoman.tools.debug.waits import Waits
from dragoman.tools.listed import RUNS, Run, Tool, operations_of
from dragoman.tools.operation import READS, Caller, Effects, Failing, Operation

_CHANGES = Effects()
_ENDS = Effects(destroys=True)

# In the order in which they are shown; the specification's eleven first.
TOOLS = (
    Tool(
        "get_debugger_configurations",
        "Debug configurations",
        "The configurations of .vscode/launch.json, as written. Call it before start_debugging.",
        take.Nothing,
        answers.Configurations,
        READS,
    ),
    Tool(
        "set_breakpoint",
        "Set a breakpoint",
        (
            "Set a breakpoint or logpoint on a line, a function, an exception, or (while stopped) on data. Needs no "
            "session, and lasts over sessions, but for data. Setting the same again replaces its conditions."
        ),
        take.SetBreakpoint,
        answers.BreakpointSet,
        Effects(repeatable=True),
    ),
    Tool(
        "remove_breakpoint",
        "Remove breakpoints",
        "Remove by exactly one of: breakpoint_id, location (all columns of the line), clear_all.",
        take.RemoveBreakpoint,
        answers.BreakpointsRemoved,
        _ENDS,
    ),
    Tool(
        "get_breakpoints",
        "List breakpoints",
        "All breakpoints of this workspace, and whether the debugger has bound them (verified).",
        take.Nothing,
        answers.Breakpoints,
        READS,
    ),
    Tool(
        "start_debugging",
        "Start debugging",
        (
            "Start or attach, by exactly one of configuration_name, configuration, program; waits for the first "
            "stop or the end. status: stopped (with stop_event_data: place, stack, locals, output), completed, "
            "timeout, interrupted or error. Runs code of the workspace."
        ),
        take.Start,
        answers.Awaited,
        RUNS,
    ),
    Tool(
        "continue_debugging",
        "Continue",
        "Resume the stopped program; waits for the next stop or the end, answers like start_debugging.",
        take.Continue,
        answers.Resumed,
        RUNS,
    ),
    Tool(
        "step_execution",
        "Step",
        "Step over the line, into the call, or out of the function; answers like start_debugging.",
        take.Step,
        answers.Resumed,
        RUNS,
    ),
    Tool(
        "get_scopes",
        "Scopes of a frame",
        "Scopes (locals, globals, closures) of a frame of the stopped program.",
        take.Scopes,
        answers.Scopes,
        READS,
    ),
    Tool(
        "get_variables",
        "Variables",
        "Variables of a scope, or members of a variable whose variables_reference is above 0.",
        take.Variables,
        answers.Variables,
        READS,
    ),
    Tool(
        "evaluate_expression",
        "Evaluate",
        "Evaluate an expression in a frame of the stopped program; it may change the program.",
        take.Evaluate,
        answers.Evaluation,
        RUNS,
    ),
    Tool(
        "stop_debugging",
        "Stop debugging",
        "End the session at once: a launched program is ended, an attached one let go.",
        take.OfSession,
        answers.StopRequested,
        _ENDS,
    ),
    Tool(
        "pause_debugging",
        "Pause",
        "Halt the running program; says where each thread is and what it waits for. Answers like start_debugging.",
        take.Acting,
        answers.Resumed,
        _CHANGES,
    ),
    Tool(
        "restart_debugging",
        "Restart",
        "Start the session again from the beginning, also after its end; id and breakpoints are kept.",
        take.Acting,
        answers.Resumed,
        RUNS,
    ),
    Tool(
        "wait_for_stop",
        "Wait for a stop",
        "After timeout, interrupted, moved_on or wait: false. The present stop at once, else the next or the end.",
        take.Waiting,
        answers.Resumed,
        READS,
    ),
    Tool(
        "list_sessions",
        "Debug sessions",
        "Sessions of this workspace: state, since when, threads and their places, memory; ended ones for ten minutes.",
        take.Nothing,
        answers.Sessions,
        READS,
    ),
    Tool(
        "set_variable",
        "Set a variable",
        "Change a variable of the stopped program; the program goes on with the new value.",
        take.SetVariable,
        answers.VariableSet,
        RUNS,
    ),
    Tool(
        "get_output",
        "Program output",
        "What the program printed since `cursor`.",
        take.GetOutput,
        answers.ProgramOutput,
        READS,
    ),
    Tool(
        "get_source",
        "Source lines",
        "Lines of a file of the workspace, or of one that a stopped program's call stack names.",
        take.GetSource,
        answers.SourceText,
        READS,
    ),
)


def debug_operations(
    service: DebugService,
    configurations: Configurations,
    waits: Waits,
    clock: Clock,
    *,
    sources: SourceReader | None = None,
    redactor: Redactor | None = None,
    not_lent: NotLent = lambda _: (),
) -> list[Operation]:
    sources = sources or FileSources()
    values, places, threads = Values(redactor or Redactor()), Places(sources), ThreadList(service)
    run_by_name = _handlers(
        SessionTools(service, configurations, threads, values, clock, not_lent),
        BreakpointTools(service, places, values, clock),
        Running(
            service, Ends(Stops(sources, values, threads), service.notes, _live_besides(service)), places, waits, clock
        ),
        LookingTools(service, places, values),
    )
    failing = Failing(answers.Failure, Failures(service, values).tell)
    return operations_of(TOOLS, run_by_name, set="debug", failing=failing)


def _live_besides(service: DebugService) -> Callable[[Caller, Collection[str]], Sequence[Session]]:
    return lambda caller, but: live_besides(service, client_of(caller), but)


def _handlers(
    sessions: SessionTools, breakpoints: BreakpointTools, running: Running, looking: LookingTools
) -> Mapping[str, Run]:
    return {
        "get_debugger_configurations": sessions.offered,
        "set_breakpoint": breakpoints.set,
        "remove_breakpoint": breakpoints.remove,
        "get_breakpoints": breakpoints.list,
        "start_debugging": running.start,
        "continue_debugging": running.resume,
        "step_execution": running.step,
        "get_scopes": looking.scopes,
        "get_variables": looking.variables,
        "evaluate_expression": looking.evaluate,
        "stop_debugging": running.stop,
        "pause_debugging": running.pause,
        "restart_debugging": running.restart,
        "wait_for_stop": running.wait,
        "list_sessions": sessions.sessions,
        "set_variable": looking.set_variable,
        "get_output": sessions.output,
        "get_source": looking.source,
    }
