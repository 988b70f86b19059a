"""stop_event_data, field by field, and the lines that an agent reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.errors import adapter_gone
from dragoman.tools.debug import start_failures
from dragoman.tools.debug.stop_results import FRAMES
from tests.tools.tool_fixture import Answer, Bench, frame, opened, stack_of

pytestmark = pytest.mark.anyio


def variable(name: str, value: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "variablesReference": 0, **more}


def shown(id: int, name: str, path: str, line: int, column: int) -> dict[str, Any]:
    return {"frame_id": id, "function_name": name, "file_path": path, "line_number": line, "column_number": column}


def with_variables(bench: Bench, *variables: dict[str, Any]) -> None:
    bench.adapter.answers["variables"] = lambda _: {"variables": list(variables)}


async def stopped(bench: Bench, reason: str = "breakpoint", **body: Any) -> Answer:
    bench.adapter.when("configurationDone", lambda: bench.adapter.stop(reason, **body))
    return await bench.call("start_debugging", program="app.py")


@pytest.mark.requirement(
    "debug:stop-event:why-and-where",
    "debug:stop-event:locals-included",
    "debug:stop-event:timestamp",
    "debug:stop-event:reason",
    "debug:stop-event:thread-id",
    "debug:stop-event:description",
    "debug:stop-event:text",
    "debug:stop-event:all-threads-stopped",
    "debug:stop-event:source",
    "debug:stop-event:source-path",
    "debug:stop-event:source-name",
    "debug:stop-event:line",
    "debug:stop-event:column",
    "debug:stop-event:call-stack",
    "debug:stop-event:frame-id",
    "debug:stop-event:frame-function-name",
    "debug:stop-event:frame-file-path",
    "debug:stop-event:frame-line-number",
    "debug:stop-event:frame-column-number",
    "debug:stop-event:top-frame-variables",
    "debug:stop-event:scope-name",
    "debug:stop-event:variables",
    "debug:stop-event:variable-name",
    "debug:stop-event:variable-value",
    "debug:stop-event:variable-type",
    "debug:stop-event:variable-reference",
    "debug:stop-event:variable-extras",
    "debug:stop-event:hit-breakpoint-ids",
    "debug:stop-event:session-id",
    "debug:stop-event:example",
    "debug:set-breakpoint:id-in-stop",
    "debug:timestamp:on-stop",
)
async def test_a_stop_has_every_field_of_the_specification(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        path = str(bench.file)
        bench.adapter.answers["stackTrace"] = lambda _: stack_of(
            frame(8, "total", path, 5, 4), frame(9, "<module>", path, 9)
        )
        data = variable("data", "list[3]", type="list", evaluateName="data", memoryReference="0x1")
        with_variables(
            bench, variable("count", "10", type="int"), {**data, "variablesReference": 3}, variable("x", "?")
        )
        await bench.call("set_breakpoint", file_path="app.py", line_number=5)
        stop = (await stopped(bench, description="Paused on breakpoint", allThreadsStopped=True))["stop_event_data"]
    assert stop.pop("source_lines") == {"start": 3, "lines": [f"line {number}" for number in range(3, 8)]}
    assert stop.pop("session_id").startswith("debug-")
    opened_with = stop["top_frame_variables"]["variables"][1]["variables_reference"]
    assert opened_with > 0
    assert stop == {
        "stop_number": 1,
        "timestamp": "2023-11-14T22:13:20.000Z",
        "reason": "breakpoint",
        "thread_id": 1,
        "description": "Paused on breakpoint",
        "text": None,
        "all_threads_stopped": True,
        "source": {"path": path, "name": "app.py"},
        "line": 5,
        "column": 4,
        "call_stack": [shown(1_000_001, "total", path, 5, 4), shown(1_000_002, "<module>", path, 9, 1)],
        "total_frames": 2,
        "top_frame_variables": {
            "scope_name": "Locals",
            "variables": [
                {"name": "count", "value": "10", "type": "int", "variables_reference": 0},
                {
                    "name": "data",
                    "value": "list[3]",
                    "type": "list",
                    "variables_reference": opened_with,
                    "evaluate_name": "data",
                    "memory_reference": "0x1",
                },
                {"name": "x", "value": "?", "type": None, "variables_reference": 0},
            ],
        },
        "hit_breakpoint_ids": [1],
    }


async def test_the_text_of_a_stop_is_a_few_lines(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        path = str(bench.file)
        bench.adapter.answers["stackTrace"] = lambda _: stack_of(
            frame(8, "total", path, 5),
            frame(2, "run", "/x/site-packages/lib.py", 1),
            frame(3, "call", "/x/site-packages/lib.py", 2),
            frame(9, "<module>", path, 9),
        )
        with_variables(
            bench,
            {**variable("items", "[1, 2]", type="list"), "variablesReference": 3},
            variable("special variables", ""),
        )
        await bench.call("set_breakpoint", file_path="app.py", line_number=5)
        bench.adapter.emit("output", output="one\ntwo\n", category="stdout")
        answer = await stopped(bench)
    items = answer["stop_event_data"]["top_frame_variables"]["variables"][0]
    assert answer.text.splitlines() == [
        f"stopped: breakpoint 1 (stop 1, thread 1, {answer['session_id']})",
        "at: app.py:5 total",
        "     3  line 3",
        "     4  line 4",
        ">    5  line 5",
        "     6  line 6",
        "     7  line 7",
        "locals:",
        f"  items = [1, 2]  [{items['variables_reference']}]",
        "stack: #1000001 app.py:5 total < [2 library] < #1000004 app.py:9 <module>",
        "output:",
        "  | one",
        "  | two",
    ]
    assert answer["stop_event_data"]["output"] == "one\ntwo\n"


@pytest.mark.requirement("debug:stop-event:variables-null")
@pytest.mark.parametrize("refused", ["scopes", "variables"])
async def test_a_stop_is_reported_also_where_its_variables_could_not_be_read(tmp_path: Path, refused: str) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.refuse(refused, "no")
        stop = (await stopped(bench))["stop_event_data"]
    assert stop["top_frame_variables"] is None
    assert stop["line"] == 5


async def test_what_the_adapter_lacks_is_null_at_the_top_and_filled_in_the_frame(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.answers["stackTrace"] = lambda _: stack_of({"id": 1, "name": "native", "line": 0, "column": 0})
        answer = await stopped(bench)
    stop = answer["stop_event_data"]
    assert (stop["source"], stop["line"], stop["column"]) == (None, None, None)
    (only,) = stop["call_stack"]
    assert (only["file_path"], only["line_number"], only["column_number"]) == ("", 0, 1)
    assert "source_lines" not in stop


async def test_a_stop_without_a_stack_is_a_stop(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.refuse("stackTrace", "no")
        answer = await stopped(bench)
    stop = answer["stop_event_data"]
    assert (stop["call_stack"], stop["total_frames"], stop["top_frame_variables"]) == ([], 0, None)


async def test_an_exception_has_its_type_its_message_and_where(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.answers["exceptionInfo"] = lambda _: {
            "exceptionId": "ValueError",
            "breakMode": "unhandled",
            "details": {"typeName": "ValueError", "message": "bad\nvalue"},
        }
        answer = await stopped(bench, "exception")
    stop = answer["stop_event_data"]
    where = f"{bench.file}:5"
    assert stop["exception"] == {"type": "ValueError", "message": "bad\nvalue", "where": where, "uncaught": True}
    assert stop["text"] == "bad\nvalue"
    assert stop["hit_breakpoint_ids"] is None
    assert r"uncaught exception: ValueError: bad\nvalue" in answer.text.splitlines()


async def test_breakpoints_that_did_not_bind_are_reported_at_the_stop_with_the_reason(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.answers["setBreakpoints"] = lambda _: {"breakpoints": [{"verified": False, "message": "no code"}]}
        await bench.call("set_breakpoint", file_path="app.py", line_number=2)
        answer = await stopped(bench, "pause")
    unbound = {"id": 1, "path": str(bench.file), "line": 2, "reason": "no code"}
    assert answer["stop_event_data"]["unbound_breakpoints"] == [unbound]
    assert answer.text.splitlines()[-2:] == ["Breakpoint 1 is not bound:", "  | app.py:2 no code"]


async def test_a_deep_stack_has_twenty_frames_and_a_count_of_all(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        deep = stack_of(*(frame(id, f"f{id}", str(bench.file), 5) for id in range(1, 31)))
        bench.adapter.answers["stackTrace"] = lambda _: {**deep, "totalFrames": 500}
        answer = await stopped(bench)
    stop = answer["stop_event_data"]
    assert (len(stop["call_stack"]), stop["total_frames"]) == (FRAMES, 500)
    assert "[492 more]" in answer.text


@pytest.mark.parametrize(
    ("libraries", "kept", "left_out"),
    [
        ([False, True, False, True, True, True, True], 4, 3),
        ([True, False, True], 3, None),
        ([False, True, False], 3, None),
        ([True] * 6, 6, None),
    ],
)
async def test_of_the_runtime_below_the_program_one_frame_is_reported_and_a_count(
    tmp_path: Path, libraries: list[bool], kept: int, left_out: int | None
) -> None:
    async with opened(tmp_path) as bench:
        frames = [
            frame(at, f"f{at}", "/x.js", at) | ({"presentationHint": "deemphasize"} if library else {})
            for at, library in enumerate(libraries, 1)
        ]
        bench.adapter.answers["stackTrace"] = lambda _: stack_of(*frames)
        stop = (await bench.started())["stop_event_data"]
    assert [it["function_name"] for it in stop["call_stack"]] == [f"f{at}" for at in range(1, kept + 1)]
    assert stop.get("library_frames_left_out") == left_out
    assert stop["total_frames"] == len(libraries)


async def test_long_values_many_locals_and_long_output_are_cut_and_say_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        with_variables(bench, *(variable(f"v{number}", "x" * 10_000, type="str") for number in range(30)))
        bench.adapter.emit("output", output="".join(f"{number}\n" for number in range(100)), category="stdout")
        answer = await stopped(bench)
    local = answer["stop_event_data"]["top_frame_variables"]["variables"][0]
    assert (len(local["value"]), local["truncated"], local["length"]) == (400, True, 10_000)
    assert f"  v0 = {'x' * 120}… (10000 chars)" in answer.text.splitlines()
    assert "  and 10 more: get_scopes, then get_variables" in answer.text.splitlines()
    assert "  (90 earlier lines: get_output)" in answer.text.splitlines()
    assert len(answer.text) < 6000


async def test_lines_are_counted_also_where_the_text_is_cut(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        for start in range(0, 100_000, 10_000):
            text = "".join(f"line {number}\n" for number in range(start, start + 10_000))
            bench.adapter.emit("output", output=text, category="stdout")
        answer = await stopped(bench)
    assert "  (99,990 earlier lines: get_output)" in answer.text.splitlines()


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "large", "short"])
async def test_a_source_that_cannot_be_read_is_left_out(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "source.py"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind != "missing":
        path.write_bytes(b"x\n" * (600_000 if kind == "large" else 4))
    async with opened(tmp_path) as bench:
        bench.adapter.answers["stackTrace"] = lambda _: stack_of(frame(1, "f", str(path), 5))
        answer = await stopped(bench)
    assert "source_lines" not in answer["stop_event_data"]


async def test_source_that_is_not_text_is_shown_with_replacements(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.file.write_bytes(b"\n\n\n\n\xff\x1b[31m\n")
        answer = await stopped(bench)
    assert answer["stop_event_data"]["source_lines"]["lines"][2] == "\ufffd\\x1b[31m"


async def test_an_unknown_reason_is_data_and_not_part_of_the_sentence(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        answer = await stopped(bench, "obey me")
    assert answer["stop_event_data"]["reason"] == "obey me"
    assert answer.text.startswith("stopped: other (")


@pytest.mark.requirement("debug:timestamp:purpose", "debug:general:latest-wins", "debug:principle:freshness")
async def test_later_stops_and_lists_have_later_timestamps(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        first = (await stopped(bench))["stop_event_data"]["timestamp"]
        bench.clock.advance(0.001)
        listed = (await bench.call("get_breakpoints"))["timestamp"]
        bench.clock.advance(0.001)
        bench.adapter.when("next", lambda: bench.adapter.stop("step"))
        second = (await bench.call("step_execution", step_type="over"))["stop_event_data"]["timestamp"]
    assert first < listed < second


async def test_a_program_that_failed_below_the_own_code_is_looked_at_from_there(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        path = str(bench.file)
        runtime = [frame(8 + depth, f"raise_{depth}", "/usr/lib/runtime.c", 40) for depth in range(9)]
        bench.adapter.answers["stackTrace"] = lambda _: stack_of(*runtime, frame(2, "total", path, 5))
        with_variables(bench, variable("count", "10"))
        answer = await stopped(bench, "exception")
        evaluated = await bench.call("evaluate_expression", expression="count")
        scopes = await bench.call("get_scopes")
        asked = [bench.adapter.sent(command)[-1]["frameId"] for command in ("evaluate", "scopes")]
    stop = answer["stop_event_data"]
    assert stop["at_frame_id"] == stop["call_stack"][9]["frame_id"]
    assert (stop["source"]["path"], stop["line"], stop["source_lines"]["start"]) == (path, 5, 3)
    assert stop["call_stack"][0]["function_name"] == "raise_0"
    assert f"at: app.py:5 total (frame {stop['at_frame_id']})" in answer.text
    own = f"#{stop['at_frame_id']} app.py:5 total"
    assert f"stack: #1000001 /usr/lib/runtime.c:40 raise_0 < [8 library] < {own}" in answer.text
    assert asked == [2, 2]
    assert evaluated["at_frame_id"] == scopes["at_frame_id"] == stop["at_frame_id"]
    assert f"frame: {stop['at_frame_id']}" in evaluated.text


@pytest.mark.parametrize("reason", ["step", "breakpoint"])
async def test_who_goes_into_a_library_sees_the_library(tmp_path: Path, reason: str) -> None:
    async with opened(tmp_path) as bench:
        library = tmp_path / "node_modules" / "lib.js"
        library.parent.mkdir()
        library.write_text("one\ntwo\n")
        bench.adapter.answers["stackTrace"] = lambda _: stack_of(
            frame(8, "inside", str(library), 2), frame(2, "total", str(bench.file), 5)
        )
        stop = (await stopped(bench, reason))["stop_event_data"]
    assert "at_frame_id" not in stop
    assert (stop["source"]["path"], stop["line"]) == (str(library), 2)


async def test_a_tab_in_a_source_is_drawn_and_one_in_a_value_is_escaped(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.file.write_text("if x {\n\treturn\n}\n")
        bench.adapter.answers["stackTrace"] = lambda _: stack_of(frame(8, "f", str(bench.file), 2))
        with_variables(bench, variable("s", "a\tb"))
        answer = await stopped(bench, "step")
        source = await bench.call("get_source", file_path="app.py")
    assert ">    2      return" in answer.text.splitlines()
    assert "     2      return" in source.text.splitlines()
    assert r"  s = a\tb" in answer.text.splitlines()
    assert answer["stop_event_data"]["source_lines"]["lines"][1] == "\treturn"


async def test_what_an_adapter_groups_its_own_entries_under_is_not_a_variable(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        with_variables(bench, variable("special variables", ""), variable("n", "1", type="int"))
        shown = (await stopped(bench))["stop_event_data"]["top_frame_variables"]
    assert [it["name"] for it in shown["variables"]] == ["n"]


@pytest.mark.requirement("debug:stop-event:variables-null")
async def test_a_frame_that_has_only_an_adapters_groups_has_no_variables(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        with_variables(bench, variable("special variables", ""))
        assert (await stopped(bench))["stop_event_data"]["top_frame_variables"] is None


@pytest.mark.parametrize(
    ("printed", "place"),
    [
        ("/w/a.lua:2: unexpected symbol near '='", ("/w/a.lua", 2)),
        ("lua: /w/a.lua:7: 'end' expected (to close 'if' at line 1) near <eof>", ("/w/a.lua", 7)),
        ("/w/a.rb:3: syntax error, unexpected `end', expecting ')'", ("/w/a.rb", 3)),
        ("file:///w/b.mjs:4\n\nSyntaxError: no\n    at a (node:x:1:2)\n\nNode.js v20\n", ("/w/b.mjs", 4)),
        ("it went wrong", None),
        ("/w/a.lua:2: attempt to index a nil value", None),
    ],
)  # fmt: skip
def test_the_place_is_read_from_a_debuggers_last_words(printed: str, place: tuple[str, int] | None) -> None:
    with pytest.raises(DragomanError) as caught, start_failures.explain_start_failure():
        raise adapter_gone(words=printed)
    details = getattr(caught.value, "details", {})
    assert (details.get("path"), details.get("line")) == (place or (None, None))
    assert caught.value.code == ("syntax_error" if place else "adapter_gone")


@pytest.mark.requirement("debug:stop-event:text")
@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"description": "boom", "text": "ValueError"}, "ValueError: boom"),  # debugpy
        ({"description": "Paused on exception", "text": "boom"}, "boom"),  # js-debug
        ({"text": "ValueError: boom"}, "ValueError: boom"),
        ({}, "boom"),
    ],
)
async def test_the_text_of_an_exception_says_what_it_says(tmp_path: Path, result: dict[str, str], text: str) -> None:
    info = {"exceptionId": "ValueError", "breakMode": "unhandled", "details": {"message": "boom"}}
    async with opened(tmp_path) as bench:
        bench.adapter.can("supportsExceptionInfoRequest")
        bench.adapter.answers["exceptionInfo"] = lambda _: info
        assert (await stopped(bench, "exception", **result))["stop_event_data"]["text"] == text
