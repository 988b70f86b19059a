"""A session asked, ended or given breakpoints at the moment that suits it least."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import ProgramEnd, SessionState, Stop
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint
from tests.support.clocks import VirtualClock
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

AT_5 = Breakpoint(id=1, path="/p/a.py", line=5)
AT_7 = Breakpoint(id=2, path="/p/a.py", line=7)


def session_of(adapter: FakeAdapter, *, quirks: AdapterQuirks | None = None, no_debug: bool = False) -> DebugSession:
    launch = AdapterLaunch("launch", {}, "fake", quirks=quirks or AdapterQuirks(), no_debug=no_debug)
    return DebugSession("s1", "a.py", adapter, launch, VirtualClock())


@asynccontextmanager
async def running_session(session: DebugSession, *breakpoints: Breakpoint) -> AsyncIterator[DebugSession]:
    async with anyio.create_task_group() as group:
        await group.start(session.live, breakpoints)
        with anyio.fail_after(5):
            yield session
        group.cancel_scope.cancel()


async def test_an_end_is_not_held_up_by_a_step_that_the_adapter_never_answers() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await session.outcome(0, 2)
        adapter.answers["next"] = lambda _: None
        async with anyio.create_task_group() as group:
            group.start_soon(session.run_control.step, "over")
            await anyio.wait_all_tasks_blocked()
            await session.terminate()
            assert isinstance(await session.outcome(1, 2), ProgramEnd)
    assert adapter.sent("disconnect") == [{"terminateDebuggee": True}]
    assert adapter.ended


async def test_an_end_is_not_held_up_by_a_start_that_hangs() -> None:
    adapter = FakeAdapter()
    adapter.answers["launch"] = lambda _: None
    session = session_of(adapter)
    caught: list[str] = []

    async def start() -> None:
        try:
            await session.live([])
        except DragomanError as error:
            caught.append(error.code)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(start)
            await anyio.wait_all_tasks_blocked()
            assert session.state is SessionState.STARTING
            await session.terminate()
    assert caught == ["already_ended"]
    assert adapter.ended


async def test_a_breakpoint_set_while_the_adapter_comes_up_is_sent_before_the_program_runs() -> None:
    adapter = FakeAdapter()
    session = session_of(adapter)
    async with anyio.create_task_group() as group:

        def set_more() -> None:
            group.start_soon(session.update_breakpoints, [AT_5, AT_7])

        adapter.when("initialize", set_more)
        group.start_soon(session.live, [AT_5])
        with anyio.fail_after(5):
            while not adapter.sent("setBreakpoints"):
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert [it["line"] for it in adapter.sent("setBreakpoints")[-1]["breakpoints"]] == [5, 7]


async def test_a_run_without_debugging_is_never_sent_a_breakpoint() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter, no_debug=True), AT_5) as session:
        await session.update_breakpoints([AT_5, AT_7])
    assert adapter.sent("setBreakpoints") == []


async def test_a_run_without_debugging_is_configured_by_an_adapter_that_asks_after_its_answer() -> None:
    """lldb-dap answers the launch first, and starts the program only when it is configured."""
    adapter = FakeAdapter()
    launched = anyio.Event()
    launched.set()
    adapter.answers["launch"] = lambda _: launched
    async with running_session(session_of(adapter, no_debug=True)):
        assert len(adapter.sent("configurationDone")) == 1


async def test_a_step_that_runs_into_the_end_is_answered_by_the_end() -> None:
    """The adapter says `terminated` and never answers the step."""
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await session.outcome(0, 2)
        adapter.when("next", lambda: adapter.emit("terminated"), answers=False)
        await session.run_control.step("over")
        assert isinstance(await session.outcome(1, 2), ProgramEnd)


async def test_an_exit_code_sent_after_terminated_is_kept() -> None:
    adapter = FakeAdapter()
    adapter.when("disconnect", lambda: adapter.emit("exited", exitCode=4))
    async with running_session(session_of(adapter)) as session:
        adapter.emit("terminated")
        outcome = await session.outcome(0, 2)
    assert isinstance(outcome, ProgramEnd)
    assert outcome.exit_code == 4


@pytest.mark.parametrize("code", ["adapter_refused", "adapter_silent"])
async def test_a_hit_that_does_not_count_and_cannot_be_resumed_is_reported_as_a_stop(code: str) -> None:
    adapter = FakeAdapter()
    adapter.answers["continue"] = lambda _: DragomanError(code, localize("{text}", text="no"))
    second = Breakpoint(id=1, path="/p/a.py", line=5, hit_condition="== 2")
    async with running_session(session_of(adapter, quirks=AdapterQuirks(hit_forms=frozenset())), second) as session:
        adapter.stop(hitBreakpointIds=[105])
        assert isinstance(await session.outcome(0, 2), Stop)
        assert session.state is SessionState.STOPPED


async def test_a_stop_without_a_thread_is_reported_even_if_threads_cannot_be_listed() -> None:
    adapter = FakeAdapter()
    adapter.refuse("threads", "no")
    async with running_session(session_of(adapter)) as session:
        adapter.emit("stopped", reason="pause")
        outcome = await session.outcome(0, 2)
        assert isinstance(outcome, Stop)
        assert (outcome.reason, outcome.thread_id) == ("pause", 0)


async def test_the_stop_names_the_client_that_paused() -> None:
    adapter = FakeAdapter()
    adapter.when("pause", lambda: adapter.stop("pause"))
    async with running_session(session_of(adapter)) as session:
        await session.run_control.pause(by="person")
        outcome = await session.outcome(0, 2)
        assert isinstance(outcome, Stop)
        assert outcome.by == "person"


async def test_a_backend_that_fails_to_end_hurts_nobody_else() -> None:
    class Broken(FakeAdapter):
        async def end(self) -> None:
            await super().end()
            raise OSError("no more descriptors")

    adapter = Broken()
    async with running_session(session_of(adapter)) as session:
        adapter.die()
        assert isinstance(await session.outcome(0, 2), ProgramEnd)
        await anyio.wait_all_tasks_blocked()
    assert adapter.ended


@pytest.mark.parametrize("how", ["terminated", "asked", "gone"])
async def test_an_end_in_order_is_not_a_fault_in_the_log(how: str, caplog: pytest.LogCaptureFixture) -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        await anyio.wait_all_tasks_blocked()
        if how == "terminated":
            adapter.emit("terminated")
        elif how == "asked":
            await session.terminate()
        else:
            adapter.die()
        assert isinstance(await session.outcome(0, 2), ProgramEnd)
        await anyio.wait_all_tasks_blocked()
    assert [record for record in caplog.records if record.levelname != "DEBUG"] == []


async def test_a_caller_that_waits_for_room_in_the_mailbox_learns_of_the_end() -> None:
    adapter = FakeAdapter()
    codes: list[str] = []
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await session.outcome(0, 2)
        adapter.answers["next"] = lambda _: None

        async def step() -> None:
            try:
                await session.run_control.step("over")
            except DragomanError as error:
                codes.append(error.code)

        async with anyio.create_task_group() as group:
            for _ in range(40):
                group.start_soon(step)
            await anyio.wait_all_tasks_blocked()
            adapter.die()
    assert 0 < len(codes) < 40
    assert set(codes) == {"already_ended"}


async def test_a_stop_reported_twice_does_not_stop_a_session_that_was_resumed_meanwhile() -> None:
    adapter, inspection = FakeAdapter(), anyio.Event()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await session.outcome(0, 2)
        go_on, request = anyio.Event(), adapter.request

        async def slow(command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Any:
            if command == "stackTrace":
                inspection.set()
                await go_on.wait()
            return await request(command, arguments, timeout_s=timeout_s)

        adapter.request = slow  # type: ignore[method-assign]
        adapter.stop()
        await inspection.wait()
        await session.run_control.resume(seen_stop=1)
        go_on.set()
        await anyio.wait_all_tasks_blocked()
        assert (session.state, session.last_stop) == (SessionState.RUNNING, 1)
        adapter.stop()
        outcome = await session.outcome(1, 2)
        assert isinstance(outcome, Stop)
        assert outcome.number == 2


async def test_an_adapter_that_broke_the_protocol_is_how_the_session_ended() -> None:
    """The stream of events only ends; why, is told to whoever asks next."""
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        broken = DragomanError("adapter_broke_protocol", localize("{text}", text="a frame of a gigabyte"))
        adapter.answers["threads"] = lambda _: broken
        adapter.die()
        outcome = await session.outcome(0, 2)
    assert isinstance(outcome, ProgramEnd)
    assert "a frame of a gigabyte" in outcome.message
