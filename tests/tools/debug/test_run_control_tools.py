"""start, continue, step, stop: what is waited for, how it ends, and what was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from tests.requirements import sentence
from tests.tools.tool_fixture import MOVES, moved, opened

pytestmark = pytest.mark.anyio

# stopped


@pytest.mark.requirement(
    "debug:start:tool",
    "debug:start:waits",
    "debug:start:async",
    "debug:start:stopped",
    "debug:start:session-id-answered",
    "debug:paradigm:async",
    "debug:result:stopped",
    "debug:result:stopped-data",
    "debug:stop-event:present",
)
async def test_a_start_waits_for_the_first_stop_and_gives_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.started()
    stop = answer["stop_event_data"]
    assert (answer["status"], answer["state"], stop["reason"], stop["line"]) == ("stopped", "Stopped", "breakpoint", 5)
    assert answer["session_id"] == stop["session_id"]
    assert answer["session_id"].startswith("debug-")


@pytest.mark.requirement("debug:start:first-stop-kinds")
@pytest.mark.parametrize("reason", ["entry", "breakpoint", "exception"])
async def test_the_first_stop_may_be_of_any_kind(tmp_path: Path, reason: str) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.when("configurationDone", lambda: bench.adapter.stop(reason))
        answer = await bench.call("start_debugging", program="app.py")
    assert (answer["status"], answer["stop_event_data"]["reason"]) == ("stopped", reason)


@pytest.mark.requirement(
    "debug:continue:tool",
    "debug:continue:async",
    "debug:continue:stopped",
    "debug:continue:stopped-session-id",
    "debug:step:tool",
    "debug:step:async",
    "debug:step:stopped",
)
@pytest.mark.parametrize("tool", MOVES)
async def test_a_move_waits_for_the_next_stop_and_gives_it(tmp_path: Path, tool: str) -> None:
    async with opened(tmp_path) as bench:
        first = await bench.started()
        answer = await moved(bench, tool, lambda: bench.adapter.stop("step"))
    assert (answer["status"], answer["state"]) == ("stopped", "Stopped")
    assert answer["stop_event_data"]["stop_number"] == first["stop_event_data"]["stop_number"] + 1
    assert answer["stop_event_data"]["session_id"] == first["session_id"]


@pytest.mark.requirement("debug:step:param-step-type")
@pytest.mark.parametrize(("kind", "request_name"), [("over", "next"), ("into", "stepIn"), ("out", "stepOut")])
async def test_each_kind_of_step_is_the_debuggers_own(tmp_path: Path, kind: str, request_name: str) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        bench.adapter.when(request_name, lambda: bench.adapter.stop("step"))
        answer = await bench.call("step_execution", step_type=kind)
        wrong = [await bench.call("step_execution"), await bench.call("step_execution", step_type="sideways")]
    assert answer["status"] == "stopped"
    assert bench.adapter.sent(request_name) == [{"threadId": 1}]
    assert [it["code"] for it in wrong] == ["bad_arguments", "bad_arguments"]


@pytest.mark.requirement(
    "debug:continue:param-thread-id",
    "debug:continue:thread-chosen",
    "debug:step:param-thread-id",
    "debug:continue:param-session-id",
    "debug:continue:session-id-default",
    "debug:step:param-session-id",
    "debug:step:session-id-default",
)
@pytest.mark.parametrize("tool", MOVES)
async def test_thread_and_session_are_as_given_or_the_stopped_and_the_active_one(tmp_path: Path, tool: str) -> None:
    _, request = MOVES[tool]
    async with opened(tmp_path, adapters=2) as bench:
        first, second = bench.adapters
        first.answers["threads"] = lambda _: {"threads": [{"id": 1, "name": "main"}, {"id": 7, "name": "seventh"}]}
        older = await bench.started()
        second.when("configurationDone", second.stop)
        bench.clock.advance(1)
        newer = await bench.call("start_debugging", program="app.py")
        by_default = await moved(bench, tool, wait=False)
        by_id = await moved(bench, tool, wait=False, session_id=older["session_id"], thread_id=7)
    assert (by_default["session_id"], by_id["session_id"]) == (newer["session_id"], older["session_id"])
    assert second.sent(request) == [{"threadId": 1}]
    assert first.sent(request) == [{"threadId": 7}]


# completed


@pytest.mark.requirement(
    "debug:result:completed",
    "debug:start:completed",
    "debug:continue:completed",
    "debug:continue:until",
    "debug:step:completed",
)
@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("start_debugging", "debug:start:completed"),
        ("continue_debugging", "debug:continue:completed"),
        ("step_execution", "debug:step:completed"),
    ],
)
async def test_an_end_is_completed_in_the_documents_words_with_exit_code_and_last_output(
    tmp_path: Path, tool: str, words: str
) -> None:
    async with opened(tmp_path) as bench:

        def end() -> None:
            bench.adapter.emit("output", output="bye\n", category="stdout")
            bench.adapter.emit("exited", exitCode=0)
            bench.adapter.emit("terminated")

        if tool == "start_debugging":
            bench.adapter.when("configurationDone", end)
            answer = await bench.call(tool, language="zh", program="app.py")
        else:
            await bench.started()
            answer = await moved(bench, tool, end, language="zh")
    id = answer["session_id"]
    assert answer.data == {
        "status": "completed",
        "session_id": id,
        "state": "Terminated",
        "message": sentence(words),
        "exit_code": 0,
        "output": "bye\n",
    }
    assert answer.text.splitlines() == [f"已结束：{sentence(words)}（{id}）", "输出：", "  | bye"]


async def test_an_end_that_is_not_zero_is_completed_with_its_code(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()

        def fail() -> None:
            bench.adapter.emit("exited", exitCode=3)
            bench.adapter.die()

        bench.adapter.when("continue", fail)
        answer = await bench.call("continue_debugging")
    assert (answer["status"], answer["exit_code"]) == ("completed", 3)
    assert answer["message"] == "The program ended with exit code 3."


async def test_a_stop_without_a_known_thread_is_reported_all_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        bench.adapter.refuse("threads", "cannot \x1b read")
        bench.adapter.emit("stopped", reason="pause")
        answer = await bench.call("wait_for_stop")
    stop = answer["stop_event_data"]
    assert (answer["status"], stop["reason"], stop["thread_id"]) == ("stopped", "pause", 0)
    assert "\x1b" not in answer.text


async def test_a_debugger_that_breaks_in_the_middle_is_an_error_not_an_end(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        bench.adapter.break_off(DragomanError("adapter_broken", localize("{text}", text="cannot \x1b read")))
        answer = await bench.call("wait_for_stop")
    assert (answer["status"], answer["code"], answer["state"]) == ("error", "session_broken", "Terminated")
    assert "\x1b" not in answer.text


@pytest.mark.requirement(
    "debug:start:param-no-debug", "debug:start:no-debug-default", "debug:start:no-debug-waits-for-end"
)
async def test_without_debugging_no_breakpoint_is_sent_and_the_end_is_waited_for(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("set_breakpoint", file_path="app.py", line_number=1)
        bench.adapter.when("configurationDone", lambda: bench.adapter.emit("terminated"))
        answer = await bench.call("start_debugging", program="app.py", no_debug=True)
    assert answer["status"] == "completed"
    assert bench.adapter.sent("setBreakpoints") == []
    assert bench.adapter.sent("launch") == [{"noDebug": True}]
    assert bench.starter.requests[0][1].no_debug is True


# start: what is wished for


@pytest.mark.requirement("debug:start:param-configuration-name")
async def test_a_start_names_exactly_one_way_and_hands_it_on_whole(tmp_path: Path) -> None:
    full: dict[str, Any] = {
        "configuration_name": "Run",
        "args": ["a"],
        "cwd": "sub",
        "env": {"A": "1"},
        "inputs": {"port": "80"},
        "process_id": 4,
        "wait": False,
    }
    async with opened(tmp_path) as bench:
        await bench.call("start_debugging", **full)
        wrong = [
            await bench.call("start_debugging"),
            await bench.call("start_debugging", configuration_name="a", program="b"),
            await bench.call("start_debugging", configuration={}),
        ]
    ((client, launch_request),) = bench.starter.requests
    assert (launch_request.configuration_name, launch_request.args, launch_request.cwd, launch_request.process_id) == (
        "Run",
        ("a",),
        "sub",
        4,
    )
    assert (launch_request.env, launch_request.inputs, launch_request.no_debug) == ({"A": "1"}, {"port": "80"}, False)
    assert (client.id, client.workspace) == ("agent-1", bench.caller.workspace)
    assert [it["code"] for it in wrong] == ["bad_arguments"] * 3


@pytest.mark.requirement("debug:start:error", "debug:start:error-adapter-process")
async def test_a_start_that_fails_says_why_and_leaves_nothing_running(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.refuse("launch", "no such interpreter")
        answer = await bench.call("start_debugging", language="zh", program="app.py")
        bench.starter.refuses = DragomanError("needs_trust", localize("{text}", text="?"))
        untrusted = await bench.call("start_debugging", program="app.py")
    assert (answer["status"], answer["state"]) == ("error", "Idle")
    assert answer["message"] == sentence("debug:start:error-adapter-process")
    assert answer["debugger_says"] == "no such interpreter"
    assert untrusted["code"] == "needs_trust"


# stop_debugging


@pytest.mark.requirement(
    "debug:stop:tool",
    "debug:stop:sync",
    "debug:stop:no-parameters",
    "debug:stop:success",
    "debug:stop:success-message",
    "debug:stop:end-observable",
)
@pytest.mark.parametrize(("request_name", "ends"), [("launch", True), ("attach", False)])
@pytest.mark.parametrize("halted", [True, False])
async def test_stopping_answers_at_once_and_the_end_can_be_seen_afterwards(
    tmp_path: Path, request_name: str, ends: bool, halted: bool
) -> None:
    async with opened(tmp_path) as bench:
        bench.starter.request = request_name
        bench.adapter.when("attach", lambda: bench.adapter.emit("initialized"))
        await (bench.started() if halted else bench.running())
        answer = await bench.call("stop_debugging", language="zh")
        over = await bench.call("wait_for_stop", session_id=answer["session_id"])
        (session,) = (await bench.call("list_sessions"))["sessions"]
    assert (answer["status"], answer["message"]) == ("success", sentence("debug:stop:success-message"))
    assert over["status"] == "completed"
    assert session["state"] == "Terminated"
    assert bench.adapter.sent("disconnect") == [{"terminateDebuggee": ends}]


@pytest.mark.requirement("debug:stop:error", "debug:stop:error-no-session")
async def test_with_nothing_to_stop_the_documents_words_and_what_there_is(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        never = await bench.call("stop_debugging", language="zh")
        await bench.running()
        bench.adapter.die()
        over = await bench.call("wait_for_stop")
        ended = await bench.call("stop_debugging", language="zh", session_id=over["session_id"])
    words = sentence("debug:stop:error-no-session")
    assert (never["status"], never["code"], never["state"]) == ("error", "no_session", "Idle")
    assert words in never["message"]
    assert (ended["code"], ended["state"]) == ("already_ended", "Terminated")
    assert words in ended["message"]
