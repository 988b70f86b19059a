"""Breakpoints on lines: which passes stop, and what is reported of each."""

from __future__ import annotations

from tests.conformance.table.rows import walking
from tests.conformance.table.stage import CannotError, Stage, Stop, eventually


async def values_of_n(stage: Stage) -> list[int]:
    """Where it stops in one lap, up to the end of the lap."""
    await stage.set("done")
    seen = []
    while (stop := await stage.on()).line != stage.line("done"):
        seen.append(int(stop.local["n"]))
    return seen


@walking("line breakpoint")
async def line_breakpoint(stage: Stage, _: Stop) -> None:
    id = await stage.set("computes")
    stop = await stage.on()
    assert (stop.reason, stop.line, stop.hit) == ("breakpoint", stage.line("computes"), [id])
    assert (stop.data["source"]["path"], "twice" in stop.function) == (str(stage.source), True)
    assert any("@computes" in line for line in stop.data["source_lines"]["lines"])
    (entries,) = (await stage.done("get_breakpoints"))["breakpoints"]
    assert (entries["verified"], entries["line"], entries.get("actual_line", stop.line)) == (True, stop.line, stop.line)


@walking("each stop names the breakpoint that was hit")
async def hit_ids(stage: Stage, _: Stop) -> None:
    by_line = {stage.line(mark): await stage.set(mark) for mark in ("calls", "returns", "done")}
    await stage.done("remove_breakpoint", breakpoint_id=by_line.pop(stage.line("returns")))
    for _n in range(3):
        stop = await stage.on()
        assert stop.hit == [by_line[stop.line]]


@walking("stops once per pass over a line")
async def once_a_pass(stage: Stage, _: Stop) -> None:
    """A macro or a generic can give a line several places in the machine code."""
    await stage.set("prints")
    assert await values_of_n(stage) == list(range(10))


@walking("column breakpoint")
async def column(stage: Stage, _: Stop) -> None:
    """At the second statement of a line: the first has been done."""
    text = stage.source.read_text().splitlines()[stage.line("columns") - 1]
    wanted = text.index(stage.language.column) + 1
    await stage.set("columns", column_number=wanted)
    stop = await stage.on()
    assert stop.line == stage.line("columns")
    if (first := await stage.value("first")) != "2":
        raise CannotError(f"requested column {wanted}, stopped at column {stop.data['column']}, where first is {first}")


@walking("condition")
async def condition(stage: Stage, _: Stop) -> None:
    await stage.set("computes", condition="n == 7")
    stop = await stage.on()
    assert (stop.line, stop.local["n"]) == (stage.line("computes"), "7")


_HITS = {
    "3": [2],
    "=3": [2],
    "== 3": [2],
    "> 5": [5, 6, 7, 8, 9],
    ">= 8": [7, 8, 9],
    "% 2 == 0": [1, 3, 5, 7, 9],
    "% 3": [2, 5, 8],
}


def _hit_condition(text: str, stops: list[int]) -> None:
    @walking(f"hit condition `{text}`")
    async def which_hits(stage: Stage, _: Stop) -> None:
        await stage.set("calls", hit_condition=text)
        assert await values_of_n(stage) == stops


for _text, _stops in _HITS.items():
    _hit_condition(_text, _stops)


@walking("condition and hit condition together")
async def both_conditions(stage: Stage, _: Stop) -> None:
    """Only passes for which the condition holds are counted."""
    await stage.set("calls", condition="n > 3", hit_condition="% 2 == 0")
    assert await values_of_n(stage) == [5, 7, 9]


async def logged(stage: Stage, **fields: str) -> list[str]:
    """What a logpoint says during one lap."""
    cursor = (await stage.done("get_output"))["cursor"]
    await stage.set("calls", log_message="n is {n}, then {n + 1}.", **fields)
    assert await values_of_n(stage) == []

    async def text_of() -> list[str]:
        text = (await stage.done("get_output", cursor=cursor))["output"]
        return [line for line in text.splitlines() if "n is" in line]

    async def complete() -> bool:
        return "n is 9, then 10." in await text_of()

    await eventually(complete)
    return await text_of()


@walking("logpoint with `{expression}`")
async def logpoint(stage: Stage, _: Stop) -> None:
    assert await logged(stage) == [f"n is {n}, then {n + 1}." for n in range(10)]


@walking("logpoint with a condition")
async def logpoint_with_condition(stage: Stage, _: Stop) -> None:
    assert await logged(stage, condition="n > 6") == [f"n is {n}, then {n + 1}." for n in (7, 8, 9)]


@walking("disable and enable again")
async def switched(stage: Stage, _: Stop) -> None:
    id = await stage.set("computes")
    await stage.done("set_breakpoint", breakpoint_id=id, enabled=False)
    assert await values_of_n(stage) == []
    await stage.done("set_breakpoint", breakpoint_id=id, enabled=True)
    stop = await stage.on()
    assert (stop.line, stop.hit) == (stage.line("computes"), [id])


@walking("set while the program is running")
async def set_while_running(stage: Stage, _: Stop) -> None:
    assert (await stage.done("continue_debugging", wait=False))["state"] == "Running"
    id = await stage.set("computes")
    stop = await stage.stopped("wait_for_stop")
    assert (stop.line, stop.hit) == (stage.line("computes"), [id])


@walking("a line without code: bound to another line, which is reported")
async def moved(stage: Stage, _: Stop) -> None:
    id = await stage.set("moved")
    (entries,) = (await stage.done("get_breakpoints"))["breakpoints"]
    if not entries["verified"]:
        raise CannotError(entries["message"])
    stop = await stage.on()
    (entries,) = (await stage.done("get_breakpoints"))["breakpoints"]
    assert (entries["line"], stop.hit) == (stage.line("moved"), [id])
    assert stop.line in {stage.line("home"), stage.line("bound")}
    if "actual_line" not in entries:
        raise CannotError(f"stopped at line {stop.line}, but reports only that line {entries['line']} is verified")
    assert entries["actual_line"] == stop.line


@walking("not bound: the reason is reported")
async def unbound(stage: Stage, _: Stop) -> None:
    """In a file that is none of the program's."""
    stranger = stage.source.with_name(f"stranger{stage.source.suffix}")
    stranger.write_text(stage.source.read_text())
    made = await stage.done("set_breakpoint", file_path=str(stranger), line_number=stage.line("computes"))
    await stage.set("done")
    stop = await stage.on()
    found = {it["id"]: it["reason"] for it in stop.data.get("unbound_breakpoints") or ()}
    if made["breakpoint"]["id"] not in found:
        raise CannotError(
            f"for a line in a file that is not loaded, it reports verified: {made['breakpoint']['verified']}"
        )
    assert found[made["breakpoint"]["id"]]
