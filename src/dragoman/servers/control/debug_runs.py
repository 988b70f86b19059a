"""Breakpoints that belong to one run: `dragoman debug --break` sets them, and they are removed when the sessions of
that run have ended.

The run owns them. A restart of one of its sessions sets them again. No run outlives the daemon: breakpoints that a
killed daemon left in the store are removed at the next start.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from dragoman.core.ids import new_id
from dragoman.debug.model import LIVE_STATES, LaunchRequest
from dragoman.debug.service import DebugService
from dragoman.debug.session.launch_request import LaunchPreview, PreparedLaunch, SessionStarter
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint, BreakpointRegistry
from dragoman.workspace.caller import Caller

_OWNER = "run"


@dataclass(eq=False)
class DebugRun:
    """One `dragoman debug` run. As a client it owns its breakpoints, and nothing else."""

    client: Caller
    is_starting: bool = True
    sessions: set[str] = field(default_factory=set)
    launch_requests: list[LaunchRequest] = field(default_factory=list)
    """The requests that start its sessions again. They are compared by identity."""
    removed: list[Breakpoint] = field(default_factory=list)
    ended: anyio.Event = field(default_factory=anyio.Event)
    """Set when its last session has ended, or when it started none."""

    def owns(self, breakpoint: Breakpoint) -> bool:
        return breakpoint.owner == self.client.id

    def is_live(self, service: DebugService) -> bool:
        return self.is_starting or any(
            session.state in LIVE_STATES or service.is_restarting(session.id) for session in self._known(service)
        )

    def has_no_sessions(self, service: DebugService) -> bool:
        return not self.is_starting and not self._known(service)

    def _known(self, service: DebugService) -> list[DebugSession]:
        return [session for session in service.registry.sessions(self.client) if session.id in self.sessions]


# The run that a session is started for. A context variable, because the tools between this module and the session know
# nothing about runs.
_CURRENT: ContextVar[DebugRun | None] = ContextVar("run", default=None)


class DebugRuns:
    """All known runs. It sits between the debug service and the starter, so that it sees every start."""

    def __init__(self, breakpoint_store: BreakpointRegistry, starter: SessionStarter) -> None:
        self._breakpoint_store = breakpoint_store
        self._starter = starter
        self._known: set[DebugRun] = set()
        self._changed = anyio.Event()

    @asynccontextmanager
    async def open_run(self, workspace: Path, ended: anyio.Event | None = None) -> AsyncIterator[DebugRun]:
        run = DebugRun(Caller(new_id(_OWNER), workspace, workspace), ended=ended or anyio.Event())
        self._known.add(run)
        before = _CURRENT.set(run)
        try:
            yield run
        finally:
            _CURRENT.reset(before)
            run.is_starting = False
            self.signal_change()

    async def prepare(self, caller: Caller, launch_request: LaunchRequest) -> PreparedLaunch:
        run = _CURRENT.get() or self._of(launch_request)
        if run is None:
            return await self._starter.prepare(caller, launch_request)
        while run.removed:
            await self._breakpoint_store.add(run.client.workspace_key, run.removed.pop(0))
        preparation = await self._starter.prepare(caller, launch_request)
        run.launch_requests += [prepared.launch_request for prepared in preparation.sessions]
        return preparation

    async def preview(self, caller: Caller, launch_request: LaunchRequest) -> LaunchPreview:
        return await self._starter.preview(caller, launch_request)

    def approve(self, starts: Sequence[LaunchPreview]) -> None:
        self._starter.approve(starts)

    def removed_breakpoints(self, session_id: str) -> list[Breakpoint]:
        """Those of the run that a session belonged to, if it has ended."""
        return [it for run in self._known if session_id in run.sessions for it in run.removed]

    @contextmanager
    def track(self, session: DebugSession) -> Iterator[None]:
        run = _CURRENT.get()
        if run is not None:
            run.sessions.add(session.id)
        try:
            yield
        finally:
            self.signal_change()

    def signal_change(self) -> None:
        self._changed.set()

    async def remove_finished(self, service: DebugService) -> None:
        """Runs forever. Removes the breakpoints of a run when its last session has ended, or when it started none."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            for run in [run for run in self._known if not run.is_live(service)]:
                run.removed += await service.remove_breakpoints(run.client, run.owns)
                run.ended.set()
                if run.has_no_sessions(service):
                    self._known.discard(run)

    def _of(self, launch_request: LaunchRequest) -> DebugRun | None:
        return next((run for run in self._known if any(known is launch_request for known in run.launch_requests)), None)


async def remove_stale_breakpoints(breakpoint_store: BreakpointRegistry) -> None:
    for workspace in breakpoint_store.workspaces():
        await breakpoint_store.remove(workspace, lambda it: it.owner.startswith(f"{_OWNER}-"))
