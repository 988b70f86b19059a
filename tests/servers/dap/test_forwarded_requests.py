"""What only the debugger below can do: forwarded if it declares the capability, refused otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers.dap.dap_fixture import ALL_OF_IT, CHANGES, LOOKS, Peer, visiting
from tests.tools.tool_fixture import Bench, opened

pytestmark = pytest.mark.anyio

SOURCE = {"path": "/p/a.py"}


@asynccontextmanager
async def stopped(room: Path, *abilities: str, read_only: bool = False, **initialize: Any) -> AsyncIterator[_Stopped]:
    async with opened(room) as bench:
        bench.adapter.can(*abilities)
        bench.adapter.when("configurationDone", bench.adapter.stop)
        started = await bench.call("start_debugging", program="app.py")
        async with visiting(bench, started["session_id"], read_only=read_only) as peer:
            can = await peer.asks("initialize", adapterID="x", **initialize)
            await peer.asks("attach")
            await peer.asks("configurationDone")
            yield _Stopped(bench, peer, can)


class _Stopped:
    def __init__(self, bench: Bench, peer: Peer, can: dict[str, Any]) -> None:
        self.bench = bench
        self.peer = peer
        self.can = can

    async def frame(self) -> int:
        return int((await self.peer.asks("stackTrace", threadId=1))["stackFrames"][0]["id"])

    async def arguments(self, command: str) -> dict[str, Any]:
        memory = {"memoryReference": "0x10", "offset": 2}
        given: dict[str, dict[str, Any]] = {
            "readMemory": {**memory, "count": 4},
            "writeMemory": {**memory, "data": "AAE="},
            "disassemble": {**memory, "instructionCount": 2},
            "gotoTargets": {"source": SOURCE, "line": 7},
            "breakpointLocations": {"source": SOURCE, "line": 7, "endLine": 9},
            "terminateThreads": {"threadIds": [1]},
            "goto": {"threadId": 1, "targetId": 3},
            "stepBack": {"threadId": 1},
            "reverseContinue": {"threadId": 1},
        }
        return given[command] if command in given else {"frameId": await self.frame()}


@pytest.mark.parametrize("command", [*LOOKS, *CHANGES])
async def test_it_is_passed_on_where_the_debugger_can_and_the_editor_learns_it(tmp_path: Path, command: str) -> None:
    ability = (LOOKS | CHANGES)[command]
    async with stopped(tmp_path, ability) as it:
        assert it.can[ability] is True
        assert "code" not in await it.peer.asks(command, **await it.arguments(command))
        (sent,) = it.bench.adapter.sent(command)
        expected = await it.arguments(command) if command != "restartFrame" else {}
        assert {name: value for name, value in sent.items() if name in expected and name != "frameId"} == {
            name: value for name, value in expected.items() if name != "frameId"
        }
        assert sent.get("frameId", 1) == 1  # the debugger's own number, not ours


@pytest.mark.parametrize("command", [*LOOKS, *CHANGES])
async def test_it_is_refused_where_the_debugger_cannot_and_never_reaches_it(tmp_path: Path, command: str) -> None:
    async with stopped(tmp_path) as it:
        assert it.can[(LOOKS | CHANGES)[command]] is False
        assert await it.peer.asks(command, **await it.arguments(command)) == {"code": "not_able"}
        assert it.bench.adapter.sent(command) == []


@pytest.mark.parametrize("command", CHANGES)
async def test_a_watcher_may_not_and_does_not_see_the_offer(tmp_path: Path, command: str) -> None:
    async with stopped(tmp_path, *ALL_OF_IT, read_only=True) as it:
        assert await it.peer.asks(command, **await it.arguments(command)) == {"code": "read_only"}
        assert it.bench.adapter.sent(command) == []
        if CHANGES[command] not in LOOKS.values():
            assert it.can[CHANGES[command]] is False


@pytest.mark.parametrize("command", ["goto", "restartFrame", "stepBack"])
async def test_a_jump_is_a_stop_of_its_own_and_names_its_client(tmp_path: Path, command: str) -> None:
    async with stopped(tmp_path, *ALL_OF_IT, clientName="Neovim") as it:
        it.bench.adapter.when(command, lambda: it.bench.adapter.stop("goto"))
        await it.peer.asks(command, **await it.arguments(command))
        answer = await it.bench.call("wait_for_stop", timeout_s=5)
        assert answer["stop_event_data"]["stop_number"] == 2
        assert "a person in Neovim" in str(answer)


async def test_a_jump_that_the_debugger_refuses_leaves_the_program_where_it_is(tmp_path: Path) -> None:
    async with stopped(tmp_path, *ALL_OF_IT) as it:
        it.bench.adapter.refuse("goto", "not there")
        assert await it.peer.asks("goto", threadId=1, targetId=3) == {"code": "adapter_refused"}
        assert "stackFrames" in await it.peer.asks("stackTrace", threadId=1)


async def test_a_frame_of_an_earlier_stop_is_refused_as_such(tmp_path: Path) -> None:
    async with stopped(tmp_path, *ALL_OF_IT) as it:
        old = await it.frame()
        it.bench.adapter.when("next", it.bench.adapter.stop)
        await it.bench.call("step_execution", step_type="over")
        for command in ("restartFrame", "stepInTargets"):
            assert await it.peer.asks(command, frameId=old) == {"code": "stale_reference"}
        assert it.bench.adapter.sent("restartFrame") == []


async def test_lines_and_columns_go_and_come_as_the_editor_counts_them(tmp_path: Path) -> None:
    async with stopped(tmp_path, *ALL_OF_IT, linesStartAt1=False, columnsStartAt1=False, pathFormat="uri") as it:
        at = {"id": 1, "label": "x", "line": 8, "column": 5, "endLine": 8}
        it.bench.adapter.answers["gotoTargets"] = lambda _: {"targets": [at]}
        source = {"path": "file:///p/a%20b.py"}
        answer = await it.peer.asks("gotoTargets", source=source, line=7, column=4)
        assert it.bench.adapter.sent("gotoTargets") == [{"source": {"path": "/p/a b.py"}, "line": 8, "column": 5}]
        assert answer["targets"] == [{"id": 1, "label": "x", "line": 7, "column": 4, "endLine": 7}]
        code = {"address": "0x1", "instruction": "ret", "line": 3, "location": {"path": "/p/a.c"}}
        it.bench.adapter.answers["disassemble"] = lambda _: {"instructions": [code]}
        answer = await it.peer.asks("disassemble", memoryReference="0x1", instructionCount=1)
        assert (answer["instructions"][0]["line"], answer["instructions"][0]["location"]["path"]) == (
            2,
            "file:///p/a.c",
        )


async def test_a_step_says_into_which_call_and_how_far(tmp_path: Path) -> None:
    async with stopped(tmp_path, *ALL_OF_IT, "supportsSteppingGranularity") as it:
        assert it.can["supportsSteppingGranularity"] is True
        await it.peer.asks("stepIn", threadId=1, targetId=4, granularity="instruction")
        assert it.bench.adapter.sent("stepIn") == [{"threadId": 1, "targetId": 4, "granularity": "instruction"}]


async def test_where_a_value_lies_in_memory_is_reported_with_it(tmp_path: Path) -> None:
    async with stopped(tmp_path, *ALL_OF_IT) as it:
        it.bench.adapter.answers["evaluate"] = lambda _: {"result": "7", "memoryReference": "0x7"}
        answer = await it.peer.asks("evaluate", expression="n", frameId=await it.frame())
        assert answer["memoryReference"] == "0x7"


async def test_what_the_debugger_learns_to_do_later_is_served_from_then_on(tmp_path: Path) -> None:
    async with stopped(tmp_path) as it:
        assert await it.peer.asks("readMemory", memoryReference="0x1", count=1) == {"code": "not_able"}
        it.bench.adapter.emit("capabilities", capabilities={"supportsReadMemoryRequest": True})
        it.bench.adapter.when("next", it.bench.adapter.stop)
        await it.bench.call("step_execution", step_type="over")
        assert "code" not in await it.peer.asks("readMemory", memoryReference="0x1", count=1)
