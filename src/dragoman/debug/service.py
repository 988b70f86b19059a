"""What a face may ask of debugging. Sessions belong to a workspace and outlast the call that made them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup

from dragoman.clock import Clock
from dragoman.debug import faults
from dragoman.debug.backend import Backend
from dragoman.debug.model import Binding, Ended, Evaluated, Scope, StepKind, Stop, ThreadSeen, Until, Variable
from dragoman.debug.session import Launch, Session
from dragoman.debug.states import LIVE, State
from dragoman.errors import DragomanError
from dragoman.events import Event
from dragoman.ids import new_id
from dragoman.workspace.breakpoints import Breakpoint, BreakpointBook

log = logging.getLogger(__name__)

ENDED_KEPT_S = 600.0
SESSIONS_AT_MOST = 64
_ANSWERED_AT_LEAST_WITHIN_S = 1.0  # also for who does not wait: a refusal is worth it
_LEASED = frozenset({State.RUNNING, State.STOPPED})  # one that starts has a caller


@dataclass(frozen=True, slots=True)
class Client:
    """On whose behalf. The environment is for the programs it starts: never logged, never journalled."""

    id: str
    workspace: Path
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusts_workspace: bool = False
    """Whether a person started this client in the workspace, and so said that what it holds may run."""

    @property
    def place(self) -> str:
        return str(self.workspace)


@dataclass(frozen=True, slots=True)
class Wish:
    """What to debug: a configuration by name or in full, or just a program."""

    configuration_name: str = ""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    program: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    process_id: int | None = None
    no_debug: bool = False
    stdin: str | None = None
    """What the program reads, then the end of input. None: nothing to read."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A backend that is ready to be spoken to, and what to tell it."""

    title: str
    backend: Backend
    launch: Launch
    wish: Wish
    """What starts this one alone again."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Told in the first answer: which interpreter, which adapter."""
    afterwards: Callable[[], Awaitable[None]] | None = None
    """What the configuration wants done when the session has ended."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """Several sessions for a compound, otherwise one."""

    sessions: tuple[Prepared, ...]
    stop_all: bool = False
    """The end of one ends the others."""


class Starter(Protocol):
    """Turns a wish into backends: the launch file, its tasks, the adapter's table, the processes."""

    async def prepare(self, client: Client, wish: Wish) -> Preparation: ...


class Record(Protocol):
    async def append(self, events: list[Event]) -> int: ...


@dataclass(frozen=True, slots=True)
class Happened:
    """What came of a waiting call. No outcome: the time was over, and the session goes on as its state says."""

    session: Session
    outcome: Stop | Ended | None
    others: tuple[Session, ...] = ()
    """What was started with it."""


class DebugService:
    def __init__(
        self,
        group: TaskGroup,
        book: BreakpointBook,
        starter: Starter,
        record: Record,
        clock: Clock,
        lived: Callable[[Session], AbstractContextManager[None]] = lambda _: nullcontext(),
    ) -> None:
        """`lived` surrounds a session's life, for whoever must know what would end with the daemon."""
        self._group = group
        self._book = book
        self._starter = starter
        self._record = record
        self._clock = clock
        self._lived = lived
        self._sessions: dict[str, _Kept] = {}
        self._told_stop: dict[tuple[str, str], int] = {}

    # Sessions.

    async def start(self, client: Client, wish: Wish, *, within_s: float) -> Happened:
        self._require_room()
        (prepared,) = (await self._starter.prepare(client, wish)).sessions
        session = Session(new_id("debug"), prepared.title, prepared.backend, prepared.launch, self._clock)
        try:
            await self._begin(client, session)
        except BaseException:
            await session.abandon()
            raise
        return await self._awaited(client, session, after_stop=0, within_s=within_s)

    async def first(self, client: Client, sessions: Sequence[Session], *, within_s: float) -> Happened:
        """Of several that were started together: what comes first of any of them."""
        raise NotImplementedError

    async def restart(self, client: Client, session_id: str, *, within_s: float) -> Happened:
        raise NotImplementedError

    async def set_variable(
        self, client: Client, session_id: str, *, name: str, value: str, reference: int | None, frame: int | None
    ) -> Evaluated:
        raise NotImplementedError

    async def threads(self, client: Client, session_id: str) -> tuple[ThreadSeen, ...]:
        raise NotImplementedError

    async def change_breakpoint(self, client: Client, id: int, *, enabled: bool) -> tuple[Breakpoint, Binding]:
        raise NotImplementedError

    async def resume(
        self,
        client: Client,
        session_id: str,
        *,
        thread_id: int | None,
        within_s: float,
        until: Until | None = None,
    ) -> Happened:
        session = self.find(client, session_id)
        resumed = session.resume(thread_id=thread_id, seen_stop=self._seen(client, session), by=client.id)
        return await self._performed(client, session, resumed, within_s)

    async def step(
        self, client: Client, session_id: str, kind: StepKind, *, thread_id: int | None, within_s: float
    ) -> Happened:
        session = self.find(client, session_id)
        stepped = session.step(kind, thread_id=thread_id, seen_stop=self._seen(client, session), by=client.id)
        return await self._performed(client, session, stepped, within_s)

    async def pause(self, client: Client, session_id: str, *, within_s: float) -> Happened:
        session = self.find(client, session_id)
        return await self._performed(client, session, session.pause(by=client.id), within_s)

    async def wait(self, client: Client, session_id: str, *, within_s: float) -> Happened:
        """For whoever started without waiting: the stop after the last one this client was told of."""
        session = self.find(client, session_id)
        return await self._awaited(client, session, self._seen(client, session) or 0, within_s)

    async def stop(self, client: Client, session_id: str) -> Session:
        session = self.find(client, session_id)
        await session.terminate()
        return session

    def find(self, client: Client, session_id: str = "") -> Session:
        """By id; without one, the workspace's active session: last used by this client, else by anyone."""
        if session_id:
            kept = self._sessions.get(session_id)
            if kept is None or kept.workspace != client.place:
                raise faults.unknown_session(session_id, self._ids(client))
            return self._used(kept)
        live = [kept for kept in self._sessions.values() if kept.workspace == client.place]
        live = [kept for kept in live if kept.session.state in LIVE]
        if not live:
            raise faults.no_session(self._ids(client))
        return self._used(max(live, key=lambda kept: (kept.client == client.id, kept.session.changed_at_ns)))

    def sessions(self, client: Client) -> list[Session]:
        """Live ones, and ended ones for ten minutes."""
        self._drop_old()
        return [kept.session for kept in self._sessions.values() if kept.workspace == client.place]

    async def end_unused(self, linger_s: float) -> None:
        """A session lives by a lease: so long after the last call, and with nobody waiting, it is ended."""
        for kept in list(self._sessions.values()):
            unused_s = self._clock.monotonic_s() - kept.used_at_s
            if kept.session.state in _LEASED and not kept.waiting and unused_s > linger_s:
                log.info("session %s is ended: unused for %d seconds", kept.session.id, unused_s)
                await kept.session.terminate()

    # Looking.

    async def scopes(
        self, client: Client, session_id: str, frame: int | None, *, thread_id: int | None = None
    ) -> tuple[Scope, ...]:
        session = self.find(client, session_id)
        stop = session.require_stopped()
        return await session.scopes(frame if frame is not None else faults.top_frame(stop).id)

    async def variables(
        self, client: Client, session_id: str, reference: int, *, start: int = 0, count: int = 0
    ) -> tuple[Variable, ...]:
        return await self.find(client, session_id).variables(reference, start=start, count=count)

    async def evaluate(
        self,
        client: Client,
        session_id: str,
        expression: str,
        *,
        frame: int | None,
        context: str,
        within_s: float,
        thread_id: int | None = None,
    ) -> Evaluated:
        return await self.find(client, session_id).evaluate(expression, frame, context, timeout_s=within_s)

    # Breakpoints.

    async def set_breakpoint(self, client: Client, wanted: Breakpoint) -> tuple[Breakpoint, Binding]:
        made = await self._book.add(client.place, wanted)
        await self._spread(client.place)
        return made, self.binding(client, made.id)

    async def remove_breakpoints(self, client: Client, which: Callable[[Breakpoint], bool]) -> list[Breakpoint]:
        gone = await self._book.remove(client.place, which)
        if gone:
            await self._spread(client.place)
        return gone

    def breakpoints(self, client: Client) -> list[tuple[Breakpoint, Binding]]:
        return [(it, self.binding(client, it.id)) for it in self._book.of(client.place)]

    def binding(self, client: Client, id: int) -> Binding:
        """As the first live session that has bound it says; none has: not verified."""
        bound = [session.bindings.of(id) for session in self._live_of(client.place)]
        return next((binding for binding in bound if binding.verified), bound[0] if bound else Binding())

    # Inside.

    async def _begin(self, client: Client, session: Session) -> None:
        await self._tell(session, "debug.started", session.title)
        self._sessions[session.id] = _Kept(session, client.place, client.id, self._clock.monotonic_s())
        try:
            await self._group.start(self._live, session, client.place)
        except DragomanError as error:
            await self._tell(session, "debug.failed", str(error))
            raise

    async def _live(self, session: Session, workspace: str, **status: Any) -> None:
        with self._lived(session):
            await session.live(self._book.of(workspace), **status)
        await self._tell(session, "debug.ended", session.title)

    async def _performed(
        self, client: Client, session: Session, command: Coroutine[Any, Any, None], within_s: float
    ) -> Happened:
        """An adapter that does not answer takes no more of the caller's time than the caller gave."""
        before, begun_s = session.last_stop, self._clock.monotonic_s()
        with anyio.move_on_after(max(within_s, _ANSWERED_AT_LEAST_WITHIN_S)):
            await command
        left_s = within_s - (self._clock.monotonic_s() - begun_s)
        return await self._awaited(client, session, before, max(left_s, 0.0))

    async def _awaited(self, client: Client, session: Session, after_stop: int, within_s: float) -> Happened:
        kept = self._sessions[session.id]
        kept.client = client.id
        kept.waiting += 1
        try:
            outcome = await session.outcome(after_stop, within_s)
        finally:
            kept.waiting -= 1
            self._used(kept)
        if isinstance(outcome, Stop):
            self._told_stop[client.id, session.id] = outcome.number
        return Happened(session, outcome)

    def _used(self, kept: _Kept) -> Session:
        kept.used_at_s = self._clock.monotonic_s()
        return kept.session

    async def _spread(self, workspace: str) -> None:
        """The breakpoint is set whatever a session makes of it; one that does not take it shows it as not bound."""
        for session in self._live_of(workspace):
            try:
                await session.update_breakpoints(self._book.of(workspace))
            except DragomanError as error:
                log.warning("session %s did not take the breakpoints: %s", session.id, error)

    def _live_of(self, workspace: str) -> list[Session]:
        kept = [it.session for it in self._sessions.values() if it.workspace == workspace]
        return [session for session in kept if session.state in LIVE]

    def _seen(self, client: Client, session: Session) -> int | None:
        """A client that was never told of a stop decides on what it finds."""
        return self._told_stop.get((client.id, session.id))

    def _ids(self, client: Client) -> list[str]:
        return [session.id for session in self.sessions(client)]

    def _require_room(self) -> None:
        self._drop_old()
        if sum(kept.session.state in LIVE for kept in self._sessions.values()) >= SESSIONS_AT_MOST:
            raise faults.too_many_sessions(SESSIONS_AT_MOST)

    def _drop_old(self) -> None:
        now = self._clock.wall_ns()
        for id, kept in list(self._sessions.items()):
            if kept.session.ended is not None and now - kept.session.changed_at_ns > ENDED_KEPT_S * 1e9:
                del self._sessions[id]
                self._told_stop = {key: stop for key, stop in self._told_stop.items() if key[1] != id}

    async def _tell(self, session: Session, kind: str, text: str) -> None:
        """A full disk must neither end a session nor lose its answer."""
        try:
            await self._record.append([Event(kind=kind, session=session.id, text=f"{kind.replace('.', ' ')} {text}")])
        except DragomanError as error:
            log.warning("%s of session %s is not in the record: %s", kind, session.id, error)


@dataclass(slots=True)
class _Kept:
    session: Session
    workspace: str
    client: str
    used_at_s: float
    waiting: int = 0
