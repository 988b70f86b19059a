"""get_scopes, get_variables, evaluate_expression: every field, pages, caps, and honest references."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.tools.debug.values import fair_share
from tests.requirements import sentence
from tests.tools.tool_fixture import Bench, frame, opened, stack_of

pytestmark = pytest.mark.anyio


def numbered(count: int) -> list[dict[str, Any]]:
    return [{"name": f"[{n}]", "value": str(n), "type": "int", "variablesReference": 0} for n in range(count)]


def paging(count: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """An adapter that takes `start` and `count` at their word."""

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        start = asked.get("start", 0)
        return {"variables": numbered(count)[start : start + asked["count"] if asked.get("count") else None]}

    return answer


async def reference(bench: Bench) -> int:
    await bench.started()
    found: int = (await bench.call("get_scopes"))["scopes"][0]["variables_reference"]
    return found


@pytest.mark.requirement(
    "debug:scopes:tool",
    "debug:scopes:sync",
    "debug:scopes:param-frame-id",
    "debug:scopes:success",
    "debug:scopes:list",
    "debug:scopes:name",
    "debug:scopes:variables-reference",
    "debug:scopes:reference-zero",
    "debug:scopes:expensive",
    "debug:scopes:named-variables",
    "debug:scopes:indexed-variables",
    "debug:scopes:kinds",
)
async def test_scopes_have_every_field_for_the_top_frame_or_the_named_one(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        stop = (await bench.started())["stop_event_data"]
        bench.adapter.answers["scopes"] = lambda _: {
            "scopes": [
                {"name": "Local", "variablesReference": 4, "namedVariables": 2, "indexedVariables": 5},
                {"name": "Globals", "variablesReference": 5, "expensive": True},
                {"name": "Arguments", "variablesReference": 0},
            ]
        }
        answer = await bench.call("get_scopes")
        named = await bench.call("get_scopes", frame_id=stop["call_stack"][0]["frame_id"])
    local, global_, empty = answer["scopes"]
    assert local == {
        "name": "Local",
        "variables_reference": local["variables_reference"],
        "expensive": False,
        "named_variables": 2,
        "indexed_variables": 5,
    }
    assert global_ == {"name": "Globals", "variables_reference": global_["variables_reference"], "expensive": True}
    assert empty["variables_reference"] == 0 < local["variables_reference"] < global_["variables_reference"]
    assert (answer["status"], answer["session_id"]) == ("success", stop["session_id"])
    assert named.data == answer.data
    assert bench.adapter.sent("scopes")[-1] == {"frameId": 1}
    assert answer.text.splitlines()[1] == f"  Globals [{global_['variables_reference']}] expensive"


@pytest.mark.requirement(
    "debug:variables:tool",
    "debug:variables:sync",
    "debug:variables:param-variables-reference",
    "debug:variables:success",
    "debug:variables:list",
    "debug:variables:name",
    "debug:variables:value",
    "debug:variables:type",
    "debug:variables:variables-reference",
    "debug:variables:evaluate-name",
    "debug:variables:memory-reference",
)
async def test_variables_have_every_field_and_open_further(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        scope = await reference(bench)
        inner = {"name": "o", "value": "Object", "type": "O", "variablesReference": 77}
        inner |= {"evaluateName": "self.o", "memoryReference": "0x10"}
        bench.adapter.answers["variables"] = lambda _: {
            "variables": [inner, {"name": "n", "value": "3", "variablesReference": 0}]
        }
        answer = await bench.call("get_variables", variables_reference=scope)
        opened_further = await bench.call(
            "get_variables", variables_reference=answer["variables"][0]["variables_reference"]
        )
    first, second = answer["variables"]
    assert first == {
        "name": "o",
        "value": "Object",
        "type": "O",
        "variables_reference": first["variables_reference"],
        "evaluate_name": "self.o",
        "memory_reference": "0x10",
    }
    assert first["variables_reference"] > 0
    assert second == {"name": "n", "value": "3", "type": None, "variables_reference": 0}
    assert (answer["status"], answer["start"], answer["total"]) == ("success", 0, 2)
    assert opened_further["status"] == "success"
    assert bench.adapter.sent("variables")[-1]["variablesReference"] == 77
    assert answer.text.splitlines() == [f"  o = Object  [{first['variables_reference']}]", "  n = 3"]


@pytest.mark.parametrize("pages", [True, False], ids=["adapter-pages", "adapter-gives-all"])
@pytest.mark.parametrize(
    ("asked", "names", "total"),
    [
        ({"count": 3}, ["[0]", "[1]", "[2]"], {None, 50}),
        ({"start": 48, "count": 3}, ["[48]", "[49]"], {50}),
        ({"start": 49, "count": 50}, ["[49]"], {50}),
        ({"start": 60, "count": 3}, [], {50}),
        ({"filter": "4", "count": 2, "start": 1}, ["[14]", "[24]"], {14}),
        ({"filter": "none"}, [], {0}),
    ],
)
async def test_a_page_is_right_whether_the_adapter_pages_or_not(
    tmp_path: Path, pages: bool, asked: dict[str, Any], names: list[str], total: set[int | None]
) -> None:
    async with opened(tmp_path) as bench:
        scope = await reference(bench)
        bench.adapter.answers["variables"] = paging(50) if pages else lambda _: {"variables": numbered(50)}
        answer = await bench.call("get_variables", variables_reference=scope, **asked)
    assert [it["name"] for it in answer["variables"]] == names
    assert answer["total"] in total


@pytest.mark.parametrize(("start", "names", "total"), [(19_999, ["[19999]"], 20_000), (19_000, None, 20_000)])
async def test_far_pages_are_right_where_the_adapter_does_not_say_how_many_there_are(
    tmp_path: Path, start: int, names: list[str] | None, total: int | None
) -> None:
    async with opened(tmp_path) as bench:
        scope = await reference(bench)
        bench.adapter.answers["variables"] = paging(20_000)
        answer = await bench.call("get_variables", variables_reference=scope, start=start, count=10)
    found = [it["name"] for it in answer["variables"]]
    assert found == (names or [f"[{n}]" for n in range(start, start + 10)])
    assert answer["total"] == total


async def test_far_pages_of_an_adapter_that_gives_all_are_cut_here(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        scope = await reference(bench)
        bench.adapter.answers["variables"] = lambda _: {"variables": numbered(12_000)}
        answer = await bench.call("get_variables", variables_reference=scope, start=11_000, count=2)
    assert [it["name"] for it in answer["variables"]] == ["[11000]", "[11001]"]
    assert answer["total"] == 12_000
    assert answer.text.splitlines()[-1] == "11002 of 12000; more: start=11002."


async def test_a_filter_that_cannot_look_at_everything_does_not_claim_a_total(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        scope = await reference(bench)
        bench.adapter.answers["variables"] = lambda _: {"variables": numbered(12_000)}
        answer = await bench.call("get_variables", variables_reference=scope, filter="777")
    assert [it["name"] for it in answer["variables"]][:2] == ["[777]", "[1777]"]
    assert answer["total"] is None
    assert answer.text.splitlines()[-1].startswith("There may be more")


async def test_long_values_are_cut_and_max_chars_shows_more(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        scope = await reference(bench)
        long = {"name": "s", "value": "é" * 9000, "type": "str", "variablesReference": 0}
        bench.adapter.answers["variables"] = lambda _: {"variables": [long]}
        answer = await bench.call("get_variables", variables_reference=scope)
        more = await bench.call("get_variables", variables_reference=scope, max_chars=9000)
        bench.adapter.answers["evaluate"] = lambda _: {"result": "é" * 9000, "variablesReference": 0}
        result = await bench.call("evaluate_expression", expression="s")
    (shown,) = answer["variables"]
    assert (len(shown["value"]), shown["truncated"], shown["length"]) == (2000, True, 9000)
    assert answer.text.splitlines() == [
        f"  s = {'é' * 300}… (9000 chars)",
        "Values are truncated; raise max_chars to see more.",
    ]
    assert more.text == f"  s = {'é' * 9000}"
    assert more["variables"] == [{"name": "s", "value": "é" * 9000, "type": "str", "variables_reference": 0}]
    assert (len(result["result"]), result["truncated"], result["length"]) == (2000, True, 9000)
    assert "the debugger sent 9000 characters" in result.text


async def test_the_values_of_a_page_share_a_room_that_no_program_can_enlarge(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        scope = await reference(bench)
        long = [{"name": f"[{n}]", "value": "t" * 1_000_000, "type": "str", "variablesReference": 0} for n in range(99)]
        short = {"name": "n", "value": "12345", "type": "int", "variablesReference": 0}
        bench.adapter.answers["variables"] = lambda _: {"variables": [*long, short]}
        answer = await bench.call("get_variables", variables_reference=scope)
        chinese = await bench.call("get_variables", variables_reference=scope, language="zh")
        asked = await bench.call("get_variables", variables_reference=scope, max_chars=50_000)
    assert answer["values_cut_to"] == 201
    assert {len(it["value"]) for it in answer["variables"][:99]} == {201}
    assert {it["length"] for it in answer["variables"][:99]} == {1_000_000}
    assert answer["variables"][99] == {"name": "n", "value": "12345", "type": "int", "variables_reference": 0}
    assert answer.text.splitlines()[-1] == (
        "Values are truncated to 201 characters; a smaller count shows more of each."
    )
    assert chinese.text.splitlines()[-1] == "各值截断为 201 个字符；减小 count 可使每个值显示更多。"
    assert len(answer.text) + len(json.dumps(answer.data)) < 50_000
    assert sum(len(it["value"]) for it in asked["variables"]) <= 200_000


@pytest.mark.parametrize(
    ("lengths", "room", "share"),
    [([], 10, None), ([5, 5], 10, None), ([5, 6], 10, 5), ([1, 100, 100], 21, 10), ([0, 0, 50], 7, 7), ([3, 3], 1, 0)],
)
async def test_long_values_share_what_short_ones_leave(lengths: list[int], room: int, share: int | None) -> None:
    assert fair_share(lengths, room) == share


@pytest.mark.requirement(
    "debug:evaluate:tool",
    "debug:evaluate:sync",
    "debug:evaluate:param-expression",
    "debug:evaluate:param-frame-id",
    "debug:evaluate:success",
    "debug:evaluate:result",
    "debug:evaluate:type",
    "debug:evaluate:variables-reference",
)
async def test_an_evaluation_has_every_field_in_the_top_frame_or_the_named_one(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        stop = (await bench.started())["stop_event_data"]
        plain = await bench.call("evaluate_expression", expression="1 + 1")
        bench.adapter.answers["evaluate"] = lambda _: {"result": "[1]", "type": "list", "variablesReference": 5}
        frame_id = stop["call_stack"][0]["frame_id"]
        rich = await bench.call("evaluate_expression", expression="xs", frame_id=frame_id)
    assert plain.data == {
        "status": "success",
        "session_id": stop["session_id"],
        "result": "1 + 1",
        "variables_reference": 0,
    }
    assert (rich["result"], rich["type"]) == ("[1]", "list")
    assert rich["variables_reference"] > 0
    assert rich.text == f"= list: [1]  [{rich['variables_reference']}]"
    assert [it["frameId"] for it in bench.adapter.sent("evaluate")] == [1, 1]


@pytest.mark.requirement(
    "debug:evaluate:param-context",
    "debug:evaluate:context-watch",
    "debug:evaluate:context-repl",
    "debug:evaluate:context-hover",
    "debug:evaluate:context-clipboard",
    "debug:evaluate:context-default",
    "debug:evaluate:context-effect",
)
async def test_the_context_reaches_the_debugger_and_is_repl_when_not_given(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        await bench.call("evaluate_expression", expression="x")
        for context in ("watch", "repl", "hover", "clipboard"):
            await bench.call("evaluate_expression", expression="x", context=context)
        wrong = await bench.call("evaluate_expression", expression="x", context="anything")
    assert [it["context"] for it in bench.adapter.sent("evaluate")] == ["repl", "watch", "repl", "hover", "clipboard"]
    assert wrong["code"] == "bad_arguments"


@pytest.mark.requirement(
    "debug:evaluate:error",
    "debug:evaluate:error-syntax",
    "debug:evaluate:error-undefined",
    "debug:evaluate:error-context",
    "debug:evaluate:error-side-effect",
)
@pytest.mark.parametrize(
    ("result", "words"),
    [
        ('  File "<string>", line 1\nSyntaxError: invalid syntax', "debug:evaluate:error-syntax"),
        ("SyntaxError: Unexpected token ')'", "debug:evaluate:error-syntax"),
        ("error: expected expression", "debug:evaluate:error-syntax"),
        ("NameError: name 'x' is not defined", "debug:evaluate:error-undefined"),
        ("Uncaught ReferenceError: x is not defined", "debug:evaluate:error-undefined"),
        ("could not find symbol value for x", "debug:evaluate:error-undefined"),
        ("use of undeclared identifier 'x'", "debug:evaluate:error-undefined"),
        ("undefined local variable or method 'x' for main", "debug:evaluate:error-undefined"),
        ("EvalError: Possible side-effect in debug-evaluate", "debug:evaluate:error-side-effect"),
        ("ZeroDivisionError: division by zero", "debug:evaluate:error-context"),
        ("NameError: name 'obey' is not defined", "debug:evaluate:error-context"),
    ],
)
async def test_why_an_expression_fails_is_reported_in_the_documents_words_and_the_debuggers_apart(
    tmp_path: Path, result: str, words: str
) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        bench.adapter.refuse("evaluate", result)
        answer = await bench.call("evaluate_expression", language="zh", expression="x + 1")
    assert (answer["status"], answer["code"], answer["message"]) == ("error", "adapter_refused", sentence(words))
    assert answer["debugger_says"] == result.strip()
    first, *rest = answer.text.splitlines()[1:]
    lines = result.splitlines()
    assert first == ("调试器：" if len(lines) > 1 else f"调试器：{result}")
    assert sorted(it.strip() for it in rest) == sorted(it.strip() for it in lines if len(lines) > 1)


async def test_of_a_compilers_words_the_text_shows_every_line(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        bench.adapter.refuse("evaluate", "error: <expr>:1:1: use of undeclared identifier 'x'\n    1 | x\n      | ^\n")
        answer = await bench.call("evaluate_expression", expression="x")
    assert answer["message"] == "The variable 'x' is not defined."
    assert answer.text.splitlines()[1:3] == ["debugger says:", "  error: <expr>:1:1: use of undeclared identifier 'x'"]
    assert "1 | x" in answer.text


@pytest.mark.requirement("debug:variables:error", "debug:variables:error-access", "debug:scopes:error")
async def test_a_value_that_the_debugger_will_not_give_is_reported_in_the_documents_words(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        scope = await reference(bench)
        bench.adapter.refuse("variables", "gone")
        bench.adapter.refuse("scopes", "gone too")
        answer = await bench.call("get_variables", language="zh", variables_reference=scope)
        scopes = await bench.call("get_scopes")
    assert (answer["message"], answer["debugger_says"]) == (sentence("debug:variables:error-access"), "gone")
    assert (scopes["status"], scopes["debugger_says"]) == ("error", "gone too")


@pytest.mark.requirement(
    "debug:scopes:error-frame", "debug:variables:error-reference", "debug:scopes:error-not-stopped"
)
async def test_references_of_an_earlier_stop_and_made_up_ones_are_distinguished(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        scope = await reference(bench)
        frame_id = 1_000_001
        bench.adapter.when("next", lambda: bench.adapter.stop("step"))
        await bench.call("step_execution", step_type="over")
        old_frame = await bench.call("get_scopes", language="zh", frame_id=frame_id)
        old_reference = await bench.call("get_variables", language="zh", variables_reference=scope)
        old_evaluation = await bench.call("evaluate_expression", expression="x", frame_id=frame_id)
        made_up = await bench.call("get_variables", variables_reference=2_900_000)
        zero = await bench.call("get_variables", variables_reference=0)
        await bench.call("continue_debugging", wait=False)
        running = await bench.call("get_scopes", language="zh", frame_id=frame_id)
    assert old_frame["code"] == old_reference["code"] == old_evaluation["code"] == "stale_reference"
    assert old_frame["message"].startswith(sentence("debug:scopes:error-frame"))
    assert old_reference["message"].startswith(sentence("debug:variables:error-reference"))
    assert "belongs to an earlier stop" in old_evaluation["message"]
    assert (made_up["code"], zero["code"]) == ("unknown_reference", "bad_arguments")
    assert (running["code"], running["state"]) == ("not_stopped", "Running")
    assert running["message"].startswith(sentence("debug:scopes:error-not-stopped"))


# get_source


async def test_source_is_shown_by_lines_with_how_many_there_are(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.file.write_text("one\ntwo\x1b\nthree\n")
        answer = await bench.call("get_source", file_path="app.py", line=2, count=5)
        past = await bench.call("get_source", file_path="app.py", line=4)
    assert answer.data == {
        "status": "success",
        "file_path": str(bench.file),
        "start": 2,
        "lines": ["two\\x1b", "three"],
        "total_lines": 3,
    }
    assert answer.text.splitlines() == ["     2  two\\x1b", "     3  three"]
    assert (past["code"], past["details"]) == ("line_past_end", {"line_count": 3})


@pytest.mark.parametrize(
    ("path", "code"),
    [("/etc/passwd", "outside_workspace"), ("gone.py", "file_not_found"), ("large.py", "unreadable_file")],
)
async def test_a_file_that_may_not_or_cannot_be_read_is_refused_with_the_reason(
    tmp_path: Path, path: str, code: str
) -> None:
    async with opened(tmp_path) as bench:
        (bench.caller.workspace / "large.py").write_bytes(b"x\n" * 600_000)
        answer = await bench.call("get_source", file_path=path)
        by_text = await bench.call("set_breakpoint", file_path=path, line_text="x")
    assert (answer["status"], answer["code"], by_text["code"]) == ("error", code, code)


async def test_source_that_a_stopped_programs_stack_names_is_shown_and_only_while_it_is_stopped(tmp_path: Path) -> None:
    library = tmp_path / "library.py"
    library.write_text("inside\n")
    async with opened(tmp_path) as bench:
        before = await bench.call("get_source", file_path=str(library))
        bench.adapter.answers["stackTrace"] = lambda _: stack_of(frame(1, "f", str(library), 1))
        await bench.started()
        during = await bench.call("get_source", file_path=str(library))
        await bench.call("continue_debugging", wait=False)
        after = await bench.call("get_source", file_path=str(library))
    assert during["lines"] == ["inside"]
    assert before["code"] == after["code"] == "outside_workspace"
