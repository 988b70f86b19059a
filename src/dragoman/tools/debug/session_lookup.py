"""Lookups for the caller of a tool: its default session, other sessions, threads and stack files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import anyio

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug import model
from dragoman.debug.model import LIVE_STATES, SessionState, ThreadInfo
from dragoman.debug.service import DebugService
from dragoman.debug.session.session import DebugSession
from dragoman.debug.session.supervisor import DAEMON_ID
from dragoman.tools.agent_text import path
from dragoman.tools.debug.results import OtherThread, ThreadAnswer
from dragoman.tools.debug.values import name
from dragoman.workspace.caller import Caller

MAX_THREADS_SHOWN = 20
_THREADS_TIMEOUT_S = 2.0


def describe_actor(id: str, caller: Caller) -> LocalizedText:
    """Name a client for the caller: ids of other clients would mean nothing to it."""
    if id == DAEMON_ID:
        return localize("{text}", text=DAEMON_ID)
    return model.person_label(id) or (localize("this client") if id == caller.id else localize("another client"))


def stack_files(service: DebugService, caller: Caller) -> frozenset[str]:
    """Files on the stack of a stopped session, which may be read and get breakpoints wherever they are."""
    stops = [session.stop for session in service.registry.sessions(caller) if session.state is SessionState.STOPPED]
    return frozenset(frame.path for stop in stops if stop for frame in stop.frames if frame.path)


def other_live_sessions(service: DebugService, caller: Caller, but: Collection[str]) -> list[DebugSession]:
    """The other active sessions of the workspace, the default one first."""
    live = [
        it
        for it in service.registry.sessions(caller)
        if it.state in LIVE_STATES - {SessionState.TERMINATING} and it.id not in but
    ]
    default_id = default_session_id(service, caller)
    return sorted(live, key=lambda it: it.id != default_id)


def default_session_id(service: DebugService, caller: Caller) -> str:
    """The id of the default session; empty if a call has to name one."""
    try:
        return service.find(caller).id
    except DragomanError:
        return ""


_STATES_WITH_THREADS = frozenset({SessionState.RUNNING, SessionState.STOPPED})


@dataclass(frozen=True, slots=True)
class ThreadReader:
    """Reads the threads of a session for a result, without delaying it or making it fail."""

    service: DebugService

    async def of(self, caller: Caller, session: DebugSession, *, placed: bool) -> Sequence[ThreadInfo]:
        if session.state not in _STATES_WITH_THREADS:
            return ()
        threads: Sequence[ThreadInfo] = ()
        with anyio.move_on_after(_THREADS_TIMEOUT_S):
            try:
                threads = await self.service.find(caller, session.id).inspection.threads(placed=placed)
            except (DragomanError, RemoteProtocolError):
                return ()
        return threads


def other_threads(threads: Sequence[ThreadInfo], stopped: int) -> list[OtherThread]:
    others = [thread for thread in threads if thread.id != stopped]
    return [OtherThread(thread_id=it.id, name=name(it.name), state=it.state) for it in others[:MAX_THREADS_SHOWN]]


def thread_answers(threads: Sequence[ThreadInfo]) -> list[ThreadAnswer]:
    return [
        ThreadAnswer(
            thread_id=it.id,
            name=name(it.name),
            state=it.state,
            function_name=name(it.function) or None,
            file_path=path(it.path) or None,
            line_number=it.line or None,
        )
        for it in threads[:MAX_THREADS_SHOWN]
    ]
