"""Looking into a stopped program, and changing it."""

from __future__ import annotations

from typing import Any

from tests.conformance.table.rows import walking
from tests.conformance.table.running import at_call
from tests.conformance.table.stage import CannotError, Stage, Stop, eventually


@walking("evaluate")
async def evaluate(stage: Stage, _: Stop) -> None:
    await at_call(stage, 3)
    assert await stage.value("n * 10") == "30"
    assert await stage.value("n", context="watch") == "3"


@walking("evaluate in a caller's frame")
async def evaluate_in_caller(stage: Stage, _: Stop) -> None:
    await stage.set("computes", condition="n == 4")
    stop = await stage.on()
    assert await stage.value("total", frame_id=stop.frame(1)) == "12"


@walking("evaluate an invalid expression: an error, and the session continues")
async def evaluate_badly(stage: Stage, _: Stop) -> None:
    await at_call(stage, 3)
    for bad in ("nope + 1", "n +* 2"):
        answer = await stage.refused("adapter_refused", "evaluate_expression", expression=bad)
        assert answer["debugger_says"]
    assert await stage.value("n") == "3"
    assert (await stage.step("over")).line == stage.line("prints")


async def variables(stage: Stage, reference: int, **page: Any) -> dict[str, dict[str, Any]]:
    found = await stage.done("get_variables", variables_reference=reference, **page)
    return {it["name"].strip('"').lstrip(":"): it for it in found["variables"]}


async def local(stage: Stage) -> dict[str, dict[str, Any]]:
    """Of all scopes of the top frame that cost nothing."""
    scopes = (await stage.done("get_scopes"))["scopes"]
    cheap = [it["variables_reference"] for it in scopes if not it["expensive"]]
    return {name: it for reference in reversed(cheap) for name, it in (await variables(stage, reference)).items()}


@walking("scopes and their variables")
async def scopes(stage: Stage, _: Stop) -> None:
    stop = await at_call(stage, 3)
    found = await local(stage)
    assert {name: found[name]["value"] for name in ("n", "total")} == {"n": "3", "total": "6"}
    assert stop.local["n"] == "3"


@walking("nested values")
async def nested(stage: Stage, _: Stop) -> None:
    await stage.set("done")
    await stage.on()
    point = await variables(stage, (await local(stage))["point"]["variables_reference"])
    deep = await variables(stage, point[_key(point, "inner")]["variables_reference"])
    assert deep[_key(deep, "deep")]["value"] == "42"


def _key(found: dict[str, Any], word: str) -> str:
    """Languages write the name of a member in many ways: 'inner', :inner, inner."""
    (name,) = [name for name in found if name.strip("'\":") == word]
    return name


@walking("a page of a large container")
async def page(stage: Stage, _: Stop) -> None:
    await stage.set("done")
    await stage.on()
    reference = (await local(stage))["big"]["variables_reference"]
    found = await stage.done("get_variables", variables_reference=reference, start=500, count=10)
    assert [it["value"] for it in found["variables"]] == [str(n) for n in range(500, 510)]
    assert found["total"] >= 1000


@walking("set a variable: the program continues with it")
async def set_variable(stage: Stage, _: Stop) -> None:
    await at_call(stage, 9)
    changed = await stage.done("set_variable", name="total", value="102")
    assert changed["value"] == "102"
    cursor = (await stage.done("get_output"))["cursor"]
    await stage.set("done")
    await stage.on()

    async def printed() -> bool:
        return "total 120" in (await stage.done("get_output", cursor=cursor))["output"]

    await eventually(printed)


@walking("output: each piece reported once, in order with the stops")
async def output(stage: Stage, _: Stop) -> None:
    await stage.set("prints")
    await stage.set("done")
    entries, stop = "", await stage.on()
    while stop.line != stage.line("done"):
        stop = await stage.on()
        entries += stop.output
    await stage.done("remove_breakpoint", clear_all=True)
    entries += (await stage.step("over")).output
    sums = [sum(2 * n for n in range(last + 1)) for last in range(10)]
    assert [line for line in entries.splitlines() if line.startswith("total")] == [f"total {it}" for it in sums]


@walking("output by kind: stdout and stderr")
async def categories(stage: Stage, _: Stop) -> None:
    cursor = (await stage.done("get_output"))["cursor"]
    await stage.set("done")
    await stage.on()

    async def of(category: str) -> str:
        return str((await stage.done("get_output", cursor=cursor, category=category))["output"])

    async def complete() -> bool:
        both = await of("")
        return "total 90" in both and "warned" in both

    await eventually(complete)
    if "warned" not in await of("stderr"):
        raise CannotError(f"text written to stderr arrived as stdout: {(await of('stdout')).splitlines()[-1]}")
    assert ("total 90" in await of("stdout"), "warned" in await of("stdout")) == (True, False)
