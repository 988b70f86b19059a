"""One call of a function, whole: by a tracer in the program, or by single steps."""

from __future__ import annotations

from tests.conformance.table.rows import behaviour
from tests.conformance.table.stage import Answer, Stage


async def _traced(stage: Stage, **which: str) -> Answer:
    return await stage.done("trace_call", **stage.launch("once"), function="twice", timeout_s=40, **which)


@behaviour("trace_call: arguments, each line with what it changed, and the result")
async def one_call(stage: Stage) -> None:
    found = await _traced(stage)
    text = found["text"]
    assert "arguments: n = 1" in text, text
    assert f"{stage.line('computes')}: result = 2" in text, text
    assert (found["call"], found["call_ended"], found.get("value")) == (1, "returned", "2"), text
    assert found["ended"]["exit_code"] == 3


@behaviour("trace_call: the call with a number, and the first that meets a condition")
async def chosen_call(stage: Stage) -> None:
    fourth = await _traced(stage, call="4")
    assert (fourth["call"], fourth.get("value")) == (4, "2"), fourth["text"]
    where = await _traced(stage, where="n == 4")
    assert ("arguments: n = 4" in where["text"], where.get("value")) == (True, "8"), where["text"]


@behaviour("trace at each return of a function, with the values there")
async def at_returns(stage: Stage) -> None:
    found = await stage.done("trace", **stage.launch("once"), points=[{"returns": "twice"}], timeout_s=40)
    shown = [it["values"] for it in found["rows"] if "values" in it]
    assert found["hits"] >= 4, found["text"]
    assert any(values.get("n") == "4" for values in shown), found["text"]
    assert any("8" in values.values() for values in shown), found["text"]
