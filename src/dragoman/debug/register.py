"""The sessions there are and were: whose they are, which one is meant, and how long an unused one lives."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

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
        self._shown: dict[tuple[str, str], int] = {}
        self._showings = count(1)

    def add(self, session: Session, prepared: Prepared, client: Client) -> Kept:
        kept = Kept(session, prepared, client.place, client.id, self._clock.monotonic_s())
        self._by_id[session.id] = kept
        return kept

    def by_id(self, id: str) -> Kept:
        return self._by_id[id]

    def known(self, client: Client, id: str) -> Kept:
        kept = self._by_id.get(id)
        if kept is None or kept.workspace != client.place:
            raise faults.unknown_session(id, self.ids(client))
        self.show(client, kept.session)
        return self.used(kept)

    def anywhere(self, id: str) -> Kept:
        """For who was told of a session by its id, and not of where it is."""
        if id not in self._by_id:
            self._drop_old()
            raise faults.unknown_session(id, list(self._by_id))
        return self._by_id[id]

    def meant(self, client: Client) -> Kept:
        """Without an id: the only live session, else the last one that this client was shown. A guess could step or end
        a program that the client knows nothing of."""
        live = self._live(client)
        if not live:
            raise faults.no_session(self.ids(client))
        shown = [kept for kept in live if self._showing(client, kept)]
        if len(live) > 1 and not shown:
            raise faults.WhichSessionError([_choice(kept.session) for kept in live])
        return self.used(max(shown or live, key=lambda kept: self._showing(client, kept)))

    def meant_or_last(self, client: Client) -> Kept:
        """What can be started again, or read: also one that has ended."""
        if self._live(client):
            return self.meant(client)
        found = [kept for kept in self._by_id.values() if kept.workspace == client.place]
        if not found:
            raise faults.no_session(self.ids(client))
        return self.used(max(found, key=lambda it: (self._showing(client, it), it.session.changed_at_ns)))

    def newest(self, client: Client) -> Kept:
        """For who only watches: what stopped last, else what changed last."""
        live = self._live(client)
        if not live:
            raise faults.no_session(self.ids(client))
        return max(live, key=lambda it: (it.session.state is State.STOPPED, it.session.changed_at_ns))

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
        self._told_stop[_shown_to(client), session.id] = number

    def seen(self, client: Client, session: Session) -> int | None:
        """A client that was never told of a stop decides on what it finds."""
        return self._told_stop.get((_shown_to(client), session.id))

    def show(self, client: Client, session: Session) -> None:
        """The client is told of this session now: what it asks without an id means this one."""
        self._shown[_shown_to(client), session.id] = next(self._showings)

    def _showing(self, client: Client, kept: Kept) -> int:
        return self._shown.get((_shown_to(client), kept.session.id), 0)

    def _live(self, client: Client) -> list[Kept]:
        """One that ends already counts only where there is no other."""
        live = [it for it in self._by_id.values() if it.workspace == client.place and it.session.state in LIVE]
        return [it for it in live if it.session.state is not State.TERMINATING] or live

    def _drop_old(self) -> None:
        now = self._clock.wall_ns()
        for id, kept in list(self._by_id.items()):
            if kept.session.ended is not None and now - kept.session.changed_at_ns > ENDED_KEPT_S * 1e9:
                del self._by_id[id]
                self._told_stop = {key: stop for key, stop in self._told_stop.items() if key[1] != id}
                self._shown = {key: at for key, at in self._shown.items() if key[1] != id}


def _is_leased(kept: Kept) -> bool:
    """One that starts has a caller, unless it takes its time. One in an editor is in use as long as it is there."""
    if kept.session.is_a_persons:
        return False
    return kept.session.state in _LEASED or (kept.session.state is State.STARTING and kept.begins is not None)


def _choice(session: Session) -> dict[str, object]:
    """What tells a session from the others: where it stands, if it does."""
    choice: dict[str, object] = {"session_id": session.id, "name": session.title, "state": session.state.value}
    stop = session.stop if session.state is State.STOPPED else None
    if stop is None:
        return choice
    frame = stop.frame
    place = {"at": f"{frame.path}:{frame.line}", "function_name": frame.name} if frame and frame.path else {}
    return {**choice, "stop_number": stop.number, "reason": stop.reason, **place}


def _shown_to(client: Client) -> str:
    return client.link or client.id
