"""`trace` over a fake debugger: rows, limits, and which client owns which breakpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.debug.model import SessionState
from dragoman.tools.evidence.traces import TracePointParameters
from dragoman.workspace.caller import Caller
from tests.debug.evidence.evidence_tools import answer_values, at_line, exits, passes, steered
from tests.tools.tool_fixture import Bench, until

pytestmark = pytest.mark.anyio

POINT = {"line_number": 5, "expressions": ["n", "total"]}


async def traced(bench: Bench, *points: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = await bench.call("trace", program="app.py", points=list(points) or [POINT], **more)
    return {**answer.data, "text": answer.text}


async def test_each_hit_is_a_row_of_what_has_changed_and_the_end_is_reported(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        answer_values(bench.adapter, {"n": ["1", "2", "2"], "total": ["0", "0", "7"]})
        passes(bench.adapter, 3, exits(bench.adapter, 4))
        answer = await traced(bench)
    assert answer["rows"] == [
        {"hit": 1, "values": {"n": "1", "total": "0"}},
        {"hit": 2, "values": {"n": "2"}},
        {"hit": 3, "values": {"total": "7"}},
    ]
    assert answer["ended"] == {"how": "exited", "exit_code": 4}
    assert answer["text"] == "app.py:5: n | total\n1 | 1 | 0\n2 | 2 | =\n3 | = | 7\nexit code: 4"


async def test_rows_in_which_nothing_changes_are_one_line(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        answer_values(bench.adapter, {"n": ["1", "1", "1", "1", "5"]})
        passes(bench.adapter, 5, exits(bench.adapter))
        answer = await traced(bench, {"line_number": 5, "expressions": ["n"]})
    assert answer["hits"] == 5
    assert answer["text"].splitlines()[1:4] == ["1 | 1", "2-4 | =", "5 | 5"]


async def test_an_expression_that_fails_shows_its_error_in_its_own_cell(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        answer_values(bench.adapter, {"n": ["1"]})
        passes(bench.adapter, 1, exits(bench.adapter))
        answer = await traced(bench, {"line_number": 5, "expressions": ["nope", "n"]})
    assert answer["rows"] == [{"hit": 1, "values": {"n": "1"}, "errors": {"nope": "no such name"}}]
    assert "1 | !no such name | 1" in answer["text"]


async def test_the_error_of_a_wrong_point_lists_the_fields_of_a_point(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        answer = await bench.call("trace", program="app.py", points=[{"lime": 5}])
    assert answer["code"] == "bad_arguments"
    assert answer["hint"] == f"Fields of `points`: {', '.join(TracePointParameters.model_fields)}."
    assert answer["hint"] in answer.text


async def test_a_limit_ends_the_run_and_its_program(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        answer_values(bench.adapter, {"n": [f"{at:030}" for at in range(9)], "total": ["0"]})
        passes(bench.adapter, 1000, exits(bench.adapter))
        answer = await traced(bench, max_hits=3)
        (session,) = bench.service.registry.sessions(bench_client(bench))
    assert len(answer["rows"]) == 3
    assert answer["ended"]["limit"] == "hits"
    assert "max_hits" in answer["text"]
    assert session.state is SessionState.TERMINATED
    assert "session_id" not in answer


async def test_of_more_than_is_shown_the_first_rows_and_the_last_are_kept(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        answer_values(bench.adapter, {"n": [f"{at:030}" for at in range(50)], "total": ["x" * 9000]})
        passes(bench.adapter, 50, exits(bench.adapter, 3))
        answer = await traced(bench, max_chars=600)
    assert (answer["hits"], answer["ended"]["exit_code"], answer["ended"].get("limit")) == (50, 3, None)
    numbers = [it["hit"] for it in answer["rows"]]
    gap = next(at for at in range(len(numbers) - 1) if numbers[at + 1] != numbers[at] + 1)
    assert (numbers[0], numbers[-1], gap > 1) == (1, 50, True)
    assert len(numbers) + answer["rows_left_out"] == 50
    after = answer["rows"][gap + 1]
    assert set(after["values"]) == {"n", "total"}, "what it is compared with is not shown"
    table = [line for line in answer["text"].splitlines() if line[:1].isdigit()]
    assert 300 < sum(map(len, table)) <= 800
    assert f"{answer['rows_left_out']} rows omitted" in answer["text"]


async def test_as_many_hits_as_the_limit_do_not_count_as_cut_off(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 3, exits(bench.adapter))
        answer = await traced(bench, max_hits=3)
    assert answer["ended"] == {"how": "exited", "exit_code": 0}


async def test_the_breakpoints_of_clients_have_no_part_in_the_run_and_learn_nothing_of_it(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        await bench.call("set_breakpoint", file_path="app.py", line_number=7)
        passes(bench.adapter, 2, exits(bench.adapter))
        await traced(bench)
        sent = [it["line"] for asked in bench.adapter.sent("setBreakpoints") for it in asked["breakpoints"]]
        listed = await bench.call("get_breakpoints")
    assert sent == [5]
    assert [it["line"] for it in listed["breakpoints"]] == [7]


async def test_a_breakpoint_that_is_set_meanwhile_waits_for_the_next_session(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench, anyio.create_task_group() as group:
        passes(bench.adapter, 0, lambda: None)
        group.start_soon(traced, bench)
        await until(lambda: bench.adapter.sent("configurationDone"))
        await bench.call("set_breakpoint", file_path="app.py", line_number=8)
        exits(bench.adapter)()
    sent = [it["line"] for asked in bench.adapter.sent("setBreakpoints") for it in asked["breakpoints"]]
    assert sent == [5]


async def test_a_stopped_session_is_left_where_the_run_ended_with_the_breakpoints_of_its_clients(
    tmp_path: Path,
) -> None:
    async with steered(tmp_path) as bench:
        await bench.call("set_breakpoint", file_path="app.py", line_number=7)
        started = await bench.started()
        answer_values(bench.adapter, {"n": ["1", "2", "3"], "total": ["0"]})
        bench.adapter.when("continue", lambda: bench.adapter.stop("breakpoint"))
        answer = await bench.call("trace", session_id=started["session_id"], points=[POINT], max_hits=2)
        sent = [[it["line"] for it in asked["breakpoints"]] for asked in bench.adapter.sent("setBreakpoints")]
        now = await bench.call("list_sessions")
    assert (answer["session_id"], answer["state"], answer["hits"]) == (started["session_id"], "Stopped", 2)
    assert sent == [[7], [5], [7]]
    assert now["sessions"][0]["state"] == "Stopped"


async def test_a_session_that_runs_cannot_be_borrowed(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        running = await bench.running()
        answer = await bench.call("trace", session_id=running["session_id"], points=[POINT])
    assert (answer["status"], answer["code"]) == ("error", "not_stopped")


async def test_a_caller_that_gives_up_leaves_no_program_behind(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 0, lambda: None)
        async with anyio.create_task_group() as group:
            group.start_soon(traced, bench)
            await until(lambda: bench.adapter.sent("configurationDone"))
            group.cancel_scope.cancel()
        (session,) = bench.service.registry.sessions(bench_client(bench))
        assert session.state is SessionState.TERMINATED
        await until(lambda: bench.adapter.ended)


async def test_a_person_can_break_it_off(tmp_path: Path) -> None:
    answers: list[dict[str, Any]] = []

    async def ask(bench: Bench) -> None:
        answers.append(await traced(bench))

    async with steered(tmp_path) as bench, anyio.create_task_group() as group:
        passes(bench.adapter, 0, lambda: None)
        group.start_soon(ask, bench)
        await until(lambda: bench.waits.open)
        assert bench.waits.interrupt() == 1
    assert [it["code"] for it in answers] == ["interrupted"]
    assert bench.adapter.ended


async def test_an_expression_that_does_not_end_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.debug.evidence.evidence_probe.EVALUATION_TIMEOUT_S", 0.05)
    async with steered(tmp_path) as bench:
        bench.adapter.answers["evaluate"] = lambda _: None
        passes(bench.adapter, 9, exits(bench.adapter))
        answer = await traced(bench, {"line_number": 5, "expressions": ["forever()", "n"]})
    assert answer["ended"]["limit"] == "expression"
    assert "not evaluated within" in answer["rows"][0]["errors"]["forever()"]
    assert len(bench.adapter.sent("evaluate")) == 1
    assert answer["side_effects"] == ["forever()"]


async def test_where_the_program_itself_asks_for_a_debugger_it_continues(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        stops = iter(["pause", "breakpoint"])

        def go_on() -> None:
            at_line(bench, 5 if bench.adapter.sent("continue") else 9)
            reason = next(stops, "")
            bench.adapter.stop(reason) if reason else exits(bench.adapter)()

        bench.adapter.when("configurationDone", go_on)
        bench.adapter.when("continue", go_on)
        answer = await traced(bench)
    assert (answer["hits"], answer["ended"]) == (1, {"how": "exited", "exit_code": 0})


async def test_a_debugger_that_dies_is_reported_with_the_rows_there_were(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 2, bench.adapter.die)
        answer = await traced(bench)
    assert (answer["hits"], answer["ended"]["how"]) == (2, "lost")


async def test_a_place_without_code_is_not_reported_as_one_that_was_not_reached(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        refusal = {"breakpoints": [{"id": 1, "verified": False, "message": "no code here"}]}
        bench.adapter.answers["setBreakpoints"] = lambda _: refusal
        passes(bench.adapter, 0, exits(bench.adapter))
        answer = await traced(bench)
    assert answer["points"][0]["not_bound"] == "no code here"
    assert "never reached" not in answer["text"]


async def test_an_unreached_point_is_reported_in_the_language_of_the_caller(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 0, exits(bench.adapter))
        answer = await bench.call("trace", language="zh", program="app.py", points=[POINT])
    assert "从未到达" in answer.text


async def test_points_of_one_place_are_asked_together_or_refused(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 1, exits(bench.adapter))
        one = await traced(bench, POINT, {"line_number": 5, "expressions": ["n", "rate"]})
        two = await traced(bench, POINT, {**POINT, "condition": "n > 3"})
    assert one["points"][0]["expressions"] == ["n", "total", "rate"]
    assert two["code"] == "same_place"


@pytest.mark.parametrize(
    ("subject", "code"),
    [
        ({}, "bad_arguments"),
        ({"program": "app.py", "session_id": "debug-1"}, "bad_arguments"),
        ({"session_id": "debug-1", "args": ["x"]}, "bad_arguments"),
        ({"session_id": "debug-1"}, "unknown_session"),
        ({"program": "app.py", "points": [{"file_path": "app.py", "expressions": ["n"]}]}, "bad_arguments"),
        ({"program": "app.py", "points": [{"line_number": 99, "expressions": ["n"]}]}, "line_past_end"),
        ({"program": "app.py", "points": [{"file_path": "/etc/passwd", "line_number": 1}]}, "outside_workspace"),
        ({"configuration_name": "x", "points": [{"line_number": 1}]}, "bad_arguments"),
    ],
)
async def test_what_to_run_and_where_are_said_in_one_way(tmp_path: Path, subject: dict[str, Any], code: str) -> None:
    async with steered(tmp_path) as bench:
        answer = await bench.call("trace", **{"points": [{**POINT, "file_path": "app.py"}], **subject})
    assert (answer["status"], answer["code"]) == ("error", code)


def bench_client(bench: Bench) -> Caller:
    return bench.starter.requests[0][0]
