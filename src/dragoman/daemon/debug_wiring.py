"""Wires up debugging: supervised processes, adapters, sessions and their tools.

`evaluators_for` returns the debuggers that an agent's expression can reach, which decides how it is checked before the
user is asked. A breakpoint outlives sessions: its condition reaches any debugger for its file, even one that starts
later. Other expressions reach the session they name, or an active one. If neither a session nor a file of a known
language decides, an unknown debugger in an editor may evaluate it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from dragoman.chat.approval_policy import UNKNOWN_EVALUATORS, Evaluators
from dragoman.chat.approvals import require_approved
from dragoman.chat.gateway_client.identity import DeviceIdentity
from dragoman.core.clock import SystemClock
from dragoman.core.paths import Paths
from dragoman.core.redaction import Redactor
from dragoman.core.settings.loader import load_settings
from dragoman.daemon.editor_wiring import EditorLaunches, LentSessions, editor_variable
from dragoman.debug.backends.adapters import AdapterSpec
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.backends.starter import AdapterStarter
from dragoman.debug.launch import list_configurations
from dragoman.debug.service import DebugService
from dragoman.debug.session.countdown import HaltLimits
from dragoman.debug.session.session import DebugSession
from dragoman.debug.shared_sessions import SharedSessions
from dragoman.debug.source_files import is_other_language, is_source_file
from dragoman.debug.stops.history.replay import SessionReplays
from dragoman.debug.stops.history.stop_history import SessionReports, StopHistory
from dragoman.debug.stops.history.store import stop_recorder
from dragoman.editors import EditorRegistry
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.journal import Journal
from dragoman.servers.control.debug_runs import DebugRuns, remove_stale_breakpoints
from dragoman.servers.control.handover import HandoverMethods
from dragoman.servers.control.rerun_worktrees import RerunWorktrees
from dragoman.servers.control.status import LiveSession, LiveSessions
from dragoman.tools import Tool
from dragoman.tools.debug import OpenWaits, SourceFiles, debug_tools
from dragoman.tools.debug.values import ValueFormatter
from dragoman.tools.evidence import FailedCommands, evidence_tools
from dragoman.tools.resources import ResourceProvider, SessionResources
from dragoman.workspace.breakpoints import BreakpointRegistry
from dragoman.workspace.file_access import FileAccessPolicy
from dragoman.workspace.trust import TrustedFolders

_IDLE_CHECK_INTERVAL_S = 15.0
_REPORT_OUTPUT_CHARACTERS = 20_000

_BREAKPOINT_TOOLS = frozenset({"set_breakpoint"})
_ACTIVE_SESSION_TOOLS = frozenset({"evaluate_expression", "set_variable"})


def evaluators_for(
    tool: str, arguments: Mapping[str, Any], adapters: Sequence[AdapterSpec], live: Sequence[DebugSession]
) -> Evaluators:
    reached = list(_reachable_quirks(tool, arguments, adapters, live))
    if not reached:
        return UNKNOWN_EVALUATORS
    return Evaluators(any(it.calls_bare for it in reached), any(it.has_console for it in reached))


def _reachable_quirks(
    tool: str, arguments: Mapping[str, Any], adapters: Sequence[AdapterSpec], live: Sequence[DebugSession]
) -> Iterator[AdapterQuirks]:
    """The quirks of the debuggers that may evaluate it; empty if unknown."""
    session_id = arguments.get("session_id")
    if tool not in _BREAKPOINT_TOOLS and session_id:
        yield from (it.launch.quirks for it in live if it.id == session_id)
        return
    if tool in _ACTIVE_SESSION_TOOLS:
        yield from (it.launch.quirks for it in live)
        return
    files = [_file(place) for place in _places(arguments)]
    if not all(map(is_source_file, files)):
        return  # an unknown debugger in an editor may get it, and what that does with the text is unknown
    all_quirks = [*(it.quirks for it in adapters), *(it.launch.quirks for it in live)]
    yield from (it for it in all_quirks if any(not is_other_language(file, it.suffixes) for file in files))


def _places(arguments: Mapping[str, Any]) -> Sequence[Any]:
    points = arguments.get("points")
    return points if isinstance(points, list) and points else [arguments]


def _file(place: Any) -> str:
    """The file of a breakpoint; empty for a function or nothing, which any debugger may get."""
    file = place.get("file_path") if isinstance(place, Mapping) else None
    return file if isinstance(file, str) else ""


@dataclass(frozen=True, slots=True)
class DebugWiring:
    service: DebugService
    tools: Sequence[Tool]
    evidence: Callable[[FailedCommands], Sequence[Tool]]
    """The evidence tools, which also need the terminal record."""
    waits: OpenWaits
    runs: DebugRuns
    worktrees: RerunWorktrees
    resources: ResourceProvider
    trust: TrustedFolders
    supervisors: SupervisorPool
    reports: SessionReports
    replays: SessionReplays
    editors: EditorRegistry
    adapters: Sequence[AdapterSpec]
    handover: HandoverMethods

    def evaluators(self, tool: str, arguments: Mapping[str, Any]) -> Evaluators:
        return evaluators_for(tool, arguments, self.adapters, self.service.live(lent=True))


@asynccontextmanager
async def wire_debugging(
    journal: Journal,
    live_sessions: LiveSessions,
    *,
    linger_s: float,
    limits: HaltLimits,
    redactor: Redactor,
    rule: FileAccessPolicy,
    adapters: Sequence[AdapterSpec],
    port_users: frozenset[int],
    paths: Paths,
) -> AsyncIterator[DebugWiring]:
    """Run debugging. When the block ends, all sessions and their processes have ended."""
    clock = SystemClock()
    waits = OpenWaits(clock)

    async with SupervisorPool() as supervisors, anyio.create_task_group() as group:
        breakpoints = BreakpointRegistry(journal, clock)
        await breakpoints.load()
        await remove_stale_breakpoints(breakpoints)
        trust = TrustedFolders(journal, clock)
        editors = EditorRegistry()
        launches = EditorLaunches(editors, adapters)
        starter = AdapterStarter(
            supervisors,
            group,
            adapters,
            trust=trust,
            rule=rule,
            variable=partial(editor_variable, editors),
            approve=require_approved,
            port_users=port_users,
            editor_debuggers=launches.debuggers,
        )
        runs = DebugRuns(breakpoints, starter)
        worktrees = RerunWorktrees(group, paths.worktrees_folder, trust.trusts)
        await worktrees.remove_stale()

        @contextmanager
        def track(session: DebugSession) -> Iterator[None]:
            live_session = LiveSession(session.id, "debug", session.title, ends=not session.is_owned_by_person)
            with live_sessions.track(live_session), runs.track(session):
                yield

        kept = stop_recorder(redactor.value)
        service = DebugService(
            group, breakpoints, runs, journal, clock, track, redactor.value, kept, redactor.program_output, limits
        )
        lending = LentSessions(editors, service, group, adapters, launches)
        group.start_soon(_end_unused, service, runs, linger_s)
        group.start_soon(runs.remove_finished, service)
        sources = SourceFiles(rule)
        shared, configurations = (
            SharedSessions(lambda: load_settings(paths).known_keys),
            partial(list_configurations, rule=rule),
        )
        tools = debug_tools(
            service,
            configurations,
            waits,
            clock,
            sources=sources,
            redactor=redactor,
            not_lent=lending.not_lent,
            shared=shared,
        )
        history = StopHistory(journal, clock, shared)
        reports = SessionReports(journal, history, partial(service.output_of, most=_REPORT_OUTPUT_CHARACTERS))
        replays = SessionReplays(journal, history, service.printed_by, sources.lines, redactor)
        evidence = partial(evidence_tools, service, waits, clock, sources, redactor, history)
        resources = SessionResources(service, journal, ValueFormatter(redactor))
        yield DebugWiring(
            service,
            tools,
            evidence,
            waits,
            runs,
            worktrees,
            resources,
            trust,
            supervisors,
            reports,
            replays,
            editors,
            adapters,
            HandoverMethods(
                service,
                breakpoints,
                runs,
                lambda folder: configurations(folder).configurations,
                DeviceIdentity(paths.state / "gateway"),
                shared,
                journal,
            ),
        )
        group.cancel_scope.cancel("the daemon ends")


async def _end_unused(service: DebugService, runs: DebugRuns, linger_s: float) -> None:
    while True:
        await anyio.sleep(min(_IDLE_CHECK_INTERVAL_S, linger_s / 2))
        await service.end_idle_sessions(linger_s)
        runs.signal_change()
