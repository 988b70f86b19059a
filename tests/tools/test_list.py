"""The list of tools itself: fixed, annotated, strict, and short enough for an agent to pay for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from dragoman.core.errors import DragomanError
from dragoman.journal import Journal
from dragoman.tools import build_tool_registry
from dragoman.tools.debug import TOOLS
from dragoman.tools.tool_sets import DEFAULT_TOOLS
from tests.tools.tool_fixture import opened

pytestmark = pytest.mark.anyio

BUDGET = 14_000
THE_ELEVEN = [
    "get_debugger_configurations",
    "set_breakpoint",
    "remove_breakpoint",
    "get_breakpoints",
    "start_debugging",
    "continue_debugging",
    "step_execution",
    "get_scopes",
    "get_variables",
    "evaluate_expression",
    "stop_debugging",
]


def weight(*parts: object) -> int:
    return sum(len(json.dumps(part, ensure_ascii=False, separators=(",", ":"))) for part in parts)


@pytest.mark.requirement("debug:principle:structured-tools")
async def test_the_eleven_come_first_in_the_documents_order_and_the_list_is_fixed(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        names = [it.name for it in bench.toolbox.tools]
    assert names[:11] == THE_ELEVEN
    assert names == [tool.name for tool in TOOLS]


async def test_the_whole_list_stays_within_its_budget(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench, Journal.open(tmp_path / "other") as journal:
        toolbox = build_tool_registry(dict, journal, bench.toolbox.tools)
    result = 0
    declared = 0
    for it in toolbox.tools:
        hints = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False}
        result += weight(it.name, it.title, it.description, it.input_schema, hints)
        declared += weight(it.output_schema)
    assert len(toolbox.tools) == 20
    assert result <= BUDGET
    assert declared <= BUDGET


async def test_a_set_is_chosen_by_name_and_keeps_the_order_of_the_whole(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench, Journal.open(tmp_path / "other") as journal:
        toolbox = build_tool_registry(dict, journal, bench.toolbox.tools)
        everything = [it.name for it in toolbox.tools]
        assert toolbox.sets == ("general", "debug")
        assert [it.name for it in toolbox.listed(["debug", "general"])] == everything
        more = replace(bench.toolbox.tools[0], name="more", set="canvas")
        toolbox = build_tool_registry(dict, journal, [*bench.toolbox.tools, more])
        assert [it.name for it in toolbox.listed(["debug"])] == everything
        assert [it.name for it in toolbox.listed(["canvas"])] == [*everything[:2], "more"]
        assert [it.name for it in toolbox.listed(["general"])] == ["dragoman_status", "search_journal"]
        assert [it.name for it in toolbox.listed(["all"])] == [*everything, "more"]
        default = [name for name in everything if name in DEFAULT_TOOLS]
        assert [it.name for it in toolbox.listed(["default"])] == default
        assert [it.name for it in toolbox.listed(["canvas", "default"])] == [*everything[:2], *default, "more"]
        for wrong in (["debug", "paint\x1b"], []):
            with pytest.raises(DragomanError, match="Available sets: default, all, general, debug, canvas") as caught:
                toolbox.listed(wrong)
            assert caught.value.code == "unknown_tool_set"
            assert "\x1b" not in str(caught.value)


async def test_what_fails_inside_a_tool_is_an_answer_of_its_own_shape(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as bench:
        started = await bench.running()

        def broken(_: object) -> None:
            raise ZeroDivisionError("canary of the inside")

        bench.service.registry.sessions = broken  # type: ignore[method-assign, assignment]
        answer = await bench.call("list_sessions")
    assert (answer["status"], answer["code"], answer["state"]) == ("error", "internal_error", "Running")
    assert answer["session_id"] == started["session_id"]
    assert "dragoman logs" in answer["hint"]
    assert "canary" not in answer.text
    assert "canary of the inside" in caplog.text


@pytest.mark.requirement("debug:principle:strict-interface")
async def test_every_schema_is_valid_and_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        for tool in bench.toolbox.tools:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            jsonschema.Draft202012Validator.check_schema(tool.output_schema)
            assert tool.input_schema["additionalProperties"] is False
            assert tool.output_schema["type"] == "object"
            refused = await bench.call(tool.name, surely_not_a_parameter=1)
            assert refused["code"] == "bad_arguments"


@pytest.mark.parametrize(
    ("tool", "needed"),
    [
        ("set_breakpoint", None),
        ("set_variable", ["name", "value"]),
        ("step_execution", ["step_type"]),
        ("get_variables", ["variables_reference"]),
        ("evaluate_expression", ["expression"]),
        ("start_debugging", None),
        ("stop_debugging", None),
    ],
)
async def test_what_a_tool_needs_is_in_its_schema(tmp_path: Path, tool: str, needed: list[str] | None) -> None:
    async with opened(tmp_path) as bench:
        schema = next(it.input_schema for it in bench.toolbox.tools if it.name == tool)
    assert schema.get("required") == needed


async def test_null_is_taken_for_what_is_left_out(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        answer = await bench.call("get_scopes", frame_id=None)
    assert answer["status"] == "success"


async def test_tools_that_only_read_say_so_and_those_that_run_code_do_not(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        effects = {it.name: it.effects for it in bench.toolbox.tools}
    reading = {name for name, effect in effects.items() if effect.reads_only}
    assert reading == {
        "get_debugger_configurations",
        "get_breakpoints",
        "get_scopes",
        "get_variables",
        "wait_for_stop",
        "list_sessions",
        "get_output",
        "get_source",
    }
    assert {name for name, effect in effects.items() if effect.leaves_machine} == {
        "start_debugging",
        "continue_debugging",
        "step_execution",
        "evaluate_expression",
        "restart_debugging",
        "set_variable",
    }


@pytest.mark.requirement("debug:configurations:recommended-first")
async def test_the_description_advises_to_look_at_the_configurations_first(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        described = bench.toolbox.tools[0].description
    assert "before start_debugging" in described


def test_the_guide_explains_every_tool_and_every_parameter_of_a_breakpoint() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "reference" / "debug-tools.md").read_text()
    assert [tool.name for tool in TOOLS if f"**{tool.name}**" not in guide and f"`{tool.name}`" not in guide] == [
        "set_breakpoint"
    ]
    assert "set_breakpoint " in guide
    (breakpoint,) = (tool for tool in TOOLS if tool.name == "set_breakpoint")
    assert [name for name in breakpoint.parameters.model_fields if name not in guide] == []
