"""LuaPanda, both sides: whatever comes, only a RemoteProtocolError; and the same for every split of the bytes."""

from __future__ import annotations

from contextlib import suppress
from itertools import count

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.luapanda import (
    Closed,
    CommandLost,
    IdeConnection,
    IdeEvent,
    LuaPandaState,
    RuntimeConnection,
    RuntimeEvent,
    classify,
    read_assignment,
    read_variables,
)

CAP = 4096
_INIT = b'{"stopOnEntry":"true","luaFileExtension":"","cwd":"/w","TempFilePath":"/t","isNeedB64EncodeStr":"true"}'
_REPLY = b'{"debuggerVer":"3.3.1","UseHookLib":"0","UseLoadstring":"1","isNeedB64EncodeStr":"true"}'
SEEDS: list[bytes] = [
    b'{"callbackId":"10","cmd":"initSuccess","info":%b}|*|\n' % _REPLY,
    b'{"callbackId":"11","cmd":"stopOnStep","info":[]}|*|\n',
    b'{"callbackId":0,"cmd":"stopOnStep","stack":[{"file":"\\/a.lua","line":"4","index":"2"}],"info":[]}|*|\n',
    b'{"callbackId":"0","cmd":"output","info":{"logInfo":"\x01\xff|*|"}}|*|\n',
    b'{"callbackId":"12","cmd":"getVariable","info":[{"name":"s","type":"string","value":"IsOpIg=="}]}|*|\n',
    b'{"callbackId":"13","cmd":"setVariable","info":{"success":"true","value":-inf,"tip":"nan"}}|*|\n',
    b'{"callbackId":"101","cmd":"initSuccess","info":%b} |*|\n' % _INIT,
    b'{"callbackId":5,"cmd":"getWatchedVariable","info":{"varName":"\'a\\u007c*\\u007cb\'","stackId":2}}   \r\n',
    b'{"cmd":"setBreakPoint","info":{"path":"/a","bks":[{"line":3}]}} |*|{"cmd":"continue","info":{}} |*|\n',
    b'{"callbackId":"","cmd":"noSuchCommand"} |*|\n{"cmd":"stopRun"} |*|\n',
]


def one_input(data: bytes) -> None:
    splits = [
        [data],
        [data[: len(data) // 2], data[len(data) // 2 :]],
        [data[at : at + 7] for at in range(0, len(data), 7)],
    ]
    for outcome in (_as_ide, _as_runtime):
        whole, *others = (outcome(chunks) for chunks in splits)
        assert all(other == whole for other in others)


def _as_ide(chunks: list[bytes]) -> tuple[list[str], str, LuaPandaState]:
    connection = IdeConnection(count(10).__next__, max_line=CAP)
    info = {"stopOnEntry": True, "luaFileExtension": "", "cwd": "/", "TempFilePath": "/"}
    connection.send_command("initSuccess", info, now=0)
    events: list[str] = []
    fault = ""
    for chunk in chunks:
        connection.receive_data(chunk)
        try:
            events.extend(_looked_into(event) for event in connection.events())
        except RemoteProtocolError as error:
            fault = error.code
    connection.receive_eof()
    return events, fault + ascii(list(connection.events())), connection.state


def _looked_into(event: IdeEvent) -> str:
    assert not isinstance(event, Closed)
    assert classify(event.message) in {"ack", "stop", "notice", "reply"}
    for read in (read_variables, read_assignment):
        with suppress(RemoteProtocolError):
            read(event.message)
    return ascii((event, event.message.text))


def _as_runtime(chunks: list[bytes]) -> tuple[list[str], str]:
    runtime = RuntimeConnection(max_line=CAP)
    events: list[str] = []
    fault = ""
    for chunk in chunks:
        runtime.receive_data(chunk)
        try:
            events.extend(_answered(runtime, event) for event in runtime.events())
        except RemoteProtocolError as error:
            fault = error.code
    runtime.receive_eof()
    return events, fault + ascii(list(runtime.events()))


def _answered(runtime: RuntimeConnection, event: RuntimeEvent) -> str:
    if isinstance(event, CommandLost | Closed) or event.outcome == "dropped":
        return ascii(event)
    return ascii((event, runtime.send_reply(event.command.cmd), runtime.state))
