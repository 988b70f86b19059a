"""Breakpoints of one run: `dragoman debug --break` sets them, and they go when the sessions of that run have ended.

Their owner is the run. Who starts one of its sessions again gets them back. No run outlives the daemon: what a killed
one left in the store goes at the next start.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from dragoman.debug.service import DebugService
from dragoman.debug.session import Session
from dragoman.debug.states import LIVE
from dragoman.debug.wishes import Client, Disclosed, Preparation, Starter, Wish
from dragoman.ids import new_id
from dragoman.workspace.breakpoints import Breakpoint, BreakpointBook

_OWNER = "run"


@dataclass(eq=False)
class Run:
    """As a client it owns its breakpoints, and nothing else."""

    client: Client
    is_starting: bool = True
    sessions: set[str] = field(default_factory=set)
    wishes: list[Wish] = field(default_factory=list)
    """What starts its sessions again: these very objects."""
    removed: list[Breakpoint] = field(default_factory=list)

    def owns(self, breakpoint: Breakpoint) -> bool:
        return breakpoint.owner == self.client.id

    def lives(self, service: DebugService) -> bool:
        return self.is_starting or any(
            session.state in LIVE or service.is_restarting(session.id) for session in self._known(service)
        )

    def is_forgotten(self, service: DebugService) -> bool:
        return not self.is_starting and not self._known(service)

    def _known(self, service: DebugService) -> list[Session]:
        return [session for session in service.sessions(self.client) if session.id in self.sessions]


# Which run a session is started for: the tools between us and the session know nothing of runs.
_CURRENT: ContextVar[Run | None] = ContextVar("run", default=None)


class Runs:
    """Stands between the service and the starter, where it is told of every start."""

    def __init__(self, book: BreakpointBook, starter: Starter) -> None:
        self._book = book
        self._starter = starter
        self._known: set[Run] = set()
        self._changed = anyio.Event()

    @asynccontextmanager
    async def begun(self, workspace: Path) -> AsyncIterator[Run]:
        run = Run(Client(new_id(_OWNER), workspace, workspace))
        self._known.add(run)
        before = _CURRENT.set(run)
        try:
            yield run
        finally:
            _CURRENT.reset(before)
            run.is_starting = False
            self.look()

    async def prepare(self, client: Client, wish: Wish) -> Preparation:
        run = _CURRENT.get() or self._of(wish)
        if run is None:
            return await self._starter.prepare(client, wish)
        while run.removed:
            await self._book.add(run.client.place, run.removed.pop(0))
        preparation = await self._starter.prepare(client, wish)
        run.wishes += [prepared.wish for prepared in preparation.sessions]
        return preparation

    async def disclose(self, client: Client, wish: Wish) -> Disclosed:
        return await self._starter.disclose(client, wish)

    def approve(self, starts: Sequence[Disclosed]) -> None:
        self._starter.approve(starts)

    @contextmanager
    def lived(self, session: Session) -> Iterator[None]:
        run = _CURRENT.get()
        if run is not None:
            run.sessions.add(session.id)
        try:
            yield
        finally:
            self.look()

    def look(self) -> None:
        self._changed.set()

    async def clean_up(self, service: DebugService) -> None:
        """For ever: a run whose last session has ended, or that came to none, loses its breakpoints."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            for run in [run for run in self._known if not run.lives(service)]:
                run.removed += await service.remove_breakpoints(run.client, run.owns)
                if run.is_forgotten(service):
                    self._known.discard(run)

    def _of(self, wish: Wish) -> Run | None:
        return next((run for run in self._known if any(known is wish for known in run.wishes)), None)


async def remove_left_over(book: BreakpointBook) -> None:
    for workspace in book.workspaces():
        await book.remove(workspace, lambda it: it.owner.startswith(f"{_OWNER}-"))
