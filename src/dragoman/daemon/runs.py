"""Breakpoints of one run: `dragoman debug --break` sets them, and they go when the sessions of that run have ended.

Their owner is the run. No run outlives the daemon: what a killed one left in the store goes at the next start.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from dragoman.debug.service import Client, DebugService
from dragoman.debug.session import Session
from dragoman.debug.states import LIVE
from dragoman.ids import new_id
from dragoman.workspace.breakpoints import Breakpoint, BreakpointBook

_OWNER = "run"


@dataclass(eq=False)
class Run:
    """As a client it owns its breakpoints, and nothing else."""

    client: Client
    is_starting: bool = True
    sessions: set[str] = field(default_factory=set)

    def owns(self, breakpoint: Breakpoint) -> bool:
        return breakpoint.owner == self.client.id

    def lives(self, service: DebugService) -> bool:
        known = service.sessions(self.client)
        return self.is_starting or any(it.id in self.sessions and it.state in LIVE for it in known)


# Which run a session is started for: the tools between us and the session know nothing of runs.
_CURRENT: ContextVar[Run | None] = ContextVar("run", default=None)


class Runs:
    def __init__(self) -> None:
        self._open: set[Run] = set()
        self._changed = anyio.Event()

    @asynccontextmanager
    async def begun(self, workspace: Path) -> AsyncIterator[Run]:
        run = Run(Client(new_id(_OWNER), workspace, workspace))
        self._open.add(run)
        before = _CURRENT.set(run)
        try:
            yield run
        finally:
            _CURRENT.reset(before)
            run.is_starting = False
            self._changed.set()

    @contextmanager
    def lived(self, session: Session) -> Iterator[None]:
        run = _CURRENT.get()
        if run is not None:
            run.sessions.add(session.id)
        try:
            yield
        finally:
            self._changed.set()

    async def clean_up(self, service: DebugService) -> None:
        """For ever: a run whose last session has ended, or that came to none, takes its breakpoints with it."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            for run in [run for run in self._open if not run.lives(service)]:
                self._open.discard(run)
                await service.remove_breakpoints(run.client, run.owns)


async def remove_left_over(book: BreakpointBook) -> None:
    for workspace in book.workspaces():
        await book.remove(workspace, lambda it: it.owner.startswith(f"{_OWNER}-"))
