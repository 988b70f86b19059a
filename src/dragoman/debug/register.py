"""The sessions there are and were: whose they are, which one is meant, and how long an unused one lives."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from dragoman.clock import Clock
from dragoman.debug import faults
from dragoman.debug.session import Session
from dragoman.debug.states import LIVE, State
from dragoman.debug.wishes import Client, Prepared
from dragoman.errors import DragomanError

log = logging.getLogger(__name__)

ENDED_KEPT_S = 600.0
SESSIONS_AT_MOST = 64
_LEASED = frozenset({State.RUNNING, State.STOPPED})


@dataclass(slots=True, eq=False)
class Kept:
    """A session by its id: after a restart it is another one under the same."""

    session: Session
    prepared: Prepared
    workspace: str
    client: str
    used_at_s: float
    waiting: int = 0
    ends_with: tuple[str, ...] = ()
    """Those of a compound that end when this one does."""
    restarted: anyio.Event | None = None
    """While it is being started again: who waits for it waits for its next life."""
    let_go: anyio.Event = field(default_factory=anyio.Event)
    begins: anyio.Event | None = None
    """Of one that takes its time to begin: set when it has begun, or failed to."""
    failure: DragomanError | None = None
    """Why it did not begin, when nobody was kept waiting for that."""


class Register:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_id: dict[str, Kept] = {}
        self._told_stop: dict[tuple[str, str], int] = {}
        self._turned_to_at_ns: dict[tuple[str, str], int] = {}

    def add(self, session: Session, prepared: Prepared, client: Client) -> Kept:
        kept = Kept(session, prepared, client.place, client.id, self._clock.monotonic_s())
        self._by_id[session.id] = kept
        self._turned_to(client, session)
        return kept

    def by_id(self, id: str) -> Kept:
        return self._by_id[id]

    def known(self, client: Client, id: str) -> Kept:
        kept = self._by_id.get(id)
        if kept is None or kept.workspace != client.place:
            raise faults.unknown_session(id, self.ids(client))
        self._turned_to(client, kept.session)
        return self.used(kept)

    def anywhere(self, id: str) -> Kept:
        """For who was told of a session by its id, and not of where it is."""
        if id not in self._by_id:
            self._drop_old()
            raise faults.unknown_session(id, list(self._by_id))
        return self._by_id[id]

    def active(self, client: Client) -> Kept:
        """Where this client turned last, or what stopped since then; else anyone's."""
        found = self._latest(client, lambda kept: kept.session.state in LIVE)
        if found is None:
            raise faults.no_session(self.ids(client))
        return found

    def active_or_last(self, client: Client) -> Kept:
        """What can be started again: also one that has ended."""
        found = self._latest(client, lambda kept: kept.session.state in LIVE) or self._latest(client, lambda _: True)
        if found is None:
            raise faults.no_session(self.ids(client))
        return found

    def of(self, client: Client) -> list[Session]:
        """Live ones, and ended ones for ten minutes."""
        self._drop_old()
        return [kept.session for kept in self._by_id.values() if kept.workspace == client.place]

    def workspaces(self) -> set[str]:
        self._drop_old()
        return {kept.workspace for kept in self._by_id.values()}

    def live_of(self, workspace: str) -> list[Session]:
        kept = [it.session for it in self._by_id.values() if it.workspace == workspace]
        return [session for session in kept if session.state in LIVE]

    def ids(self, client: Client) -> list[str]:
        return [session.id for session in self.of(client)]

    def require_room(self, count: int) -> None:
        self._drop_old()
        if sum(kept.session.state in LIVE for kept in self._by_id.values()) + count > SESSIONS_AT_MOST:
            raise faults.too_many_sessions(SESSIONS_AT_MOST)

    def unused(self, linger_s: float) -> list[Session]:
        now = self._clock.monotonic_s()
        found = [it for it in self._by_id.values() if _is_leased(it) and not it.waiting]
        return [kept.session for kept in found if now - kept.used_at_s > linger_s]

    def used(self, kept: Kept) -> Kept:
        kept.used_at_s = self._clock.monotonic_s()
        return kept

    @contextmanager
    def waited_for(self, client: Client, kept: Kept) -> Iterator[None]:
        kept.client = client.id
        kept.waiting += 1
        try:
            yield
        finally:
            kept.waiting -= 1
            self.used(kept)

    @contextmanager
    def followed(self, kept: Kept) -> Iterator[None]:
        """A watcher keeps a session alive, and does not become the one whose session it is."""
        kept.waiting += 1
        try:
            yield
        finally:
            kept.waiting -= 1
            self.used(kept)

    # Which stop each client was told of last: what it asks for next was decided on that one.

    def told(self, client: Client, session: Session, number: int) -> None:
        self._told_stop[client.id, session.id] = number
        self._turned_to(client, session)

    def seen(self, client: Client, session: Session) -> int | None:
        """A client that was never told of a stop decides on what it finds."""
        return self._told_stop.get((client.id, session.id))

    def _latest(self, client: Client, which: Callable[[Kept], bool]) -> Kept | None:
        found = [kept for kept in self._by_id.values() if kept.workspace == client.place and which(kept)]
        if not found:
            return None
        return self.used(max(found, key=lambda kept: self._nearness(client, kept)))

    def _turned_to(self, client: Client, session: Session) -> None:
        self._turned_to_at_ns[client.id, session.id] = self._clock.wall_ns()

    def _nearness(self, client: Client, kept: Kept) -> tuple[bool, bool, int, int]:
        """One that began to run, or goes on by itself, is no reason to leave the one that stopped."""
        session = kept.session
        stopped_ns = session.changed_at_ns if session.state is State.STOPPED else 0
        turned_ns = self._turned_to_at_ns.get((client.id, session.id), 0)
        is_staying = session.state is not State.TERMINATING
        return is_staying, kept.client == client.id, max(stopped_ns, turned_ns), session.changed_at_ns

    def _drop_old(self) -> None:
        now = self._clock.wall_ns()
        for id, kept in list(self._by_id.items()):
            if kept.session.ended is not None and now - kept.session.changed_at_ns > ENDED_KEPT_S * 1e9:
                del self._by_id[id]
                self._told_stop = {key: stop for key, stop in self._told_stop.items() if key[1] != id}
                self._turned_to_at_ns = {key: at for key, at in self._turned_to_at_ns.items() if key[1] != id}


def _is_leased(kept: Kept) -> bool:
    """One that starts has a caller, unless it takes its time. One in an editor is in use as long as it is there."""
    if kept.session.is_a_persons:
        return False
    return kept.session.state in _LEASED or (kept.session.state is State.STARTING and kept.begins is not None)
