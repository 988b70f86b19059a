"""The tools for evidence as an agent sees them: names, order, descriptions."""

from __future__ import annotations

from dragoman.clock import Clock
from dragoman.debug.evidence.run import Evidence
from dragoman.debug.history.service import StopHistory
from dragoman.debug.service import DebugService
from dragoman.redaction import Redactor
from dragoman.tools.debug.answers import Failure
from dragoman.tools.debug.failures import Failures
from dragoman.tools.debug.places import Places
from dragoman.tools.debug.sources import SourceReader
from dragoman.tools.debug.values import Values
from dragoman.tools.debug.waits import Waits
from dragoman.tools.evidence import answers
from dragoman.tools.evidence import parameters as take
from dragoman.tools.evidence.changing import Changing
from dragoman.tools.evidence.checking import Checking
from dragoman.tools.evidence.comparing import Comparing
from dragoman.tools.evidence.crashing import Crashing
from dragoman.tools.evidence.last_failure import FailedCommands, LastFailures
from dragoman.tools.evidence.place import PlaceFinder
from dragoman.tools.evidence.remembering import Remembering
from dragoman.tools.evidence.room import Room
from dragoman.tools.evidence.testing import Testing
from dragoman.tools.evidence.tracing import Tracing
from dragoman.tools.listed import RUNS, Run, Tool, operations_of
from dragoman.tools.operation import Failing, Operation

# In the order in which they are shown.
TOOLS = (
    Tool(
        "trace",
        "Trace a run",
        (
            "Values over a whole run in one call: expressions at each hit of each point, as a table of what changed, "
            "and how it ended (exit code, exception, limit). Starts the program, or goes on from session_id."
        ),
        take.TraceWanted,
        answers.Traced,
        RUNS,
    ),
    Tool(
        "check",
        "Check a claim",
        (
            "Does `claim` hold at each hit of a place? verdict: holds, broken (at which hit, values before and at the "
            "break), never reached."
        ),
        take.CheckWanted,
        answers.CheckedAnswer,
        RUNS,
    ),
    Tool(
        "find_change",
        "Find a change",
        (
            "Which line changes `expression` (or first breaks `invariant`), from the first hit of a place on: line, "
            "old and new value, stack. By data breakpoint, else by steps in that function."
        ),
        take.ChangeWanted,
        answers.ChangeFound,
        RUNS,
    ),
    Tool(
        "compare_runs",
        "Compare two runs",
        (
            "The same trace twice, the second with what `against` changes (arguments, input, configuration, commit): "
            "the first difference, with what came before."
        ),
        take.CompareWanted,
        answers.RunsCompared,
        RUNS,
    ),
    Tool(
        "explain_crash",
        "Explain a crash",
        (
            "Run to the exception that nothing catches, or the fatal signal: its causes, and each frame of the user's "
            "code with its line, locals, and the values in the line that failed. Or of a session stopped at one."
        ),
        take.CrashWanted,
        answers.CrashSeen,
        RUNS,
    ),
    Tool(
        "debug_test",
        "Debug a test",
        (
            "Run a test by its id, or a command that runs tests (pytest, unittest, jest, vitest, mocha, node --test, "
            "go test; also by npx or npm), under the debugger: the failing assertion, compared values, the user's "
            "frames with locals. Or that it passed."
        ),
        take.TestWanted,
        answers.TestSeen,
        RUNS,
    ),
    Tool(
        "debug_last_failure",
        "Debug the last failure",
        (
            "Run the last command that failed in a recorded terminal again, under the debugger (Python, pytest, node, "
            "go, Lua, compiled programs), and answer as debug_test or explain_crash. Else: why it cannot."
        ),
        take.LastFailureWanted,
        answers.LastFailureSeen,
        RUNS,
    ),
    Tool(
        "stop_history",
        "Look back at stops",
        (
            "Every stop of every run is kept. Lists them, reads one as it was (`at`), compares two (with `diff_with`), "
            "or finds where a `variable` changed or had a `value`, across runs too."
        ),
        take.StopsWanted,
        answers.StopsFound,
    ),
)


def evidence_operations(
    service: DebugService,
    waits: Waits,
    clock: Clock,
    sources: SourceReader,
    redactor: Redactor,
    history: StopHistory,
    failed: FailedCommands,
) -> list[Operation]:
    values = Values(redactor)
    room = Room(Evidence(service, clock), PlaceFinder(service, Places(sources)), values, waits)
    failing = Failing(Failure, Failures(service, values).tell)
    run_by_name = _handlers(room, sources, clock, failed) | {"stop_history": Remembering(history).stops}
    return operations_of(TOOLS, run_by_name, set="evidence", failing=failing)


def _handlers(room: Room, sources: SourceReader, clock: Clock, failed: FailedCommands) -> dict[str, Run]:
    crashing = Crashing(room, sources)
    testing = Testing(room, crashing, clock)
    return {
        "trace": Tracing(room).trace,
        "check": Checking(room).check,
        "find_change": Changing(room, sources).find,
        "compare_runs": Comparing(room).compare,
        "explain_crash": crashing.explain,
        "debug_test": testing.run,
        "debug_last_failure": LastFailures(failed, crashing, testing).debug,
    }
