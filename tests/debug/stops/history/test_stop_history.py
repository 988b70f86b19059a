"""Stops that are over, as an agent asks for them."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.debug.model import FrameInfo, Locals, Stop, VariableChange, VariableInfo
from dragoman.debug.session.events import FrameChangeTracker
from dragoman.debug.stops.history.stop_history import StopHistory
from dragoman.debug.stops.history.store import (
    MAX_STOPS,
    STORE,
    FrameRecord,
    StopContents,
    StopRecord,
    VariableRecord,
    decode_contents,
    encode_contents,
    stop_contents,
)
from dragoman.journal import BeforeScope, EverythingScope, Journal, SessionScope
from dragoman.tools.evidence.stop_history import StopHistoryParameters, StopHistoryResult, StopHistoryTool
from dragoman.workspace.caller import Caller
from tests.debug.evidence.evidence_tools import Agent, agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

LOOP = """\
def total(prices):
    found = 0
    for price in prices:
        found += price
    return found


password = "hunter2hunter2"
print(total([3, 4, 5]))
"""


async def run(agent: Agent) -> str:
    """Stops at each pass, and runs to its end."""
    await agent.call("set_breakpoint", file_path="loop.py", line_number=4)
    answer = await agent.call("start_debugging", program="loop.py")
    session: str = answer["stop_event_data"]["session_id"]
    for _ in range(3):
        answer = await agent.call("continue_debugging")
    assert answer["status"] == "completed"
    return session


async def listed(agent: Agent, count: int) -> list[dict[str, Any]]:
    """The record is written beside the program, a little later."""
    with anyio.fail_after(10):
        while len(stops := (await agent.call("stop_history"))["stops"]) < count:  # noqa: ASYNC110
            await anyio.sleep(0.02)
    return list(stops)


async def test_stops_are_listed_read_compared_and_searched_across_runs(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("loop.py", LOOP)
        first, second = await run(agent), await run(agent)
        stops = await listed(agent, 6)
        assert [it["id"] for it in stops[:3]] == [f"{second}:{number}" for number in (3, 2, 1)]
        assert (stops[0]["place"], stops[0]["changed"]) == ("loop.py:4 total", ["found", "price"])
        past = await agent.call("stop_history", at=f"{first}:2")
        assert past["at"]["variables"] == {"found": "3", "price": "4", "prices": "[3, 4, 5]"}
        assert [it["function"] for it in past["at"]["frames"]] == ["total", "<module>"]
        diff = await agent.call("stop_history", at=f"{first}:1", diff_with=f"{second}:3")
        assert diff["changes"] == [
            {"name": "found", "before": "0", "after": "7"},
            {"name": "price", "before": "3", "after": "5"},
        ]
        assert "  found: 0 -> 7" in diff.text
        had = await agent.call("stop_history", variable="found", value="3")
        assert [it["id"] for it in had["stops"]] == [f"{second}:2", f"{first}:2"]
        changed = await agent.call("stop_history", variable="price", session_id=first)
        assert [it["value"] for it in changed["stops"]] == ["5", "4"]


async def test_a_stop_says_what_changed_since_the_last_one_in_its_frame(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("loop.py", LOOP)
        await agent.call("set_breakpoint", file_path="loop.py", line_number=4)
        first = await agent.call("start_debugging", program="loop.py")
        second = await agent.call("continue_debugging")
    assert first["stop_event_data"].get("changed") is None
    assert second["stop_event_data"]["changed"] == {"found": "0", "price": "3"}


async def test_secrets_are_not_kept_and_other_workspaces_have_their_own(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("loop.py", LOOP)
        await agent.call("set_breakpoint", file_path="loop.py", line_number=9)
        answer = await agent.call("start_debugging", program="loop.py")
        await listed(agent, 1)
        past = await agent.call("stop_history", at=f"{answer['stop_event_data']['session_id']}:1")
        assert past["at"]["variables"]["password"].strip("'").startswith("<redacted")
    assert not [it for it in (tmp_path / "journal").rglob("*") if it.is_file() and b"hunter2" in it.read_bytes()]


@pytest.mark.parametrize("id", ["", "nonsense", "debug-1:x", "debug-1:99", "../../etc:1"])
async def test_a_stop_that_is_not_kept_is_refused_by_name(tmp_path: Path, id: str) -> None:
    async with agent_in(tmp_path) as agent:
        answer = await agent.call("stop_history", at=id or ":", diff_with="")
        alone = await agent.call("stop_history", diff_with="a:1")
    assert (answer["code"], alone["code"]) == ("unknown_stop", "bad_arguments")


def stop(number: int = 1, *, function: str = "f", depth: int = 1, **values: str) -> Stop:
    variables = tuple(VariableInfo(name=name, value=value) for name, value in values.items())
    frames = (FrameInfo(id=1, name=function, path="/w/a.py", line=number),)
    found = Locals(scope_name="Locals", variables=variables)
    return Stop(
        number=number, at_ns=number, reason="step", thread_id=1, frames=frames, total_frames=depth, top_locals=found
    )


def test_a_frame_is_the_same_by_function_and_depth() -> None:
    memory = FrameChangeTracker()
    assert memory.changes_at(stop(x="1", y="1")) == ()
    assert memory.changes_at(stop(2, function="g", depth=2, x="9")) == ()
    assert memory.changes_at(stop(3, x="2", y="1", z="0")) == (
        VariableChange(name="x", before="1"),
        VariableChange(name="z"),
    )
    assert memory.changes_at(stop(4, depth=5, x="7")) == ()


def test_what_is_kept_is_cut_after_it_was_redacted() -> None:
    secret = "x" * 390 + "SECRET-SECRET"
    (kept,) = stop_contents(stop(v=secret), lambda _, text: text.replace("SECRET-SECRET", "<redacted>")).variables
    assert "SECRET" not in kept.value
    assert decode_contents(encode_contents(StopContents(variables=(kept,)))).variables == (kept,)


def past(number: int, session: str = "s") -> StopRecord:
    values = tuple(VariableRecord(f"name_{it}", f"value {number * it}", "str") for it in range(50))
    seen = StopContents((FrameRecord("f", "/w/a.py", number),), values)
    return StopRecord(
        session=session, number=number, at_ns=number, title="a.py", workspace="/w", reason="step", seen=seen
    )


async def test_only_a_caller_of_every_workspace_finds_the_stops_of_others(tmp_path: Path) -> None:
    """A workspace is the folder and what lies below it: not what is beside it, nor above."""
    folders = {"own": "/w/shop", "below": "/w/shop/api", "beside": "/w/shop2", "above": "/w"}
    async with Journal.open(tmp_path / "j", stores=[STORE]) as journal:
        for session, folder in folders.items():
            await journal.append([], writes=STORE.add(msgspec.structs.replace(past(1, session), workspace=folder)))
        tool = StopHistoryTool(StopHistory(journal, SystemClock()))
        client = Caller(id="agent", workspace=Path("/w/shop"), cwd=Path("/w/shop"))
        for caller, seen in (
            (client, ["below", "own"]),
            (replace(client, sees_every_workspace=True), [*folders][::-1]),
        ):
            for wanted in (StopHistoryParameters(), StopHistoryParameters(variable="name_1", value="value 1")):
                found = (await tool.stops(caller, wanted)).data
                assert isinstance(found, StopHistoryResult)
                assert sorted(it.id for it in found.stops or ()) == sorted(f"{it}:1" for it in seen), wanted
            for session in folders:
                for wanted in (
                    StopHistoryParameters(at=f"{session}:1"),
                    StopHistoryParameters(at="own:1", diff_with=f"{session}:1"),
                ):
                    refused = (
                        contextlib.nullcontext()
                        if session in seen
                        else pytest.raises(DragomanError, match="is recorded")
                    )
                    with refused:
                        await tool.stops(caller, wanted)


async def test_the_newest_are_kept_and_what_is_forgotten_is_gone(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j", stores=[STORE]) as journal:
        history = StopHistory(journal, SystemClock())
        for number in range(1, 4):
            await journal.append([], writes=STORE.add(past(number)))
        await journal.append([], writes=STORE.add(past(9, "t")))
        assert [it.number for it in await history.newest("/w", session="s")] == [3, 2, 1]
        for scope, left in ((BeforeScope(2), 3), (SessionScope("t"), 2), (EverythingScope(), 0)):
            await journal.append([], writes=list(STORE.forget(scope)))
            assert len(await history.newest("/w")) == left
    assert MAX_STOPS >= 10_000
