"""Steps, runs to a place, halts."""

from __future__ import annotations

from tests.conformance.table.rows import walking
from tests.conformance.table.stage import Stage, Stop, eventually


async def at_call(stage: Stage, n: int) -> Stop:
    id = await stage.set("calls", condition=f"n == {n}")
    stop = await stage.on()
    assert (stop.line, stop.local["n"]) == (stage.line("calls"), str(n))
    await stage.done("remove_breakpoint", breakpoint_id=id)
    return stop


@walking("step over")
async def over(stage: Stage, _: Stop) -> None:
    await at_call(stage, 3)
    stop = await stage.step("over")
    assert (stop.reason, stop.line, stop.local["total"]) == ("step", stage.line("prints"), "12")


@walking("step into")
async def into(stage: Stage, _: Stop) -> None:
    await at_call(stage, 3)
    stop = await stage.step("into")
    assert ("twice" in stop.function, stop.local["n"], stop.reason) == (True, "3", "step")


@walking("step out")
async def out(stage: Stage, _: Stop) -> None:
    """Back at the call, or behind it."""
    await stage.set("computes", condition="n == 4")
    inner = await stage.on()
    stop = await stage.step("out")
    assert stop.function == inner.data["call_stack"][1]["function_name"]
    assert stop.line in {stage.line("calls"), stage.line("prints")}


@walking("continue until a place")
async def until(stage: Stage, _: Stop) -> None:
    there = {"file_path": str(stage.source), "line_number": stage.line("prints")}
    stop = await stage.on(until=there)
    assert (stop.line, stop.hit or []) == (stage.line("prints"), [])
    assert (await stage.done("get_breakpoints"))["breakpoints"] == []
    await stage.set("done")
    assert (await stage.on()).line == stage.line("done")


@walking("pause")
async def pause(stage: Stage, _: Stop) -> None:
    cursor = (await stage.done("get_output"))["cursor"]
    await stage.done("continue_debugging", wait=False)

    async def runs() -> bool:
        return bool((await stage.done("get_output"))["cursor"] > cursor)

    await eventually(runs)
    stop = await stage.stopped("pause_debugging")
    assert stop.data["call_stack"]
    assert stop.hit is None


@walking("a frame of an earlier stop is refused")
async def earlier_stop(stage: Stage, stop: Stop) -> None:
    await stage.step("over")
    await stage.refused("stale_reference", "evaluate_expression", expression="total", frame_id=stop.frame(0))
    await stage.refused("stale_reference", "get_scopes", frame_id=stop.frame(0))


@walking("restart: the same session, from the beginning")
async def restart(stage: Stage, stop: Stop) -> None:
    id = await stage.set("home")
    answer = await stage.done("restart_debugging")
    again = Stop(answer["stop_event_data"])
    assert (answer["session_id"], again.hit) == (stage.session, [id])
    assert again.data["stop_number"] > stop.data["stop_number"]
