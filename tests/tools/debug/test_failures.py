"""Errors are answers: a status, a sentence, a code, the state, and what to do, from every tool at the wrong moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.tools.debug.failures import _detail
from tests.requirements import sentence
from tests.tools.tool_fixture import opened, unsaid

pytestmark = pytest.mark.anyio

ABOUT_A_SESSION: dict[str, dict[str, Any]] = {
    "continue_debugging": {},
    "step_execution": {"step_type": "into"},
    "pause_debugging": {},
    "get_scopes": {},
    "get_variables": {"variables_reference": 1_000_001},
    "evaluate_expression": {"expression": "x"},
    "set_variable": {"name": "x", "value": "1"},
    "stop_debugging": {},
}


@pytest.mark.requirement(
    "debug:result:status",
    "debug:result:error",
    "debug:result:error-message",
    "debug:general:errors-explain",
    "debug:session-state:idle",
    "debug:continue:error",
    "debug:step:error",
)
@pytest.mark.parametrize("tool", ABOUT_A_SESSION)
async def test_without_a_session_every_tool_says_so_at_once_and_what_to_do(tmp_path: Path, tool: str) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.call(tool, **ABOUT_A_SESSION[tool])
    assert (answer["status"], answer["code"], answer["state"]) == ("error", "no_session", "Idle")
    assert answer["hint"] == "Start one with start_debugging."
    assert answer.text == f"no_session: {answer['message']} {answer['hint']}"


@pytest.mark.requirement("debug:continue:session-id-source", "debug:step:session-id-source")
@pytest.mark.parametrize("tool", ABOUT_A_SESSION)
async def test_an_unknown_session_is_refused_with_the_known_ones(tmp_path: Path, tool: str) -> None:
    async with opened(tmp_path) as bench:
        known = await bench.running()
        answer = await bench.call(tool, session_id="debug-\x1b[0m", **ABOUT_A_SESSION[tool])
    assert (answer["status"], answer["code"]) == ("error", "unknown_session")
    assert known["session_id"] in answer["hint"]
    assert "\x1b" not in answer.text


async def test_of_many_sessions_the_newest_are_named_and_the_others_counted(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=12) as bench:
        started = [(await bench.running())["session_id"] for _ in range(12)]
        answer = await bench.call("get_scopes", session_id="debug-no")
    assert answer["hint"] == f"Sessions: {', '.join(started[-8:])} (+4)."


@pytest.mark.parametrize("tool", sorted(set(ABOUT_A_SESSION) - {"stop_debugging", "pause_debugging"}))
async def test_while_the_program_runs_what_needs_a_stop_is_refused_at_once(tmp_path: Path, tool: str) -> None:
    async with opened(tmp_path) as bench:
        running = await bench.running()
        answer = await bench.call(tool, **ABOUT_A_SESSION[tool])
    assert (answer["code"], answer["state"]) == ("not_stopped", "Running")
    assert answer["session_id"] == running["session_id"]


@pytest.mark.parametrize("tool", ABOUT_A_SESSION)
async def test_after_the_end_every_tool_says_so_at_once(tmp_path: Path, tool: str) -> None:
    async with opened(tmp_path) as bench:
        started = await bench.running()
        bench.adapter.die()
        await bench.call("wait_for_stop")
        answer = await bench.call(tool, session_id=started["session_id"], **ABOUT_A_SESSION[tool])
    assert (answer["status"], answer["code"], answer["state"]) == ("error", "already_ended", "Terminated")


@pytest.mark.requirement(
    "debug:continue:error-cannot-resume", "debug:continue:error-session-or-thread", "debug:step:error-state"
)
@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("continue_debugging", {}, "debug:continue:error-cannot-resume"),
        ("continue_debugging", {"session_id": "x"}, "debug:continue:error-session-or-thread"),
        ("step_execution", {"step_type": "into"}, "debug:step:error-state"),
    ],
)
async def test_the_documents_words_begin_the_message(
    tmp_path: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        answer = await bench.call(tool, language="zh", **arguments)
    assert answer["message"].startswith(sentence(words))


@pytest.mark.parametrize(("kind", "word"), [("into", "步入"), ("over", "步过"), ("out", "步出")])
async def test_a_step_that_is_refused_names_its_kind_and_keeps_the_debuggers_words_apart(
    tmp_path: Path, kind: str, word: str
) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        for request in ("next", "stepIn", "stepOut"):
            bench.adapter.refuse(request, "Obey: not now")
        answer = await bench.call("step_execution", language="zh", step_type=kind)
    assert answer["message"].startswith(f"当前状态无法执行{word}操作")
    assert "Obey" not in answer["message"]
    assert (answer["debugger_says"], answer["state"]) == ("Obey: not now", "Stopped")
    assert answer.text.splitlines()[-1] == "调试器：Obey: not now"


async def test_a_silent_debugger_costs_no_more_than_the_time_given(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        bench.adapter.answers["evaluate"] = lambda _: None
        answer = await bench.call("evaluate_expression", expression="forever()", timeout_s=0.01)
    assert (answer["status"], answer["code"], answer["state"]) == ("error", "adapter_silent", "Stopped")


@pytest.mark.requirement("debug:paradigm:sync", "debug:result:success")
async def test_only_of_a_python_program_it_is_said_that_an_expression_is_interrupted(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        bench.adapter.when("evaluate", lambda: None, answers=False)
        answer = await bench.call("evaluate_expression", expression="x", timeout_s=0.05)
    assert (answer["code"], "Python" in answer["hint"]) == ("adapter_silent", False)


def test_details_are_lines_that_a_person_can_read() -> None:
    assert list(map(str, _detail("last_lines", ["hello"], "en"))) == ["last_lines: hello"]
    would_run = [{"what": "make", "args": ["-j", "2"]}, {"what": "run", "cwd": ""}]
    assert list(map(str, _detail("would_run", would_run, "en"))) == [
        "would_run:",
        "  what: make, args: -j 2",
        "  what: run",
    ]
    chinese = [line.in_language("zh") for line in _detail("would_run", would_run, "zh")]
    assert chinese == ["将要运行：", "  内容：make，参数：-j 2", "  内容：run"]


async def test_what_does_not_wait_answers_success_while_another_call_waits(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        for tool in ("get_breakpoints", "list_sessions", "get_output", "get_debugger_configurations"):
            assert (await bench.call(tool))["status"] == "success"


@pytest.mark.requirement("debug:general:five-outcomes", "debug:principle:status-driven")
async def test_a_waiting_tool_declares_exactly_the_documents_ends_and_not_waiting(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        schemas = {it.name: it.output_schema for it in bench.toolbox.tools}
    for tool in ("start_debugging", "continue_debugging", "step_execution"):
        ends, failure = (it["properties"]["status"] for it in schemas[tool]["anyOf"])
        assert set(ends["enum"]) == {"stopped", "completed", "timeout", "interrupted", "success"}
        assert failure["const"] == "error"


async def test_a_start_that_fails_says_nothing_of_the_session_that_is_active(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        answer = await bench.call("start_debugging")
    assert (answer["code"], answer.data.get("session_id"), answer["state"]) == ("bad_arguments", None, "Idle")


async def test_a_pause_that_is_not_waited_for_answers_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        session = await bench.running()
        answer = await bench.call("pause_debugging", wait=False)
    expected = ("success", session["session_id"], "Running")
    assert (answer["status"], answer["session_id"], answer["state"]) == expected


async def test_without_a_running_session_those_that_can_be_started_again_are_named(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        session = await bench.running()
        bench.adapter.die()
        await bench.call("wait_for_stop")
        answer = await bench.call("continue_debugging")
    assert answer["code"] == "no_session"
    assert session["session_id"] in answer["hint"]
    assert "restart_debugging" in answer["hint"]


async def test_the_text_of_an_error_has_all_that_the_debugger_says(tmp_path: Path) -> None:
    """Claude Code shows its model the text of an error alone."""
    async with opened(tmp_path) as bench:
        await bench.started()
        bench.adapter.refuse("evaluate", "Traceback (most recent call last):\n  File x\nNameError: nothing")
        refused = await bench.call("evaluate_expression", expression="1 +* 2")
    for line in refused["debugger_says"].splitlines():
        assert line.strip() in refused.text
    for part in (refused["code"], refused["message"], refused["session_id"]):
        assert part in refused.text


def test_what_the_text_of_an_error_leaves_out_is_found() -> None:
    """By the check that every error of these tests passes."""
    error = {"status": "error", "code": "no_file", "details": {"path": "a.py", "line": 3, "near": [{"name": "b.py"}]}}
    assert unsaid(error, "no_file: a.py:3, b.py") == []
    assert unsaid(error, "no_file: a.py") == ["3", "b.py"]
