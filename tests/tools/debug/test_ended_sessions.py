"""How the tools report an end: by whom, and no more than is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.tools.tool_fixture import opened, until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]


async def test_a_stopped_session_is_listed_with_its_client_and_without_the_code_of_our_kill(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as bench:
        started = await bench.started()
        bench.adapter.when("disconnect", lambda: bench.adapter.emit("exited", exitCode=247))
        await bench.call("stop_debugging", session_id=started["session_id"])
        await until(lambda: bench.adapter.ended)
        mine = (await bench.call("list_sessions"))["sessions"][0]
        other = (await bench.call("list_sessions", caller=replace(bench.caller, id="other")))["sessions"][0]
    assert mine["ended_by"] == "this client"
    assert mine.keys().isdisjoint({"exit_code", "signal"})
    assert other["ended_by"] == "another client"


async def test_a_caller_that_waits_learns_that_another_client_ended_the_session(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench, anyio.create_task_group() as group:
        session = (await bench.running())["session_id"]
        other = replace(bench.caller, id="other")

        async def stop() -> None:
            await bench.call("stop_debugging", session_id=session, caller=other)

        group.start_soon(stop)
        ended = await bench.call("wait_for_stop", session_id=session)
    assert (ended["status"], ended["message"]) == ("completed", "The session was ended by another client.")


async def test_a_debugger_that_exits_silently_is_not_reported_as_a_normal_end(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        bench.adapter.when("continue", bench.adapter.die)
        ended = await bench.call("continue_debugging")
    assert (ended["status"], "exit_code" in ended.data) == ("completed", False)
    assert ended["message"] == "The debugger exited without reporting how the program ended."
