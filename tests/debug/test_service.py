"""The debug service, with a journal that fails and sessions that come and go meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.debug.model import LaunchRequest, ProgramEnd, SessionState, Stop
from dragoman.debug.service import DebugService
from dragoman.debug.session.event_log import EventSink
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.launch_request import PreparedLaunch, PreparedSession
from dragoman.journal import Journal, Statement
from dragoman.workspace.breakpoints import STORE, Breakpoint, BreakpointRegistry
from dragoman.workspace.caller import Caller
from tests.debug.fake_sessions import NothingToDisclose
from tests.support.clocks import VirtualClock
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

AGENT = Caller(id="agent", workspace=Path("/p"), cwd=Path("/p"))
AT_5 = Breakpoint(id=0, path="/p/a.py", line=5)


class FullRecord:
    async def append(self, events: list[Event], *, writes: Sequence[Statement] = ()) -> int:
        await anyio.lowlevel.checkpoint()
        raise DragomanError("disk_full", localize("{text}", text="full"))


class FakeStarter(NothingToDisclose):
    def __init__(self, *adapters: FakeAdapter) -> None:
        self.adapters = list(adapters)

    async def prepare(self, client: Caller, launch_request: LaunchRequest) -> PreparedLaunch:
        await anyio.lowlevel.checkpoint()
        return PreparedLaunch(
            (PreparedSession("a.py", self.adapters.pop(0), AdapterLaunch("launch", {}, "fake"), launch_request),)
        )


@asynccontextmanager
async def service_of(
    tmp_path: Path, *adapters: FakeAdapter, record: EventSink | None = None, clock: VirtualClock | None = None
) -> AsyncIterator[DebugService]:
    clock = clock or VirtualClock()
    async with Journal.open(tmp_path / "journal", stores=[STORE]) as journal, anyio.create_task_group() as group:
        with anyio.fail_after(10):
            yield DebugService(
                group, BreakpointRegistry(journal, clock), FakeStarter(*adapters), record or journal, clock
            )
        group.cancel_scope.cancel()


async def test_a_record_that_cannot_be_written_breaks_no_session_and_loses_no_answer(tmp_path: Path) -> None:
    adapter = FakeAdapter()
    adapter.when("configurationDone", adapter.stop)
    async with service_of(tmp_path, adapter, record=FullRecord()) as service:
        started = await service.start(AGENT, LaunchRequest(), within_s=2)
        assert isinstance(started.outcome, Stop)
        adapter.die()
        ended = await service.wait(AGENT, started.session.id, within_s=2)
        assert isinstance(ended.outcome, ProgramEnd)
        await anyio.wait_all_tasks_blocked()
    assert adapter.ended


async def test_a_failed_start_is_reported_with_its_reason_also_where_the_record_is_full(tmp_path: Path) -> None:
    adapter = FakeAdapter()
    adapter.refuse("launch", "no such program")
    async with service_of(tmp_path, adapter, record=FullRecord()) as service:
        with pytest.raises(DragomanError, match="no such program"):
            await service.start(AGENT, LaunchRequest(), within_s=2)
    assert adapter.ended


@pytest.mark.parametrize("silent", ["initialize", "launch"])
async def test_a_start_that_is_cancelled_leaves_nothing_behind(tmp_path: Path, silent: str) -> None:
    adapter = FakeAdapter()
    adapter.answers[silent] = lambda _: None
    async with service_of(tmp_path, adapter) as service, anyio.create_task_group() as group:

        async def start() -> None:
            await service.start(AGENT, LaunchRequest(), within_s=2)

        group.start_soon(start)
        while not adapter.sent(silent):
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert adapter.ended
    assert [session.state for session in service.registry.sessions(AGENT)] == [SessionState.TERMINATED]


async def test_a_record_that_never_answers_holds_up_no_step(tmp_path: Path) -> None:
    adapter = FakeAdapter()
    adapter.when("configurationDone", adapter.stop)
    adapter.when("next", lambda: adapter.stop("step"))

    release = anyio.Event()

    class StuckRecord:
        async def append(self, events: list[Event], *, writes: Sequence[Statement] = ()) -> int:
            await release.wait()
            return 0

    async with service_of(tmp_path, adapter, record=StuckRecord()) as service:
        session = (await service.start(AGENT, LaunchRequest(), within_s=2)).session
        happened = await service.step(AGENT, session.id, "over", thread_id=None, within_s=2)
        assert isinstance(happened.outcome, Stop)
        release.set()
    assert adapter.ended


async def test_a_breakpoint_is_set_also_while_a_session_of_the_workspace_ends(tmp_path: Path) -> None:
    adapter, asked = FakeAdapter(), anyio.Event()
    adapter.answers["disconnect"] = lambda _: None
    adapter.when("setBreakpoints", asked.set, answers=False)
    async with service_of(tmp_path, adapter) as service:
        started = await service.start(AGENT, LaunchRequest(), within_s=0)
        async with anyio.create_task_group() as group:
            group.start_soon(service.set_breakpoint, AGENT, AT_5)
            await asked.wait()
            await service.stop(AGENT, started.session.id)
            adapter.die()
        assert [it.line for it, _ in service.breakpoints(AGENT)] == [5]


async def test_a_breakpoint_is_set_also_where_a_session_refuses_it(tmp_path: Path) -> None:
    adapter = FakeAdapter()
    adapter.refuse("setBreakpoints", "not now")
    async with service_of(tmp_path, adapter) as service:
        await service.start(AGENT, LaunchRequest(), within_s=0)
        made, binding = await service.set_breakpoint(AGENT, AT_5)
        assert (made.id, binding.verified) == (1, False)


async def test_a_session_that_nobody_calls_or_waits_for_is_ended(tmp_path: Path) -> None:
    adapter, clock = FakeAdapter(), VirtualClock()
    async with service_of(tmp_path, adapter, clock=clock) as service:
        session = (await service.start(AGENT, LaunchRequest(), within_s=0)).session
        clock.advance(599)
        await service.end_idle_sessions(600)
        assert service.find(AGENT).state is SessionState.RUNNING
        clock.advance(599)
        await service.end_idle_sessions(600)
        assert session.state is SessionState.RUNNING
        clock.advance(2)
        clock.set_wall_back(3600)
        await service.end_idle_sessions(600)
        assert isinstance(await session.outcome(0, 2), ProgramEnd)
    assert adapter.sent("disconnect") == [{"terminateDebuggee": True}]


async def test_a_session_that_somebody_waits_for_is_never_ended(tmp_path: Path) -> None:
    adapter, clock = FakeAdapter(), VirtualClock()
    async with service_of(tmp_path, adapter, clock=clock) as service:
        session = (await service.start(AGENT, LaunchRequest(), within_s=0)).session
        async with anyio.create_task_group() as group:

            async def wait() -> None:
                await service.wait(AGENT, session.id, within_s=60)

            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            clock.advance(10_000)
            await service.end_idle_sessions(600)
            assert session.state is SessionState.RUNNING
            adapter.stop()
        await service.end_idle_sessions(600)
        assert session.state is SessionState.STOPPED


async def test_an_adapter_that_does_not_answer_takes_no_more_time_than_the_caller_gave(tmp_path: Path) -> None:
    adapter = FakeAdapter()
    adapter.when("configurationDone", adapter.stop)
    async with service_of(tmp_path, adapter) as service:
        session = (await service.start(AGENT, LaunchRequest(), within_s=2)).session
        adapter.answers["next"] = lambda _: None
        begun = anyio.current_time()
        happened = await service.step(AGENT, session.id, "over", thread_id=None, within_s=0.1)
        assert anyio.current_time() - begun < 3
        assert (happened.outcome, session.state) == (None, SessionState.STOPPED)


async def test_the_end_comes_also_through_a_step_that_was_never_answered(tmp_path: Path) -> None:
    adapter = FakeAdapter()
    adapter.when("configurationDone", adapter.stop)
    async with service_of(tmp_path, adapter) as service:
        session = (await service.start(AGENT, LaunchRequest(), within_s=2)).session
        adapter.when("next", adapter.die, answers=False)
        happened = await service.step(AGENT, session.id, "over", thread_id=None, within_s=5)
        assert isinstance(happened.outcome, ProgramEnd)


async def test_a_session_that_hangs_does_not_hold_up_breakpoints_that_another_takes(tmp_path: Path) -> None:
    hung, sound, release = FakeAdapter(), FakeAdapter(), anyio.Event()
    async with service_of(tmp_path, hung, sound) as service:
        for _ in range(2):
            await service.start(AGENT, LaunchRequest(), within_s=0)
        hung.answers["setBreakpoints"] = lambda _: release
        with anyio.fail_after(1.5):
            made, binding = await service.set_breakpoint(AGENT, AT_5)
        assert binding.verified
        with anyio.fail_after(1.5):
            await service.remove_breakpoints(AGENT, lambda it: it.id == made.id)
        release.set()
        while len(hung.sent("setBreakpoints")) < 2:
            await anyio.lowlevel.checkpoint()
    assert hung.sent("setBreakpoints")[-1]["breakpoints"] == []


async def test_breakpoints_for_a_session_that_hangs_alone_cost_two_seconds_at_most(tmp_path: Path) -> None:
    hung = FakeAdapter()
    async with service_of(tmp_path, hung) as service:
        await service.start(AGENT, LaunchRequest(), within_s=0)
        hung.answers["setBreakpoints"] = lambda _: None
        with anyio.fail_after(3):
            _, binding = await service.set_breakpoint(AGENT, AT_5)
    assert not binding.verified


async def test_a_pause_that_the_adapter_lost_is_asked_for_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.debug.session.outcome._PAUSE_TIMEOUT_S", 0.05)
    adapter = FakeAdapter()
    adapter.when("pause", lambda: adapter.stop("pause") if len(adapter.sent("pause")) == 2 else None)
    async with service_of(tmp_path, adapter) as service:
        started = await service.start(AGENT, LaunchRequest(program="a.py"), within_s=0)
        while started.session.state is not SessionState.RUNNING:
            await anyio.lowlevel.checkpoint()
        paused = await service.pause(AGENT, "", within_s=5)
    assert isinstance(paused.outcome, Stop)
    assert len(adapter.sent("pause")) == 2
