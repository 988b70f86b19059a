"""Time that is up, waits that a person ends, what is not waited for, progress, pause and wait."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from dragoman.core.localization import LocalizedText
from dragoman.debug.model import SessionState
from dragoman.workspace.caller import Caller
from tests.requirements import sentence
from tests.tools.tool_fixture import MOVES, moved, opened, until

pytestmark = pytest.mark.anyio


# timeout, interrupted, not waited for


@pytest.mark.requirement(
    "debug:result:timeout",
    "debug:result:timeout-message",
    "debug:start:timeout",
    "debug:continue:timeout",
    "debug:step:timeout",
    "debug:general:custom-timeout",
    "debug:general:timeout-answered",
)
@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("start_debugging", "debug:start:timeout"),
        ("continue_debugging", "debug:continue:timeout"),
        ("step_execution", "debug:step:timeout"),
    ],
)
async def test_when_the_time_is_up_the_true_state_is_reported_in_the_documents_words(
    tmp_path: Path, tool: str, words: str
) -> None:
    async with opened(tmp_path) as bench:
        if tool == "start_debugging":
            answer = await bench.call(tool, language="zh", program="app.py", timeout_s=0)
        else:
            await bench.started()
            answer = await moved(bench, tool, language="zh", timeout_s=0.01)
    assert (answer["status"], answer["state"], answer["message"]) == ("timeout", "Running", sentence(words))
    assert answer["session_id"] in answer.text
    assert "wait_for_stop" in answer["hint"]


@pytest.mark.requirement(
    "debug:result:interrupted",
    "debug:start:interrupted",
    "debug:continue:interrupted",
    "debug:step:interrupted",
    "debug:general:user-interrupts",
)
@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("start_debugging", "debug:start:interrupted"),
        ("continue_debugging", "debug:continue:interrupted"),
        ("step_execution", "debug:step:interrupted"),
    ],
)
async def test_a_person_can_end_a_wait_and_the_program_continues(tmp_path: Path, tool: str, words: str) -> None:
    answers = []
    async with opened(tmp_path) as bench:

        async def wait() -> None:
            if tool == "start_debugging":
                answers.append(await bench.call(tool, language="zh", program="app.py"))
            else:
                answers.append(await moved(bench, tool, language="zh"))

        if tool != "start_debugging":
            await bench.started()
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await until(lambda: bench.waits.open)
            await until(lambda: tool == "start_debugging" or bench.adapter.sent(MOVES[tool][1]))
            await until(lambda: bench.service.live()[0].state is not SessionState.STARTING)
            assert bench.waits.interrupt(workspace=tmp_path / "elsewhere") == 0
            assert bench.waits.interrupt(session_id="another") == 0
            assert bench.waits.interrupt(workspace=bench.caller.workspace) == 1
        (answer,) = answers
        assert bench.waits.open == []
        bench.adapter.stop("breakpoint")
        after = await bench.call("wait_for_stop")
    assert (answer["status"], answer["state"], answer["message"]) == ("interrupted", "Running", sentence(words))
    assert after["status"] == "stopped"


async def test_the_wait_for_a_program_that_still_starts_can_be_ended_and_it_starts_all_the_same(tmp_path: Path) -> None:
    answers, held = [], anyio.Event()
    async with opened(tmp_path) as bench:
        bench.adapter.answers["launch"] = lambda _: held

        async def start() -> None:
            answers.append(await bench.call("start_debugging", program="app.py"))

        async with anyio.create_task_group() as group:
            group.start_soon(start)
            with anyio.fail_after(2):
                await until(lambda: bench.waits.open)
            (session,) = bench.service.live()
            assert session.state is SessionState.STARTING
            assert bench.waits.interrupt(session_id=session.id) == 1
        (answer,) = answers
        held.set()
        await until(lambda: session.state is SessionState.RUNNING)
    assert (answer["status"], answer["state"]) == ("interrupted", "Starting")
    assert answer["message"] == "The user interrupted the wait for the start."
    assert "Still starting" in answer["hint"]


async def test_a_cancelled_call_leaves_no_wait_behind_and_its_session_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        async with anyio.create_task_group() as group:
            group.start_soon(moved, bench, "continue_debugging")
            await until(lambda: bench.adapter.sent("continue"))
            group.cancel_scope.cancel()
        assert bench.waits.open == []
        (session,) = (await bench.call("list_sessions"))["sessions"]
    assert session["state"] == "Running"


@pytest.mark.parametrize("tool", ["start_debugging", *MOVES])
async def test_what_is_not_waited_for_is_answered_at_once(tmp_path: Path, tool: str) -> None:
    async with opened(tmp_path) as bench:
        if tool == "start_debugging":
            answer = await bench.running()
        else:
            await bench.started()
            answer = await moved(bench, tool, wait=False)
        bench.adapter.stop("step")
        later = await bench.call("wait_for_stop")
    assert (answer["status"], answer["state"]) == ("success", "Running")
    assert later["session_id"] == answer["session_id"]
    assert later["stop_event_data"]["reason"] == "step"


@pytest.mark.requirement("debug:general:default-timeout")
async def test_the_default_limit_is_within_the_patience_of_clients_and_a_longer_one_is_reported(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        properties = {it.name: it.input_schema["properties"] for it in bench.toolbox.tools}
        waited = await bench.started(timeout_s=61)
        plain = await moved(bench, "continue_debugging", lambda: bench.adapter.stop("step"), timeout_s=60)
    waiting = [
        name for name in properties if "wait" in properties[name] or name in {"pause_debugging", "wait_for_stop"}
    ]
    assert len(waiting) == 6
    assert {properties[name]["timeout_s"]["default"] for name in waiting} == {45}
    assert "60 seconds" in waited["hint"]
    assert "60 seconds" in waited.text
    assert "hint" not in plain.data


async def test_the_limit_counts_from_the_call_also_over_a_slow_start(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.when("configurationDone", lambda: bench.clock.advance(50))
        answer = await bench.call("start_debugging", program="app.py")
    assert answer["status"] == "timeout"


async def test_progress_is_reported_while_waiting_and_ends_with_it(tmp_path: Path) -> None:
    received: list[tuple[float, float, LocalizedText]] = []

    async def progress(done: float, total: float, what: LocalizedText) -> None:
        received.append((done, total, what))
        if len(received) == 2:
            bench.adapter.stop("step")

    async with opened(tmp_path, every_s=0.001) as bench:
        first = await bench.started()
        caller = Caller("agent-1", bench.caller.workspace, bench.caller.workspace, progress=progress)
        answer = await moved(bench, "continue_debugging", caller=caller, timeout_s=30)
        refused = await bench.call("continue_debugging", caller=caller, session_id="debug-x")
    assert answer["status"] == "stopped"
    assert refused["code"] == "unknown_session"
    assert [total for _, total, _ in received[:2]] == [30, 30]
    assert str(received[0][2]) == f"continue_debugging waits for {first['session_id']}."


async def test_an_error_while_progress_is_reported_comes_by_itself(tmp_path: Path) -> None:
    async def progress(*_: object) -> None:
        pass

    async with opened(tmp_path) as bench:
        await bench.running()
        caller = Caller("agent-1", bench.caller.workspace, bench.caller.workspace, progress=progress)
        answer = await moved(bench, "step_execution", caller=caller)
    assert (answer["status"], answer["code"]) == ("error", "not_stopped")


# pause and wait


async def test_a_running_program_is_paused_and_a_stopped_one_is_shown(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        bench.adapter.when("pause", lambda: bench.adapter.stop("pause"))
        paused = await bench.call("pause_debugging")
        again = await bench.call("pause_debugging")
    assert paused["stop_event_data"]["reason"] == "pause"
    assert again["stop_event_data"] == paused["stop_event_data"]
    assert len(bench.adapter.sent("pause")) == 1


async def test_a_pause_that_does_not_come_times_out_in_its_own_words(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        why = {"output": "it cannot be halted\n", "category": "important"}
        bench.adapter.when("pause", lambda: bench.adapter.emit("output", **why))
        answer = await bench.call("pause_debugging", timeout_s=0.1)
    assert (answer["status"], answer["message"]) == ("timeout", "Timed out waiting for the program to pause.")
    assert answer["output"] == "it cannot be halted\n"


async def test_after_another_moved_the_program_on_the_wait_shows_where_it_is_and_the_next_step_works(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        person = Caller("client-7f", bench.caller.workspace, bench.caller.workspace, name="Another\nEditor")
        await moved(bench, "step_execution", lambda: bench.adapter.stop("step"), caller=person)
        refused = await moved(bench, "step_execution")
        seen = await bench.call("wait_for_stop")
        stepped = await moved(bench, "step_execution", lambda: bench.adapter.stop("step"))
    assert (refused["status"], refused["code"], refused["state"]) == ("error", "moved_on", "Stopped")
    assert "'Another\\nEditor' ran `next`" in refused["message"]
    assert "wait_for_stop" in refused["hint"]
    assert seen["stop_event_data"]["stop_number"] == 2
    assert stepped["stop_event_data"]["stop_number"] == 3


async def test_waiting_for_a_program_that_has_ended_says_how_it_ended(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        bench.adapter.emit("exited", exitCode=2)
        bench.adapter.die()
        answer = await bench.call("wait_for_stop")
        later = await bench.call("wait_for_stop", session_id=answer["session_id"])
    assert (answer["status"], answer["exit_code"]) == ("completed", 2)
    assert later.data == answer.data
