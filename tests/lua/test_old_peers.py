"""Clients of other makers on our runtime: ids that are missing, empty, zero or text, and info that is null."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.protocols.luapanda.framing import command_line
from tests.lua.program import LUAS, Ide, Message, Program, settings

pytestmark = [pytest.mark.needs("lua"), pytest.mark.parametrize("lua", LUAS)]

TEXT = """local panda = require("LuaPanda")
panda.start("127.0.0.1", tonumber(os.getenv("PANDA_PORT")))
local function add(a, b)
  local sum = a + b
  return sum
end
local one = add(1, 2)
local two = add(one, 3)
local hard = panda.BP()
local three = 3
local four = 4
print("END", one, two)
"""
MISSING: Any = object()


def send(ide: Ide, cmd: str, info: Any, id: Any) -> None:
    fields = {"callbackId": id, "cmd": cmd, "info": info}
    ide.write(command_line({name: value for name, value in fields.items() if value is not MISSING}))


def answered(ide: Ide, cmd: str, info: Any, id: Any) -> Message:
    send(ide, cmd, info, id)
    message = ide.wait_for(cmd)
    assert "stack" not in message
    return message


def launched(program: Program) -> Ide:
    program.write("main.lua", TEXT)
    return program.debug("main.lua")


def breakpoint_at(root: Path, line: int, **more: Any) -> dict[str, Any]:
    return {"path": str(root / "main.lua"), "bks": [{"verified": True, "type": 2, "line": line, **more}]}


@pytest.mark.requirement(
    "luapanda:peer:empty-id-init",
    "luapanda:peer:empty-id-set-breakpoint",
    "luapanda:peer:empty-id-continue",
    "luapanda:peer:empty-id-stop-run",
    "luapanda:runtime:empty-id-ignored",
)
def test_a_client_that_sends_empty_ids_is_served(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide = launched(program)
        assert answered(ide, "initSuccess", settings(tmp_path), "")["callbackId"] == ""
        assert ide.stop()["stack"][0]["line"] in ("3", "6")
        assert answered(ide, "setBreakPoint", breakpoint_at(tmp_path, 7), "")["callbackId"] == ""
        assert answered(ide, "continue", None, "")["callbackId"] == ""
        assert ide.stop()["stack"][0]["line"] == "7"
        assert answered(ide, "stopRun", None, "")["callbackId"] == ""
        ide.run_out()
        program.stop_listening()
        assert program.end() == (0, "END\t3\t6\n", "")


@pytest.mark.requirement("luapanda:peer:zero-ids-stay-in-step", "luapanda:shipped-runtime:fixed-zero-peers")
def test_a_client_that_always_sends_zero_and_null_stays_in_step(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide = launched(program)
        assert answered(ide, "initSuccess", settings(tmp_path), "0")["callbackId"] == ""
        ide.stop()
        assert answered(ide, "setBreakPoint", breakpoint_at(tmp_path, 7), "0")["callbackId"] == "0"
        assert answered(ide, "continue", None, "0")["callbackId"] == "0"
        assert ide.stop()["cmd"] == "stopOnBreakpoint"
        for cmd, line in (("stopOnStepIn", "4"), ("stopOnStep", "5"), ("stopOnStepOut", "8"), ("stopOnStep", "9")):
            assert answered(ide, cmd, None, "0")["callbackId"] == "0"
            stop = ide.stop()
            assert (stop["cmd"], stop["callbackId"], stop["stack"][0]["line"]) == (cmd, 0, line)


@pytest.mark.requirement(
    "luapanda:shipped-runtime:ids", "luapanda:runtime:initial-id", "luapanda:runtime:command-then-reply"
)
def test_ids_are_kept_echoed_once_and_reset(lua: str, tmp_path: Path) -> None:
    bks = breakpoint_at(tmp_path, 7)
    with Program(lua, tmp_path) as program:
        ide = launched(program)
        assert answered(ide, "initSuccess", settings(tmp_path), MISSING)["callbackId"] == ""
        ide.stop()
        for sent, echoed in (
            (MISSING, "0"),
            ("77", "77"),
            (MISSING, "0"),
            (5, "5"),
            ("abc", "abc"),
            (1.5, "1.5"),
            (0, "0"),
        ):
            assert answered(ide, "setBreakPoint", bks, sent)["callbackId"] == echoed
        # A command that is never answered leaves its id to the next one that has none.
        send(ide, "LuaGarbageCollect", {}, "9001")
        assert answered(ide, "setBreakPoint", bks, MISSING)["callbackId"] == "9001"
        answered(ide, "setVariable", {"varRef": "20000", "stackId": "2", "newValue": "41", "varName": "fresh"}, "12")
        watched = answered(ide, "getWatchedVariable", {"varName": "fresh + 1", "stackId": "2"}, "13")
        assert (watched["callbackId"], watched["info"][0]["value"]) == ("13", "42")


ELEVEN: dict[str, Any] = {
    "setBreakPoint": {"path": "/nowhere.lua", "bks": []},
    "getVariable": {"varRef": "10000", "stackId": "2"},
    "setVariable": {"varRef": "20000", "stackId": "2", "newValue": "1", "varName": "x"},
    "getWatchedVariable": {"varName": "1", "stackId": "2"},
    "runREPLExpression": {"Expression": "1", "stackId": "2"},
    "stopOnStep": {},
    "stopOnStepIn": {},
    "stopOnStepOut": {},
    "continue": {},
    "stopRun": {},
}


@pytest.mark.requirement("luapanda:shipped-runtime:replies", "luapanda:shipped-runtime:message-table")
def test_each_of_the_eleven_commands_is_answered_under_its_id(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide = launched(program)
        first = answered(ide, "initSuccess", settings(tmp_path), "700")
        assert (first["callbackId"], set(first)) == ("700", {"cmd", "callbackId", "info"})
        ide.stop()
        answered(ide, "setBreakPoint", breakpoint_at(tmp_path, 4), "701")
        for number, (cmd, info) in enumerate(ELEVEN.items(), 702):
            message = answered(ide, cmd, info, str(number))
            assert (message["callbackId"], set(message)) == (str(number), {"cmd", "callbackId", "info"})
            if cmd == "continue" or cmd.startswith("stopOn"):
                ide.stop()
        ide.run_out()


@pytest.mark.requirement("luapanda:shipped-runtime:stops")
def test_the_six_stops_have_a_stack_and_the_number_zero(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide = launched(program)
        stops = [ide.start(tmp_path)]
        answered(ide, "setBreakPoint", breakpoint_at(tmp_path, 7), "10")
        stops += [ide.go(cmd) for cmd in ("continue", "stopOnStepIn", "stopOnStepOut", "stopOnStep")]
        stops.append(ide.go("continue"))
    assert [stop["cmd"] for stop in stops] == [
        "stopOnEntry",
        "stopOnBreakpoint",
        "stopOnStepIn",
        "stopOnStepOut",
        "stopOnStep",
        "stopOnCodeBreakpoint",
    ]
    assert all(stop["callbackId"] == 0 and stop["info"] == [] and stop["stack"] for stop in stops)


@pytest.mark.requirement("luapanda:shipped-runtime:notices")
def test_notices_carry_zero_as_text(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide = launched(program)
        ide.start(tmp_path)
        log = {"verified": True, "type": 1, "line": 4, "logMessage": "adding"}
        fails = {"verified": True, "type": 0, "line": 5, "condition": "nothing.here"}
        answered(ide, "setBreakPoint", {"path": str(tmp_path / "main.lua"), "bks": [log, fails]}, "10")
        ide.write(b"noise |*|\n")
        ide.go("continue")
    four = ("output", "tip", "debug_console", "refreshLuaMemory")
    notices = {message["cmd"]: message for message in ide.seen if message["cmd"] in four}
    assert {cmd: notices[cmd]["callbackId"] for cmd in four} == dict.fromkeys(four, "0")
    (tip,) = [message["info"]["logInfo"] for message in ide.seen if message["cmd"] == "tip"]  # it failed twice
    assert tip.startswith(f"{tmp_path}/main.lua:5: nothing.here failed: ")
    assert notices["debug_console"]["info"] == {"logInfo": "[LogPoint Output]: adding"}
    assert isinstance(notices["output"]["info"]["logInfo"], str)
    assert float(notices["refreshLuaMemory"]["info"]["memInfo"]) > 1


def test_the_module_offers_what_programs_call(lua: str, tmp_path: Path) -> None:
    names = "start startServer reConnect stopAttach disconnect BP getInfo doctor getBreaks testBreakpoint changePath"
    with Program(lua, tmp_path) as program:
        ide = launched(program)
        ide.start(tmp_path)
        answered(ide, "setBreakPoint", breakpoint_at(tmp_path, 7), "10")
        listed = (
            "(function() local s = '' for n in ('%s'):gmatch('%%S+') do s = s .. type(LuaPanda[n]) end return s end)()"
        )
        assert _repl(ide, listed % names) == '"' + "function" * len(names.split()) + '"'
        assert _repl(ide, f"LuaPanda.getBreaks()['{tmp_path}/main.lua'][1].line") == "7"
        assert str(tmp_path / "main.lua") in _repl(ide, "LuaPanda.testBreakpoint()")
        assert _repl(ide, "LuaPanda.doctor()") == '"未检测出问题"'
        assert _repl(ide, "LuaPanda.reConnect()") == "1"
        assert "is not there" in _repl(ide, "LuaPanda.changePath('/elsewhere') or LuaPanda.doctor()")


def _repl(ide: Ide, expression: str) -> str:
    return str(ide.ask("runREPLExpression", {"Expression": expression, "stackId": "2"})[0]["value"])
