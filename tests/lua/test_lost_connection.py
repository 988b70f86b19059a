"""An IDE that is killed, or hangs, at any command of a session, in any state: the program runs to its end."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from dragoman.protocols.luapanda.framing import command_line
from tests.lua.program import LUAS, Ide, Program, settings

pytestmark = [pytest.mark.needs("lua"), pytest.mark.parametrize("lua", LUAS)]

TEXT = """require("dragoman").start("127.0.0.1", tonumber(os.getenv("PANDA_PORT")))
local function f(n)
  local m = n + 1
  return m
end
local s = 0
local co = coroutine.create(function() while true do s = f(s) coroutine.yield() end end)
for i = 1, 100 do
  coroutine.resume(co)
end
pcall(error, "caught")
print("END", s)
"""
GOES_ON = frozenset({"continue", "stopOnStep", "stopOnStepIn", "stopOnStepOut"})
# What an IDE asks for in one session, in this order; the program is stopped at each of these but the last two.
NATIVE: list[tuple[str, dict[str, Any]]] = [
    ("setBreakPoint", {"bks": [{"verified": True, "type": 2, "line": 3}]}),
    ("setExceptions", {"filter": "all"}),
    ("continue", {}),
    ("stack", {}),
    ("coroutines", {}),
    ("scopes", {"frame": 2}),
    ("variables", {"reference": 1}),
    ("evaluate", {"expression": "('x'):rep(100000)", "text": 100000}),
    ("assign", {"reference": 1, "position": 1, "expression": "n"}),
    ("watchable", {"reference": 1, "position": 1}),
    ("setDataBreakpoints", {"data": [{"id": "1"}]}),
    ("sources", {}),
    ("LuaGarbageCollect", {}),
    ("heartbeat", {}),
    ("stopOnStep", {}),
    ("stopOnStepOut", {}),
    ("pause", {}),
    ("stopRun", {}),
]
LEGACY: list[tuple[str, dict[str, Any]]] = [
    ("setBreakPoint", {"bks": [{"verified": True, "type": 2, "line": 3}]}),
    ("continue", {}),
    ("getVariable", {"varRef": "10000", "stackId": "2"}),
    ("setVariable", {"varRef": "10000", "stackId": "2", "newValue": "n", "varName": "n"}),
    ("getWatchedVariable", {"varName": "n", "stackId": "2"}),
    ("runREPLExpression", {"Expression": "('x'):rep(100000)", "stackId": "2"}),
    ("stopOnStep", {}),
    ("stopOnStepIn", {}),
    ("stopOnStepOut", {}),
    ("stopRun", {}),
]
SESSIONS = {"native": (NATIVE, {"dragoman": "1", "exceptions": "uncaught"}), "legacy": (LEGACY, {})}
Vanish = Callable[[Ide, str, dict[str, Any]], None]


def _reset(ide: Ide) -> None:
    ide.option(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ide.close()


def killed_after(ide: Ide, cmd: str, info: dict[str, Any]) -> None:
    ide.send(cmd, info)
    _reset(ide)


def killed_within(ide: Ide, cmd: str, info: dict[str, Any]) -> None:
    line = command_line({"callbackId": "900", "cmd": cmd, "info": info})
    ide.write(line[: len(line) // 2])
    _reset(ide)


def hanging(ide: Ide, cmd: str, info: dict[str, Any]) -> None:
    ide.send(cmd, info)


def _begun(program: Program, path: Path, kind: str, upto: int, **more: str) -> tuple[Ide, str, dict[str, Any]]:
    """A session that has come to this command, and the command."""
    commands, extra = SESSIONS[kind]
    ide = program.debug("main.lua")
    ide.ask("initSuccess", settings(program.root, **extra, **more))
    ide.stop()
    for cmd, info in commands[:upto]:
        ide.send(cmd, _placed(info, path))
        if cmd in GOES_ON:
            ide.stop()
        elif cmd != "LuaGarbageCollect" or kind == "native":
            ide.wait_for(cmd)
    return ide, commands[upto][0], _placed(commands[upto][1], path)


def _placed(info: dict[str, Any], path: Path) -> dict[str, Any]:
    return {"path": str(path), **info} if "bks" in info else info


def _programs(lua: str, root: Path, stack: ExitStack, kind: str) -> Iterator[tuple[Program, Path, int]]:
    for place in range(len(SESSIONS[kind][0])):
        folder = root / str(place)
        folder.mkdir()
        program = stack.enter_context(Program(lua, folder))
        yield program, program.write("main.lua", TEXT), place


@pytest.mark.parametrize("kind", SESSIONS)
@pytest.mark.parametrize("vanish", [killed_after, killed_within])
def test_an_ide_is_killed_at_any_command(lua: str, tmp_path: Path, kind: str, vanish: Vanish) -> None:
    with ExitStack() as stack:
        programs = []
        for program, path, place in _programs(lua, tmp_path, stack, kind):
            ide, cmd, info = _begun(program, path, kind, place)
            vanish(ide, cmd, info)
            program.stop_listening()
            programs.append((cmd, program))
        assert [(cmd, program.end()) for cmd, program in programs] == [
            (cmd, (0, "END\t100\n", "")) for cmd, _ in programs
        ]


def test_an_ide_hangs_at_any_command(lua: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        programs = []
        for program, path, place in _programs(lua, tmp_path, stack, "native"):
            ide, cmd, info = _begun(program, path, "native", place, heartbeat="0.1")
            hanging(ide, cmd, info)
            program.stop_listening()
            programs.append((cmd, program))
        assert [(cmd, program.end()) for cmd, program in programs] == [
            (cmd, (0, "END\t100\n", "")) for cmd, _ in programs
        ]
