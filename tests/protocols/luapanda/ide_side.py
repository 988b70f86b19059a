"""An IDE in each of its states, and the lines that it receives."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.luapanda import IdeConnection, IdeEvent, LuaPandaState

INIT = {"stopOnEntry": True, "luaFileExtension": "", "cwd": "/w", "TempFilePath": "/tmp"}
FRAME = {"file": "/w/a.lua", "oPath": "a.lua", "line": "4", "index": "2", "name": "文件名"}
LOCALS = {"varRef": 10000, "stackId": 2}
WATCH = {"varName": "x", "stackId": 2}
INFOS: dict[str, Any] = {
    "initSuccess": INIT,
    "setBreakPoint": {"path": "/w/a.lua", "bks": []},
    "getVariable": LOCALS,
    "setVariable": LOCALS | {"newValue": "1", "varName": "x"},
    "getWatchedVariable": WATCH,
    "runREPLExpression": {"Expression": "x", "stackId": 2},
}


def line(cmd: str, callback_id: Any, info: Any = (), **more: Any) -> bytes:
    return json.dumps({"cmd": cmd, "callbackId": callback_id, "info": info, **more}).encode() + b"|*|\n"


def stop(cmd: str = "stopOnEntry", callback_id: Any = 0) -> bytes:
    return line(cmd, callback_id, stack=[FRAME])


INIT_REPLY = {"debuggerVer": "3.3.1", "UseHookLib": "0", "UseLoadstring": "1", "isNeedB64EncodeStr": "false"}


def events_after(connection: IdeConnection, *lines: bytes) -> list[IdeEvent]:
    for data in lines:
        connection.receive_data(data)
    return list(connection.events())


def sent_message(data: bytes) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(data.removesuffix(b" |*|\n"))
    return message


def fresh(**options: int) -> IdeConnection:
    return IdeConnection(count(10).__next__, **options)


def running(**options: int) -> IdeConnection:
    """Initialised under the id 10; the next one is 11."""
    connection = fresh(**options)
    connection.send_command("initSuccess", INIT, now=0)
    events_after(connection, line("initSuccess", "10", INIT_REPLY))
    return connection


def stopped(**options: int) -> IdeConnection:
    connection = running(**options)
    events_after(connection, stop())
    return connection


def in_state(state: LuaPandaState) -> IdeConnection:
    connection = {LuaPandaState.IDLE: fresh, LuaPandaState.RUNNING: running, LuaPandaState.STOPPED: stopped}.get(
        state, fresh
    )()
    if state in (LuaPandaState.INIT, LuaPandaState.CLOSED):
        connection.send_command("initSuccess", INIT, now=0)
    if state is LuaPandaState.CLOSED:
        connection.send_command("stopRun", now=0)
    assert connection.state is state
    return connection


def code_of(misuse: Callable[[], object]) -> str:
    with pytest.raises(LocalProtocolError) as caught:
        misuse()
    return caught.value.code
