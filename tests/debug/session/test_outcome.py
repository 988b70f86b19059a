"""How a session ended, reported as far as it is known and no further."""

from __future__ import annotations

import anyio
import pytest

from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import ProgramEnd, SessionState
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint
from tests.debug.fake_sessions import RecordedEvents, running_session, session_of, stopped
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

AT_5 = Breakpoint(id=1, path="/p/a.py", line=5)


async def end_of(session: DebugSession) -> ProgramEnd:
    outcome = await session.outcome(session.last_stop, 3)
    assert isinstance(outcome, ProgramEnd), outcome
    return outcome


async def test_an_adapter_that_exits_silently_is_not_a_normal_end() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.die()
        ended = await end_of(session)
    assert (ended.is_unreported, ended.exit_code, ended.message) == (True, None, "")


@pytest.mark.parametrize("word", ["terminated", "exited"])
async def test_an_adapter_that_exits_after_it_reported_the_end_ended_normally(word: str) -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.emit(word, exitCode=3)
        adapter.die()
        ended = await end_of(session)
    assert (ended.is_unreported, ended.exit_code) == (False, 3 if word == "exited" else None)


async def test_a_session_that_a_client_ended_names_the_client_and_no_signal() -> None:
    adapter = FakeAdapter()
    adapter.when("disconnect", lambda: adapter.emit("exited", exitCode=247))
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        await session.terminate(by="agent")
        ended = await end_of(session)
    assert (ended.by, ended.exit_code, ended.signal) == ("agent", None, "")


async def test_an_end_that_was_reported_before_somebody_asked_for_it_is_the_programs_own() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.emit("exited", exitCode=7)
        await anyio.wait_all_tasks_blocked()
        await session.terminate(by="agent")
        ended = await end_of(session)
    assert (ended.by, ended.exit_code) == ("", 7)


async def test_an_exit_code_that_comes_a_moment_after_the_end_is_waited_for() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.emit("terminated")
        await anyio.sleep(0.3)  # longer than a busy machine delays what an adapter says next
        adapter.emit("exited", exitCode=7)
        assert (await end_of(session)).exit_code == 7


@pytest.mark.parametrize(("request_", "sent"), [("attach", ["setBreakpoints", "continue"]), ("launch", [])])
async def test_a_program_that_would_be_left_standing_is_sent_on_before_we_leave_it(
    request_: str, sent: list[str]
) -> None:
    """Delve, where several may debug one program, leaves it as it is."""
    adapter = FakeAdapter()
    adapter.when("attach", lambda: adapter.emit("initialized"))
    quirks = AdapterQuirks(leaves_program_stopped=True)
    async with running_session(session_of(adapter, request=request_, quirks=quirks), AT_5) as session:
        adapter.stop()
        await stopped(session)
        asked = len(adapter.requests)
        await session.terminate(by="agent")
        await end_of(session)
    last = [name for name, _ in adapter.requests[asked:]]
    assert last == [*sent, "disconnect"]


@pytest.mark.parametrize("when", ["before the end is asked for", "on the way out"])
async def test_a_stop_that_nobody_can_do_anything_at_is_not_reported(when: str) -> None:
    """Its debugger leaves while it is looked at: it would be told without a place, as the last thing that happened."""
    adapter, looked, left, entries = FakeAdapter(), anyio.Event(), anyio.Event(), RecordedEvents()
    adapter.answers["disconnect"] = lambda _: left
    async with running_session(session_of(adapter, recorded=entries)) as session:
        adapter.stop()
        await stopped(session)
        await session.run_control.resume()
        adapter.answers["stackTrace"] = lambda _: looked
        if when == "on the way out":
            await session.terminate()
        adapter.stop("exception")
        await anyio.wait_all_tasks_blocked()
        if session.state is SessionState.RUNNING:
            await session.terminate()
        looked.set()
        await anyio.wait_all_tasks_blocked()
        assert session.state is SessionState.TERMINATING
        left.set()
        await end_of(session)
    assert ([kind for kind, _ in entries].count("debug.stopped"), session.last_stop) == (1, 1)
