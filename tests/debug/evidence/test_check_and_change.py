"""`check` and `find_change` over a debugger that a test steers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.model import SessionState
from tests.debug.evidence.evidence_tools import answer_values, at_line, exits, passes, steered, stops_at
from tests.tools.tool_fixture import Bench

pytestmark = pytest.mark.anyio


async def checked(bench: Bench, **more: Any) -> Any:
    return await bench.call("check", program="app.py", line_number=5, claim="n < 3", **more)


async def test_a_claim_that_holds_is_reported_with_the_number_of_hits(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        answer_values(bench.adapter, {"n < 3": ["true"], "n": ["1"]})
        passes(bench.adapter, 4, exits(bench.adapter))
        answer = await checked(bench)
    assert (answer["verdict"], answer["hits"]) == ("holds", 4)
    assert answer.text.splitlines()[0] == "holds: app.py:5, hits: 4"


async def test_a_claim_that_breaks_is_reported_with_the_values_before_and_at_the_break(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        answer_values(bench.adapter, {"n < 3": ["true", "1", "false"], "n": ["1", "2", "3"], "name": ["'x'"]})
        passes(bench.adapter, 9, exits(bench.adapter))
        answer = await checked(bench, expressions=["name"])
        (session,) = bench.service.registry.sessions(bench.starter.requests[0][0])
        assert session.state is SessionState.TERMINATED
    assert (answer["verdict"], answer["hits"]) == ("broken", 3)
    assert answer["before"] == {"n": "2", "name": "'x'"}
    assert answer["at_break"] == {"n": "3", "name": "'x'"}
    assert "at the break: n = 3, name = 'x'" in answer.text


async def test_a_place_that_is_never_reached_is_an_answer(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 0, exits(bench.adapter))
        answer = await checked(bench)
    assert (answer["verdict"], answer["hits"]) == ("never reached", 0)


async def test_a_claim_that_cannot_be_judged_is_broken_and_says_why(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        answer_values(bench.adapter, {"n": ["1"]})
        passes(bench.adapter, 2, exits(bench.adapter))
        answer = await checked(bench)
    assert (answer["verdict"], answer["hits"], answer["error"]) == ("broken", 1, "no such name")


async def test_asked_to_it_stays_stopped_at_the_break_with_the_breakpoints_of_its_client(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        await bench.call("set_breakpoint", file_path="app.py", line_number=7)
        answer_values(bench.adapter, {"n < 3": ["false"], "n": ["4"], "n + 1": ["5"]})
        passes(bench.adapter, 9, exits(bench.adapter))
        answer = await checked(bench, stop=True)
        sent = [[it["line"] for it in asked["breakpoints"]] for asked in bench.adapter.sent("setBreakpoints")]
        value = await bench.call("evaluate_expression", expression="n + 1")
        ended = await bench.call("continue_debugging", session_id=answer["session_id"], wait=False)
    assert (answer["verdict"], answer["state"]) == ("broken", "Stopped")
    assert sent == [[5], [7]]
    assert value["result"] == "5"
    assert ended["status"] == "success"


# What changes.


async def found(bench: Bench, **more: Any) -> Any:
    return await bench.call("find_change", **{"program": "app.py", "line_number": 5, "expression": "n", **more})


def steps_through(bench: Bench, lines: Sequence[int]) -> None:
    """From line 5 on; a line of zero is the caller's."""
    rest = iter(lines)

    def step() -> None:
        line = next(rest, None)
        if line is None:
            exits(bench.adapter)()
            return
        at_line(bench, line or 9, depth=2 if line else 1)
        bench.adapter.stop("step")

    at_line(bench, 5, depth=2)
    bench.adapter.when("next", step)


async def test_steps_find_the_line_that_changes_a_value(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 1, exits(bench.adapter))
        steps_through(bench, [6, 7, 8])
        answer_values(bench.adapter, {"n": ["1", "1", "2"]})
        answer = await found(bench)
    assert (answer["verdict"], answer["by"], answer["place"], answer["steps"]) == ("changed", "steps", "app.py:6", 2)
    assert (answer["old"], answer["new"], answer["source"]) == ("1", "2", "line 6")
    assert [it["line"] for it in answer["frames"]] == [6, 6]


async def test_an_invariant_breaks_later_than_the_value_changes(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 1, exits(bench.adapter))
        steps_through(bench, [6, 7, 8])
        answer_values(bench.adapter, {"n": ["1", "2", "9"], "n < 5": ["true", "false"]})
        answer = await found(bench, invariant="n < 5")
    assert (answer["place"], answer["old"], answer["new"]) == ("app.py:6", "2", "9")


async def test_steps_have_a_budget(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 1, exits(bench.adapter))
        steps_through(bench, [6, 7] * 50)
        answer = await found(bench, max_steps=10)
    assert (answer["verdict"], answer["steps"]) == ("unchanged", 10)
    assert answer["ended"]["limit"] == "steps"


async def test_after_the_return_of_the_function_the_next_call_of_it_is_looked_at(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        passes(bench.adapter, 1, stops_at(bench, 5, "breakpoint", depth=2))
        steps_through(bench, [6, 0, 6, 7])
        answer_values(bench.adapter, {"n": ["1", "1", "1", "3"]})
        answer = await found(bench)
    assert (answer["verdict"], answer["place"], answer["old"], answer["new"]) == ("changed", "app.py:5", "1", "3")


async def test_a_debugger_that_watches_data_is_asked_to(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        bench.adapter.answers["initialize"] = lambda _: {
            "supportsConfigurationDoneRequest": True,
            "supportsDataBreakpoints": True,
        }
        answer_values(bench.adapter, {"n": ["3", "4"]})
        bench.adapter.when("configurationDone", lambda: bench.adapter.stop("breakpoint"))
        bench.adapter.when("continue", stops_at(bench, 8, "data breakpoint"))
        answer = await found(bench)
        (asked,) = bench.adapter.sent("setDataBreakpoints")
    assert (answer["verdict"], answer["by"], answer["place"]) == ("changed", "data breakpoint", "app.py:8")
    assert asked["breakpoints"] == [{"dataId": "at n", "accessType": "write"}]


async def test_without_a_place_a_session_begins_where_it_stopped_and_a_program_cannot(tmp_path: Path) -> None:
    async with steered(tmp_path) as bench:
        started = await bench.started()
        steps_through(bench, [6, 7])
        answer_values(bench.adapter, {"n": ["1", "2"]})
        answer = await bench.call("find_change", session_id=started["session_id"], expression="n")
        refused = await bench.call("find_change", program="app.py", expression="n")
    assert (answer["verdict"], answer["place"], answer["state"]) == ("changed", "app.py:5", "Stopped")
    assert refused["code"] == "bad_arguments"


async def test_a_program_that_ends_unchanged_says_how_it_ended(tmp_path: Path) -> None:
    async with steered(tmp_path, adapters=2) as bench:
        passes(bench.adapter, 1, exits(bench.adapter))
        passes(bench.adapters[1], 0, exits(bench.adapters[1]))
        steps_through(bench, [6])
        answer = await found(bench)
        never = await found(bench, line_number=9)
    assert (answer["verdict"], answer["ended"]["how"]) == ("unchanged", "exited")
    assert never["verdict"] == "never reached"
