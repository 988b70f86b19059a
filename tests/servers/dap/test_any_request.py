"""Whatever an editor asks, with whatever arguments: exactly one answer each, no internal error, and it continues."""

from __future__ import annotations

import logging
import random
from pathlib import Path
from typing import Any

import pytest

from dragoman.protocols import dap
from tests.servers.dap.dap_fixture import ALL_OF_IT, visiting
from tests.tools.tool_fixture import opened

pytestmark = pytest.mark.anyio

COMMANDS = (
    *("initialize", "attach", "configurationDone", "threads", "stackTrace", "scopes", "variables", "evaluate"),
    *("setVariable", "setExpression", "source", "loadedSources", "modules", "completions", "exceptionInfo"),
    *("continue", "next", "stepIn", "stepOut", "pause", "setBreakpoints", "setFunctionBreakpoints"),
    *("readMemory", "writeMemory", "disassemble", "stepInTargets", "gotoTargets", "goto", "restartFrame", "stepBack"),
    *("terminateThreads", "breakpointLocations", "dragomanRemoveBreakpoint", "dragomanChangeBreakpoint"),
    *("setExceptionBreakpoints", "setDataBreakpoints", "dataBreakpointInfo", "stepBack", "", "x" * 500),
)
NAMES = (
    *("threadId", "frameId", "variablesReference", "expression", "context", "name", "value", "source", "breakpoints"),
    *("filters", "filterOptions", "startFrame", "levels", "start", "count", "filter", "session", "text", "column"),
    *("memoryReference", "count", "data", "targetId", "line", "id", "threadIds", "instructionCount"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 2**53, 1.5, "", "n", "\x00", "{x}", "é" * 300, [], {}, [None], {"path": "/p/a.py"}),
    *([{"line": 5}], [{"line": -3, "hitCondition": "never"}], [{"name": "f"}], [{"dataId": "d"}], ["uncaught"]),
    *(1_000_001, 1_000_002, {"path": "relative", "sourceReference": 4}, {"sourceReference": 2**60}),
)


@pytest.mark.parametrize("seed", range(6))
async def test_every_request_is_answered_once_and_without_an_internal_error(
    tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    dice = random.Random(seed)
    async with opened(tmp_path) as bench:
        bench.adapter.can(*ALL_OF_IT)
        bench.adapter.when("configurationDone", bench.adapter.stop)
        bench.adapter.when("next", bench.adapter.stop)
        started = await bench.call("start_debugging", program="app.py")
        async with visiting(bench, started["session_id"]) as peer:
            first = [("initialize", {"adapterID": "x"}), ("attach", {}), ("configurationDone", {})]
            asked = first if seed else []
            asked += [(dice.choice(COMMANDS), _arguments(dice)) for _ in range(150)]
            with caplog.at_level(logging.ERROR):
                for command, arguments in asked:
                    await peer.ask(command, arguments)
                await peer.until_answered(len(asked))
            assert sorted(it.message.request_seq for it in peer.answered) == list(range(1, len(asked) + 1))
            assert caplog.records == []
            codes = {_code(it) for it in peer.answered}
            assert "internal_error" not in codes
            assert len(codes) > 2, "it was tried in earnest"


def _arguments(dice: random.Random) -> Any:
    if dice.random() < 0.1:
        return dice.choice(VALUES)
    return {name: dice.choice(VALUES) for name in dice.sample(NAMES, dice.randrange(6))}


def _code(got: dap.ResponseReceived) -> str:
    body = dap.read_body(got.message, dict[str, Any])
    return "" if got.message.success else str(body["error"]["variables"]["code"])
