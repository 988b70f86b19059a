"""Starts, restarts and ends sessions, several at once for a compound, and cleans up after each."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.ids import new_id
from dragoman.core.localization import localize
from dragoman.core.redaction import SecretStream
from dragoman.debug.errors import already_restarting
from dragoman.debug.model import LIVE_STATES, Stop
from dragoman.debug.registry import SessionEntry, SessionRegistry
from dragoman.debug.session.countdown import HaltLimits
from dragoman.debug.session.event_log import EventLog
from dragoman.debug.session.launch_request import PreparedLaunch, PreparedSession, unattended_start_timeout_s
from dragoman.debug.session.session import DebugSession
from dragoman.debug.session.stop_permissions import StopPermissions
from dragoman.debug.stops.history.store import RecordStop, record_nothing
from dragoman.debug.stops.snapshot import Probe
from dragoman.workspace.breakpoints import BreakpointRegistry
from dragoman.workspace.caller import Caller
from dragoman.workspace.repository import head_commit

log = logging.getLogger(__name__)

DAEMON_ID = "dragoman"
"""Who ends a session that nobody uses, or that belongs to one that has ended."""

_POST_DEBUG_TIMEOUT_S = 60.0
_POST_DEBUG_AT_EXIT_TIMEOUT_S = 5.0  # the daemon waits for this before it exits
_CLEANUP_TIMEOUT_S = 3.0
_END_TIMEOUT_S = 20.0
_COMMIT_TIMEOUT_S = 0.5  # reading a few small files is fast, and a hung file system must not delay the start


class SessionSupervisor:
    """Runs sessions in the daemon's task group, so that they outlive the calls that started them.

    It prepares nothing itself and never waits longer than its caller allows: what is still starting by then goes on.
    """

    def __init__(
        self,
        group: TaskGroup,
        book: BreakpointRegistry,
        registry: SessionRegistry,
        event_log: EventLog,
        clock: Clock,
        session_scope: Callable[[DebugSession], AbstractContextManager[None]],
        record_stop: RecordStop = record_nothing,
        secrets: Callable[[], SecretStream] | None = None,
        limits: HaltLimits | None = None,
    ) -> None:
        self._limits = limits
        self._group = group
        self._book = book
        self._registry = registry
        self._event_log = event_log
        self._clock = clock
        self._session_scope = session_scope
        self._record_stop = record_stop
        self._secrets = secrets

    async def begin(
        self, caller: Caller, preparation: PreparedLaunch, *, within_s: float, probe: Probe | None = None
    ) -> list[DebugSession]:
        """Starts all sessions of a preparation at the same time. The first failure is raised, and ends the others.

        When the time is up they are still starting; the result goes to whoever waits for them.
        """
        async with _end_backends_on_failure(preparation):
            self._registry.require_capacity(len(preparation.sessions))
            sessions = [
                self._make_session(new_id("debug"), caller, prepared, probe=probe) for prepared in preparation.sessions
            ]
        entry = [self._registry.add(*pair, caller) for pair in zip(sessions, preparation.sessions, strict=True)]
        self._registry.mark_shown(caller, sessions[0])
        for prepared in preparation.sessions:
            if prepared.later_sessions is not None:
                self._group.start_soon(self._accept, caller, prepared.later_sessions)
        await self._start_together(entry, stop_all=preparation.stop_all, within_s=within_s)
        return sessions

    async def _accept(self, caller: Caller, later_sessions: AsyncIterator[PreparedSession]) -> None:
        """One that cannot be begun is no reason to turn the next away."""
        async for prepared in later_sessions:
            try:
                await self.begin(caller, PreparedLaunch((prepared,)), within_s=0.0)
            except DragomanError as error:
                log.info("a program that came to us got no session: %s", error)

    @contextmanager
    def restarting(self, entry: SessionEntry) -> Iterator[None]:
        if entry.restart_done is not None:
            raise already_restarting()
        entry.restart_done = again = anyio.Event()
        try:
            yield
        finally:
            entry.restart_done = None
            again.set()

    async def restart(
        self, caller: Caller, entry: SessionEntry, preparation: PreparedLaunch, *, within_s: float
    ) -> None:
        (prepared,) = preparation.sessions
        async with _end_backends_on_failure(preparation):
            await self._end_previous(entry, caller.id)
            session = self._make_session(entry.session.id, caller, prepared, predecessor=entry.session)
        entry.session, entry.prepared, entry.released = session, prepared, anyio.Event()
        entry.client, entry.failure = caller.id, None
        await self._start_together([entry], stop_all=False, within_s=within_s)

    async def _end_previous(self, entry: SessionEntry, by: str) -> None:
        """The old life is over, with its processes and its afterwards, before the next one begins."""
        if entry.session.state in LIVE_STATES:
            await entry.session.terminate(by=by)
        with anyio.move_on_after(_END_TIMEOUT_S):
            await entry.released.wait()

    def _make_session(
        self,
        id: str,
        caller: Caller,
        prepared: PreparedSession,
        *,
        predecessor: DebugSession | None = None,
        probe: Probe | None = None,
    ) -> DebugSession:
        permissions = StopPermissions.of(caller, prepared.launch)
        permissions.require_start(prepared.launch)

        def store(stop: Stop) -> None:
            self._event_log.store(partial(self._record_stop, id, prepared.title, caller.workspace_key, stop))

        session = DebugSession(
            id,
            prepared.title,
            prepared.backend,
            prepared.launch,
            self._clock,
            facts=prepared.facts,
            predecessor=predecessor,
            probe=probe,
            record_event=lambda kind, text, body: self._event_log.record_event(
                kind, id, text, body, workspace=caller.workspace_key
            ),
            store=store,
            hold=prepared.hold,
            secrets=self._secrets,
            permissions=permissions,
            limits=self._limits,
        )
        if prepared.made is not None:
            prepared.made(session)
        return session

    async def _start_together(self, every: Sequence[SessionEntry], *, stop_all: bool, within_s: float) -> None:
        """Runs in the daemon's task group: a caller that stops waiting leaves a session that is still starting."""
        started = anyio.Event()
        for entry in every:
            entry.started = started
        self._group.start_soon(partial(self._start_or_fail, every, started, stop_all=stop_all))
        for entry in every:
            await entry.session.wait_until_started()
        await _wait_for_start(every[0], within_s)

    async def wait_until_started(self, every: Sequence[SessionEntry]) -> None:
        """The brief wait of a caller that does not wait for the start. A failure until then is raised."""
        await _wait_for_start(every[0], unattended_start_timeout_s([entry.prepared for entry in every]))

    async def _start_or_fail(self, every: Sequence[SessionEntry], started: anyio.Event, *, stop_all: bool) -> None:
        """A failure is raised to whoever asks for the result; see `require_started`."""
        try:
            await self._start_all(every, stop_all=stop_all)
        except DragomanError as failure:
            for entry in every:
                entry.failure = failure
                await entry.session.abandon()
        finally:
            started.set()

    async def require_started(self, entry: SessionEntry) -> None:
        """For one that has ended: what its end means is known when its beginning is over."""
        if entry.started is not None:
            with anyio.move_on_after(_END_TIMEOUT_S):
                await entry.started.wait()
        if entry.failure is not None:
            raise entry.failure

    async def _start_all(self, every: Sequence[SessionEntry], *, stop_all: bool) -> None:
        failures: list[DragomanError] = []

        async def begin(entry: SessionEntry, scope: anyio.CancelScope) -> None:
            try:
                await self._start_one(entry)
            except DragomanError as error:
                failures.append(error)
                scope.cancel("one of several could not be started")

        async with anyio.create_task_group() as group:
            for entry in every:
                group.start_soon(begin, entry, group.cancel_scope)
        if failures:
            raise failures[0]
        for entry in every if stop_all else ():
            entry.linked_sessions = tuple(it.session.id for it in every if it is not entry)

    async def _start_one(self, entry: SessionEntry) -> None:
        session = entry.session
        about: dict[str, Any] = {"title": session.title, "workspace": entry.workspace, "by": entry.client}
        about |= {"in_editor": True} if session.is_owned_by_person else {}
        about |= {"terminal": entry.terminal} if entry.terminal else {}
        about |= {"commit": commit} if (commit := await _commit_of(entry.workspace)) else {}
        self._event_log.record_event("debug.started", session.id, session.title, about, workspace=entry.workspace)
        try:
            await self._group.start(self._run_session, entry, session)
        except DragomanError as error:
            body = {"code": error.code}
            self._event_log.record_event("debug.failed", session.id, error.code, body, workspace=entry.workspace)
            raise

    async def _run_session(self, entry: SessionEntry, session: DebugSession, *, task_status: TaskStatus[None]) -> None:
        """Those who must know about an end know at once. The cleanup afterwards takes its time, within limits."""
        with ExitStack() as listed:
            listed.callback(partial(self._handle_end, entry, session))
            listed.enter_context(self._session_scope(session))
            session.on_end(listed.close)
            post_debug_s = _POST_DEBUG_TIMEOUT_S
            try:
                await session.live(self._book.of(entry.workspace), task_status=task_status)
            except anyio.get_cancelled_exc_class():
                post_debug_s = _POST_DEBUG_AT_EXIT_TIMEOUT_S
                raise
            finally:
                listed.close()
                await self._clean_up(entry, session, post_debug_s)

    def _handle_end(self, entry: SessionEntry, session: DebugSession) -> None:
        ended = session.ended
        body: dict[str, Any] = {"exit_code": ended.exit_code} if ended and ended.exit_code is not None else {}
        body |= {"by": ended.by} if ended and ended.by else {}
        self._event_log.record_event("debug.ended", session.id, session.title, body, workspace=entry.workspace)
        if entry.restart_done is None:
            self._group.start_soon(self._end_linked, entry.linked_sessions)

    async def _end_linked(self, ids: Sequence[str]) -> None:
        for id in ids:
            session = self._registry.by_id(id).session
            if session.state in LIVE_STATES:
                await session.terminate(by=DAEMON_ID)

    async def _clean_up(self, entry: SessionEntry, session: DebugSession, post_debug_s: float) -> None:
        """Shielded: a daemon that ends does it as well."""
        released, prepared = entry.released, entry.prepared
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(post_debug_s):
                await self._run_post_debug(prepared, session, entry.workspace)
            with anyio.move_on_after(_CLEANUP_TIMEOUT_S):
                await self._remove_breakpoints(entry, session)
                await self._event_log.flush()
        released.set()

    async def _run_post_debug(self, prepared: PreparedSession, session: DebugSession, place: str) -> None:
        """A failure is written to the program's output: no caller is left to raise it to."""
        if prepared.post_debug is None:
            return
        try:
            await prepared.post_debug()
        except DragomanError as error:
            failed = localize("postDebugTask failed: {reason}", reason=error.message)
            session.output.append("console", f"{failed}\n")
            body = {"code": error.code}
            self._event_log.record_event("debug.afterwards_failed", session.id, error.code, body, workspace=place)
        except Exception:
            log.exception("session %s: what was to be done afterwards failed", session.id)

    async def _remove_breakpoints(self, entry: SessionEntry, session: DebugSession) -> None:
        """The adapter's names for data mean nothing to any other life; the rest goes when there is no next one."""
        is_last = entry.restart_done is None
        try:
            await self._book.remove(
                entry.workspace, lambda it: it.session == session.id and (is_last or it.kind == "data")
            )
        except DragomanError as error:
            log.warning("breakpoints of session %s are still in the book: %s", session.id, error)


async def _commit_of(workspace: str) -> str:
    """Read when the session starts: the folder may be at another commit when somebody asks."""
    with anyio.move_on_after(_COMMIT_TIMEOUT_S):
        return await anyio.to_thread.run_sync(head_commit, Path(workspace), abandon_on_cancel=True)
    return ""


async def _wait_for_start(entry: SessionEntry, within_s: float) -> None:
    with anyio.move_on_after(within_s):
        if entry.started is not None:
            await entry.started.wait()
    if entry.failure is not None:
        raise entry.failure


@asynccontextmanager
async def _end_backends_on_failure(preparation: PreparedLaunch) -> AsyncIterator[None]:
    """Ends what was prepared and never became a session: its processes may run already."""
    try:
        yield
    except BaseException:
        with anyio.CancelScope(shield=True):
            for prepared in preparation.sessions:
                await prepared.backend.end()
        raise
