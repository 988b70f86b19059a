"""An adapter that neither changes nor forgets a breakpoint: what it stops at is judged here. And what is uncaught."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import ProgramEnd
from dragoman.workspace.breakpoints import Breakpoint
from tests.debug.fake_sessions import running_session, session_of, stopped
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

KEEPS = AdapterQuirks(condition_expression="!!({condition})")
AT_5 = Breakpoint(id=1, path="/p/a.py", line=5, condition="n == 3")


def answering(*results: str) -> FakeAdapter:
    """One that stops at its line, and evaluates so."""
    adapter, left = FakeAdapter(), list(results)
    adapter.answers["setBreakpoints"] = lambda asked: {
        "breakpoints": [{"verified": True} for _ in asked["breakpoints"]]
    }
    adapter.answers["evaluate"] = lambda _: {"result": left.pop(0), "variablesReference": 0}
    return adapter


async def test_a_condition_is_not_sent_and_the_program_continues_until_it_holds() -> None:
    adapter = answering("false", "true")
    async with running_session(session_of(adapter, quirks=KEEPS), AT_5) as session:
        adapter.stop()
        adapter.stop()
        stop = await stopped(session)
    assert adapter.sent("setBreakpoints")[0]["breakpoints"] == [{"line": 5}]
    assert [it["expression"] for it in adapter.sent("evaluate")] == ["!!(n == 3)"] * 2
    assert (stop.number, stop.hit_breakpoints, len(adapter.sent("continue"))) == (1, (1,), 1)


async def test_a_stop_at_a_removed_breakpoint_is_not_reported() -> None:
    adapter = answering()
    async with running_session(session_of(adapter, quirks=KEEPS), AT_5) as session:
        await session.update_breakpoints([])
        adapter.stop()
        adapter.emit("terminated")
        assert isinstance(await session.outcome(0, 2), ProgramEnd)
    assert len(adapter.sent("continue")) == 1


async def test_a_condition_that_cannot_be_evaluated_never_holds_and_is_reported() -> None:
    adapter = answering("NameError: nope")
    async with running_session(session_of(adapter, quirks=KEEPS), AT_5) as session:
        adapter.stop()
        adapter.stop("pause")
        await stopped(session)
        assert [binding.message for _, binding in session.breakpoint_sync.unbound()] == [
            "The condition failed: NameError: nope"
        ]


@pytest.mark.parametrize(
    ("wanted", "uncaught"), [((), True), ((Breakpoint(id=2, kind="exception", filter="raised"),), False)]
)
async def test_where_nobody_asks_for_what_is_caught_an_exception_that_stops_is_uncaught(
    wanted: tuple[Breakpoint, ...], uncaught: bool
) -> None:
    """Delve, js-debug and LLDB say `always` of a panic, an error and a crash that nothing caught."""
    adapter = FakeAdapter()
    adapter.can(exceptionBreakpointFilters=[{"filter": name, "label": name} for name in ("raised", "uncaught")])
    info: dict[str, Any] = {"exceptionId": "panic", "description": "too large", "breakMode": "always"}
    adapter.answers["exceptionInfo"] = lambda _: info
    async with running_session(session_of(adapter, exception_filters=("uncaught",)), *wanted) as session:
        adapter.stop("exception")
        stop = await stopped(session)
    assert stop.raised is not None
    assert stop.raised.uncaught is uncaught


async def test_one_that_was_moved_to_a_line_with_code_in_silence_is_known_by_the_line_above() -> None:
    adapter = answering()
    above, removed = Breakpoint(id=7, path="/p/a.py", line=3), Breakpoint(id=8, path="/p/a.py", line=4)
    async with running_session(session_of(adapter, quirks=KEEPS), above) as session:
        adapter.stop()
        assert (await stopped(session)).hit_breakpoints == (7,)
        await session.update_breakpoints([above, removed])
        await session.update_breakpoints([above])
        await session.run_control.resume()
        adapter.stop()
        adapter.emit("terminated")
        assert isinstance(await session.outcome(1, 2), ProgramEnd)


async def test_a_pause_gets_the_stop_at_a_removed_breakpoint() -> None:
    adapter = answering()
    async with running_session(session_of(adapter, quirks=KEEPS), AT_5) as session:
        await session.update_breakpoints([])
        await session.run_control.pause()
        adapter.stop()
        stop = await stopped(session)
    assert (stop.reason, stop.hit_breakpoints) == ("pause", None)


RECHECKS = AdapterQuirks(rechecks_conditions=True)


def with_threads(truth_by_thread: dict[int, str]) -> FakeAdapter:
    """One whose threads all stand at the breakpoint; what a condition is in each is said here."""
    adapter = answering()
    adapter.answers["threads"] = lambda _: {"threads": [{"id": id, "name": f"t{id}"} for id in truth_by_thread]}
    adapter.answers["stackTrace"] = lambda asked: {
        "stackFrames": [
            {"id": asked["threadId"], "name": "f", "line": 5, "column": 1, "source": {"path": "/p/a.py"}}
            | {"instructionPointerReference": "0x10"}
        ],
        "totalFrames": 1,
    }
    adapter.answers["evaluate"] = lambda asked: {"result": truth_by_thread[asked["frameId"]], "variablesReference": 0}
    return adapter


async def test_a_stop_is_reported_only_where_the_condition_is_true() -> None:
    truth = {1: "false"}
    adapter = with_threads(truth)
    async with running_session(session_of(adapter, quirks=RECHECKS), AT_5) as session:
        adapter.stop(allThreadsStopped=True)
        adapter.when("continue", lambda: truth.update({1: "true"}))
        adapter.stop(allThreadsStopped=True)
        stop = await stopped(session)
    assert adapter.sent("setBreakpoints")[0]["breakpoints"] == [{"line": 5, "condition": "n == 3"}]
    assert (stop.number, stop.hit_breakpoints, len(adapter.sent("continue"))) == (1, (1,), 1)


async def test_of_threads_that_stopped_together_the_one_with_a_true_condition_is_reported() -> None:
    """LLDB halts for that one, and names another that came by."""
    adapter = with_threads({1: "false", 2: "false", 3: "true"})
    async with running_session(session_of(adapter, quirks=RECHECKS), AT_5) as session:
        adapter.stop(allThreadsStopped=True)
        stop = await stopped(session)
        assert (stop.thread_id, stop.hit_breakpoints, adapter.sent("continue")) == (3, (1,), [])


async def test_without_the_check_the_first_thread_is_reported_whatever_its_condition() -> None:
    """What the check above is for."""
    adapter = with_threads({1: "false", 2: "true"})
    async with running_session(session_of(adapter), AT_5) as session:
        adapter.stop(allThreadsStopped=True)
        assert (await stopped(session)).thread_id == 1


async def test_a_condition_that_the_debugger_refuses_is_false_and_says_why() -> None:
    adapter = with_threads({1: "true"})
    adapter.refuse("evaluate", "error: use of undeclared identifier 'nope'\n 1 | nope")
    async with running_session(session_of(adapter, quirks=RECHECKS), AT_5) as session:
        adapter.stop(allThreadsStopped=True)
        adapter.emit("terminated")
        assert isinstance(await session.outcome(0, 2), ProgramEnd)
        (unbound,) = session.breakpoint_sync.unbound()
        assert unbound[1].message == "The condition failed: error: use of undeclared identifier 'nope'"
