"""The registry of debug sessions: who owns each one, which one a call without an id means, and how long an unused one
is kept."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import anyio

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.debug import errors
from dragoman.debug.errors import too_many_sessions
from dragoman.debug.model import LIVE_STATES, SessionState
from dragoman.debug.session.launch_request import PreparedSession
from dragoman.debug.session.lifecycle import ChangeSignal
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.caller import Caller

log = logging.getLogger(__name__)
ENDED_RETENTION_S = 600.0
MAX_SESSIONS = 64

_TERMINAL_VARIABLE = "DRAGOMAN_SESSION_ID"
"""Set by `dragoman shell`. The variable of an agent's own process names the terminal of its conversation: not taken."""
_LEASED_STATES = frozenset({SessionState.RUNNING, SessionState.STOPPED})


@dataclass(slots=True, eq=False)
class SessionEntry:
    """A session under its id. After a restart it holds another `DebugSession` under the same id."""

    session: DebugSession
    prepared: PreparedSession
    workspace: str
    client: str
    used_at_s: float
    waiting: int = 0
    holders: set[str] = field(default_factory=set)
    """Clients on other machines that were shown it, and whose link is open."""
    linked_sessions: tuple[str, ...] = ()
    """Sessions of the same compound that end together with this one."""
    restart_done: anyio.Event | None = None
    """Set while it is being restarted: callers wait for the restarted session."""
    released: anyio.Event = field(default_factory=anyio.Event)
    started: anyio.Event | None = None
    """Set when a session that may start late has started or failed."""
    failure: DragomanError | None = None
    """Why it did not begin, when nobody was kept waiting for that."""
    terminal: str = ""
    """The recorded terminal in which a person's command started it."""


class SessionRegistry:
    """All sessions by id, and what each client was shown of them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_id: dict[str, SessionEntry] = {}
        self._seen_stops: dict[tuple[str, str], int] = {}
        self._shown: dict[tuple[str, str], int] = {}
        self._showings = count(1)

    def add(self, session: DebugSession, prepared: PreparedSession, caller: Caller) -> SessionEntry:
        entry = SessionEntry(session, prepared, caller.workspace_key, caller.id, self._clock.monotonic_s())
        entry.terminal = caller.environment.get(_TERMINAL_VARIABLE, "") if caller.is_shared else ""
        self._by_id[session.id] = entry
        return entry

    def by_id(self, id: str) -> SessionEntry:
        return self._by_id[id]

    def known(self, caller: Caller, id: str) -> SessionEntry:
        entry = self._by_id.get(id)
        if entry is None or entry.workspace != caller.workspace_key:
            raise errors.unknown_session(id, self.ids(caller))
        self.mark_shown(caller, entry.session)
        return self.touch(entry)

    def in_any_workspace(self, id: str) -> SessionEntry:
        """For a caller that does not know the workspace."""
        if id not in self._by_id:
            self._drop_expired()
            raise errors.unknown_session(id, list(self._by_id))
        return self._by_id[id]

    def selected(self, caller: Caller) -> SessionEntry:
        """The only live session, or else the last one that this client was shown. A guess could step or end a program
        that the client knows nothing about."""
        live = self._live(caller)
        if not live:
            raise errors.no_session(self.ids(caller))
        shown = [entry for entry in live if self._shown_order(caller, entry)]
        if len(live) > 1 and not shown:
            raise errors.AmbiguousSessionError([_session_summary(entry.session) for entry in live])
        return self.touch(max(shown or live, key=lambda entry: self._shown_order(caller, entry)))

    def selected_or_last(self, caller: Caller) -> SessionEntry:
        """A session that can be restarted or read. It may have ended."""
        if self._live(caller):
            return self.selected(caller)
        found = [entry for entry in self._by_id.values() if entry.workspace == caller.workspace_key]
        if not found:
            raise errors.no_session(self.ids(caller))
        return self.touch(max(found, key=lambda it: (self._shown_order(caller, it), it.session.changed_at_ns)))

    def newest(self, caller: Caller) -> SessionEntry:
        """For a caller that only watches: what stopped last, else what changed last."""
        live = self._live(caller)
        if not live:
            raise errors.no_session(self.ids(caller))
        return max(live, key=lambda it: (it.session.state is SessionState.STOPPED, it.session.changed_at_ns))

    def sessions(self, caller: Caller) -> list[DebugSession]:
        """Live ones, and ended ones for ten minutes."""
        self._drop_expired()
        return [entry.session for entry in self._by_id.values() if entry.workspace == caller.workspace_key]

    def workspaces(self) -> set[str]:
        self._drop_expired()
        return {entry.workspace for entry in self._by_id.values()}

    def live_sessions(self, workspace: str) -> list[DebugSession]:
        entry = [it.session for it in self._by_id.values() if it.workspace == workspace]
        return [session for session in entry if session.state in LIVE_STATES]

    def ids(self, caller: Caller) -> list[str]:
        return [session.id for session in self.sessions(caller)]

    def require_capacity(self, count: int) -> None:
        self._drop_expired()
        if sum(entry.session.state in LIVE_STATES for entry in self._by_id.values()) + count > MAX_SESSIONS:
            raise too_many_sessions(limit=MAX_SESSIONS)

    def unused(self, linger_s: float) -> list[DebugSession]:
        now = self._clock.monotonic_s()
        found = [it for it in self._by_id.values() if _has_lease(it) and not it.waiting]
        return [entry.session for entry in found if now - entry.used_at_s > linger_s]

    def touch(self, entry: SessionEntry) -> SessionEntry:
        entry.used_at_s = self._clock.monotonic_s()
        return entry

    @contextmanager
    def waiting_for(self, caller: Caller, entry: SessionEntry) -> Iterator[None]:
        entry.client = caller.id
        entry.waiting += 1
        try:
            yield
        finally:
            entry.waiting -= 1
            self.touch(entry)

    @contextmanager
    def keep_open(self, entry: SessionEntry) -> Iterator[None]:
        """A watcher keeps a session alive without becoming its client."""
        entry.waiting += 1
        try:
            yield
        finally:
            entry.waiting -= 1
            self.touch(entry)

    # The last stop that each client has seen: its next command was decided on that stop.

    def mark_stop_seen(self, caller: Caller, session: DebugSession, number: int) -> None:
        self._seen_stops[_viewer_key(caller), session.id] = number

    def seen_stop(self, caller: Caller, session: DebugSession) -> int | None:
        """None for a client that has not seen a stop: its command applies to the current one."""
        return self._seen_stops.get((_viewer_key(caller), session.id))

    def mark_shown(self, caller: Caller, session: DebugSession) -> None:
        """From now on a call of this client without an id means this session."""
        self._shown[_viewer_key(caller), session.id] = next(self._showings)
        self.add_holder(self._by_id[session.id], caller.id if caller.remote and not caller.is_shared else "")

    def add_holder(self, entry: SessionEntry, client_id: str) -> None:
        """Somebody is there. One who calls once, at a shell, has no link that could be lost."""
        entry.holders |= {client_id} if client_id else set()
        entry.session.countdown.mark_attended()

    def drop_holder(self, client_id: str) -> None:
        """What it ran for evidence had its id behind one of its own."""
        for entry in self._by_id.values():
            gone = {it for it in entry.holders if it == client_id or it.endswith(f":{client_id}")}
            entry.holders -= gone
            if gone and not entry.holders:
                entry.session.countdown.mark_unattended()

    def _shown_order(self, caller: Caller, entry: SessionEntry) -> int:
        return self._shown.get((_viewer_key(caller), entry.session.id), 0)

    def _live(self, caller: Caller) -> list[SessionEntry]:
        """A session that is terminating counts only if there is no other."""
        live = [
            it
            for it in self._by_id.values()
            if it.workspace == caller.workspace_key and it.session.state in LIVE_STATES
        ]
        return [it for it in live if it.session.state is not SessionState.TERMINATING] or live

    def _drop_expired(self) -> None:
        now = self._clock.wall_ns()
        for id, entry in list(self._by_id.items()):
            if entry.session.ended is not None and now - entry.session.changed_at_ns > ENDED_RETENTION_S * 1e9:
                del self._by_id[id]
                self._seen_stops = {key: stop for key, stop in self._seen_stops.items() if key[1] != id}
                self._shown = {key: at for key, at in self._shown.items() if key[1] != id}


def _has_lease(entry: SessionEntry) -> bool:
    """A starting session has a caller, unless it may start late. A session in an editor counts as used while it
    exists."""
    if entry.session.is_owned_by_person:
        return False
    return entry.session.state in _LEASED_STATES or (
        entry.session.state is SessionState.STARTING and entry.started is not None
    )


def _session_summary(session: DebugSession) -> dict[str, object]:
    """What distinguishes the session from others: where it is stopped, if it is."""
    choice: dict[str, object] = {"session_id": session.id, "name": session.title, "state": session.state.value}
    stop = session.stop if session.state is SessionState.STOPPED else None
    if stop is None:
        return choice
    frame = stop.frame
    place = {"at": f"{frame.path}:{frame.line}", "function_name": frame.name} if frame and frame.path else {}
    return {**choice, "stop_number": stop.number, "reason": stop.reason, **place}


def _viewer_key(caller: Caller) -> str:
    return caller.link or caller.id


@dataclass(frozen=True, slots=True)
class FollowedSession:
    """A session for a client that follows it across restarts without owning it."""

    entry: SessionEntry

    @property
    def session(self) -> DebugSession:
        """Its present life."""
        return self.entry.session

    @property
    def changes(self) -> ChangeSignal:
        """One for all its lives."""
        return self.entry.session.changes

    @property
    def workspace(self) -> Path:
        return Path(self.entry.workspace)

    @property
    def is_over(self) -> bool:
        """Not so where only one life of it has ended."""
        return self.entry.session.ended is not None and self.entry.restart_done is None

    async def wait_until_started(self) -> None:
        """Raises why it did not begin."""
        if self.entry.started is not None:
            await self.entry.started.wait()
        if self.entry.failure is not None:
            raise self.entry.failure
