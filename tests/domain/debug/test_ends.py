"""How a session ended, told as far as it is known and no further."""

from __future__ import annotations

import anyio
import pytest

from dragoman.debug.model import Ended
from dragoman.debug.session import Session
from dragoman.testing.fake_adapter import FakeAdapter
from tests.domain.debug.living import living, session_of, stopped

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]


async def end_of(session: Session) -> Ended:
    outcome = await session.outcome(session.last_stop, 3)
    assert isinstance(outcome, Ended), outcome
    return outcome


async def test_an_adapter_that_goes_without_a_word_is_no_normal_end() -> None:
    adapter = FakeAdapter()
    async with living(session_of(adapter)) as session:
        adapter.die()
        ended = await end_of(session)
    assert (ended.is_untold, ended.exit_code, ended.message) == (True, None, "")


@pytest.mark.parametrize("word", ["terminated", "exited"])
async def test_an_adapter_that_goes_after_it_told_of_the_end_is_a_normal_one(word: str) -> None:
    adapter = FakeAdapter()
    async with living(session_of(adapter)) as session:
        adapter.emit(word, exitCode=3)
        adapter.die()
        ended = await end_of(session)
    assert (ended.is_untold, ended.exit_code) == (False, 3 if word == "exited" else None)


async def test_a_session_that_somebody_ended_says_who_and_not_how_our_own_end_killed_it() -> None:
    adapter = FakeAdapter()
    adapter.when("disconnect", lambda: adapter.emit("exited", exitCode=247))
    async with living(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        await session.terminate(by="agent")
        ended = await end_of(session)
    assert (ended.by, ended.exit_code, ended.signal) == ("agent", None, "")


async def test_an_end_that_was_told_before_somebody_asked_for_it_is_the_programs_own() -> None:
    adapter = FakeAdapter()
    async with living(session_of(adapter)) as session:
        adapter.emit("exited", exitCode=7)
        await anyio.wait_all_tasks_blocked()
        await session.terminate(by="agent")
        ended = await end_of(session)
    assert (ended.by, ended.exit_code) == ("", 7)


async def test_an_exit_code_that_comes_a_moment_after_the_end_is_waited_for() -> None:
    adapter = FakeAdapter()
    async with living(session_of(adapter)) as session:
        adapter.emit("terminated")
        await anyio.sleep(0.3)  # longer than a busy machine delays what an adapter says next
        adapter.emit("exited", exitCode=7)
        assert (await end_of(session)).exit_code == 7
