"""Nothing we send can be malformed, whatever a caller hands over."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.luapanda import (
    COMMANDS,
    SILENT,
    CommandReceived,
    IdeConnection,
    LuaPandaState,
    RuntimeConnection,
)
from dragoman.protocols.luapanda.commands import encoded_info

INIT = {"stopOnEntry": True, "luaFileExtension": "lua", "cwd": "/w", "TempFilePath": "/tmp"}
STOP = b'{"callbackId":0,"cmd":"stopOnEntry","stack":[{"index":"2","line":"4"}],"info":[]}|*|\n'
BREAKPOINT = st.fixed_dictionaries(
    {"line": st.integers(1, 10**6)}, optional={"condition": st.text()}
) | st.fixed_dictionaries({"line": st.integers(1, 10**6), "logMessage": st.text()})
NUMBERS = st.integers(2, 2**53) | st.integers(2, 2**53).map(str)
VALUES = {
    "_text": st.text(st.characters()),
    "_flag": st.booleans() | st.sampled_from(["true", "false"]),
    "number": NUMBERS,
    "_breakpoints": st.lists(BREAKPOINT, max_size=4),
}
RUN_CONTROL = ["continue", "stopOnStep", "stopOnStepIn", "stopOnStepOut"]


def stopped_ide() -> IdeConnection:
    connection = IdeConnection(count(10).__next__)
    connection.send_command("initSuccess", INIT, now=0)
    connection.receive_data(STOP)
    return connection


@st.composite
def commands(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    cmd = draw(st.sampled_from(sorted(COMMANDS)))
    info = {
        name: draw(st.sampled_from([2, "1"]) if name == "logLevel" else VALUES[field.encode.__name__])
        for name, field in COMMANDS[cmd].items()
        if field.required or draw(st.booleans())
    }
    return cmd, info


def line_or_none(cmd: str, info: Any) -> bytes | None:
    connection = IdeConnection(count(10).__next__) if cmd == "initSuccess" else stopped_ide()
    before = (connection.state, connection.pending, connection.requests_left)
    try:
        return connection.send_command(cmd, info, now=0)
    except LocalProtocolError:
        assert (connection.state, connection.pending, connection.requests_left) == before
        return None


def check_line(line: bytes) -> dict[str, Any]:
    """One line, valid UTF-8, valid JSON, the separator once and last, every value as the runtime expects it."""
    assert line.count(b"\n") == 1
    assert line.count(b"|*|") == 1
    assert line.endswith(b" |*|\n")
    message: dict[str, Any] = json.loads(line.decode("utf-8").removesuffix(" |*|\n"))
    assert isinstance(message["info"], dict)
    assert all(isinstance(value, str | list) for value in message["info"].values())
    for node in message["info"].get("bks", []):
        assert node["verified"] is True
        assert node["type"] == (0 if "condition" in node else 1 if "logMessage" in node else 2)
    return message


@given(commands())
def test_a_command_is_one_well_formed_line_that_the_runtime_survives(command: tuple[str, dict[str, Any]]) -> None:
    line = line_or_none(*command)
    if line is None:
        assert "\\ud" in ascii(command[1])  # only a half of a surrogate pair cannot be sent
        return
    message = check_line(line)
    assert ("callbackId" in message) == (command[0] not in SILENT)
    runtime = RuntimeConnection()
    runtime.receive_data(line)
    (event,) = runtime.events()
    assert isinstance(event, CommandReceived)
    assert event.command.cmd == command[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELD_NAMES = sorted({name for fields in COMMANDS.values() for name in fields})


@given(
    st.sampled_from(sorted(COMMANDS)) | st.text(),
    st.dictionaries(st.sampled_from(FIELD_NAMES), JSON, max_size=6) | JSON,
)
def test_whatever_a_caller_hands_over_is_refused_or_well_formed(cmd: str, info: Any) -> None:
    line = line_or_none(cmd, info)
    if line is not None:
        check_line(line)


@pytest.mark.parametrize(
    ("cmd", "info", "code"),
    [
        ("getVariables", {}, "unknown_command"),
        ("continue", None, "bad_info"),
        ("continue", [], "bad_info"),
        ("stopOnStep", None, "bad_info"),
        ("stopOnStep", {"varRef": 1}, "unknown_field"),
        ("getVariable", {"varRef": 10000}, "missing_field"),
        ("getVariable", {"varRef": 10000, "stackId": 1}, "bad_field"),
        ("getVariable", {"varRef": 0, "stackId": 2}, "bad_field"),
        ("getVariable", {"varRef": True, "stackId": 2}, "bad_field"),
        ("getVariable", {"varRef": "-1", "stackId": 2}, "bad_field"),
        ("getVariable", {"varRef": "٣", "stackId": 2}, "bad_field"),
        ("getVariable", {"varRef": "9" * 5_000, "stackId": 2}, "bad_field"),
        ("getVariable", {"varRef": 1.0, "stackId": 2}, "bad_field"),
        ("setVariable", {"varRef": 1, "stackId": 2, "newValue": 7, "varName": "x"}, "bad_field"),
        ("setBreakPoint", {"path": "/a.lua"}, "missing_field"),
        ("setBreakPoint", {"path": "/a.lua", "bks": "none"}, "bad_field"),
        ("setBreakPoint", {"path": "/a.lua", "bks": [{"line": 0}]}, "bad_field"),
        ("setBreakPoint", {"path": "/a.lua", "bks": [{"line": 1, "hitCount": 2}]}, "bad_field"),
        ("setBreakPoint", {"path": "/a.lua", "bks": [{"line": 1, "type": 0}]}, "bad_field"),
        ("setBreakPoint", {"path": "/a.lua", "bks": [{"line": 1, "condition": "a", "logMessage": "b"}]}, "bad_field"),
        ("setBreakPoint", {"path": "/a.lua", "bks": [7]}, "bad_field"),
        ("initSuccess", INIT | {"stopOnEntry": "yes"}, "bad_field"),
        ("initSuccess", INIT | {"stopOnEntry": 1}, "bad_field"),
        ("initSuccess", INIT | {"logLevel": 3}, "bad_field"),
        ("initSuccess", {key: INIT[key] for key in INIT if key != "TempFilePath"}, "missing_field"),
        ("initSuccess", {key: INIT[key] for key in INIT if key != "luaFileExtension"}, "missing_field"),
    ],
)
def test_what_the_runtime_dies_of_or_misreads_is_refused_with_the_reason(cmd: str, info: Any, code: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        encoded_info(cmd, info)
    assert caught.value.code == code


def test_flags_and_numbers_become_text() -> None:
    assert encoded_info("initSuccess", INIT | {"useCHook": False, "logLevel": 1}) == {
        "stopOnEntry": "true",
        "luaFileExtension": "lua",
        "cwd": "/w",
        "TempFilePath": "/tmp",
        "logLevel": "1",
        "useCHook": "false",
    }
    assert encoded_info("getVariable", {"varRef": 10000, "stackId": "2"}) == {"varRef": "10000", "stackId": "2"}


def test_the_type_of_a_breakpoint_follows_from_what_it_carries() -> None:
    nodes = [{"line": 3}, {"line": 4, "condition": "i == 3"}, {"line": 5, "logMessage": "hi"}, {"line": 6, "type": 2}]
    assert encoded_info("setBreakPoint", {"path": "/a.lua", "bks": nodes})["bks"] == [
        {"verified": True, "type": 2, "line": 3},
        {"verified": True, "type": 0, "line": 4, "condition": "i == 3"},
        {"verified": True, "type": 1, "line": 5, "logMessage": "hi"},
        {"verified": True, "type": 2, "line": 6},
    ]


@pytest.mark.requirement(
    "luapanda:command:init-name",
    "luapanda:command:set-breakpoint-name",
    "luapanda:command:continue-name",
    "luapanda:command:stop-run-name",
    "luapanda:command:get-variable-name",
    "luapanda:command:set-variable-name",
    "luapanda:command:get-watched-variable-name",
    "luapanda:command:run-repl-expression-name",
)
def test_the_commands_have_the_names_of_the_protocol_document() -> None:
    named = {
        "initSuccess",
        "setBreakPoint",
        "continue",
        "stopRun",
        "getVariable",
        "setVariable",
        "getWatchedVariable",
        "runREPLExpression",
        "stopOnStep",
        "stopOnStepIn",
        "stopOnStepOut",
    }
    assert set(COMMANDS) == named | {"LuaGarbageCollect"}


@pytest.mark.parametrize("cmd", RUN_CONTROL)
def test_run_control_always_carries_an_object(cmd: str) -> None:
    connection = stopped_ide()
    assert check_line(connection.send_command(cmd, now=0))["info"] == {}
    assert connection.state is LuaPandaState.RUNNING
