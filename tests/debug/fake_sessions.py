"""A session over a fake adapter, alive for the length of a block."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import LaunchRequest, Stop
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.launch_request import LaunchPreview
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller
from tests.support.clocks import VirtualClock
from tests.support.fake_adapter import FakeAdapter

RecordedEvents = list[tuple[str, dict[str, Any]]]


class NothingToDisclose:
    """For starters of tests in which nobody is asked for leave."""

    async def preview(self, client: Caller, launch_request: LaunchRequest) -> LaunchPreview:
        return LaunchPreview((), "")

    def approve(self, starts: Sequence[LaunchPreview]) -> None:
        pass


def session_of(
    adapter: FakeAdapter,
    *,
    quirks: AdapterQuirks | None = None,
    request: str = "launch",
    arguments: dict[str, Any] | None = None,
    exception_filters: tuple[str, ...] = (),
    recorded: RecordedEvents | None = None,
) -> DebugSession:
    launch = AdapterLaunch(
        request, arguments or {}, "fake", quirks=quirks or AdapterQuirks(), exception_filters=exception_filters
    )
    record = recorded if recorded is not None else []
    return DebugSession(
        "s1", "a.py", adapter, launch, VirtualClock(), record_event=lambda kind, _, body: record.append((kind, body))
    )


@asynccontextmanager
async def running_session(session: DebugSession, *breakpoints: Breakpoint) -> AsyncIterator[DebugSession]:
    async with anyio.create_task_group() as group:
        await group.start(session.live, breakpoints)
        with anyio.fail_after(5):
            yield session
        group.cancel_scope.cancel()


async def stopped(session: DebugSession, after: int = 0) -> Stop:
    outcome = await session.outcome(after, 2)
    assert isinstance(outcome, Stop), outcome
    return outcome


async def code_of(act: Callable[[], Awaitable[object]]) -> str:
    with pytest.raises(DragomanError) as caught:
        await act()
    return caught.value.code
