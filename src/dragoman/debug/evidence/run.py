"""A run for evidence: a session of its own, ended whatever happens, or a stopped one, borrowed and given back."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import anyio

from dragoman.clock import Clock
from dragoman.debug.evidence.probing import Probing
from dragoman.debug.evidence.sheet import Limit
from dragoman.debug.lives import OURSELVES
from dragoman.debug.model import Ended, Frame, Raised, Stop
from dragoman.debug.service import Client, DebugService, Happened, Wish
from dragoman.debug.session import Session
from dragoman.debug.states import LIVE, State
from dragoman.debug.thread_dump import ThreadDump
from dragoman.errors import DragomanError
from dragoman.ids import new_id

log = logging.getLogger(__name__)

How = Literal["exited", "exception", "stopped", "limit", "lost"]

_OVER_WITHIN_S = 5.0
_PAUSED_WITHIN_S = 3.0
_STOP_TOLD_WITHIN_S = 5.0
_LATE_S = 0.5  # what was written down is over when it is read: a stop is on its way, or none comes
_READ_EVERY_S = 0.1
_ASKED_AGAIN_AT_LEAST_S = 0.05
OUTPUT_CHARACTERS = 4000
_OF_TIME = frozenset({"seconds", "expression"})


@dataclass(frozen=True, slots=True)
class Subject:
    """What to run: a wish, as for any start, or a session that is stopped."""

    wish: Wish | None = None
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """How a run came to its end, or where it was when it was to end."""

    how: How
    limit: Limit = ""
    stop: Stop | None = None
    ended: Ended | None = None
    output: str = ""
    dump: ThreadDump = field(default_factory=ThreadDump)
    """Of one that was not over in time."""

    @property
    def raised(self) -> Raised | None:
        return self.stop.raised if self.stop is not None and self.how == "exception" else None

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.stop.frames[self.stop.at :] if self.stop else ()


Wait = Callable[[float], Coroutine[Any, Any, Happened]]


class Run:
    """What is asked of a run while it lasts. `client` is who it is waited for by: of an own run, the run itself."""

    def __init__(
        self, service: DebugService, clock: Clock, client: Client, session: Session, probing: Probing, *, is_own: bool
    ) -> None:
        self.session = session
        self.client = client
        self.probing = probing
        self.is_own = is_own
        self.is_kept = False
        """Left where it stands when the run is over, to be looked at by who asked for it."""
        self.service = service
        self._clock = clock
        self._deadline_s = clock.monotonic_s() + probing.sheet.limits.seconds
        self._printed = 0 if is_own else session.output.end

    @property
    def left_s(self) -> float:
        return max(0.0, self._deadline_s - self._clock.monotonic_s())

    async def finished(self) -> End:
        """Its end, an exception that nothing catches, a row that was judged to be the last, or a limit."""
        return await self._until_over(self._first if self.is_own else self._on)

    async def went_on(self) -> End:
        """The same from where it stands now."""
        return await self._until_over(self._on)

    async def _until_over(self, wait: Wait) -> End:
        while True:
            outcome = await self._awaited(wait)
            if not isinstance(outcome, Stop) or not self._is_unasked(outcome) or not self.left_s:
                return await self._told(outcome)
            wait = self._on

    async def let_end(self, within_s: float) -> Ended | None:
        """After its last stop: how a program ends that is stopped by what it did not catch."""
        if self.session.state is not State.STOPPED:
            return self.session.ended
        try:
            happened = await self._on(min(within_s, max(self.left_s, _ASKED_AGAIN_AT_LEAST_S)))
        except DragomanError:
            return None
        return happened.outcome if isinstance(happened.outcome, Ended) else None

    async def _first(self, within_s: float) -> Happened:
        return await self.service.wait(self.client, self.session.id, within_s=within_s)

    async def _on(self, within_s: float) -> Happened:
        return await self.service.resume(self.client, self.session.id, thread_id=None, within_s=within_s)

    async def _awaited(self, wait: Wait) -> Stop | Ended | None:
        """What is judged to be over while it runs is not waited for; at a stop, that stop comes after the judgement."""
        sheet = self.probing.sheet
        found: list[Stop | Ended | None] = []
        error: DragomanError | None = None
        async with anyio.create_task_group() as group:

            async def give_up() -> None:
                await sheet.is_over.wait()
                await anyio.sleep(_LATE_S if self.probing.is_written_down else _STOP_TOLD_WITHIN_S)
                group.cancel_scope.cancel("the run is over")

            group.start_soon(give_up)
            group.start_soon(self._read)
            try:
                found.append((await wait(self.left_s)).outcome)
            except DragomanError as raised:  # raised outside of the group, by itself
                error = raised
            group.cancel_scope.cancel("it has come")
        if error is not None:
            raise error
        return found[0] if found else None

    async def _read(self) -> None:
        while self.probing.is_written_down:
            await anyio.sleep(_READ_EVERY_S)
            self.probing.read()

    def _is_unasked(self, stop: Stop) -> bool:
        """Places in the program itself where it asks for a debugger: they are not what is asked about."""
        is_asked = stop.reason == "exception" or stop.reason.startswith("data")
        return not is_asked and not self.probing.sheet.is_over.is_set()

    async def _told(self, outcome: Stop | Ended | None) -> End:
        sheet = self.probing.sheet
        self.probing.read()
        if isinstance(outcome, Ended):
            how: How = "lost" if outcome.message or outcome.is_untold else "exited"
            return End(how, sheet.limit, ended=outcome, output=self._output())
        if outcome is None and not sheet.is_over.is_set():
            sheet.end("expression" if self.probing.under_way else "seconds")
        stop = outcome or await self._halted()
        if stop is not None and stop.reason == "exception" and not sheet.limit:
            return End("exception", stop=stop, output=self._output())
        if not sheet.limit:
            return End("stopped", stop=stop, output=self._output())
        return await self.limited(sheet.limit, stop)

    async def limited(self, limit: Limit, stop: Stop | None = None) -> End:
        """What took too long is told with where each thread is and what it waits for."""
        dump = ThreadDump()
        if limit in _OF_TIME:
            dump = await self.session.thread_dump(may_halt=stop is None)
        return End("limit", limit, stop=stop, output=self._output(), dump=dump)

    async def _halted(self) -> Stop | None:
        """Where a program is that did not come to an end, as far as its debugger can say; and a borrowed one stays."""
        if self.is_own and self.probing.sheet.limit != "seconds":
            return None
        try:
            happened = await self.service.pause(self.client, self.session.id, within_s=_PAUSED_WITHIN_S)
        except DragomanError:
            return None
        return happened.outcome if isinstance(happened.outcome, Stop) else None

    def _output(self) -> str:
        return self.session.output.since(self._printed, most=OUTPUT_CHARACTERS)[0]


class Evidence:
    """Where runs come from."""

    def __init__(self, service: DebugService, clock: Clock) -> None:
        self.service = service
        self._clock = clock

    def run(self, client: Client, subject: Subject, probing: Probing) -> AbstractAsyncContextManager[Run]:
        if subject.wish is None:
            return self._borrowed(client, subject.session_id, probing)
        return self._own(client, subject.wish, probing)

    @asynccontextmanager
    async def _own(self, client: Client, wish: Wish, probing: Probing) -> AsyncIterator[Run]:
        """By a client of its own, so that what its owner does next is not meant for it."""
        asking = replace(client, id=f"{new_id('evidence')}:{client.id}")
        with probing.written_down():
            async with self._started(client, asking, wish, probing) as run:
                yield run

    @asynccontextmanager
    async def _started(self, client: Client, asking: Client, wish: Wish, probing: Probing) -> AsyncIterator[Run]:
        with anyio.CancelScope(shield=True):  # who goes away during a start would leave a program behind
            happened = await self.service.start(asking, wish, within_s=0, probe=probing)
        run = Run(self.service, self._clock, asking, happened.session, probing, is_own=True)
        try:
            yield run
        finally:
            with anyio.CancelScope(shield=True):
                if run.is_kept and run.session.stands:
                    await _given_back(run.session)
                    await self.service.wait(client, run.session.id, within_s=0)  # it is its owner's from here
                else:
                    for session in (happened.session, *happened.others):
                        await _ended(session)

    @asynccontextmanager
    async def _borrowed(self, client: Client, session_id: str, probing: Probing) -> AsyncIterator[Run]:
        session = self.service.find(client, session_id)
        session.require_stopped()
        with probing.written_down():
            try:
                await session.probe(probing)
                yield Run(self.service, self._clock, client, session, probing, is_own=False)
            finally:
                with anyio.CancelScope(shield=True):
                    await _given_back(session)


async def _ended(session: Session) -> None:
    if session.state in LIVE - {State.TERMINATING}:
        await session.terminate(by=OURSELVES)
    while session.ended is None:
        if await session.outcome(session.last_stop, _OVER_WITHIN_S) is None:
            log.warning("session %s of a run for evidence takes long to end", session.id)
            return


async def _given_back(session: Session) -> None:
    """With the breakpoints of its clients."""
    if session.state not in LIVE:
        return
    try:
        with anyio.fail_after(_OVER_WITHIN_S):
            await session.probe(None)
    except (DragomanError, TimeoutError) as error:
        log.warning("session %s has not got its breakpoints back: %s", session.id, error)
