"""What a stop costs that is not reported: one request, and no look at values."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint
from tests.debug.fake_sessions import running_session, session_of, stopped
from tests.support.fake_adapter import FakeAdapter

pytestmark = pytest.mark.anyio

COUNTED_HERE = AdapterQuirks(hit_forms=frozenset())


async def test_a_hit_that_does_not_count_yet_costs_one_question_and_the_last_has_its_locals() -> None:
    adapter = FakeAdapter()
    adapter.when("continue", lambda: adapter.stop(hitBreakpointIds=[105]))
    wanted = Breakpoint(id=7, path="/p/a.py", line=5, hit_condition="== 20")
    async with running_session(session_of(adapter, quirks=COUNTED_HERE), wanted) as session:
        adapter.stop(hitBreakpointIds=[105])
        stop = await stopped(session)
    assert stop.hit_breakpoints == (7,)
    assert stop.top_locals is not None
    assert [it.name for it in stop.top_locals.variables] == ["n"]
    assert [len(adapter.sent(name)) for name in ("continue", "stackTrace", "scopes", "variables")] == [19, 20, 1, 1]


async def test_a_hit_with_a_command_answered_during_its_inspection_counts_once() -> None:
    """An editor that passes a command on answers when it has shown what came of it."""
    adapter, answered = FakeAdapter(), anyio.Event()
    wanted = Breakpoint(id=7, path="/p/a.py", line=5, hit_condition="== 2")
    async with running_session(session_of(adapter, quirks=COUNTED_HERE), wanted) as session:
        adapter.stop("step", allThreadsStopped=False)
        first = await stopped(session)
        stack = adapter.answers["stackTrace"]
        adapter.answers["continue"] = lambda _: {} if answered.is_set() else answered

        def looked_at(asked: dict[str, Any]) -> Any:
            answered.set()
            return stack(asked)

        adapter.answers["stackTrace"] = looked_at
        async with anyio.create_task_group() as group:
            group.start_soon(session.run_control.resume)
            await anyio.wait_all_tasks_blocked()
            adapter.emit("continued", threadId=1, allThreadsContinued=False)
            adapter.stop(hitBreakpointIds=[105], allThreadsStopped=False)
        await anyio.wait_all_tasks_blocked()
        assert (session.last_stop, len(adapter.sent("continue"))) == (first.number, 2)
        adapter.stop(hitBreakpointIds=[105], allThreadsStopped=False)
        assert (await stopped(session, first.number)).hit_breakpoints == (7,)


def sharing(**conditions: str) -> list[Breakpoint]:
    named = {"one": 1, "two": 2, "three": 3}
    return [Breakpoint(id=named[name], path="/p/a.py", line=5, condition=it) for name, it in conditions.items()]


@pytest.mark.parametrize(
    ("true", "result"), [({"!!(n > 1)"}, (1,)), ({"!!(n > 1)", "!!(n > 2)"}, (1, 2)), (set[str](), (1, 2))]
)
async def test_of_breakpoints_that_share_a_line_those_with_a_true_condition_are_reported(
    true: set[str], result: tuple[int, ...]
) -> None:
    adapter = FakeAdapter()
    adapter.answers["evaluate"] = lambda asked: {"result": str(asked["expression"] in true).lower()}
    async with running_session(session_of(adapter), *sharing(one="n > 1", two="n > 2")) as session:
        adapter.stop(hitBreakpointIds=[105])
        assert (await stopped(session)).hit_breakpoints == result


async def test_one_that_stops_always_is_reported_and_of_the_others_those_that_hold() -> None:
    adapter = FakeAdapter()
    adapter.answers["evaluate"] = lambda asked: {"result": str("n > 2" in asked["expression"]).lower()}
    async with running_session(session_of(adapter), *sharing(one="", two="n > 2", three="n > 3")) as session:
        adapter.stop()
        assert (await stopped(session)).hit_breakpoints == (1, 2)


async def beside(adapter: FakeAdapter, session: DebugSession, **stop: Any) -> None:
    """Another thread stops while the program stands, and whatever is asked for it is answered."""
    inspection = len(adapter.sent("stackTrace"))
    adapter.emit("stopped", threadId=2, allThreadsStopped=True, **stop)
    with anyio.fail_after(5):
        while len(adapter.sent("stackTrace")) == inspection:
            await anyio.lowlevel.checkpoint()
        await session.run_control.step("over", seen_stop=session.last_stop, by="agent")


async def test_a_thread_that_stops_in_the_same_moment_is_not_a_stop_of_its_own() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter), Breakpoint(id=7, path="/p/a.py", line=5)) as session:
        adapter.stop(allThreadsStopped=True)
        first = await stopped(session)
        await beside(adapter, session, reason="breakpoint")
    assert session.last_stop == first.number
    assert (adapter.sent("continue"), adapter.sent("next")) == ([], [{"threadId": 1}])


async def test_beside_a_stop_hits_count_and_logpoints_log_and_nothing_is_sent_on() -> None:
    adapter = FakeAdapter()
    logs = Breakpoint(id=8, path="/p/a.py", line=9, log_message="passed")
    async with running_session(session_of(adapter, quirks=AdapterQuirks(takes_log_messages=False)), logs) as session:
        adapter.stop("step", allThreadsStopped=True)
        await stopped(session)
        await beside(adapter, session, reason="breakpoint", hitBreakpointIds=[109])
        assert session.output.since(0, most=100)[0] == "passed\n"
    assert adapter.sent("continue") == []


async def test_an_exception_beside_a_stop_is_reported() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.stop(allThreadsStopped=True)
        first = await stopped(session)
        adapter.emit("stopped", threadId=2, allThreadsStopped=True, reason="exception")
        assert (await stopped(session, first.number)).thread_id == 2
