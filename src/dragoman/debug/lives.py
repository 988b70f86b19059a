"""The lives of sessions: begun together, begun again under the same id, and what is done when one is over."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from dragoman.clock import Clock
from dragoman.debug import faults
from dragoman.debug.chronicle import Chronicle
from dragoman.debug.history.keeping import Keeping, nothing_kept
from dragoman.debug.model import Stop
from dragoman.debug.probe import Probe
from dragoman.debug.register import Kept, Register
from dragoman.debug.session import Session
from dragoman.debug.states import LIVE
from dragoman.debug.wishes import Client, Preparation, Prepared, begun_unawaited_within_s
from dragoman.errors import DragomanError
from dragoman.ids import new_id
from dragoman.phrases import say
from dragoman.redaction import SecretStream
from dragoman.workspace.breakpoints import BreakpointBook

log = logging.getLogger(__name__)

OURSELVES = "dragoman"
"""Who ends a session that nobody uses, or that belongs to one that has ended."""

_AFTERWARDS_WITHIN_S = 60.0
_AT_OUR_OWN_END_WITHIN_S = 5.0  # whoever ends the daemon waits for it
_TIDIED_WITHIN_S = 3.0
_OVER_WITHIN_S = 20.0


class Lives:
    def __init__(
        self,
        group: TaskGroup,
        book: BreakpointBook,
        register: Register,
        chronicle: Chronicle,
        clock: Clock,
        lived: Callable[[Session], AbstractContextManager[None]],
        keeping: Keeping = nothing_kept,
        secrets: Callable[[], SecretStream] | None = None,
    ) -> None:
        self._group = group
        self._book = book
        self._register = register
        self._chronicle = chronicle
        self._clock = clock
        self._lived = lived
        self._keeping = keeping
        self._secrets = secrets

    async def begin(
        self, client: Client, preparation: Preparation, *, within_s: float, probe: Probe | None = None
    ) -> list[Session]:
        """All of a preparation, at the same time; the first that fails is the error, and takes the others with it.

        When the time is over they are still starting; what comes of that is told to whoever waits for them."""
        async with _let_go_on_failure(preparation):
            self._register.require_room(len(preparation.sessions))
            sessions = [self._made(new_id("debug"), client, prepared, probe=probe) for prepared in preparation.sessions]
        kept = [self._register.add(*pair, client) for pair in zip(sessions, preparation.sessions, strict=True)]
        self._register.show(client, sessions[0])
        for prepared in preparation.sessions:
            if prepared.newcomers is not None:
                self._group.start_soon(self._welcome, client, prepared.newcomers)
        await self._begun(kept, stop_all=preparation.stop_all, within_s=within_s)
        return sessions

    async def _welcome(self, client: Client, newcomers: AsyncIterator[Prepared]) -> None:
        """One that cannot be begun is no reason to turn the next away."""
        async for prepared in newcomers:
            try:
                await self.begin(client, Preparation((prepared,)), within_s=0.0)
            except DragomanError as error:
                log.info("a program that came to us got no session: %s", error)

    @contextmanager
    def restarting(self, kept: Kept) -> Iterator[None]:
        if kept.restarted is not None:
            raise faults.restarts_already()
        kept.restarted = again = anyio.Event()
        try:
            yield
        finally:
            kept.restarted = None
            again.set()

    async def begin_again(self, client: Client, kept: Kept, preparation: Preparation, *, within_s: float) -> None:
        (prepared,) = preparation.sessions
        async with _let_go_on_failure(preparation):
            await self._over(kept, client.id)
            session = self._made(kept.session.id, client, prepared, follows=kept.session)
        kept.session, kept.prepared, kept.let_go = session, prepared, anyio.Event()
        kept.client, kept.failure = client.id, None
        await self._begun([kept], stop_all=False, within_s=within_s)

    async def _over(self, kept: Kept, by: str) -> None:
        """The old life is over, with its processes and its afterwards, before the next one begins."""
        if kept.session.state in LIVE:
            await kept.session.terminate(by=by)
        with anyio.move_on_after(_OVER_WITHIN_S):
            await kept.let_go.wait()

    def _made(
        self,
        id: str,
        client: Client,
        prepared: Prepared,
        *,
        follows: Session | None = None,
        probe: Probe | None = None,
    ) -> Session:
        def keep(stop: Stop) -> None:
            self._chronicle.keep(partial(self._keeping, id, prepared.title, client.place, stop))

        session = Session(
            id,
            prepared.title,
            prepared.backend,
            prepared.launch,
            self._clock,
            facts=prepared.facts,
            follows=follows,
            probe=probe,
            tell=lambda kind, text, body: self._chronicle.tell(kind, id, text, body, workspace=client.place),
            keep=keep,
            hold=prepared.hold,
            secrets=self._secrets,
        )
        if prepared.made is not None:
            prepared.made(session)
        return session

    async def _begun(self, every: Sequence[Kept], *, stop_all: bool, within_s: float) -> None:
        """In the daemon's group: whoever is not willing to wait longer leaves a session behind that is starting."""
        begins = anyio.Event()
        for kept in every:
            kept.begins = begins
        self._group.start_soon(partial(self._begin_together, every, begins, stop_all=stop_all))
        for kept in every:
            await kept.session.begun()
        await _awaited(every[0], within_s)

    async def begun(self, every: Sequence[Kept]) -> None:
        """As long as is waited for who does not wait; a failure until then is raised."""
        await _awaited(every[0], begun_unawaited_within_s([kept.prepared for kept in every]))

    async def _begin_together(self, every: Sequence[Kept], begins: anyio.Event, *, stop_all: bool) -> None:
        """Whoever asks what came of it is told of a failure; see `require_begun`."""
        try:
            await self._begin_all(every, stop_all=stop_all)
        except DragomanError as failure:
            for kept in every:
                kept.failure = failure
                await kept.session.abandon()
        finally:
            begins.set()

    async def require_begun(self, kept: Kept) -> None:
        """For one that has ended: what its end means is known when its beginning is over."""
        if kept.begins is not None:
            with anyio.move_on_after(_OVER_WITHIN_S):
                await kept.begins.wait()
        if kept.failure is not None:
            raise kept.failure

    async def _begin_all(self, every: Sequence[Kept], *, stop_all: bool) -> None:
        failures: list[DragomanError] = []

        async def begin(kept: Kept, scope: anyio.CancelScope) -> None:
            try:
                await self._begin(kept)
            except DragomanError as error:
                failures.append(error)
                scope.cancel("one of several could not be started")

        async with anyio.create_task_group() as group:
            for kept in every:
                group.start_soon(begin, kept, group.cancel_scope)
        if failures:
            raise failures[0]
        for kept in every if stop_all else ():
            kept.ends_with = tuple(it.session.id for it in every if it is not kept)

    async def _begin(self, kept: Kept) -> None:
        session = kept.session
        about: dict[str, Any] = {"title": session.title, "workspace": kept.workspace, "by": kept.client}
        about |= {"in_editor": True} if session.is_a_persons else {}
        self._chronicle.tell("debug.started", session.id, session.title, about, workspace=kept.workspace)
        try:
            await self._group.start(self._live, kept, session)
        except DragomanError as error:
            told = {"code": error.code}
            self._chronicle.tell("debug.failed", session.id, error.code, told, workspace=kept.workspace)
            raise

    async def _live(self, kept: Kept, session: Session, *, task_status: TaskStatus[None]) -> None:
        """What must know of an end knows at once; what is tidied up afterwards takes its time, within bounds."""
        with ExitStack() as listed:
            listed.callback(partial(self._ended, kept, session))
            listed.enter_context(self._lived(session))
            session.when_ended(listed.close)
            afterwards_s = _AFTERWARDS_WITHIN_S
            try:
                await session.live(self._book.of(kept.workspace), task_status=task_status)
            except anyio.get_cancelled_exc_class():
                afterwards_s = _AT_OUR_OWN_END_WITHIN_S
                raise
            finally:
                listed.close()
                await self._tidy(kept, session, afterwards_s)

    def _ended(self, kept: Kept, session: Session) -> None:
        ended = session.ended
        told: dict[str, Any] = {"exit_code": ended.exit_code} if ended and ended.exit_code is not None else {}
        told |= {"by": ended.by} if ended and ended.by else {}
        self._chronicle.tell("debug.ended", session.id, session.title, told, workspace=kept.workspace)
        if kept.restarted is None:
            self._group.start_soon(self._end_with, kept.ends_with)

    async def _end_with(self, ids: Sequence[str]) -> None:
        for id in ids:
            session = self._register.by_id(id).session
            if session.state in LIVE:
                await session.terminate(by=OURSELVES)

    async def _tidy(self, kept: Kept, session: Session, afterwards_s: float) -> None:
        """Shielded: a daemon that ends does it as well."""
        let_go, prepared = kept.let_go, kept.prepared
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(afterwards_s):
                await self._afterwards(prepared, session, kept.workspace)
            with anyio.move_on_after(_TIDIED_WITHIN_S):
                await self._forget_own(kept, session)
                await self._chronicle.flush()
        let_go.set()

    async def _afterwards(self, prepared: Prepared, session: Session, place: str) -> None:
        """A failure is told where the program's own last words are: there is nobody left to raise it to."""
        if prepared.afterwards is None:
            return
        try:
            await prepared.afterwards()
        except DragomanError as error:
            failed = say("What the configuration wants done afterwards failed: {reason}", reason=error.message)
            session.output.append("console", f"{failed}\n")
            told = {"code": error.code}
            self._chronicle.tell("debug.afterwards_failed", session.id, error.code, told, workspace=place)
        except Exception:
            log.exception("session %s: what was to be done afterwards failed", session.id)

    async def _forget_own(self, kept: Kept, session: Session) -> None:
        """The adapter's names for data mean nothing to any other life; the rest goes when there is no next one."""
        is_last = kept.restarted is None
        try:
            await self._book.remove(
                kept.workspace, lambda it: it.session == session.id and (is_last or it.kind == "data")
            )
        except DragomanError as error:
            log.warning("breakpoints of session %s are still in the book: %s", session.id, error)


async def _awaited(kept: Kept, within_s: float) -> None:
    with anyio.move_on_after(within_s):
        if kept.begins is not None:
            await kept.begins.wait()
    if kept.failure is not None:
        raise kept.failure


@asynccontextmanager
async def _let_go_on_failure(preparation: Preparation) -> AsyncIterator[None]:
    """What was prepared and never came to live runs already."""
    try:
        yield
    except BaseException:
        with anyio.CancelScope(shield=True):
            for prepared in preparation.sessions:
                await prepared.backend.end()
        raise
