"""What is asked of the debugger for a run in which calls are stepped through."""

from __future__ import annotations

import pytest

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
