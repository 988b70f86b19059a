"""What models send instead of the published parameters is taken for what it means, or refused with the correction."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.tools.argument_aliases import accept
from dragoman.tools.debug.breakpoints import RemoveBreakpointParameters
from dragoman.tools.debug.inspection import EvaluateParameters
from dragoman.tools.debug.parameters import SetBreakpointParameters
from dragoman.tools.debug.run_control import ContinueParameters, StartParameters, StepParameters
from dragoman.tools.evidence.calls import TraceCallParameters
from dragoman.tools.evidence.claims import CheckParameters, FindChangeParameters
from dragoman.tools.evidence.explanation import ExplainFailureParameters
from dragoman.tools.evidence.failures import DebugTestParameters
from dragoman.tools.evidence.traces import CompareRunsParameters, TraceParameters
from dragoman.tools.name_aliases import VALUES
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
    (DebugTestParameters, {"test_name": "test_total"}, {"test": "test_total"}),
    (DebugTestParameters, {"test": "t.py::test_total"}, {"test": "t.py::test_total"}),
    (DebugTestParameters, {"test": "sums the prices"}, {"test": "sums the prices"}),
    # Spellings of names.
    (SetBreakpointParameters, {"filePath": "a.py", "lineNumber": 14}, LINE),
    (SetBreakpointParameters, {"filename": "a.py", "line_no": "14"}, LINE),
    (SetBreakpointParameters, {"file-path": "a.py", "Line": "L14"}, LINE),
    (SetBreakpointParameters, {"uri": "file:///w/a%20b.py", "line": "line 14"},
     {"file_path": "/w/a b.py", "line_number": 14}),
    (SetBreakpointParameters, {"file_path": "a.py", "lines": [14]}, LINE),
    (SetBreakpointParameters, {"arguments": {"file": "a.py", "line": 14}}, LINE),
    (SetBreakpointParameters, {"params": '{"file": "a.py", "line": 14}'}, LINE),
    (ContinueParameters, {"timeoutMs": 1500, "sessionId": "s1"}, {"timeout_s": 1.5, "session_id": "s1"}),
    (ContinueParameters, {"timeout_seconds": 3}, {"timeout_s": 3}),
    # Points.
    (TraceParameters, {**RUN, "points": ["a.py:14: x, f(y, 2)"]},
     {**RUN, "points": [{**LINE, "expressions": ["x", "f(y, 2)"]}]}),
    (TraceParameters, {**RUN, "points": [{"function": "total", "at": "return"}]},
     {**RUN, "points": [{"returns": "total"}]}),
    (TraceParameters, {**RUN, "points": [{"function": "total:return", "expressions": "$ret, x"}]},
     {**RUN, "points": [{"returns": "total", "expressions": ["__return__", "x"]}]}),
    (CheckParameters, {**RUN, "function": "total", "claim": "__retval__ > 0"},
     {**RUN, "returns": "total", "claim": "__return__ > 0"}),
    (TraceParameters, {**RUN, "points": "a.py:14 -> x"}, {**RUN, "points": [{**LINE, "expressions": ["x"]}]}),
    (TraceParameters, {**RUN, "points": ["Order.total: x; y"]},
     {**RUN, "points": [{"function": "Order.total", "expressions": ["x", "y"]}]}),
    (TraceParameters, {**RUN, "points": {"a.py:14": ["x"], "total": "y"}},
     {**RUN, "points": [{**LINE, "expressions": ["x"]}, {"function": "total", "expressions": ["y"]}]}),
    (TraceParameters, {**RUN, "points": '[{"file": "a.py", "line": 14, "expression": "x, d[\'a, b\']"}]'},
     {**RUN, "points": [{**LINE, "expressions": ["x", "d['a, b']"]}]}),
    (TraceParameters, {**RUN, "points": "[{'path': 'a.py', 'lineno': 14, 'exprs': ['x']}]"},
     {**RUN, "points": [{**LINE, "expressions": ["x"]}]}),
    (TraceParameters, {**RUN, "tracepoints": [{"location": "a.py:14", "watch": "x", "if": "x > 1"}]},
     {**RUN, "points": [{**LINE, "expressions": ["x"], "condition": "x > 1"}]}),
    (TraceParameters, {**RUN, "points": [{"lineNumber": 14, "expressions": [{"expression": "x"}]}]},
     {**RUN, "points": [{"line_number": 14, "expressions": ["x"]}]}),
    (TraceParameters, {**RUN, "points": [{"func": "Order.total"}], "limit": 5},
     {**RUN, "points": [{"function": "Order.total"}], "max_hits": 5}),
    # Claims.
    (CheckParameters, {**RUN, "expression": "x > 0", "file": "a.py", "line": 14}, {**RUN, "claim": "x > 0", **LINE}),
    (CheckParameters, {**RUN, "assertion": "x > 0", "expression": "y", "method": "total"},
     {**RUN, "claim": "x > 0", "expressions": ["y"], "function": "total"}),
    (FindChangeParameters, {**RUN, "variable": "x", "file": "a.py", "line": 14}, {**RUN, "expression": "x", **LINE}),
    # Runs.
    (TraceParameters, {"program": ["python", "a.py"], "points": ["total"]},
     {"program": "python", "args": ["a.py"], "points": [{"function": "total"}]}),
    (TraceParameters, {"testName": "a.py::test_x", "points": ["total"]},
     {"test": "a.py::test_x", "points": [{"function": "total"}]}),
    (TraceParameters, {"cmd": ["pytest", "-k", "a b"], "points": ["total"]},
     {"command": "pytest -k 'a b'", "points": [{"function": "total"}]}),
    (TraceParameters, {**RUN, "args": "--n 1", "env": ["A=1", "B=x=y"], "workingDirectory": "w", "points": ["f"]},
     {**RUN, "args": ["--n", "1"], "env": {"A": "1", "B": "x=y"}, "cwd": "w", "points": [{"function": "f"}]}),
    (TraceParameters, {**RUN, "args": ["-n", 3], "env": {"A": 1}, "points": ["f"]},
     {**RUN, "args": ["-n", "3"], "env": {"A": "1"}, "points": [{"function": "f"}]}),
    (TraceParameters, {**RUN, "environment": "A=1 B='c d'", "points": ["f"]},
     {**RUN, "env": {"A": "1", "B": "c d"}, "points": [{"function": "f"}]}),
    (TraceParameters, {**RUN, "env": [{"name": "A", "value": "1"}], "points": ["f"]},
     {**RUN, "env": {"A": "1"}, "points": [{"function": "f"}]}),
    (CompareRunsParameters, {**RUN, "points": ["f"], "commit": "HEAD~1"},
     {**RUN, "points": [{"function": "f"}], "against": {"commit": "HEAD~1"}}),
    (CompareRunsParameters, {**RUN, "points": ["f"], "against": "main"},
     {**RUN, "points": [{"function": "f"}], "against": {"commit": "main"}}),
    (CompareRunsParameters, {**RUN, "points": ["f"], "other": {"branch": "main"}},
     {**RUN, "points": [{"function": "f"}], "against": {"commit": "main"}}),
    (TraceCallParameters, {**RUN, "func": "total", "call": 3}, {**RUN, "function": "total", "call": "3"}),
    (TraceCallParameters, {**RUN, "function": "total", "call": "first"},
     {**RUN, "function": "total", "call": "outermost"}),
    (TraceCallParameters, {**RUN, "file": "shop/cart.py", "line": 12}, {**RUN, "function": "shop/cart.py:12"}),
    (TraceCallParameters, {**RUN, "file_path": "shop/cart.py", "function": "total"},
     {**RUN, "function": "shop/cart.py::total"}),
    (TraceCallParameters, {**RUN, "function": {"name": "total", "file": "cart.py"}, "call": "last"},
     {**RUN, "function": "cart.py::total", "call": "last"}),
    (TraceCallParameters, {**RUN, "function": '{"method": "total", "class": "Cart"}'},
     {**RUN, "function": "Cart.total"}),
    (TraceCallParameters, {**RUN, "function": {"path": "cart.py", "lineno": 12}}, {**RUN, "function": "cart.py:12"}),
    # Tests.
    (ExplainFailureParameters, {"file": "t.py", "test": "test_x"}, {"test": "t.py::test_x"}),
    (ExplainFailureParameters, {"test_file": "t.py", "testName": "A.test_x"}, {"test": "t.py::A::test_x"}),
    (ExplainFailureParameters, {"path": "t.py"}, {"test": "t.py"}),
    (ExplainFailureParameters, {"test_id": "t.py::test_x", "file": "t.py"}, {"test": "t.py::test_x"}),
    (ExplainFailureParameters, {"tests": ["t.py::a"]}, {"test": "t.py::a"}),
    (ExplainFailureParameters, {"test": ["t.py::a", "t.py::b c"]}, {"command": "pytest t.py::a 't.py::b c'"}),
    (ExplainFailureParameters, {"nodeid": "t.py::test_x", "timeout": 20, "retries": 5},
     {"test": "t.py::test_x", "timeout_s": 20, "repeat": 5}),
    (ExplainFailureParameters, {"command_line": "npm test", "dir": "web"}, {"command": "npm test", "cwd": "web"}),
    (ExplainFailureParameters, {"program": "python a.py --x"}, {"program": "python", "args": ["a.py", "--x"]}),
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
        (TraceParameters, {**RUN, "points": [{"line": 3, "expressions": ["__return__"]}]}, '"returns"'),
        (CheckParameters, {**RUN, "claim": "__return__ > 0"}, '"returns"'),
        (FindChangeParameters, {**RUN, "function": "total", "expression": "$ret"}, "`return` statement"),
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
def test_any_other_value_is_left_to_validation(name: str, value: Any, tmp_path: Path) -> None:
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
