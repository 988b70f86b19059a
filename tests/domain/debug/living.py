"""A session over a fake adapter, alive for the length of a block."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from dragoman.debug.dialect import Dialect
from dragoman.debug.model import Stop
from dragoman.debug.service import Client, Disclosed, Wish
from dragoman.debug.session import Launch, Session
from dragoman.errors import DragomanError
from dragoman.testing.clocks import VirtualClock
from dragoman.testing.fake_adapter import FakeAdapter
from dragoman.workspace.breakpoints import Breakpoint

Told = list[tuple[str, dict[str, Any]]]


class NothingToDisclose:
    """For starters of tests in which nobody is asked for leave."""

    async def disclose(self, client: Client, wish: Wish) -> Disclosed:
        return Disclosed((), "")

    def approve(self, starts: Sequence[Disclosed]) -> None:
        pass


def session_of(
    adapter: FakeAdapter,
    *,
    dialect: Dialect | None = None,
    request: str = "launch",
    arguments: dict[str, Any] | None = None,
    exception_filters: tuple[str, ...] = (),
    told: Told | None = None,
) -> Session:
    launch = Launch(request, arguments or {}, "fake", dialect=dialect or Dialect(), exception_filters=exception_filters)
    record = told if told is not None else []
    return Session(
        "s1", "a.py", adapter, launch, VirtualClock(), tell=lambda kind, _, body: record.append((kind, body))
    )


@asynccontextmanager
async def living(session: Session, *breakpoints: Breakpoint) -> AsyncIterator[Session]:
    async with anyio.create_task_group() as group:
        await group.start(session.live, breakpoints)
        with anyio.fail_after(5):
            yield session
        group.cancel_scope.cancel()


async def stopped(session: Session, after: int = 0) -> Stop:
    outcome = await session.outcome(after, 2)
    assert isinstance(outcome, Stop), outcome
    return outcome


async def code_of(act: Callable[[], Awaitable[object]]) -> str:
    with pytest.raises(DragomanError) as caught:
        await act()
    return caught.value.code
