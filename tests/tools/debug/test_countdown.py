"""A stop of a program that was attached to from another machine says when it ends, and can be held."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.workspace.caller import RemoteCaller
from tests.tools.tool_fixture import Bench, opened, until

pytestmark = pytest.mark.anyio


async def stopped(bench: Bench) -> None:
    bench.caller = replace(bench.caller, remote=RemoteCaller("ssh:a", allows_stop=True))
    bench.starter.request = "attach"
    bench.adapter.when("attach", lambda: bench.adapter.emit("initialized"))


async def test_the_answer_and_the_list_of_sessions_say_when_the_program_runs_on(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await stopped(bench)
        answer = await bench.started()
        assert answer["stop_event_data"]["resumes_in_s"] == 30
        assert "resumes in 30 s; wait_for_stop with `hold_s` keeps it there" in answer.text
        assert (await bench.call("list_sessions"))["sessions"][0]["resumes_in_s"] == 30
        held = await bench.call("wait_for_stop", hold_s=120)
        assert held["stop_event_data"]["resumes_in_s"] == 120
        await until(lambda: bench.service.live()[0].is_at_stop)


async def test_after_the_countdown_a_wait_says_that_it_was_the_countdown(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await stopped(bench)
        await bench.started()
        session = bench.service.live()[0]
        bench.clock.advance(31)
        session.changes.notify()
        await until(lambda: bench.adapter.sent("continue"))
        answer = await bench.call("wait_for_stop", timeout_s=0)
        assert "The countdown resumed the program at " in answer.text
        assert "The countdown resumed the program at " in answer["message"]
        refused = await bench.call("step_execution", step_type="over")
        assert (refused["code"], refused.is_error) == ("not_stopped", True)
