"""The runtime's side: the ids it echoes, the shapes it writes, and what it would not survive."""

from __future__ import annotations

import json
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.luapanda import (
    Closed,
    CommandAnswered,
    CommandLost,
    CommandReceived,
    IdeConnection,
    LuaPandaCommand,
    LuaPandaState,
    RuntimeConnection,
    StackEntry,
    StopReceived,
    read_variables,
)

INIT = {"stopOnEntry": "true", "luaFileExtension": "", "cwd": "/w", "TempFilePath": "/tmp"}


def line(cmd: str, info: Any = None, **more: Any) -> bytes:
    return json.dumps({"cmd": cmd, "info": {} if info is None else info, **more}).encode() + b" |*|\n"


def sent_message(data: bytes) -> dict[str, Any]:
    assert data.endswith(b"|*|\n")
    message: dict[str, Any] = json.loads(data.removesuffix(b"|*|\n"))
    return message


def taken(runtime: RuntimeConnection, data: bytes) -> CommandReceived:
    runtime.receive_data(data)
    (event,) = runtime.events()
    assert isinstance(event, CommandReceived)
    return event


def initialised() -> RuntimeConnection:
    runtime = RuntimeConnection()
    taken(runtime, line("initSuccess", INIT, callbackId="10"))
    runtime.send_reply("initSuccess", {"debuggerVer": "3.3.1"})
    return runtime


def stopped() -> RuntimeConnection:
    runtime = initialised()
    runtime.send_stop("stopOnEntry", [StackEntry(line=4, index=2)])
    return runtime


@pytest.mark.requirement(
    "luapanda:runtime:keeps-id", "luapanda:runtime:id-as-text", "luapanda:runtime:echo", "luapanda:runtime:default-zero"
)
@pytest.mark.parametrize(
    ("callback_id", "echo"),
    [
        ("77", "77"),
        (5, "5"),
        (1.5, "1.5"),
        ("abc", "abc"),
        ("0", "0"),
        (0, "0"),
        (None, "0"),
        ("", ""),
        (2**63, str(2**63)),
    ],
)
def test_any_text_is_echoed_as_text_and_no_id_is_answered_with_zero(callback_id: Any, echo: str) -> None:
    runtime = stopped()
    taken(runtime, line("setBreakPoint", callbackId=callback_id))
    assert sent_message(runtime.send_reply("setBreakPoint"))["callbackId"] == echo


def test_a_first_message_without_an_id_is_answered_with_empty_text() -> None:
    runtime = RuntimeConnection()
    taken(runtime, line("initSuccess", INIT))
    assert sent_message(runtime.send_reply("initSuccess"))["callbackId"] == ""


@pytest.mark.requirement("luapanda:runtime:single-use")
def test_an_id_answers_one_command_only() -> None:
    runtime = stopped()
    taken(runtime, line("setBreakPoint", callbackId="77"))
    assert [sent_message(runtime.send_reply("setBreakPoint"))["callbackId"] for _ in range(2)] == ["77", "0"]


def test_the_id_of_a_command_that_is_not_answered_haunts_the_next_reply() -> None:
    runtime = stopped()
    assert taken(runtime, line("LuaGarbageCollect", callbackId="9001")).outcome == "dropped"
    taken(runtime, line("setBreakPoint"))
    assert sent_message(runtime.send_reply("setBreakPoint"))["callbackId"] == "9001"


def test_commands_that_came_together_are_answered_each_with_its_own_id() -> None:
    runtime = stopped()
    runtime.receive_data(line("setBreakPoint", callbackId="21") + line("setBreakPoint", callbackId="22"))
    assert [sent_message(runtime.send_reply("setBreakPoint"))["callbackId"] for _ in runtime.events()] == ["21", "22"]


@pytest.mark.requirement(
    "luapanda:stop:default-id", "luapanda:runtime:message-table", "luapanda:runtime:message-table-default-id"
)
def test_a_stop_carries_the_number_zero_a_stack_of_texts_and_an_empty_list() -> None:
    stack = [StackEntry(file="/w/a.lua", opath="a.lua", line=18, index=2), StackEntry(line=23, index=4, name="f")]
    assert sent_message(initialised().send_stop("stopOnBreakpoint", stack)) == {
        "callbackId": 0,
        "cmd": "stopOnBreakpoint",
        "info": [],
        "stack": [
            {"file": "/w/a.lua", "oPath": "a.lua", "line": "18", "index": "2", "name": "文件名"},
            {"file": "", "oPath": "", "line": "23", "index": "4", "name": "f"},
        ],
    }


def test_a_notice_carries_zero_as_text_and_leaves_the_held_id_alone() -> None:
    runtime = stopped()
    taken(runtime, line("getWatchedVariable", callbackId="31"))
    assert sent_message(runtime.send_notice("refreshLuaMemory", "336.5")) == {
        "callbackId": "0",
        "cmd": "refreshLuaMemory",
        "info": {"memInfo": "336.5"},
    }
    assert sent_message(runtime.send_reply("getWatchedVariable"))["callbackId"] == "31"


@pytest.mark.requirement("luapanda:runtime:message-table-cmd", "luapanda:runtime:message-table-info")
@pytest.mark.parametrize("empty", [None, {}, [], ()])
def test_an_empty_table_is_written_as_a_list(empty: Any) -> None:
    runtime = stopped()
    reply = sent_message(runtime.send_reply("getVariable", empty))
    assert (reply["cmd"], reply["info"]) == ("getVariable", [])
    assert sent_message(runtime.send_reply("setVariable", {"a": {}, "b": [{}]}))["info"] == {"a": [], "b": [[]]}


def test_strings_are_base64_once_the_ide_asked_for_it() -> None:
    runtime = RuntimeConnection()
    taken(runtime, line("initSuccess", INIT | {"isNeedB64EncodeStr": "true"}))
    item = {"type": "string", "name": "s", "value": '"\udcff"'}
    assert sent_message(runtime.send_reply("getVariable", [item]))["info"] == [
        {"type": "string", "name": "s", "value": "Iv8i"}
    ]


def test_bytes_of_a_lua_string_go_out_as_they_are() -> None:
    assert b'"logInfo":"\xff\xc8|*"' in initialised().send_notice("output", "\udcff\udcc8|*").replace(b"\\u007c", b"|")


@pytest.mark.parametrize(("value", "counts"), [("true", True), ("false", False), (True, False), (None, False)])
def test_only_the_text_true_sets_a_flag(value: Any, counts: bool) -> None:
    command = taken(RuntimeConnection(), line("initSuccess", INIT | {"stopOnEntry": value})).command
    assert command.flag("stopOnEntry") is counts


def test_usechook_takes_a_json_true_as_well() -> None:
    assert taken(RuntimeConnection(), line("initSuccess", INIT | {"useCHook": True})).command.flag("useCHook")
    assert not LuaPandaCommand(cmd="stopRun", callback_id=None, info=None, fields={}).flag("useCHook")


@pytest.mark.parametrize(
    ("cmd", "fate"),
    [
        ("getVariable", "dropped"),
        ("setVariable", "dropped"),
        ("noSuchCommand", "dropped"),
        ("setBreakPoint", "answered"),
        ("getWatchedVariable", "answered"),
        ("stopRun", "answered"),
    ],
)
def test_a_running_program_drops_what_the_real_one_drops(cmd: str, fate: str) -> None:
    assert taken(initialised(), line(cmd)).outcome == fate


def test_a_stopped_program_answers_and_an_unknown_command_resumes_it() -> None:
    runtime = stopped()
    assert taken(runtime, line("getVariable")).outcome == "answered"
    states = [runtime.state]
    taken(runtime, line("noSuchCommand"))
    assert [*states, runtime.state] == [LuaPandaState.STOPPED, LuaPandaState.RUNNING]


def test_the_states_follow_the_conversation() -> None:
    runtime = RuntimeConnection()
    states = [runtime.state]
    taken(runtime, line("initSuccess", INIT))
    states.append(runtime.state)
    runtime.send_reply("initSuccess")
    states.append(runtime.state)
    runtime.send_stop("stopOnEntry", [StackEntry(line=1, index=2)])
    states.append(runtime.state)
    taken(runtime, line("stopOnStep"))
    states.append(runtime.state)
    taken(runtime, line("stopRun"))
    states.append(runtime.state)
    assert states == [
        LuaPandaState.IDLE,
        LuaPandaState.INIT,
        LuaPandaState.RUNNING,
        LuaPandaState.STOPPED,
        LuaPandaState.RUNNING,
        LuaPandaState.CLOSED,
    ]


@pytest.mark.requirement(
    "luapanda:peer:fixed-zero-step-over", "luapanda:peer:fixed-zero-step-in", "luapanda:peer:fixed-zero-step-out"
)
@pytest.mark.requirement("luapanda:peer:empty-id-step")
@pytest.mark.parametrize("cmd", ["stopOnStep", "stopOnStepIn", "stopOnStepOut"])
@pytest.mark.parametrize("callback_id", ["0", ""])
def test_a_step_with_a_fixed_id_and_null_info_is_carried_out(cmd: str, callback_id: str) -> None:
    runtime = stopped()
    step = json.dumps({"cmd": cmd, "info": None, "callbackId": callback_id}).encode() + b" |*|\n"
    assert taken(runtime, step).outcome == "answered"
    assert runtime.state is LuaPandaState.RUNNING
    assert sent_message(runtime.send_reply(cmd)) == {"callbackId": callback_id, "cmd": cmd, "info": []}


@pytest.mark.parametrize(
    ("send", "code"),
    [
        (lambda runtime: runtime.send_reply("LuaGarbageCollect"), "unknown_command"),
        (lambda runtime: runtime.send_stop("output", []), "unknown_stop"),
        (lambda runtime: runtime.send_notice("continue", "x"), "unknown_notice"),
        (lambda runtime: runtime.send_notice("output", "\ud800"), "not_utf8"),
    ],
)
def test_what_no_runtime_says_is_refused(send: Any, code: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        send(stopped())
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b"\n", "empty_line"),
        (b"hello |*|\n", "bad_json"),
        (b'{"info":{}} |*|\n', "missing_cmd"),
        (b'{"cmd":"continue"} |*|\n', "missing_info"),
        (b'{"cmd":"getVariable","info":null} |*|\n', "missing_info"),
        (line("initSuccess", {"TempFilePath": "/"}), "missing_field"),
        (line("initSuccess", INIT | {"luaFileExtension": None}), "missing_field"),
        (b"x" * 2_001, "line_too_long"),
    ],
)
def test_what_would_kill_the_program_ends_the_connection_after_what_came_before(bad: bytes, code: str) -> None:
    runtime = RuntimeConnection(max_line=2_000)
    runtime.receive_data(line("initSuccess", INIT) + bad + line("stopRun"))
    events = runtime.events()
    assert isinstance(next(events), CommandReceived)
    with pytest.raises(RemoteProtocolError) as caught:
        next(events)
    assert (caught.value.code, runtime.state) == (code, LuaPandaState.CLOSED)
    runtime.receive_data(line("stopRun"))
    runtime.receive_eof()
    assert list(runtime.events()) == [Closed((), caught.value)]


def test_half_a_command_and_then_the_end_is_an_error_in_the_last_event() -> None:
    runtime = initialised()
    runtime.receive_data(b'{"cmd"')
    runtime.receive_eof()
    runtime.receive_eof()
    (closed,) = runtime.events()
    assert isinstance(closed, Closed)
    assert closed.error is not None
    assert (closed.error.code, runtime.state) == ("truncated", LuaPandaState.CLOSED)
    with pytest.raises(LocalProtocolError):
        runtime.receive_data(b"x")


COMMANDS = st.sampled_from(
    [
        line("initSuccess", INIT, callbackId="10"),
        line("stopOnStep", callbackId=""),
        b'{"cmd":"stopRun"}   \r\n',
        b'{"cmd":"stopRun"} |*|{"cmd":"continue"} |*|\n',
        '{"cmd":"getWatchedVariable","info":{"varName":"\'\U0001f43c\'"}} |*|\n'.encode(),
        b'{"cmd":"continue"}|*|\n',
        b"\n",
        b"oops",
    ]
)


def outcome(chunks: list[bytes]) -> tuple[list[str], str]:
    runtime = RuntimeConnection()
    events: list[str] = []
    for chunk in chunks:
        runtime.receive_data(chunk)
        try:
            events.extend(map(repr, runtime.events()))
        except RemoteProtocolError as fault:
            events.append(fault.code)
    runtime.receive_eof()
    return events, repr(list(runtime.events()))


@given(st.lists(COMMANDS, max_size=6), st.lists(st.integers(0, 600), max_size=10))
def test_any_split_of_the_bytes_gives_the_same_commands_and_the_same_fault(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(lines)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    assert outcome([data[begin:end] for begin, end in pairwise(places)]) == outcome([data])


def test_a_second_message_on_a_line_is_reported_as_lost() -> None:
    runtime = stopped()
    runtime.receive_data(line("stopRun").rstrip(b"\n") + line("stopRun"))
    assert [type(event) for event in runtime.events()] == [CommandReceived, CommandLost]


def test_both_sides_of_this_package_hold_a_conversation() -> None:
    ide, runtime = IdeConnection(count(100).__next__), RuntimeConnection()
    taken(runtime, ide.send_command("initSuccess", INIT | {"isNeedB64EncodeStr": True}, now=0))
    ide.receive_data(runtime.send_reply("initSuccess", {"isNeedB64EncodeStr": "true"}))
    ide.receive_data(runtime.send_stop("stopOnEntry", [StackEntry(file="a.lua", line=1, index=2)]))
    assert [type(event) for event in ide.events()] == [CommandAnswered, StopReceived]
    asked = taken(runtime, ide.send_command("getWatchedVariable", {"varName": "a|*|b", "stackId": 2}, now=0))
    assert asked.command.info["varName"] == "a|*|b"
    variable = {"name": "a|*|b", "type": "string", "value": '"|*|\udcff\n"', "variablesReference": "0"}
    ide.receive_data(runtime.send_reply("getWatchedVariable", [variable]))
    (answer,) = ide.events()
    assert isinstance(answer, CommandAnswered)
    assert read_variables(answer.message)[0].value == '"|*|\udcff\n"'


def test_a_reply_nested_too_deeply_is_our_mistake_and_keeps_the_id() -> None:
    runtime = RuntimeConnection()
    runtime.receive_data(line("setBreakPoint", callbackId="12"))
    list(runtime.events())
    info: list[Any] = []
    for _ in range(100_000):
        info = [info]
    with pytest.raises(LocalProtocolError) as caught:
        runtime.send_reply("setBreakPoint", info)
    assert caught.value.code == "not_encodable"
    assert sent_message(runtime.send_reply("setBreakPoint"))["callbackId"] == "12"
