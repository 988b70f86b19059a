"""Whatever the IDE does, and whatever goes wrong in the debugger: the program continues."""

from __future__ import annotations

import random
import socket
import struct
import time
from pathlib import Path

import pytest

from tests.lua.program import LUAS, Ide, Program, settings, stopped_at

pytestmark = pytest.mark.needs("lua")
every_lua = pytest.mark.parametrize("lua", LUAS)

START = 'require("dragoman").start("127.0.0.1", tonumber(os.getenv("PANDA_PORT")))\n'
WORKS = (
    START
    + "local function f(n)\n  return n + 1\nend\nlocal s = 0\nfor i = 1, 2000 do\n  s = f(s)\nend\nprint('END', s)\n"
)
# It goes on until it is told to end, with little work and little garbage in between.
LASTS = (
    START
    + """local socket = require("socket")
local began = os.time()
local function tick(n)
  return n + 1
end
local n = 0
while not io.open("done") and os.time() - began < 20 do
  n = tick(n)
  socket.sleep(0.002)
end
print("END")
"""
)


def launched(program: Program, text: str = WORKS) -> Ide:
    program.write("main.lua", text)
    return program.debug("main.lua")


def assert_ends_well(program: Program, out: str = "END\t2000\n") -> None:
    program.stop_listening()
    assert program.end() == (0, out, "")


def reset(ide: Ide) -> None:
    """Vanish as a crash does: no goodbye, and nothing read."""
    ide.option(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ide.close()


def at_once(program: Program, ide: Ide) -> None:
    reset(ide)


def in_a_line(program: Program, ide: Ide) -> None:
    ide.write(b'{"cmd":"initSuccess","in')
    reset(ide)


def after_the_greeting(program: Program, ide: Ide) -> None:
    ide.ask("initSuccess", settings(program.root, stopOnEntry="false"))
    reset(ide)


def running(program: Program, ide: Ide) -> None:
    ide.start(program.root, dragoman="1")
    ide.breakpoints(program.root / "main.lua", {"line": 3, "logMessage": "{n}"})
    ide.send("continue")
    ide.wait_for("debug_console")
    reset(ide)


@every_lua
@pytest.mark.parametrize("moment", [at_once, in_a_line, after_the_greeting, running])
def test_an_ide_may_vanish_before_and_between_commands(lua: str, tmp_path: Path, moment: object) -> None:
    assert callable(moment)
    with Program(lua, tmp_path) as program:
        moment(program, launched(program))
        assert_ends_well(program)


@every_lua
def test_noise_on_the_line_is_reported_and_survived(lua: str, tmp_path: Path) -> None:
    noise = random.Random(4)
    with Program(lua, tmp_path) as program:
        ide = launched(program)
        ide.start(tmp_path)
        for _ in range(200):
            ide.write(
                bytes(noise.choice(b'{}[]",:|*\\u01 \xff\x00abc') for _ in range(noise.randrange(60))) + b" |*|\n"
            )
        ide.write(b"[" * 5000 + b"|*|\n")
        ide.write(
            b'{"cmd":{},"info":7}|*|\n{"cmd":"getVariable","info":{"varRef":{},"stackId":[]},"callbackId":{}}|*|\n'
        )
        assert ide.ask("getWatchedVariable", {"varName": "1 + 1", "stackId": "2"})[0]["value"] == "2"
        assert any(
            message["cmd"] == "output" and "not understood" in message["info"]["logInfo"] for message in ide.seen
        )
        ide.send("stopRun")
        ide.run_out()
        assert_ends_well(program)


@every_lua
def test_wrong_fields_of_every_command_are_refused_and_survived(lua: str, tmp_path: Path) -> None:
    commands = ["pause", "stack", "coroutines", "scopes", "variables", "evaluate", "assign", "setExceptions", "sources"]
    wrong = [
        {},
        [],
        {"frame": {}, "reference": [], "start": "x", "count": -5, "position": {}},
        {"frame": "1e999", "depth": "nan"},
    ]
    with Program(lua, tmp_path) as program:
        ide = launched(program)
        ide.start(tmp_path, dragoman="1")
        for cmd in [
            *commands,
            "setBreakPoint",
            "getVariable",
            "setVariable",
            "getWatchedVariable",
            "runREPLExpression",
        ]:
            for info in wrong:
                ide.ask(cmd, info)
        assert ide.ask("evaluate", {"expression": "6 * 7"})["results"][0]["value"] == "42"
        ide.send("continue")
        ide.run_out()
        assert_ends_well(program)


@every_lua
def test_commands_for_a_stop_are_refused_while_it_runs(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide = launched(program, LASTS)
        ide.start(tmp_path, dragoman="1")
        ide.ask("continue")
        assert ide.ask("variables", {"reference": 1})["error"]["code"] == "not_stopped"
        assert ide.ask("continue")["error"]["code"] == "not_stopped"
        assert ide.ask("evaluate", {"expression": "type(print)"})["results"][0]["value"] == "function"


def test_a_program_that_spoils_the_library_is_still_debugged(tmp_path: Path) -> None:
    spoils = "for _, library in pairs({ string, table, debug, coroutine }) do\n"
    spoils += "  for name in pairs(library) do library[name] = nil end\nend\n"
    spoils += "pcall, error, tostring, tonumber, pairs, ipairs, type, next, select, setmetatable = nil\n"
    with Program("lua5.4", tmp_path) as program:
        path = program.write("main.lua", START + spoils + "local x = 5\nprint('END')\n")
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1")
        ide.breakpoints(path, 7)
        ide.go()
        assert ide.ask("evaluate", {"expression": "x"})["results"][0]["value"] == "5"
        ide.send("continue")
        ide.run_out()
        assert_ends_well(program, "END\n")


def test_a_server_that_accepts_and_says_nothing_holds_nobody_up(tmp_path: Path) -> None:
    with Program("lua5.3", tmp_path) as program:
        launched(program)
        assert_ends_well(program)


def test_an_ide_that_does_not_read_holds_nobody_up(tmp_path: Path) -> None:
    floods = START + "local text = ('x'):rep(100000)\nfor i = 1, 200 do\n  local n = i\nend\nprint('END')\n"
    with Program("lua5.4", tmp_path) as program:
        path = program.write("main.lua", floods)
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1")
        ide.breakpoints(path, {"line": 4, "logMessage": "{text}"})
        ide.send("continue")
        program.stop_listening()
        assert program.end() == (0, "END\n", "")


def test_without_luasocket_the_program_runs_and_says_so(tmp_path: Path) -> None:
    with Program("lua5.4", tmp_path) as program:
        program.write("main.lua", WORKS)
        program.run("main.lua", port=1, LUA_CPATH="none")
        code, out, err = program.end()
    assert (code, out) == (0, "END\t2000\n")
    assert "luasocket was not found" in err


def test_a_program_that_nobody_debugs_runs_as_it_is(tmp_path: Path) -> None:
    with Program("lua5.4", tmp_path) as program:
        port = program.listen()
        program.stop_listening()
        program.write("main.lua", WORKS)
        program.run("main.lua", port=port)
        assert program.end() == (0, "END\t2000\n", "")


def test_an_ide_that_comes_later_is_found_and_found_again_on_every_lua(tmp_path: Path) -> None:
    programs = [Program(lua, folder) for lua, folder in _folders(tmp_path)]
    try:
        ports = []
        for program in programs:
            program.write("main.lua", LASTS)
            ports.append(program.listen())
            program.stop_listening()
            program.run("main.lua", port=ports[-1])
        time.sleep(0.3)  # nobody listens for a while: that is the point, and nothing tells of it
        for again in range(2):
            for program, port in zip(programs, ports, strict=True):
                program.listen(port)
            for program in programs:
                _meet(program, last=again == 1)
        for program in programs:
            assert program.end() == (0, "END\n", "")
    finally:
        for program in programs:
            program.__exit__(None, None, None)


def _folders(root: Path) -> list[tuple[str, Path]]:
    folders = [(lua, root / lua) for lua in LUAS]
    for _, folder in folders:
        folder.mkdir()
    return folders


def _meet(program: Program, *, last: bool) -> None:
    """Stop once in what runs, then leave; the last time for good."""
    ide = program.accept()
    program.stop_listening()
    ide.start(program.root, dragoman="1")
    ide.breakpoints(program.root / "main.lua", 5)
    assert ide.go()["stack"][0]["function"] == "tick"
    if last:
        (program.root / "done").touch()
    ide.send("stopRun", {"attach": "false" if last else "true"})
    ide.run_out()


def test_a_silent_ide_with_a_heartbeat_counts_as_vanished(tmp_path: Path) -> None:
    with Program("lua5.4", tmp_path) as program:
        ide = launched(program)
        ide.start(tmp_path, dragoman="1", heartbeat="0.2")
        assert ide.ask("heartbeat") == []
        ide.run_out()
        assert_ends_well(program)


def test_two_programs_on_one_port_are_two_states(tmp_path: Path) -> None:
    with Program("lua5.4", tmp_path) as program, Program("luajit", tmp_path) as other:
        program.write("main.lua", WORKS)
        port = program.listen()
        program.run("main.lua", port=port)
        other.run("main.lua", port=port)
        states = set()
        for ide in (program.accept(), program.accept()):
            info = ide.ask("initSuccess", settings(tmp_path, dragoman="1"))
            states.add((info["pid"], info["state"]))
            ide.stop()
            ide.send("stopRun", {"attach": "false"})
            ide.run_out()
        assert len(states) == 2
        assert_ends_well(program)
        assert_ends_well(other)


@pytest.mark.parametrize("lua", ["lua5.4", "luajit"])
def test_a_program_that_listens_can_be_debugged_again(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        program.write("main.lua", LASTS.replace(".start(", ".startServer("))
        port = program.listen()
        program.stop_listening()
        program.run("main.lua", port=port)
        for again in range(2):
            ide = program.connect(port)
            ide.start(tmp_path, dragoman="1")
            ide.breakpoints(tmp_path / "main.lua", 5)
            assert ide.go()["stack"][0]["function"] == "tick"
            if again:
                (tmp_path / "done").touch()
            ide.send("stopRun")
            ide.run_out()
        assert program.end() == (0, "END\n", "")


@every_lua
def test_a_socket_of_the_hosts_own_will_do(lua: str, tmp_path: Path) -> None:
    hands_over = (
        "local own = require('socket').connect('127.0.0.1', tonumber(os.getenv('PANDA_PORT')))\n"
        "local object = {}\n"
        "for _, name in ipairs({ 'send', 'receive', 'settimeout', 'close' }) do\n"
        "  object[name] = function(_, ...) return own[name](own, ...) end\n"
        "end\n"
        "require('dragoman').startWith(object)\n"
        "local x = 5\nprint('END')\n"
    )
    with Program(lua, tmp_path) as program:
        path = program.write("main.lua", hands_over)
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1")
        ide.breakpoints(path, 8)
        ide.go()
        assert ide.ask("evaluate", {"expression": "x"})["results"][0]["value"] == "5"
        ide.send("stopRun")
        ide.run_out()
        assert_ends_well(program, "END\n")


@every_lua
def test_a_hook_of_the_programs_own_is_left_alone_until_somebody_debugs(lua: str, tmp_path: Path) -> None:
    counts = "local n = 0\ndebug.sethook(function() n = n + 1 end, 'c')\n" + WORKS.replace(
        "print('END', s)", "print('END', n >= 2000)"
    )
    with Program(lua, tmp_path) as program:
        program.write("main.lua", "if jit then jit.off() end\n" + counts)
        port = program.listen()
        program.stop_listening()
        program.run("main.lua", port=port)
        assert program.end() == (0, "END\ttrue\n", "")


@every_lua
def test_a_host_without_libraries_is_left_as_it_is(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        without_debug = "debug = nil\nlocal d = require('dragoman')\nd.start('127.0.0.1', 1)\nd.BP()\nprint('END')\n"
        program.write("main.lua", without_debug)
        program.run("main.lua", port=1)
        assert program.end() == (0, "END\n", "")
        path = program.write(
            "main.lua",
            "local port = tonumber(os.getenv('PANDA_PORT'))\nlocal d = assert(loadfile('debugger/dragoman.lua'))\n"
            "require('socket')\nio, os = nil\nd().start('127.0.0.1', port)\nlocal x = 5\nprint('END')\n",
        )
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1")
        ide.breakpoints(path, 7)
        ide.go()
        assert ide.ask("evaluate", {"expression": "x"})["results"][0]["value"] == "5"
        ide.send("stopRun")
        ide.run_out()
        assert_ends_well(program, "END\n")


@every_lua
def test_a_program_that_forbids_unknown_globals_is_debugged(lua: str, tmp_path: Path) -> None:
    forbids = "setmetatable(_G, { __index = function(_, name) error('unknown ' .. name, 2) end, "
    forbids += "__newindex = function(_, name) error('undeclared ' .. name, 2) end })\n"
    with Program(lua, tmp_path) as program:
        path = program.write("main.lua", forbids + WORKS)
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1", exceptions="all")
        ide.breakpoints(path, 4)
        assert ide.go()["stack"][0]["function"] == "f"
        ide.send("stopRun")
        ide.run_out()
        assert_ends_well(program)


@pytest.mark.parametrize("switched", ["on", "off"])
def test_luajits_compiler_rests_only_while_breakpoints_exist(tmp_path: Path, switched: str) -> None:
    text = f"jit.{switched}()\n{START}local function f()\n  return 1\nend\nf()\nprint(jit.status())\n"
    text += "local began = os.clock()\nwhile os.clock() - began < 0.2 do f() end\nprint((jit.status()))\n"
    with Program("luajit", tmp_path) as program:
        path = program.write("main.lua", text)
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1")
        ide.breakpoints(path, {"line": 8, "logMessage": "told"})
        ide.send("continue")
        ide.wait_for("debug_console")
        ide.breakpoints(path)
        ide.run_out()
        program.stop_listening()
        _, out, _ = program.end()
    assert [line.split()[0] for line in out.splitlines()] == ["false", "true" if switched == "on" else "false"]


@pytest.mark.parametrize("lua", ["lua5.4", "luajit"])
def test_many_values_that_never_end_cost_a_second_in_all(lua: str, tmp_path: Path) -> None:
    text = START + "local meta = { __tostring = function() while true do end end }\nlocal many = {}\n"
    text += "for i = 1, 100 do\n  many[i] = setmetatable({}, meta)\nend\nprint('END')\n"
    with stopped_at(lua, tmp_path, text, 7) as (_, ide, _):
        many = ide.ask("evaluate", {"expression": "many"})["results"][0]["reference"]
        failed = [row["failed"] for row in ide.ask("variables", {"reference": many})["variables"]]
    assert len(failed) == 100
    assert 3 < failed.count("it did not end in time") < 7
