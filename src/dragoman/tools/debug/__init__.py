"""The debug tools: the eleven of the specification, and some more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from dragoman.core.clock import Clock
from dragoman.core.redaction import Redactor
from dragoman.debug.service import DebugService
from dragoman.debug.session.session import DebugSession
from dragoman.debug.shared_sessions import SharedSessions
from dragoman.tools.debug.breakpoints import BreakpointTools
from dragoman.tools.debug.failures import DebugFailures
from dragoman.tools.debug.inspection import InspectionTools
from dragoman.tools.debug.results import DebugFailure
from dragoman.tools.debug.run_control import RunControlTools, StartParameters, launch_request_of
from dragoman.tools.debug.session_lookup import ThreadReader, other_live_sessions
from dragoman.tools.debug.sessions import ConfigurationListing, ConfigurationReader, NotLentSessions, SessionTools
from dragoman.tools.debug.source_locations import SourceFiles, SourceLocations, SourceReader
from dragoman.tools.debug.stop_results import StopResults
from dragoman.tools.debug.values import ValueFormatter
from dragoman.tools.debug.wait_results import WaitResults
from dragoman.tools.tool import ErrorFormat, Tool, bind_tools
from dragoman.tools.waits import OpenWaits
from dragoman.workspace.caller import Caller

__all__ = [
    "TOOLS",
    "ConfigurationListing",
    "ConfigurationReader",
    "OpenWaits",
    "SourceFiles",
    "SourceReader",
    "StartParameters",
    "debug_tools",
    "launch_request_of",
]

# In display order; the specification's eleven first.
TOOLS = (
    SessionTools.list_configurations,
    BreakpointTools.set,
    BreakpointTools.remove,
    BreakpointTools.list,
    RunControlTools.start,
    RunControlTools.resume,
    RunControlTools.step,
    InspectionTools.scopes,
    InspectionTools.variables,
    InspectionTools.evaluate,
    RunControlTools.stop,
    RunControlTools.pause,
    RunControlTools.restart,
    RunControlTools.wait,
    SessionTools.sessions,
    InspectionTools.set_variable,
    SessionTools.output,
    InspectionTools.source,
)


def debug_tools(
    service: DebugService,
    configurations: ConfigurationReader,
    waits: OpenWaits,
    clock: Clock,
    *,
    sources: SourceReader | None = None,
    redactor: Redactor | None = None,
    not_lent: NotLentSessions = lambda _: (),
    shared: SharedSessions | None = None,
) -> list[Tool]:
    sources = sources or SourceFiles()
    values, locations, threads = ValueFormatter(redactor or Redactor()), SourceLocations(sources), ThreadReader(service)
    return bind_tools(
        TOOLS,
        SessionTools(service, configurations, threads, values, clock, not_lent, shared or SharedSessions()),
        BreakpointTools(service, locations, values, clock),
        RunControlTools(
            service,
            WaitResults(StopResults(sources, values, threads), service.notes, _other_live_sessions(service)),
            locations,
            waits,
            clock,
        ),
        InspectionTools(service, locations, values),
        set="debug",
        error_format=ErrorFormat(DebugFailure, DebugFailures(service, values).format_error),
    )


def _other_live_sessions(service: DebugService) -> Callable[[Caller, Collection[str]], Sequence[DebugSession]]:
    return lambda caller, but: other_live_sessions(service, caller, but)
