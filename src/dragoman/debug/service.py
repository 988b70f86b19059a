"""What a face may ask of debugging. Sessions belong to a workspace and outlast the call that made them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from dragoman.clock import Clock
from dragoman.debug import faults
from dragoman.debug.chronicle import Chronicle, Record
from dragoman.debug.following import Followed
from dragoman.debug.history.keeping import Keeping, nothing_kept
from dragoman.debug.launch.notes import Note
from dragoman.debug.lives import OURSELVES, Lives
from dragoman.debug.model import (
    Binding,
    Ended,
    Evaluated,
    Page,
    Scope,
    StepKind,
    Stop,
    ThreadSeen,
    Until,
)
from dragoman.debug.persons import is_person
from dragoman.debug.probe import Probe
from dragoman.debug.register import Kept, Register
from dragoman.debug.session import Session
from dragoman.debug.states import State
from dragoman.debug.thread_dump import ThreadDump
from dragoman.debug.wishes import Client, Disclosed, Preparation, Prepared, Starter, Wish
from dragoman.errors import DragomanError
from dragoman.redaction import SecretStream
from dragoman.workspace.breakpoints import Breakpoint, BreakpointBook

__all__ = ["Client", "DebugService", "Disclosed", "Happened", "Preparation", "Prepared", "Starter", "Wish"]

log = logging.getLogger(__name__)

_ANSWERED_AT_LEAST_WITHIN_S = 1.0  # also for who does not wait: a refusal is worth it
# A session takes breakpoints in milliseconds; one that hangs must not hold up whoever sets them for the others.
_TAKEN_WITHIN_S = 2.0
_PAUSED_WITHIN_S = 4.0  # Lua programs look for messages every two seconds
_BLOCKED_AFTER_S = 0.7  # a thread that runs halts within milliseconds, where the machine is idle
_BUSY_HALTED_WITHIN_S = 1.9
_TAKEN_AFTER_ANOTHER_WITHIN_S = 0.5
_ADOPTED_WITHIN_S = 10.0
_EXPRESSION_IN_RECORD = 200
_TABLE_IN_RECORD = 16_000
_EXPRESSION_LOOKED_AT = 4000


@dataclass(frozen=True, slots=True)
class Happened:
    """What came of a waiting call. No outcome: the time was over, and the session goes on as its state says."""

    session: Session
    outcome: Stop | Ended | None
    others: tuple[Session, ...] = ()
    """What was started with it."""
    dump: ThreadDump = field(default_factory=ThreadDump)
    """Of a program that did not halt."""


class DebugService:
    def __init__(
        self,
        group: TaskGroup,
        book: BreakpointBook,
        starter: Starter,
        record: Record,
        clock: Clock,
        lived: Callable[[Session], AbstractContextManager[None]] = lambda _: nullcontext(),
        redacted: Callable[[str, str], str] = lambda _, text: text,
        keeping: Keeping = nothing_kept,
        secrets: Callable[[], SecretStream] | None = None,
    ) -> None:
        """`lived` surrounds a session's life, for whoever must know what would end with the daemon. `redacted` is asked
        for what a name or an expression stands for; the name may be empty."""
        self._redacted = redacted
        self._book = book
        self._starter = starter
        self._clock = clock
        self._register = Register(clock)
        self._chronicle = Chronicle(record)
        self._lives = Lives(group, book, self._register, self._chronicle, clock, lived, keeping, secrets)
        group.start_soon(self._chronicle.write)

    # Sessions.

    async def start(self, client: Client, wish: Wish, *, within_s: float, probe: Probe | None = None) -> Happened:
        """All that the wish names are begun; one that cannot be is the error, and ends the others."""
        self._register.require_room(1)
        deadline_s = self._clock.monotonic_s() + within_s
        preparation = await self._starter.prepare(client, wish)
        begun_s = self._left_s(deadline_s) if within_s else preparation.begun_unawaited_within_s
        sessions = await self._lives.begin(client, preparation, within_s=begun_s, probe=probe)
        return await self.first(client, sessions, within_s=self._left_s(deadline_s))

    async def disclose(self, client: Client, wish: Wish) -> Disclosed:
        """What it would run, where it may run at all."""
        return await self._starter.disclose(client, wish)

    def approve(self, starts: Sequence[Disclosed]) -> None:
        """For who starts several: leave for all of them at once, before the first one runs."""
        self._starter.approve(starts)

    async def launch(self, client: Client, wish: Wish) -> list[Session]:
        """They are there, and nothing of their beginning is waited for; `begun` does."""
        self._register.require_room(1)
        return await self._lives.begin(client, await self._starter.prepare(client, wish), within_s=0.0)

    async def begun(self, client: Client, sessions: Sequence[Session], *, within_s: float) -> Happened:
        """Of those that `launch` gave: as `start`, for who may stop waiting while they are still starting."""
        deadline_s = self._clock.monotonic_s() + within_s
        await self._lives.begun([self._register.by_id(session.id) for session in sessions])
        return await self.first(client, sessions, within_s=self._left_s(deadline_s))

    async def open(self, client: Client, wish: Wish, hold: anyio.Event) -> Session:
        """For who sets breakpoints once the debugger is there: nothing is waited for, and the program starts when
        `hold` is set. Of a compound, the others start as they would."""
        self._register.require_room(1)
        preparation = await self._starter.prepare(client, wish)
        first, *others = preparation.sessions
        held = replace(preparation, sessions=(replace(first, hold=hold), *others))
        return (await self._lives.begin(client, held, within_s=0.0))[0]

    async def adopt(self, client: Client, prepared: Prepared) -> Session:
        """A program that somebody else started, and debugs: from now on its session is one of the workspace's."""
        return (await self._lives.begin(client, Preparation((prepared,)), within_s=_ADOPTED_WITHIN_S))[0]

    @contextmanager
    def followed(self, session_id: str, by: str) -> Iterator[Followed]:
        """Of any workspace: whoever knows the id was told it. As long as it is followed, it is not ended as unused."""
        followed = self.known(session_id)
        with self._register.followed(followed.kept):
            self._chronicle.tell("debug.joined", session_id, "", {"by": by}, workspace=followed.kept.workspace)
            try:
                yield followed
            finally:
                self._chronicle.tell("debug.left", session_id, "", {"by": by}, workspace=followed.kept.workspace)

    def known(self, session_id: str) -> Followed:
        """As it is at this moment."""
        return Followed(self._register.anywhere(session_id))

    async def first(self, client: Client, sessions: Sequence[Session], *, within_s: float) -> Happened:
        """Of several that were started together: what comes first of any of them."""
        chosen = sessions[0]

        async def wait(session: Session, scope: anyio.CancelScope) -> None:
            nonlocal chosen
            if await session.outcome(self._register.seen(client, session) or 0, within_s) is not None:
                chosen = session
                scope.cancel("the first is told")

        if len(sessions) > 1:
            async with anyio.create_task_group() as group:
                for session in sessions:
                    group.start_soon(wait, session, group.cancel_scope)
            within_s = 0.0
        seen = self._register.seen(client, chosen) or 0
        told = await self._awaited(client, self._register.by_id(chosen.id), seen, within_s)
        return Happened(told.session, told.outcome, tuple(it for it in sessions if it is not chosen))

    async def restart(self, client: Client, session_id: str, *, within_s: float) -> Happened:
        """Under the same id, with the same breakpoints; one that has ended can be started again as well."""
        kept = self._register.known(client, session_id) if session_id else self._register.meant_or_last(client)
        session, deadline_s = kept.session, self._clock.monotonic_s() + within_s
        if session.restarts_in_place and session.ended is None:
            return await self._performed(client, session, session.restart(by=client.id), within_s)
        before = session.last_stop
        with self._lives.restarting(kept):
            preparation = await self._starter.prepare(client, kept.prepared.wish)  # where that fails, nothing is lost
            begun_s = self._left_s(deadline_s) if within_s else preparation.begun_unawaited_within_s
            await self._lives.begin_again(client, kept, preparation, within_s=begun_s)
        return await self._awaited(client, kept, before, self._left_s(deadline_s))

    def notes(self, session_id: str) -> tuple[Note, ...]:
        """On how its configuration was taken."""
        return self._register.by_id(session_id).prepared.notes

    def is_restarting(self, session_id: str) -> bool:
        """Whether its end is that of one life, and the next begins under the same id."""
        return self._register.by_id(session_id).restarted is not None

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
        seen = self._register.seen(client, session)
        resumed = session.resume(thread_id=thread_id, seen_stop=seen, by=client.id, until=until)
        return await self._performed(client, session, resumed, within_s)

    async def step(
        self, client: Client, session_id: str, kind: StepKind, *, thread_id: int | None, within_s: float
    ) -> Happened:
        session = self.find(client, session_id)
        seen = self._register.seen(client, session)
        stepped = session.step(kind, thread_id=thread_id, seen_stop=seen, by=client.id)
        return await self._performed(client, session, stepped, within_s)

    async def pause(self, client: Client, session_id: str, *, within_s: float) -> Happened:
        """Asked for once more where nothing came of it: js-debug loses one that overtakes the continue before it.

        A program that waits in native code halts when it comes back from there, perhaps never. Where a thread dump says
        where each thread is, that is the answer, within two seconds, and nobody is kept waiting for more."""
        session, began_s = self.find(client, session_id), self._clock.monotonic_s()
        kept, before = self._register.by_id(session.id), session.last_stop

        async def wait_until(seconds: float) -> Happened:
            return await self._awaited(client, kept, before, self._left_s(began_s + min(seconds, within_s)))

        first_s = min(within_s, _BLOCKED_AFTER_S if session.sees_running else _PAUSED_WITHIN_S)
        before_it = await session.thread_dump(may_halt=False) if session.is_seen_before_a_pause else ThreadDump()
        happened = await self._performed(client, session, session.pause(by=client.id), first_s)
        if session.sees_running and _is_halting(happened):
            dump = before_it or await session.thread_dump(may_halt=False)
            can_halt = session.launch.dialect.loses_pauses and dump.is_placed  # its code runs, or can be interrupted
            if (dump.is_blocked or dump.is_placed) and not can_halt:
                if session.launch.dialect.loses_pauses and not dump.native and session.state is State.RUNNING:
                    await self._performed(client, session, session.pause(by=client.id), 0.0)
                told = await wait_until(0.0 if dump.is_blocked and not before_it else _BUSY_HALTED_WITHIN_S)
                return replace(told, dump=dump)
            happened = await wait_until(_PAUSED_WITHIN_S)
        if not _is_halting(happened) or within_s <= _PAUSED_WITHIN_S:
            return happened
        again, left_s = session.pause(by=client.id), self._left_s(began_s + within_s)
        return await self._performed(client, session, again, left_s)

    async def wait(self, client: Client, session_id: str, *, within_s: float) -> Happened:
        """For whoever started without waiting: the stop after the last one this client was told of."""
        session = self.find(client, session_id)
        seen = self._register.seen(client, session) or 0
        return await self._awaited(client, self._register.by_id(session.id), seen, within_s)

    async def stop(self, client: Client, session_id: str) -> Session:
        session = self.find(client, session_id)
        session.note_name(client.id, client.name)
        await session.terminate(by=client.id)
        return session

    def find(self, client: Client, session_id: str = "") -> Session:
        """By id; without one, the only live session of the workspace, or the last one that this client was shown."""
        kept = self._register.known(client, session_id) if session_id else self._register.meant(client)
        return kept.session

    def find_or_last(self, client: Client, session_id: str = "") -> Session:
        """For what can be asked of an ended session too."""
        kept = self._register.known(client, session_id) if session_id else self._register.meant_or_last(client)
        return kept.session

    def newest(self, client: Client) -> Session:
        """Of the workspace, whoever was shown it: for an editor that wants to watch."""
        return self._register.newest(client).session

    def sessions(self, client: Client) -> list[Session]:
        """Live ones, and ended ones for ten minutes."""
        return self._register.of(client)

    def live(self, *, lent: bool = False) -> list[Session]:
        """Of every folder; without those that an editor lends, which has them already, unless they are wanted too."""
        every = [it for place in self._register.workspaces() for it in self._register.live_of(place)]
        return [session for session in every if lent or not session.is_a_persons]

    def printed_by(self, session_id: str, most: int) -> str:
        """The end of what it printed; nothing, where it is not known any more."""
        try:
            session = self._register.anywhere(session_id).session
        except DragomanError:
            return ""
        return self._redacted("", session.output.since(0, most=most)[0])

    def workspaces(self) -> set[str]:
        """Those that have sessions."""
        return self._register.workspaces()

    async def end_unused(self, linger_s: float) -> None:
        """A session lives by a lease: so long after the last call, and with nobody waiting, it is ended."""
        for session in self._register.unused(linger_s):
            log.info("session %s is ended: unused for more than %d seconds", session.id, linger_s)
            await session.terminate(by=OURSELVES)

    # Looking.

    async def scopes(
        self, client: Client, session_id: str, frame: int | None, *, thread_id: int | None = None
    ) -> tuple[Scope, ...]:
        return await self.find(client, session_id).looks.scopes(frame, thread_id)

    async def page(self, client: Client, session_id: str, reference: int, *, start: int, count: int) -> Page:
        """Of what a variable or a scope holds, whether its adapter pages or not."""
        return await self.find(client, session_id).looks.page(reference, start=start, count=count)

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
        session = self.find(client, session_id)
        found = await session.looks.evaluate(expression, frame, context, timeout_s=within_s, thread_id=thread_id)
        asked, result = self._in_record(expression), self._in_record(found.result, of=expression)
        told = {"expression": asked, "result": result, "by": client.id}
        self._chronicle.tell("debug.evaluated", session.id, asked, told, workspace=client.place)
        return found

    async def set_variable(
        self, client: Client, session_id: str, *, name: str, value: str, reference: int | None, frame: int | None
    ) -> Evaluated:
        """Without a reference it is looked up in the scopes of the frame, or set as an expression."""
        session = self.find(client, session_id)
        found = await session.looks.set_variable(name, value, reference, frame)
        asked = self._in_record(name)
        told = {"name": asked, "by": client.id}
        self._chronicle.tell("debug.variable_set", session.id, asked, told, workspace=client.place)
        return found

    def record_trace(self, client: Client, session_id: str, places: str, table: str) -> None:
        """What a whole run showed, for whoever reads of it later. Secrets are out of it already."""
        told = {"place": places[:_EXPRESSION_IN_RECORD], "table": table[:_TABLE_IN_RECORD], "by": client.id}
        self._chronicle.tell("debug.traced", session_id, told["place"], told, workspace=client.place)

    def _in_record(self, text: str, of: str = "") -> str:
        """Cut last: nothing tells half a secret from other words."""
        return self._redacted(of, text[:_EXPRESSION_LOOKED_AT])[:_EXPRESSION_IN_RECORD]

    async def threads(self, client: Client, session_id: str, *, placed: bool = True) -> tuple[ThreadSeen, ...]:
        """Where each stands costs a question a thread; a step that only counts them does without."""
        return await self.find(client, session_id).looks.threads(placed=placed)

    # Breakpoints.

    async def set_breakpoint(self, client: Client, wanted: Breakpoint) -> tuple[Breakpoint, Binding]:
        if wanted.kind == "data":
            session = self.find(client, wanted.session)
            wanted = msgspec.structs.replace(await session.looks.data_of(wanted), session=session.id)
        made = await self._book.add(client.place, wanted)
        await self._spread(client.place)
        return made, self.binding(client, made.id)

    async def change_breakpoint(self, client: Client, id: int, **fields: object) -> tuple[Breakpoint, Binding]:
        """Whoever's it is: the last writer wins."""
        if any(it.id == id and self._is_kept(client, it) for it in self._book.of(client.place)):
            raise faults.persons_own()
        changed = await self._book.change(client.place, id, **fields)
        await self._spread(client.place)
        return changed, self.binding(client, id)

    async def replace_breakpoints(
        self, client: Client, which: Callable[[Breakpoint], bool], wanted: Sequence[Breakpoint]
    ) -> list[Breakpoint]:
        """A whole list at once, as DAP sets them: those of `which` become those wanted, of which known ones keep their
        id. In the order of the list."""
        made = await self._book.replace(client.place, which, wanted)
        await self._spread(client.place)
        return made

    async def remove_breakpoints(self, client: Client, which: Callable[[Breakpoint], bool]) -> list[Breakpoint]:
        meant = [it for it in self._book.of(client.place) if which(it)]
        if meant and all(self._is_kept(client, it) for it in meant):
            raise faults.persons_own()
        gone = await self._book.remove(
            client.place, lambda it: which(it) and not self._is_kept(client, it), by=client.id
        )
        if gone:
            await self._spread(client.place)
        return gone

    def _is_kept(self, client: Client, breakpoint: Breakpoint) -> bool:
        """A person's own in a session that they lend: their editor has it, and nobody here can take it from there."""
        if not breakpoint.session or breakpoint.owner == client.id or not is_person(breakpoint.owner):
            return False
        live = self._register.live_of(client.place)
        return any(it.id == breakpoint.session and it.is_a_persons for it in live)

    def breakpoints(self, client: Client) -> list[tuple[Breakpoint, Binding]]:
        return [(it, self.binding(client, it.id)) for it in self._book.of(client.place)]

    def has_breakpoint(self, id: int) -> bool:
        return self._book.has(id)

    def binding(self, client: Client, id: int) -> Binding:
        """As the first live session that has bound it says; none has: not verified."""
        bound = [it.bindings.of(id) for it in self._register.live_of(client.place) if not it.is_ending]
        return next((binding for binding in bound if binding.verified), bound[0] if bound else Binding())

    # Inside.

    async def _performed(
        self, client: Client, session: Session, command: Coroutine[Any, Any, None], within_s: float
    ) -> Happened:
        """An adapter that does not answer takes no more of the caller's time than the caller gave."""
        session.note_name(client.id, client.name)
        before, deadline_s = session.last_stop, self._clock.monotonic_s() + within_s
        with anyio.move_on_after(max(within_s, _ANSWERED_AT_LEAST_WITHIN_S)):
            await command
        return await self._awaited(client, self._register.by_id(session.id), before, self._left_s(deadline_s))

    async def _awaited(self, client: Client, kept: Kept, after_stop: int, within_s: float) -> Happened:
        """The end of a session that is being started again is no outcome: its next life has one."""
        deadline_s = self._clock.monotonic_s() + within_s
        outcome: Stop | Ended | None = None
        with self._register.waited_for(client, kept):
            while True:
                left_s = self._left_s(deadline_s)
                outcome = await kept.session.outcome(after_stop, left_s)
                again = kept.restarted
                if not isinstance(outcome, Ended) or again is None:
                    break
                with anyio.move_on_after(left_s) as waiting:
                    await again.wait()
                if waiting.cancelled_caught:
                    outcome = None
                    break
        if isinstance(outcome, Ended):
            await self._lives.require_begun(kept)
        self._register.show(client, kept.session)
        if isinstance(outcome, Stop):
            self._register.told(client, kept.session, outcome.number)
        return Happened(kept.session, outcome)

    def _left_s(self, deadline_s: float) -> float:
        return max(deadline_s - self._clock.monotonic_s(), 0.0)

    async def _spread(self, workspace: str) -> None:
        """The breakpoint is set whatever a session makes of it; one that does not take it shows it as not bound.

        Who no longer waits leaves it to the session, which takes it as soon as it can."""
        async with anyio.create_task_group() as group:
            group.cancel_scope.deadline = anyio.current_time() + _TAKEN_WITHIN_S
            for session in self._register.live_of(workspace):
                if session.is_ending:
                    continue
                group.start_soon(self._update, session, workspace, group.cancel_scope)

    async def _update(self, session: Session, workspace: str, waiting: anyio.CancelScope) -> None:
        try:
            await session.update_breakpoints(self._book.of(workspace))
        except DragomanError as error:
            log.warning("session %s did not take the breakpoints: %s", session.id, error)
        else:
            waiting.deadline = min(waiting.deadline, anyio.current_time() + _TAKEN_AFTER_ANOTHER_WITHIN_S)


def _is_halting(happened: Happened) -> bool:
    return happened.outcome is None and happened.session.state is State.RUNNING
