"""The text of a stop says what is new to the client that reads it; the object has everything, every time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dragoman.tools.debug.shown_stops import (
    MAX_CHANGED_STOPS,
    MAX_CHANGES,
    MAX_LOCALS,
    MAX_SESSIONS,
    contrasted,
)
from dragoman.tools.debug.wait_results import (
    PAUSING,
    RESTARTING,
    STARTING,
    WAITING,
    WaitMessages,
    WaitRequest,
)
from tests.support.fake_adapter import FakeAdapter
from tests.tools.tool_fixture import Answer, Bench, frame, opened, stack_of

pytestmark = pytest.mark.anyio


class Program:
    """What the debugger says of it, from stop to stop."""

    def __init__(self, bench: Bench, **values: str) -> None:
        self.bench = bench
        self.values = values
        self.line = 5
        self.function = "total"
        self.caller_line = 9
        self.answer_through(bench.adapter)

    def answer_through(self, adapter: FakeAdapter) -> None:
        self.adapter, bench = adapter, self.bench
        adapter.answers["stackTrace"] = lambda _: stack_of(
            frame(1, self.function, str(bench.file), self.line), frame(2, "main", str(bench.file), self.caller_line)
        )
        adapter.answers["scopes"] = lambda _: {
            "scopes": [{"name": "Locals", "variablesReference": 7, "presentationHint": "locals"}]
        }
        adapter.answers["variables"] = lambda _: {
            "variables": [
                {"name": name, "value": value, "type": "str", "variablesReference": 0}
                for name, value in self.values.items()
            ]
        }

    async def step(self, line: int, **values: str) -> Answer:
        return await self.move("step_execution", "next", line, step_type="over", **values)

    async def move(self, tool: str, request: str, line: int, step_type: str = "", **values: str) -> Answer:
        self.line = line
        self.values |= values
        self.adapter.when(request, lambda: self.adapter.stop("step"))
        arguments: dict[str, Any] = {"step_type": step_type} if step_type else {}
        return await self.bench.call(tool, **arguments)


async def test_a_stop_in_the_same_frame_says_only_what_changed(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, tag="60226", name="Ada", rate="0.1")
        first = await bench.started()
        second = await program.step(6, tag="60248")
        third = await program.step(5)
    for line in ("tag = 60226", "name = Ada", "stack: #", ">    5  line 5", "     7  line 7", "locals:"):
        assert line in first.text
    assert second.text.splitlines() == [
        "stopped: step (stop 2)",
        "at: app.py:6 total",
        "     8  line 8",
        "  tag = 60248 (was 60226); 2 unchanged: get_scopes, then get_variables",
    ]
    assert third.text.splitlines() == [
        "stopped: step (stop 3)",
        "at: app.py:5 total",
        "  3 unchanged: get_scopes, then get_variables",
    ]


async def test_the_object_has_every_field_at_every_stop(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, tag="1", name="Ada")
        first = (await bench.started())["stop_event_data"]
        second = (await program.step(5))["stop_event_data"]
    assert second.keys() >= first.keys()
    assert second["top_frame_variables"]["variables"][1]["value"] == "Ada"
    assert len(second["call_stack"]) == 2
    assert second["source_lines"] == first["source_lines"]


async def test_the_first_stop_in_another_frame_shows_all_and_the_way_back_what_changed(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, tag="1")
        await bench.started()
        program.function = "inner"
        inside = await program.step(2)
        program.function = "total"
        back = await program.step(6, tag="2")
    assert "locals:" in inside.text
    assert "stack: #" in inside.text
    assert "  tag = 2 (was 1)" in back.text.splitlines()
    assert "stack" not in back.text


async def test_a_stack_that_changed_is_shown_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, tag="1")
        await bench.started()
        program.caller_line = 10
        again = await program.step(5)
    assert "app.py:10 main" in again.text


async def test_it_is_about_what_this_client_was_shown(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, tag="1", name="Ada")
        started = await bench.started()
        other = replace(bench.caller, id="agent-2")
        bench.adapter.when("next", lambda: bench.adapter.stop("step"))
        arguments: dict[str, Any] = {"session_id": started["session_id"], "caller": other}
        seen = await bench.call("wait_for_stop", **arguments)
        program.values["tag"] = "2"
        theirs = await bench.call("step_execution", step_type="over", **arguments)
        program.values["tag"] = "3"
        await bench.call("wait_for_stop")
        mine = await program.step(6, name="Bob")
    assert "name = Ada" in seen.text
    assert "  tag = 2 (was 1); 1 unchanged" in theirs.text
    assert "name = Bob (was Ada)" in mine.text


async def test_a_call_for_the_stop_shows_all_of_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, tag="1", name="Ada")
        await bench.started()
        await program.step(5)
        asked = await bench.call("wait_for_stop")
        scopes = await bench.call("get_scopes")
        variables = await bench.call("get_variables", variables_reference=scopes["scopes"][0]["variables_reference"])
    assert "  name = Ada" in asked.text
    assert "stack: #" in asked.text
    assert "name = Ada" in variables.text


async def test_readers_that_share_an_id_are_shown_whole_stops(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, tag="1")
        bench.caller = replace(bench.caller, is_shared=True)
        await bench.started()
        again = await program.step(5)
    assert "locals:" in again.text


async def test_new_and_vanished_variables_are_named(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, old="1", stays="2")
        await bench.started()
        del program.values["old"]
        stopped = await program.step(5, fresh="3")
    assert stopped.text.splitlines()[2:] == [
        "  fresh = 3",
        "  gone: old; 1 unchanged: get_scopes, then get_variables",
    ]


async def test_only_what_was_really_sent_is_known(tmp_path: Path) -> None:
    """What there was no room for is neither unchanged nor changed without a value."""
    async with opened(tmp_path) as bench:
        program = Program(bench, **{f"v{number}": "1" for number in range(MAX_LOCALS + 10)})
        first = await bench.started()
        same = await program.step(5)
        many = await program.step(5, **dict.fromkeys(program.values, "2"))
        after = await program.step(5)
        settled = await program.step(5)
    assert f"v{MAX_LOCALS - 1} = 1" in first.text
    assert f"v{MAX_LOCALS} = 1" not in first.text
    assert same.text.splitlines()[2:] == ["  20 unchanged, 10 not shown: get_scopes, then get_variables"]
    assert many.text.splitlines()[2:-1] == [f"  v{number} = 2 (was 1)" for number in range(MAX_CHANGES - 1)]
    assert many.text.splitlines()[-1] == "  v19 = 2 (was 1); 10 not shown: get_scopes, then get_variables"
    assert after.text.splitlines()[2:-1] == [f"  v{number} = 2" for number in range(20, 29)]
    assert after.text.splitlines()[-1] == "  v29 = 2; 20 unchanged: get_scopes, then get_variables"
    assert settled.text.splitlines()[-1] == "  30 unchanged: get_scopes, then get_variables"


async def test_a_change_that_did_not_fit_is_shown_at_the_next_stop(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, **{f"v{number}": "1" for number in range(MAX_LOCALS)})
        await bench.started()
        program.values = {f"new{number}": "1" for number in range(5)} | program.values
        many = await program.step(5, **{f"v{number}": "2" for number in range(MAX_LOCALS)})
        after = await program.step(5, v19="1")
    assert many.text.splitlines()[-1] == "  v14 = 2 (was 1); 5 not shown: get_scopes, then get_variables"
    assert after.text.splitlines()[2:] == [
        "  v15 = 2 (was 1)",
        "  v16 = 2 (was 1)",
        "  v17 = 2 (was 1)",
        "  v18 = 2 (was 1); 21 unchanged: get_scopes, then get_variables",
    ]


async def test_after_ten_stops_that_say_what_changed_one_is_whole(tmp_path: Path) -> None:
    """The client may have dropped the last whole one from its model's context."""
    async with opened(tmp_path) as bench:
        program = Program(bench, tag="1", name="Ada")
        await bench.started()
        stops = [await program.step(5) for _ in range(2 * (MAX_CHANGED_STOPS + 1))]
    whole = [number for number, it in enumerate(stops, 1) if "name = Ada" in it.text]
    assert whole == [MAX_CHANGED_STOPS + 1, 2 * (MAX_CHANGED_STOPS + 1)]
    for line in ("stack: #", ">    5  line 5", "locals:"):
        assert line in stops[MAX_CHANGED_STOPS].text


@pytest.mark.parametrize("restarted_by", ["", "agent-2"])
async def test_after_a_restart_nothing_of_the_earlier_run_is_known(tmp_path: Path, restarted_by: str) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        program = Program(bench, tag="1")
        session_id = (await bench.started())["session_id"]
        program.function = "inner"
        await program.step(2)
        bench.file.write_text(bench.file.read_text().replace("line", "edited"))
        program.function, program.line = "total", 5
        caller = replace(bench.caller, id=restarted_by) if restarted_by else bench.caller
        second = bench.adapters[1]
        program.answer_through(second)
        second.when("configurationDone", lambda: second.stop("breakpoint"))
        await bench.call("restart_debugging", session_id=session_id, caller=caller)
        await bench.call("wait_for_stop")
        program.function = "inner"
        again = await program.step(2)
    assert "locals:" in again.text
    assert "edited 2" in again.text


@pytest.mark.parametrize("ends", [STARTING, RESTARTING, PAUSING, WAITING])
def test_a_run_that_begins_and_a_stop_that_is_asked_for_are_shown_whole(ends: WaitMessages) -> None:
    assert WaitRequest(ends, 1.0).shows_whole_stop


@pytest.mark.parametrize(
    ("now", "before", "shown"),
    [
        ("2", "1", ("2", "1")),
        ("x" * 50 + "2" * 30, "x" * 50 + "1" * 30, ("…" + "x" * 8 + "2" * 30, "…" + "x" * 8 + "1" * 30)),
        ("b" + "y" * 90, "a" + "y" * 90, ("b" + "y" * 59 + "…", "a" + "y" * 39 + "…")),
    ],
)
def test_long_values_show_where_they_differ(now: str, before: str, shown: tuple[str, str]) -> None:
    assert contrasted(now, before) == shown


async def test_a_value_that_differs_beyond_what_is_kept_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, body="x" * 5000 + "1")
        await bench.started()
        stopped = await program.step(5, body="x" * 5000 + "2")
    assert stopped.text.splitlines()[-1].endswith("(changed further on)")


async def test_what_is_remembered_is_bounded(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        program = Program(bench, tag="1")
        started = await bench.started()
        for number in range(MAX_SESSIONS):
            other = replace(bench.caller, id=f"other-{number}")
            await bench.call("wait_for_stop", session_id=started["session_id"], caller=other)
        forgotten = await program.step(5)
    assert "locals:" in forgotten.text
