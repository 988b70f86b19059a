"""restart_debugging, set_variable, continue until a place, what a start says first, and what a program reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.model import LaunchRequest
from tests.tools.tool_fixture import Bench, opened

pytestmark = pytest.mark.anyio


def changeable(bench: Bench) -> None:
    bench.adapter.answers["initialize"] = lambda _: {
        "supportsConfigurationDoneRequest": True,
        "supportsSetVariable": True,
    }
    bench.adapter.answers["setVariable"] = lambda asked: {"value": asked["value"], "type": "int"}


# set_variable


async def test_a_variable_is_set_by_name_in_the_top_frame_or_in_what_holds_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        changeable(bench)
        stop = await bench.started()
        reference = (await bench.call("get_scopes"))["scopes"][0]["variables_reference"]
        by_name = await bench.call("set_variable", name="n", value="5")
        in_holder = await bench.call("set_variable", name="n", value="6", variables_reference=reference)
    assert by_name.data == {
        "status": "success",
        "session_id": stop["session_id"],
        "name": "n",
        "value": "5",
        "type": "int",
        "variables_reference": 0,
    }
    assert by_name.text == "  n = 5"
    assert in_holder["value"] == "6"
    sent = {"variablesReference": 9, "name": "n"}
    assert bench.adapter.sent("setVariable") == [{**sent, "value": "5"}, {**sent, "value": "6"}]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"name": "nowhere"}, "unknown_variable"),
        ({"name": "n", "variables_reference": 5}, "unknown_reference"),
        ({"name": "n", "frame_id": 900_000_000_001}, "unknown_reference"),
    ],
)
async def test_an_unknown_variable_is_refused_and_nothing_is_sent(
    tmp_path: Path, arguments: dict[str, Any], code: str
) -> None:
    async with opened(tmp_path) as bench:
        changeable(bench)
        await bench.started()
        answer = await bench.call("set_variable", value="1", **arguments)
    assert (answer["status"], answer["code"], answer["state"]) == ("error", code, "Stopped")
    assert bench.adapter.sent("setVariable") == []


async def test_a_slip_of_the_pen_makes_no_new_variable(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.answers["initialize"] = lambda _: {
            "supportsConfigurationDoneRequest": True,
            "supportsSetExpression": True,
        }
        bench.adapter.answers["setExpression"] = lambda asked: {"value": asked["value"]}
        await bench.started()
        member = await bench.call("set_variable", name="order.price", value="9")
        bench.adapter.refuse("evaluate", "NameError: name 'prise' is not defined")
        answer = await bench.call("set_variable", name="prise", value="9")
    assert (member["status"], member["value"]) == ("success", "9")
    assert (answer["status"], answer["code"]) == ("error", "unknown_variable")
    assert [it["expression"] for it in bench.adapter.sent("setExpression")] == ["order.price"]


async def test_a_value_that_the_debugger_refuses_is_reported_with_its_words_apart(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        changeable(bench)
        await bench.started()
        bench.adapter.refuse("setVariable", "obey: not a number")
        answer = await bench.call("set_variable", name="n", value="x y")
    assert (answer["message"], answer["debugger_says"]) == (
        "Cannot set the variable to this value.",
        "obey: not a number",
    )


async def test_a_debugger_that_cannot_set_variables_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        answer = await bench.call("set_variable", name="n", value="1")
    assert (answer["status"], answer["code"]) == ("error", "not_supported")


async def test_a_secret_that_is_set_reaches_the_program_whole_and_is_not_shown(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        changeable(bench)
        bench.adapter.answers["variables"] = lambda _: {
            "variables": [{"name": "password", "value": "''", "variablesReference": 0}]
        }
        await bench.started()
        answer = await bench.call("set_variable", name="password", value="'hunter22'")
    assert bench.adapter.sent("setVariable")[0]["value"] == "'hunter22'"
    assert answer["value"] == "'<redacted 8 chars>'"
    assert "hunter22" not in answer.text


# restart_debugging


@pytest.mark.parametrize("ended", [False, True], ids=["while-it-lives", "after-its-end"])
async def test_a_restart_keeps_the_id_the_launch_request_and_the_breakpoints(tmp_path: Path, ended: bool) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        first, second = bench.adapters
        await bench.call("set_breakpoint", file_path="app.py", line_number=5)
        before = await bench.started(stdin="once\n")
        if ended:
            first.when("continue", first.die)
            await bench.call("continue_debugging")
        second.when("configurationDone", lambda: second.stop("breakpoint"))
        after = await bench.call("restart_debugging")
        looked = await bench.call("evaluate_expression", expression="n")
        (session,) = (await bench.call("list_sessions"))["sessions"]
    assert (after["status"], after["session_id"]) == ("stopped", before["session_id"])
    assert after["stop_event_data"]["stop_number"] == before["stop_event_data"]["stop_number"] + 1
    assert second.sent("setBreakpoints")[0]["breakpoints"][0]["line"] == 5
    assert bench.starter.requests[1][1] == bench.starter.requests[0][1]
    assert (looked["status"], session["state"]) == ("success", "Stopped")


async def test_a_restart_can_be_left_alone_or_take_too_long(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=3) as bench:
        await bench.started()
        unwaited = await bench.call("restart_debugging", wait=False)
        late = await bench.call("restart_debugging", timeout_s=0.01)
    assert (unwaited["status"], unwaited["state"]) == ("success", "Running")
    assert (late["status"], late["state"]) == ("timeout", "Running")


async def test_nothing_to_restart_is_reported_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.call("restart_debugging")
        unknown = await bench.call("restart_debugging", session_id="debug-no")
    assert (answer["status"], answer["code"], answer["state"]) == ("error", "no_session", "Idle")
    assert unknown["code"] == "unknown_session"


# continue until


@pytest.mark.parametrize("place", [{"line_number": 7}, {"line_text": "line 7"}])
async def test_the_program_runs_to_a_place_once_and_no_list_shows_it(tmp_path: Path, place: dict[str, Any]) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        bench.adapter.when("continue", lambda: bench.adapter.stop("breakpoint"))
        answer = await bench.call("continue_debugging", until={"file_path": "app.py", **place})
        listed = await bench.call("get_breakpoints")
    assert answer["status"] == "stopped"
    assert [it["line"] for it in bench.adapter.sent("setBreakpoints")[0]["breakpoints"]] == [7]
    assert bench.adapter.sent("setBreakpoints")[0]["source"]["path"] == str(bench.file)
    assert listed["breakpoints"] == []


@pytest.mark.parametrize(
    ("until", "code"),
    [
        ({"file_path": "app.py"}, "bad_arguments"),
        ({"file_path": "app.py", "line_number": 99}, "line_past_end"),
        ({"file_path": "gone.py", "line_number": 1}, "file_not_found"),
        ({"line_number": 1}, "bad_arguments"),
    ],
)
async def test_an_invalid_place_is_refused_and_the_program_stays(
    tmp_path: Path, until: dict[str, Any], code: str
) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        answer = await bench.call("continue_debugging", until=until)
    assert (answer["status"], answer["code"], answer["state"]) == ("error", code, "Stopped")
    assert bench.adapter.sent("continue") == []


# What a start says first, and what the program reads.


@pytest.mark.parametrize("how", ["stopped", "completed", "timeout", "success"])
async def test_the_first_answer_names_the_interpreter_and_the_adapter(tmp_path: Path, how: str) -> None:
    async with opened(tmp_path) as bench:
        bench.starter.facts = {"interpreter": "/usr/bin/python3", "adapter": "fake\x1b 1.0"}
        if how in {"stopped", "completed"}:
            act = bench.adapter.stop if how == "stopped" else lambda: bench.adapter.emit("terminated")
            bench.adapter.when("configurationDone", act)
        quick: dict[str, dict[str, Any]] = {"timeout": {"timeout_s": 0.01}, "success": {"wait": False}}
        answer = await bench.call("start_debugging", program="app.py", **quick.get(how, {}))
        bench.adapter.when("next", bench.adapter.stop)
        later = await bench.call("step_execution", step_type="over")
        (listed,) = (await bench.call("list_sessions"))["sessions"]
    assert (answer["status"], answer["runs_with"]) == (
        how,
        {"interpreter": "/usr/bin/python3", "adapter": "fake\\x1b 1.0"},
    )
    assert answer.text.splitlines()[-2:] == ["interpreter: /usr/bin/python3", "adapter: fake\\x1b 1.0"]
    assert "runs_with" not in later.data
    assert listed["runs_with"] == answer["runs_with"]


async def test_of_several_started_together_the_first_stop_is_reported_and_the_others_are_named(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        first, second = bench.adapters
        bench.starter.together = 2
        second.when("configurationDone", lambda: second.stop("breakpoint"))
        answer = await bench.call("start_debugging", program="app.py")
        sessions = (await bench.call("list_sessions"))["sessions"]
        waiting, stopped = sessions
    assert (answer["status"], answer["session_id"]) == ("stopped", stopped["session_id"])
    assert answer["other_sessions"] == [
        {"session_id": waiting["session_id"], "name": "app.py", "state": "Running"},
    ]
    assert answer.text.splitlines()[-1] == f"also started: {waiting['session_id']} Running app.py"
    assert first.sent("launch")
    assert (waiting["state"], stopped["state"]) == ("Running", "Stopped")


async def test_what_the_program_reads_reaches_its_start(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        await bench.running(stdin="one\ntwo\n")
        await bench.running()
    assert [launch_request.stdin for _, launch_request in bench.starter.requests] == ["one\ntwo\n", None]
    assert bench.starter.requests[0][1] == LaunchRequest(program="app.py", stdin="one\ntwo\n")
