"""Several threads: chosen by id, reported at a stop and in the list of sessions, and never delaying an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.requirements import sentence
from tests.tools.tool_fixture import Bench, frame, opened, stack_of

pytestmark = pytest.mark.anyio


def threaded(bench: Bench, count: int = 2) -> None:
    """Thread 1 is in the file's line 5, each other one in a function of its own."""
    threads = [{"id": id, "name": f"worker {id}"} for id in range(1, count + 1)]
    bench.adapter.answers["threads"] = lambda _: {"threads": threads}
    bench.adapter.answers["stackTrace"] = lambda asked: stack_of(
        frame(asked["threadId"], f"f{asked['threadId']}", str(bench.file), 4 + asked["threadId"])
    )


@pytest.mark.requirement("debug:general:multi-threaded", "debug:general:other-threads")
async def test_a_stop_names_the_other_threads_and_the_list_of_sessions_says_where_they_are(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        threaded(bench)
        bench.adapter.when("configurationDone", lambda: bench.adapter.stop("breakpoint", allThreadsStopped=True))
        answer = await bench.call("start_debugging", program="app.py")
        listed = await bench.call("list_sessions")
    stop = answer["stop_event_data"]
    assert stop["other_threads"] == [{"thread_id": 2, "name": "worker 2", "state": "stopped"}]
    assert (stop["thread_id"], stop["total_threads"]) == (1, 2)
    assert "other threads: 2 worker 2 stopped" in answer.text
    (session,) = listed["sessions"]
    assert session["threads"][1] == {
        "thread_id": 2,
        "name": "worker 2",
        "state": "stopped",
        "function_name": "f2",
        "file_path": str(bench.file),
        "line_number": 6,
    }
    assert listed.text.splitlines()[1:] == [
        "    thread 1 stopped app.py:5: worker 1",
        "    thread 2 stopped app.py:6: worker 2",
    ]


@pytest.mark.requirement("debug:general:multi-threaded", "debug:general:other-threads")
async def test_where_one_thread_stops_alone_the_others_are_reported_as_running(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        threaded(bench)
        answer = await bench.started()
    (other,) = answer["stop_event_data"]["other_threads"]
    assert other["state"] == "running"


async def test_a_single_thread_costs_no_words(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.started()
    assert "other_threads" not in answer["stop_event_data"]
    assert "total_threads" not in answer["stop_event_data"]
    assert "other threads" not in answer.text


async def test_of_a_thousand_threads_some_are_reported_and_the_rest_counted(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        threaded(bench, 1000)
        answer = await bench.started()
        listed = await bench.call("list_sessions")
        unknown = await bench.call("continue_debugging", thread_id=5000)
    stop = answer["stop_event_data"]
    assert (len(stop["other_threads"]), stop["total_threads"]) == (20, 1000)
    assert "[994 more: list_sessions]" in answer.text
    assert len(listed["sessions"][0]["threads"]) == 20
    assert listed.text.splitlines()[-1] == "    [980 more threads]"
    assert len(unknown["hint"]) < 400


async def test_a_debugger_that_does_not_list_its_threads_spoils_no_stop(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.refuse("threads", "not now")
        answer = await bench.started()
        listed = await bench.call("list_sessions")
    assert answer["status"] == "stopped"
    assert "threads" not in listed["sessions"][0]


async def test_the_list_of_sessions_waits_for_a_silent_debugger_once_not_once_a_session(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=5) as bench:
        for adapter in bench.adapters:
            await bench.running()
            adapter.answers["threads"] = lambda _: None
        with anyio.fail_after(5):
            listed = await bench.call("list_sessions")
    assert [it["state"] for it in listed["sessions"]] == ["Running"] * 5


@pytest.mark.requirement("debug:general:thread-id-demanded")
@pytest.mark.parametrize(
    ("tool", "arguments", "request_name", "sent"),
    [
        ("continue_debugging", {"wait": False}, "continue", {"threadId": 2}),
        ("step_execution", {"step_type": "over", "wait": False}, "next", {"threadId": 2}),
        ("get_scopes", {}, "scopes", {"frameId": 2}),
        (
            "evaluate_expression",
            {"expression": "x"},
            "evaluate",
            {"expression": "x", "context": "repl", "frameId": 2},
        ),
    ],
)
async def test_every_operation_on_one_line_of_execution_takes_its_thread(
    tmp_path: Path, tool: str, arguments: dict[str, Any], request_name: str, sent: dict[str, Any]
) -> None:
    async with opened(tmp_path) as bench:
        threaded(bench)
        bench.adapter.when("configurationDone", lambda: bench.adapter.stop("breakpoint", allThreadsStopped=True))
        await bench.call("start_debugging", program="app.py")
        answer = await bench.call(tool, thread_id=2, **arguments)
    assert answer["status"] == "success"
    assert bench.adapter.sent(request_name)[-1] == sent


@pytest.mark.requirement("debug:continue:error-thread", "debug:step:error-thread")
@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("continue_debugging", {}, "debug:continue:error-thread"),
        ("step_execution", {"step_type": "over"}, "debug:step:error-thread"),
        ("get_scopes", {}, "debug:continue:error-thread"),
        ("evaluate_expression", {"expression": "x"}, "debug:continue:error-thread"),
    ],
)
async def test_an_unknown_thread_is_refused_in_the_documents_words_with_the_known_ones(
    tmp_path: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async with opened(tmp_path) as bench:
        threaded(bench)
        await bench.started()
        answer = await bench.call(tool, language="zh", thread_id=77, **arguments)
        still = await bench.call("get_scopes")
    assert (answer["status"], answer["code"], answer["state"]) == ("error", "unknown_thread", "Stopped")
    assert answer["message"].startswith(sentence(words))
    assert "1, 2" in answer["hint"]
    assert still["status"] == "success"
