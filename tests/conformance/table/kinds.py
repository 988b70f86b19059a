"""Breakpoints that are not on a line: functions, exceptions, data."""

from __future__ import annotations

import re

from tests.conformance.table.rows import behaviour, walking
from tests.conformance.table.stage import Answer, CannotError, Stage, Stop


def lacking(stage: Stage, capability: str, answer: Answer) -> CannotError:
    """The adapter's own word, and what came of asking all the same."""
    assert not stage.has(capability), answer
    result = answer.get("breakpoint") or answer
    return CannotError(f"initialize does not announce {capability}; when requested anyway: {result['message']}")


@walking("function breakpoint")
async def function(stage: Stage, _: Stop) -> None:
    answer = await stage.done("set_breakpoint", kind="function", function_name=stage.language.twice)
    if not answer["breakpoint"]["verified"] and stage.has("supportsFunctionBreakpoints"):
        raise CannotError(
            f"initialize announces supportsFunctionBreakpoints, but then: {answer['breakpoint']['message']}"
        )
    if not answer["breakpoint"]["verified"]:
        raise lacking(stage, "supportsFunctionBreakpoints", answer)
    stop = await stage.on()
    assert ("twice" in stop.function, stop.hit) == (True, [answer["breakpoint"]["id"]])


@walking("data breakpoint")
async def data(stage: Stage, _: Stop) -> None:
    """Where `total` is written, and the change is told."""
    await stage.set("calls", condition="n == 3")
    assert (await stage.on()).local["total"] == "6"
    await stage.done("remove_breakpoint", clear_all=True)
    answer = await stage.call("set_breakpoint", kind="data", variable="total")
    if answer["status"] == "error" and stage.has("supportsDataBreakpoints"):
        raise CannotError(f"initialize announces supportsDataBreakpoints, but then: {answer['message']}")
    if answer["status"] == "error":
        raise lacking(stage, "supportsDataBreakpoints", answer)
    stop = await stage.on()
    assert (stop.hit, await stage.value("total")) == ([answer["breakpoint"]["id"]], "12")


async def _fails(stage: Stage) -> Stop:
    answer = await stage.start("fails")
    assert answer["status"] == "stopped", answer
    return Stop(answer["stop_event_data"])


def _lines(stop: Stop) -> list[int]:
    return [frame["line_number"] for frame in stop.data["call_stack"]]


@behaviour("uncaught exception: stops by default, with type, message and place")
async def uncaught(stage: Stage) -> None:
    stop = await _fails(stage)
    assert stop.reason == "exception"
    result = stop.data["exception"]
    type, message = stage.language.raised
    assert (re.search(type, result["type"]) and re.search(message, result["message"])) is not None, result
    assert (result["uncaught"], {stage.line("raises"), stage.line("uncaught")} <= set(_lines(stop))) == (True, True)
    printed = (await stage.done("get_output"))["output"]
    assert "caught" in printed


@behaviour("exception breakpoint: stops where a caught exception is raised")
async def raised(stage: Stage) -> None:
    answer = await stage.done("set_breakpoint", kind="exception", exception="raised")
    stop = await _fails(stage)
    (entries,) = (await stage.done("get_breakpoints"))["breakpoints"]
    if not entries["verified"]:
        raise CannotError(entries["message"])
    if "caught" in (await stage.done("get_output"))["output"]:
        raise CannotError(f"the first stop was not where the exception was raised: {stop.data['exception']}")
    assert (stop.reason, stop.hit) == ("exception", [answer["breakpoint"]["id"]])
    assert stage.line("raises") in _lines(stop)
