"""What is asked of the debugger for a run in which calls are stepped through."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dragoman.debug.evidence.calls import trace_call
from dragoman.debug.evidence.run import RunOutcome
from dragoman.debug.evidence.stepping.source_functions import SourceFunction
from dragoman.debug.evidence.stepping.source_languages import GO, LUA, NATIVE, SourceLanguage
from dragoman.debug.evidence.stepping.stepped_run import SteppedTarget, SteppingProbe
from dragoman.debug.evidence.tracepoints import TraceLimits, TraceTable


def test_only_the_functions_that_are_asked_for_have_the_condition() -> None:
    total, rate = (SourceFunction("/shop/cart.go", it, 3, 4, 6) for it in ("total", "rate"))
    table = TraceTable(TraceLimits(hits=10, seconds=1, rows=1))
    probe = SteppingProbe([total, rate], table, [SteppedTarget(total, condition="price > 9")], {})
    assert [it.condition for it in probe.breakpoints] == ["price > 9", ""]


@pytest.mark.parametrize(
    ("language", "pure", "changing"),
    [
        (
            LUA,
            "sum / 2|math.floor(sum / 2)|string.format('%d', sum)|select('#', a)|type(x) == 'table'|not (a and (b))",
            "math.random(6)|math.randomseed(1)|draw(6)|dice:type(x)|shop.type(x)|draw{6}|draw 'x'|int(x)|steps[1](2)",
        ),
        (GO, "float64(sum) / 2|[]byte(text)|len(list)", "select(n)|sum(list)|cart.byte(1)|draw()|type(x)"),
        (
            NATIVE,
            "sum / 2|(int)(sum / 2)|sizeof(sum)|double(sum)|abs(sum)",
            "select(n, 0, 0, 0, 0)|type(x)|string(x)|byte(x)|cart->abs(x)|sum(list)|(*callback)(1)|count++",
        ),
    ],
)
def test_only_what_belongs_to_the_language_is_called_again(language: SourceLanguage, pure: str, changing: str) -> None:
    assert [it for it in pure.split("|") if not language.may_repeat(it)] == []
    assert [it for it in changing.split("|") if language.may_repeat(it)] == []


@pytest.mark.anyio
@pytest.mark.parametrize(("head", "runs"), [("async function", 2), ("function", 1)])
async def test_the_second_run_for_asynchronous_calls_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: str, runs: int
) -> None:
    begun = list[int]()

    async def passed_over(*_: object) -> tuple[list[dict[str, Any]], RunOutcome, None]:
        begun.append(1)
        return [{"calls": 1, "deepest": 1}], RunOutcome("limit"), None

    monkeypatch.setattr(trace_call, "_stepped", passed_over)
    (tmp_path / "app.js").write_text(f"{head} total() {{\n  return 1;\n}}\n")
    query = trace_call.CallQuery(file=str(tmp_path / "app.js"), line=2)
    unused = cast("Any", SimpleNamespace(workspace=tmp_path))
    traced = await trace_call.trace_calls(unused, unused, unused, [query], 5)
    assert (traced.runs, len(begun)) == (runs, runs)
