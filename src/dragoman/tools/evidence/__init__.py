"""The evidence tools: questions about a whole run, each answered in one call."""

from __future__ import annotations

from dragoman.core.clock import Clock
from dragoman.core.redaction import Redactor
from dragoman.debug.evidence.run import EvidenceService
from dragoman.debug.service import DebugService
from dragoman.debug.stops.history.stop_history import StopHistory
from dragoman.tools.debug.failures import DebugFailures
from dragoman.tools.debug.results import DebugFailure
from dragoman.tools.debug.source_locations import SourceLocations, SourceReader
from dragoman.tools.debug.values import ValueFormatter
from dragoman.tools.evidence.calls import TraceCallTool
from dragoman.tools.evidence.claims import CheckTool, FindChangeTool
from dragoman.tools.evidence.context import EvidenceContext
from dragoman.tools.evidence.explanation import ExplainFailureTool
from dragoman.tools.evidence.failures import DebugLastFailureTool, DebugTestTool, ExplainCrashTool, FailedCommands
from dragoman.tools.evidence.stop_history import StopHistoryTool
from dragoman.tools.evidence.target import LocationFinder
from dragoman.tools.evidence.traces import CompareRunsTool, TraceTool
from dragoman.tools.tool import ErrorFormat, Tool, bind_tools
from dragoman.tools.waits import OpenWaits

__all__ = ["TOOLS", "FailedCommands", "evidence_tools"]

# In display order.
TOOLS = (
    ExplainFailureTool.explain,
    TraceTool.trace,
    CheckTool.check,
    FindChangeTool.find,
    CompareRunsTool.compare,
    TraceCallTool.trace_call,
    ExplainCrashTool.explain,
    DebugTestTool.run,
    DebugLastFailureTool.debug,
    StopHistoryTool.stops,
)


def evidence_tools(
    service: DebugService,
    waits: OpenWaits,
    clock: Clock,
    sources: SourceReader,
    redactor: Redactor,
    history: StopHistory,
    failed: FailedCommands,
) -> list[Tool]:
    values = ValueFormatter(redactor)
    context = EvidenceContext(
        EvidenceService(service, clock), LocationFinder(service, SourceLocations(sources)), values, waits
    )
    crash_tool = ExplainCrashTool(context, sources)
    test_tool = DebugTestTool(context, crash_tool, clock)
    last_tool = DebugLastFailureTool(failed, crash_tool, test_tool)
    return bind_tools(
        TOOLS,
        ExplainFailureTool(context, crash_tool, test_tool, last_tool, clock),
        TraceTool(context),
        CheckTool(context),
        FindChangeTool(context, sources),
        CompareRunsTool(context),
        TraceCallTool(context),
        crash_tool,
        test_tool,
        last_tool,
        StopHistoryTool(history),
        set="evidence",
        error_format=ErrorFormat(DebugFailure, DebugFailures(service, values).format_error),
    )
