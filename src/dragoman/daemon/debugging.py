"""Debugging put together: supervised processes, the adapters, the sessions, and the tools over them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager

import anyio

from dragoman.clock import SystemClock
from dragoman.daemon.lives import Life, Lives
from dragoman.debug.launch import configurations
from dragoman.debug.service import DebugService
from dragoman.debug.session import Session
from dragoman.debug.starting import AdapterStarter
from dragoman.journal import Journal
from dragoman.tools import Operation
from dragoman.tools.debug import Waits, debug_operations
from dragoman.tools.redaction import Redactor
from dragoman.transport.supervisors import Supervisors
from dragoman.workspace.breakpoints import BreakpointBook

_LOOK_EVERY_S = 15.0


@asynccontextmanager
async def debugging(
    journal: Journal, lives: Lives, *, linger_s: float, redactor: Redactor
) -> AsyncIterator[Sequence[Operation]]:
    """At the end of the block no session and no process of one lives."""
    clock = SystemClock()

    def lived(session: Session) -> AbstractContextManager[None]:
        return lives.lived(Life(session.id, "debug", session.title))

    async with Supervisors() as supervisors, anyio.create_task_group() as group:
        book = BreakpointBook(journal, clock)
        await book.load()
        service = DebugService(group, book, AdapterStarter(supervisors, group), journal, clock, lived)
        group.start_soon(_end_unused, service, linger_s)
        yield debug_operations(service, configurations, Waits(clock), clock, redactor=redactor)
        group.cancel_scope.cancel("the daemon ends")


async def _end_unused(service: DebugService, linger_s: float) -> None:
    while True:
        await anyio.sleep(min(_LOOK_EVERY_S, linger_s / 2))
        await service.end_unused(linger_s)
