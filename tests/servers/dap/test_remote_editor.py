"""An editor on another machine, in a session that was attached to: it halts nothing without leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from dragoman.workspace.caller import RemoteCaller
from tests.servers.dap.dap_fixture import ALL_OF_IT, CHANGES, visiting
from tests.tools.tool_fixture import opened

pytestmark = pytest.mark.anyio

HALTS: dict[str, dict[str, Any]] = {
    "pause": {"threadId": 1},
    "next": {"threadId": 1},
    "stepIn": {"threadId": 1},
    "stepOut": {"threadId": 1},
    "restart": {},
    "evaluate": {"expression": "1"},
    "setVariable": {"variablesReference": 1, "name": "n", "value": "2"},
    "setExpression": {"expression": "n", "value": "2"},
    "writeMemory": {"memoryReference": "0x1", "data": ""},
    "terminateThreads": {},
    "goto": {"threadId": 1, "targetId": 1},
    "restartFrame": {"frameId": 1},
    "stepBack": {"threadId": 1},
    "reverseContinue": {"threadId": 1},
}


@pytest.mark.parametrize("allows_stop", [False, True])
async def test_it_may_look_and_log_but_halt_only_with_leave(tmp_path: Path, allows_stop: bool) -> None:
    assert CHANGES.keys() <= HALTS.keys()
    async with opened(tmp_path) as bench:
        bench.starter.request = "attach"
        bench.adapter.when("attach", lambda: bench.adapter.emit("initialized"))
        bench.adapter.can(*ALL_OF_IT)
        bench.adapter.when("configurationDone", bench.adapter.stop)
        started = await bench.call("start_debugging", program="app.py")
        async with visiting(
            bench, started["session_id"], remote=RemoteCaller("ssh:a", allows_stop=allows_stop)
        ) as peer:
            for command in ("initialize", "attach", "configurationDone"):
                await peer.asks(command, adapterID="x")
            answered = {command: await peer.asks(command, **arguments) for command, arguments in HALTS.items()}
            held = await peer.asks("dragomanHold", seconds=60)
            assert held == ({"resumesInSeconds": None} if allows_stop else {"code": "halt_refused"})
            refused = {command for command, answer in answered.items() if answer.get("code") == "halt_refused"}
            assert refused == (set() if allows_stop else set(HALTS))
            source = {"path": str(bench.file)}
            plain = await peer.asks("setBreakpoints", source=source, breakpoints=[{"line": 5, "condition": "n"}])
            (made,) = plain["breakpoints"]
            assert made["verified"] is allows_stop
            assert ("--allow-stop" in made.get("message", "")) is not allows_stop
            logged = await peer.asks("setBreakpoints", source=source, breakpoints=[{"line": 5, "logMessage": "n"}])
            assert logged["breakpoints"][0]["verified"]
            await peer.asks("continue", threadId=1)
            await peer.asks("disconnect", terminateDebuggee=True)
        outcome = await bench.service.find_in_any_workspace(started["session_id"]).session.outcome(10, 5)
        assert outcome is not None
        assert bench.adapter.sent("disconnect") == [{"terminateDebuggee": False}]


@pytest.mark.parametrize("remote", [None, RemoteCaller("ssh:a")])
async def test_a_program_gets_the_terminal_of_an_editor_on_this_machine_only(
    tmp_path: Path, remote: RemoteCaller | None
) -> None:
    async with opened(tmp_path) as bench, visiting(bench, "", remote=remote) as peer:
        await peer.asks("initialize", adapterID="x", supportsRunInTerminalRequest=True)
        await peer.ask("launch", {"dragomanType": "python", "program": "app.py", "console": "integratedTerminal"})
        with anyio.fail_after(10):
            while not bench.starter.requests:
                await anyio.lowlevel.checkpoint()
        caller, _ = bench.starter.requests[0]
        assert (caller.terminal is None) is (remote is not None)
