"""What models send instead of the published parameters is taken for what it means, or refused with the correction."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.tools.accepted_forms import VALUES, accept
from dragoman.tools.debug.breakpoints import RemoveBreakpointParameters
from dragoman.tools.debug.inspection import EvaluateParameters
from dragoman.tools.debug.parameters import SetBreakpointParameters
from dragoman.tools.debug.run_control import ContinueParameters, StartParameters, StepParameters
from dragoman.tools.evidence.claims import CheckParameters, FindChangeParameters
from dragoman.tools.evidence.failures import DebugTestParameters
from dragoman.tools.evidence.traces import CompareRunsParameters, TraceParameters
from dragoman.tools.tool import Parameters
from tests.servers.mcp.tool_names import EVERYTHING
from tests.tools.test_schemas import TOOLS_BY_NAME
from tests.tools.tool_fixture import opened

LINE = {"file_path": "a.py", "line_number": 14}
RUN = {"program": "a.py"}

FORMS: list[tuple[type[Parameters], dict[str, Any], dict[str, Any]]] = [
    (SetBreakpointParameters, {"file": "a.py", "line": 14}, LINE),
    (SetBreakpointParameters, {"path": "a.py", "lineno": 14}, LINE),
    (SetBreakpointParameters, {"file_path": "a.py:14"}, LINE),
    (SetBreakpointParameters, {"file": "a.py:14:3"}, LINE),
    (SetBreakpointParameters, {"location": "a.py:14"}, LINE),
    (SetBreakpointParameters, {"file_path": "a.py:14", "line": 14}, LINE),
    (SetBreakpointParameters, {"where": "Order.total"}, {"kind": "function", "function_name": "Order.total"}),
    (SetBreakpointParameters, {"kind": "function", "method": "f"}, {"kind": "function", "function_name": "f"}),
    (RemoveBreakpointParameters, {"location": "a.py:14"}, {"location": LINE}),
    (RemoveBreakpointParameters, {"id": 3}, {"breakpoint_id": 3}),
    (ContinueParameters, {"until": "a.py:14", "timeout": 3}, {"until": LINE, "timeout_s": 3}),
    (StepParameters, {"type": "next"}, {"step_type": "over"}),
    (EvaluateParameters, {"expressions": ["x + 1"]}, {"expression": "x + 1"}),
    (EvaluateParameters, {"expr": "x", "frame": 7}, {"expression": "x", "frame_id": 7}),
    (StartParameters, {"program": "pytest -q 'a b.py'"}, {"program": "pytest", "args": ["-q", "a b.py"]}),
    (StartParameters, {"command": "node app.js"}, {"program": "node", "args": ["app.js"]}),
    (StartParameters, {"program": "a.py", "args": "--n 1"}, {"program": "a.py", "args": ["--n", "1"]}),
    (StartParameters, {"program": "a.py", "args": '["-n"]'}, {"program": "a.py", "args": ["-n"]}),
    (StartParameters, {"configuration": '{"type": "go"}'}, {"configuration": {"type": "go"}}),
    (TraceParameters, {**RUN, "points": ["a.py:14"]}, {**RUN, "points": [LINE]}),
    (TraceParameters, {**RUN, "points": "a.py:14"}, {**RUN, "points": [LINE]}),
    (TraceParameters, {**RUN, "point": {"line": 14, "expression": "x"}},
     {**RUN, "points": [{"line_number": 14, "expressions": ["x"]}]}),
    (TraceParameters, {**RUN, "points": [{"function_name": "total", "expressions": "x"}]},
     {**RUN, "points": [{"function": "total", "expressions": ["x"]}]}),
    (TraceParameters, {**RUN, "points": ["Order.total", "total", "total()", "a.py::total"]},
     {**RUN, "points": [{"function": "Order.total"}, {"function": "total"}, {"function": "total"},
                        {"file_path": "a.py", "function": "total"}]}),
    (CheckParameters, {**RUN, "claim": "x", "at": "a.py:14", "expressions": "y"},
     {**RUN, "claim": "x", **LINE, "expressions": ["y"]}),
    (FindChangeParameters, {**RUN, "expr": "x", "place": "total"}, {**RUN, "expression": "x", "function": "total"}),
    (CompareRunsParameters, {**RUN, "points": ["a.py:14"], "against": {"argv": "--new"}},
     {**RUN, "points": [LINE], "against": {"args": ["--new"]}}),
    (DebugTestParameters, {"program": "pytest", "args": "-q t.py"}, {"command": "pytest -q t.py"}),
    (DebugTestParameters, {"test": "pytest -q t.py"}, {"command": "pytest -q t.py"}),
    (DebugTestParameters, {"test_name": "test_total"}, {"command": "pytest -k test_total"}),
    (DebugTestParameters, {"test": "t.py::test_total"}, {"test": "t.py::test_total"}),
    (DebugTestParameters, {"test": "sums the prices"}, {"test": "sums the prices"}),
]  # fmt: skip


@pytest.mark.parametrize(("model", "given", "meant"), FORMS)
def test_a_guess_is_taken_for_what_it_means(
    model: type[Parameters], given: dict[str, Any], meant: dict[str, Any], tmp_path: Path
) -> None:
    assert accept(model, given, tmp_path) == meant
    assert model.model_validate(meant) == model.model_validate(accept(model, given, tmp_path))


@pytest.mark.parametrize(("model", "given", "meant"), FORMS)
def test_the_published_form_stays_as_it_is(
    model: type[Parameters],
    given: dict[str, Any],
    meant: dict[str, Any],
    tmp_path: Path,
) -> None:
    assert accept(model, meant, tmp_path) == meant


@pytest.mark.parametrize(
    ("model", "given", "correction"),
    [
        (SetBreakpointParameters, {"file": "b.py", "file_path": "a.py"}, '"file_path": "a.py"'),
        (SetBreakpointParameters, {"file_path": "a.py:14", "line_number": 15}, '"line_number": 15'),
        (TraceParameters, {**RUN, "points": ["a.py"]}, '"line_number": 14'),
        (TraceParameters, {**RUN, "points": ["around the loop"]}, '"line_number": 14'),
        (TraceParameters, {**RUN, "points": [{"line": 3, "expressions": ["__return__"]}]}, "`return` statement"),
        (CheckParameters, {**RUN, "claim": "__return__ > 0"}, "`return` statement"),
    ],
)
def test_a_guess_with_two_meanings_is_refused_with_the_correction(
    model: type[Parameters], given: dict[str, Any], correction: str, tmp_path: Path
) -> None:
    with pytest.raises(DragomanError) as refused:
        accept(model, given, tmp_path)
    assert refused.value.code == "bad_arguments"
    assert correction in str(refused.value.hint)


def test_a_program_with_a_space_in_its_name_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "my app.py").touch()
    assert accept(StartParameters, {"program": "my app.py"}, tmp_path) == {"program": "my app.py"}


@pytest.mark.parametrize("value", [None, 5, True, [], {}, [[]], "[", "{", "'", "x" * 20_000])
@pytest.mark.parametrize("name", ["args", "points", "until", "program", "file_path", "env", "step_type", "nonsense"])
def test_what_is_no_guess_is_left_to_the_check(name: str, value: Any, tmp_path: Path) -> None:
    for model in (StartParameters, TraceParameters, ContinueParameters, SetBreakpointParameters, StepParameters):
        with suppress(DragomanError):  # a refusal, and never another failure
            accept(model, {name: value}, tmp_path)


def test_accepted_names_are_not_published() -> None:
    for tool in EVERYTHING:
        declared = TOOLS_BY_NAME[tool]
        assert declared.brief_schema["properties"].keys() == declared.parameters.model_fields.keys()


def test_values_stand_for_published_ones() -> None:
    published = StepParameters.model_json_schema()["properties"]["step_type"]["enum"]
    assert set(VALUES["step_type"].values()) == set(published)


@pytest.mark.anyio
async def test_a_call_with_guesses_works_and_a_wrong_one_lists_the_fields(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        placed = await bench.call("set_breakpoint", file="app.py:5")
        wrong = await bench.call("continue_debugging", until={"file_path": "app.py", "lime": 5})
    assert placed["status"] == "success"
    assert wrong["code"] == "bad_arguments"
    assert wrong["hint"] == "Fields of `until`: file_path, line_number, line_text."
