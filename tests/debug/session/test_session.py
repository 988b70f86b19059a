"""One session against an adapter that a test steers: every order and fault that a real one will not show on demand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import ProgramEnd, SessionState, Stop
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint
from tests.support.clocks import VirtualClock
from tests.support.fake_adapter import FakeAdapter

pytestmark = pytest.mark.anyio

AT_5 = Breakpoint(id=1, path="/p/a.py", line=5)


@asynccontextmanager
async def running_session(
    adapter: FakeAdapter, *breakpoints: Breakpoint, quirks: AdapterQuirks | None = None, request: str = "launch"
) -> AsyncIterator[DebugSession]:
    launch = AdapterLaunch(request, {"program": "/p/a.py"}, "fake", quirks=quirks or AdapterQuirks())
    session = DebugSession("s1", "a.py", adapter, launch, VirtualClock())
    async with anyio.create_task_group() as group:
        await group.start(session.live, breakpoints)
        with anyio.fail_after(5):
            yield session
        group.cancel_scope.cancel()


async def starting(adapter: FakeAdapter) -> None:
    await DebugSession("s1", "a.py", adapter, AdapterLaunch("launch", {}, "fake"), VirtualClock()).live([])


async def stopped(session: DebugSession, after: int = 0) -> Stop:
    outcome = await session.outcome(after, 2)
    assert isinstance(outcome, Stop), outcome
    return outcome


async def code_of(action: Callable[[], Awaitable[Any]]) -> str:
    try:
        await action()
    except DragomanError as error:
        return error.code
    return ""


async def test_a_launch_is_configured_before_its_response_is_waited_for() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter, AT_5) as session:
        order = [command for command, _ in adapter.requests]
        assert order.index("setBreakpoints") < order.index("configurationDone")
        assert session.state is SessionState.RUNNING
        assert session.breakpoint_sync.binding_of(1).verified


async def test_a_stop_carries_the_stack_the_locals_and_the_breakpoint_that_was_hit() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter, AT_5) as session:
        adapter.emit("output", output="hello\n", category="stdout")
        adapter.stop(hitBreakpointIds=[105])
        stop = await stopped(session)
    assert (stop.number, stop.reason, stop.hit_breakpoints, stop.output) == (1, "breakpoint", (1,), "hello\n")
    assert [(frame.name, frame.line) for frame in stop.frames] == [("f", 5)]
    assert stop.top_locals is not None
    assert [(it.name, it.value) for it in stop.top_locals.variables] == [("n", "3")]


async def test_an_adapter_that_sends_no_ids_is_understood_by_the_place() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter, AT_5) as session:
        adapter.stop()
        assert (await stopped(session)).hit_breakpoints == (1,)


async def test_a_stop_that_comes_before_the_response_of_the_step_is_not_missed() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        adapter.stop()
        first = await stopped(session)
        adapter.when("next", lambda: adapter.stop("step"))
        await session.run_control.step("over", seen_stop=first.number)
        second = await stopped(session, first.number)
        assert (second.number, second.reason) == (2, "step")


async def test_a_command_decided_on_an_earlier_stop_is_refused_because_the_session_moved_on() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        adapter.stop()
        first = await stopped(session)
        await session.run_control.step("over", seen_stop=first.number, by="person")
        adapter.stop("step")
        second = await stopped(session, first.number)
        assert second.by == "person"
        assert await code_of(lambda: session.run_control.step("over", seen_stop=first.number)) == "moved_on"
        assert adapter.sent("next") == [{"threadId": 1}]


async def test_nothing_hangs_at_the_wrong_moment_and_each_answer_has_its_code() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        assert await code_of(session.run_control.resume) == "not_stopped"
        assert await code_of(lambda: session.inspection.scopes(1_000_001, None)) == "not_stopped"
        adapter.stop()
        await stopped(session)
        assert await code_of(session.run_control.pause) == "not_running_program"
        await session.run_control.resume()
        assert await code_of(session.run_control.resume) == "not_stopped"
        adapter.die()
        assert isinstance(await session.outcome(1, 2), ProgramEnd)
        assert await code_of(session.run_control.resume) == "already_ended"
        assert await code_of(session.terminate) == "already_ended"


@pytest.mark.parametrize("state", ["running", "stopped", "stepping"])
async def test_the_end_of_the_stream_is_an_end_in_every_state(state: str) -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        if state != "running":
            adapter.stop()
            await stopped(session)
        if state == "stepping":
            await session.run_control.step("over")
        adapter.emit("exited", exitCode=3)
        adapter.die()
        outcome = await session.outcome(9, 2)
    assert isinstance(outcome, ProgramEnd)
    assert outcome.exit_code == 3
    assert session.state is SessionState.TERMINATED
    assert adapter.ended


async def test_terminated_dismisses_the_adapter_and_keeps_the_exit_code_and_the_last_output() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        adapter.emit("output", output="bye", category="stdout")
        adapter.emit("exited", exitCode=0)
        adapter.emit("terminated")
        outcome = await session.outcome(0, 2)
    assert outcome == ProgramEnd(exit_code=0, output="bye", output_lines=1)
    assert adapter.sent("disconnect") == [{}]


async def test_a_silent_adapter_gives_the_true_state_at_the_deadline() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        assert await session.outcome(0, 0.05) is None
        assert session.state is SessionState.RUNNING


async def test_a_step_that_the_adapter_refuses_leaves_the_session_stopped() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        adapter.stop()
        await stopped(session)
        adapter.refuse("next", "no")
        assert await code_of(lambda: session.run_control.step("over")) == "adapter_refused"
        assert session.state is SessionState.STOPPED
        assert (await session.inspection.scopes(1_000_001, None))[0].name == "Locals"


async def test_a_cancelled_caller_stops_waiting_and_its_command_is_performed() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        adapter.stop()
        await stopped(session)
        reached, go = anyio.Event(), anyio.Event()
        real = adapter.request

        async def slow(command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Any:
            if command == "next":
                reached.set()
                await go.wait()
            return await real(command, arguments, timeout_s=timeout_s)

        adapter.request = slow  # type: ignore[method-assign]
        async with anyio.create_task_group() as group:
            group.start_soon(session.run_control.step, "over")
            await reached.wait()
            group.cancel_scope.cancel()
        go.set()
        adapter.stop("step")
        assert (await stopped(session, 1)).reason == "step"
        assert adapter.sent("next") == [{"threadId": 1}]


async def test_references_of_an_earlier_stop_are_refused() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        adapter.stop()
        frame = (await stopped(session)).frames[0].id
        await session.run_control.step("over")
        adapter.stop("step")
        await stopped(session, 1)
        assert await code_of(lambda: session.inspection.scopes(frame, None)) == "stale_reference"


async def test_hits_are_counted_here_where_the_adapter_means_something_else() -> None:
    adapter = FakeAdapter()
    third = Breakpoint(id=1, path="/p/a.py", line=5, hit_condition="== 3")
    async with running_session(adapter, third, quirks=AdapterQuirks(hit_forms=frozenset())) as session:
        assert "hitCondition" not in adapter.sent("setBreakpoints")[0]["breakpoints"][0]
        for _ in range(3):
            adapter.stop(hitBreakpointIds=[105])
        stop = await stopped(session)
        assert stop.number == 1
        assert len(adapter.sent("continue")) == 2


async def test_a_file_is_sent_whole_if_a_breakpoint_changes_and_not_at_all_otherwise() -> None:
    adapter = FakeAdapter()
    other = Breakpoint(id=2, path="/p/b.py", line=1)
    async with running_session(adapter, AT_5, other) as session:
        more = Breakpoint(id=3, path="/p/a.py", line=7)
        await session.update_breakpoints([AT_5, other, more])
        await session.update_breakpoints([other])
    sent = [(it["source"]["name"], [b["line"] for b in it["breakpoints"]]) for it in adapter.sent("setBreakpoints")]
    assert sent == [("a.py", [5]), ("b.py", [1]), ("a.py", [5, 7]), ("a.py", [])]


async def test_a_breakpoint_that_did_not_bind_is_reported_with_the_reason_and_may_bind_later() -> None:
    adapter = FakeAdapter()
    adapter.answers["setBreakpoints"] = lambda _: {"breakpoints": [{"id": 7, "verified": False, "message": "no code"}]}
    async with running_session(adapter, AT_5) as session:
        ((breakpoint, binding),) = session.breakpoint_sync.unbound()
        assert (breakpoint.id, binding.message) == (1, "no code")
        adapter.emit("breakpoint", reason="changed", breakpoint={"id": 7, "verified": True, "line": 6})
        adapter.stop()
        await stopped(session)
        assert session.breakpoint_sync.binding_of(1).line == 6


async def test_a_launch_that_fails_is_raised_with_the_adapters_words_and_everything_is_released() -> None:
    adapter = FakeAdapter()
    adapter.refuse("launch", "no such program")
    with pytest.raises(DragomanError, match="no such program"):
        await starting(adapter)
    assert adapter.ended


async def test_an_adapter_that_dies_while_starting_is_an_error_not_a_wait() -> None:
    adapter = FakeAdapter()
    adapter.when("launch", adapter.die, answers=False)
    with pytest.raises(DragomanError) as caught, anyio.fail_after(3):
        await starting(adapter)
    assert caught.value.code == "adapter_gone"
    assert adapter.ended


async def test_malformed_events_are_passed_over() -> None:
    adapter = FakeAdapter()
    async with running_session(adapter) as session:
        adapter.emit("stopped", reason=5)
        adapter.emit("breakpoint", reason="new")
        adapter.emit("of-tomorrow", x=1)
        adapter.stop()
        assert (await stopped(session)).number == 1


async def test_an_attached_program_is_detached_not_ended() -> None:
    adapter = FakeAdapter()
    adapter.when("attach", lambda: adapter.emit("initialized"))
    async with running_session(adapter, request="attach") as session:
        await session.terminate()
        await session.outcome(0, 2)
    assert adapter.sent("disconnect") == [{"terminateDebuggee": False}]
