"""Extended sessions: where the program stops, why, and what a stop contains."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.lua.program import LUAS, Ide, Message, Program, stopped_at

pytestmark = [pytest.mark.needs("lua"), pytest.mark.parametrize("lua", LUAS)]

START = 'require("dragoman").start("127.0.0.1", tonumber(os.getenv("PANDA_PORT")))\n'
LOOP = (
    START
    + """local function tick(i)
  local doubled = i * 2
  return doubled
end
for i = 1, 10 do
  tick(i)
end
print("END")
"""
)
SPINS = START + "local n = 0\nwhile not done do\n  n = n + 1\nend\nprint('END')\n"
IDLES = (
    START
    + """local socket = require("socket")
local n = 0
while not done do
  n = n + 1
  socket.sleep(0.005)
end
print("END")
"""
)


def lines_of(stop: Message) -> list[int]:
    return [int(entry["line"]) for entry in stop["stack"]]


def value_of(ide: Ide, expression: str, frame: int = 2) -> str:
    answer = ide.ask("evaluate", {"expression": expression, "frame": frame})
    return str(answer["results"][0]["value"])


def started(program: Program, text: str, **changed: str) -> tuple[Ide, Path]:
    path = program.write("main.lua", text)
    ide = program.debug("main.lua")
    ide.start(program.root, dragoman="1", **changed)
    return ide, path


def test_a_stop_names_the_functions_and_says_why(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, LOOP, 3) as (_, _, stop):
        assert stop["cmd"] == "stopOnBreakpoint"
        assert stop["info"]["reason"] == "breakpoint"
        assert stop["info"]["coroutine"] == "main"
        assert stop["info"]["memory"] > 1
        assert [(entry["function"], entry["line"]) for entry in stop["stack"]] == [("tick", "3"), ("main chunk", "7")]


def test_the_first_answer_says_which_lua_it_is(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        program.write("main.lua", LOOP)
        ide = program.debug("main.lua")
        ide.send("initSuccess", {"stopOnEntry": "true", "dragoman": "1"})
        info = ide.wait_for("initSuccess")["info"]
    assert info["dragoman"] == "1"
    assert info["lua"] == ("Lua 5.1" if lua == "luajit" else f"Lua {lua.removeprefix('lua')}")
    assert ("LuaJIT" in info["jit"]) == (lua == "luajit")
    assert info["pid"] == program.process.pid if program.process else False
    assert info["state"]


@pytest.mark.parametrize("text", [SPINS, IDLES], ids=["spins", "idles"])
def test_a_pause_stops_a_running_program_soon(lua: str, tmp_path: Path, text: str) -> None:
    with Program(lua, tmp_path) as program:
        ide, path = started(program, text)
        # On LuaJIT compiled code calls no hook: a breakpoint anywhere keeps the compiler off.
        ide.breakpoints(path.with_name("other.lua"), 1)
        ide.ask("continue")
        ide.ask("heartbeat")
        began = time.monotonic()
        ide.send("pause")
        stop = ide.stop()
        assert time.monotonic() - began < 0.5
        assert (stop["cmd"], stop["info"]["reason"]) == ("stopOnPause", "pause")
        assert lines_of(stop)[-1] in range(2, 7)
        assert ide.ask("evaluate", {"expression": "done = true"}) == {"results": []}
        ide.send("continue")
        ide.run_out()
        assert program.end()[:2] == (0, "END\n")


def test_steps_go_over_into_and_out_of_a_call(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, LOOP, 7) as (_, ide, _):
        ide.breakpoints(tmp_path / "main.lua")
        assert lines_of(ide.go("stopOnStepIn")) == [3, 7]
        assert lines_of(ide.go("stopOnStep")) == [4, 7]
        assert lines_of(ide.go("stopOnStepOut"))[-1] in (6, 7)
        over = ide.go("stopOnStep")
        assert len(over["stack"]) == 1
        assert over["info"]["reason"] == "step"


def test_a_step_over_a_line_of_two_calls_enters_neither(lua: str, tmp_path: Path) -> None:
    text = START + "local function f(n)\n  return n\nend\nlocal a = f(1)\nlocal b = f(a) + f(a + 1)\nprint(b)\n"
    with stopped_at(lua, tmp_path, text, 6) as (_, ide, _):
        ide.breakpoints(tmp_path / "main.lua")
        assert lines_of(ide.go("stopOnStep")) == [7]


def test_a_step_from_a_functions_end_does_not_enter_its_sibling(lua: str, tmp_path: Path) -> None:
    two = "local function f(n)\n  return n\nend\nlocal function g(n)\n  return n\nend\n"
    text = START + two + "local b = f(1) + g(2)\nprint(b)\n"
    with stopped_at(lua, tmp_path, text, 3) as (_, ide, _):
        # LuaJIT tells the line of a call again when the call is over.
        assert lines_of(ide.go("stopOnStep")) == ([8] if lua == "luajit" else [9])


CO = (
    START
    + """local function body(tag)
  local first = tag .. "1"
  coroutine.yield(first)
  local second = tag .. "2"
  return second
end
local c = coroutine.create(body)
coroutine.resume(c, "c")
coroutine.resume(c)
local w = coroutine.wrap(body)
w("w")
w()
print("END")
"""
)


def test_coroutines_of_both_kinds_are_followed_and_distinguished(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, CO, 5) as (program, ide, first):
        assert value_of(ide, "first") == "c1"
        second = ide.go()
        assert value_of(ide, "first") == "w1"
        names = {first["info"]["coroutine"], second["info"]["coroutine"]}
        assert len(names) == 2
        assert all(name.startswith("thread: ") for name in names)
        ide.send("continue")
        ide.run_out()
        assert program.end()[1] == "END\n"


def test_coroutines_that_exist_already_are_followed_too(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, CO, 9) as (_, ide, _):
        ide.breakpoints(tmp_path / "main.lua", 5)
        assert lines_of(ide.go()) == [5]


def test_a_step_over_a_resume_stays_in_its_coroutine(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, CO, 9) as (_, ide, _):
        assert lines_of(ide.go("stopOnStep")) == [10]
        assert lines_of(ide.go("stopOnStep")) == [11]


def test_a_step_past_a_yield_arrives_at_the_resumer(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, CO, 4) as (_, ide, _):
        assert lines_of(ide.go("stopOnStep"))[-1] == 10


CALLS = (
    START
    + """local function f(n)
  return n
end
local function down(n)
  local m = n
  if n > 0 then m = down(n - 1) + f(1) end
  return m
end
for i = 1, 3 do
  local here = i
  local sum = f(i) + f(i) + down(2)
end
print("END")
"""
)


@pytest.mark.parametrize(("line", "wanted"), [(3, 12), (6, 9), (7, 9), (11, 3), (12, 3)])
def test_a_line_with_calls_in_it_is_arrived_at_once_each_time(lua: str, tmp_path: Path, line: int, wanted: int) -> None:
    with Program(lua, tmp_path) as program:
        ide, path = started(program, CALLS)
        ide.breakpoints(path, {"line": line, "logMessage": "{n}"})
        ide.send("continue")
        ide.run_out()
    assert sum(message["cmd"] == "debug_console" for message in ide.seen) == wanted


FIRST_LINES = (
    START
    + """local function f(n) return n end
local function g(n) local m = f(n) + f(n); return m end
local function fact(n) return n < 2 and 1 or n * fact(n - 1) end
local function h(n)
  local m = g(n) + tonumber("1")
  return m
end
for i = 1, 3 do
  g(i)
  g(i)
  fact(3)
  h(i)
end
print("END")
"""
)


@pytest.mark.parametrize(("line", "wanted"), [(2, 18), (3, 9), (4, 9), (6, 3)])
def test_a_first_line_with_calls_in_it_is_arrived_at_once_a_call(
    lua: str, tmp_path: Path, line: int, wanted: int
) -> None:
    with Program(lua, tmp_path) as program:
        ide, path = started(program, FIRST_LINES)
        ide.breakpoints(path, {"line": line, "logMessage": "{n}", "condition": "type(n) == 'number'"})
        ide.send("continue")
        ide.run_out()
    assert sum(message["cmd"] == "debug_console" for message in ide.seen) == wanted


HIT_CONDITIONS = {"3": [3, 4], "== 3": [3], ">= 9": [9, 10], "> 9": [10], "< 2": [1], "<= 2": [1, 2], "% 4": [4, 8]}


def test_hit_conditions_count_in_all_their_forms(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide, path = started(program, START + "for round = 1, 7 do\n" + LOOP.removeprefix(START) + "end\n")
        for text, wanted in HIT_CONDITIONS.items():
            ide.breakpoints(path, {"line": 4, "hitCondition": text})
            for hits in wanted:
                stop = ide.go()
                assert (value_of(ide, "i"), stop["info"]["hits"]) == (str(hits), hits)
            ide.breakpoints(path, 10)
            ide.go()


def test_hits_are_still_counted_when_the_list_of_a_file_is_sent_again(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide, path = started(program, LOOP)
        counted = {"line": 4, "hitCondition": "== 5"}
        ide.breakpoints(path, counted, {"line": 3, "condition": "i == 3"})
        ide.go()
        ide.breakpoints(path, counted)
        assert (ide.go()["info"]["hits"], value_of(ide, "i")) == (5, "5")


def test_a_condition_that_fails_is_reported_once_and_does_not_stop(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide, path = started(program, LOOP)
        ide.breakpoints(path, {"line": 3, "condition": "nothing.here > 1"}, {"line": 4, "condition": "i == 7"})
        ide.go()
        assert value_of(ide, "i") == "7"
        entries = [message["info"] for message in ide.seen if message["cmd"] == "conditionFailed"]
        assert [(item["line"], item["expression"]) for item in entries] == [(3, "nothing.here > 1")]
        assert "nothing" in entries[0]["message"]
        assert entries[0]["path"] == str(path)


def test_a_condition_that_never_ends_does_not_hold_the_program(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide, path = started(program, LOOP)
        ide.breakpoints(path, {"line": 9, "condition": "(function() while true do end end)()"})
        ide.send("continue")
        ide.run_out()
        assert program.end()[:2] == (0, "END\n")
        assert [m["info"]["message"] for m in ide.seen if m["cmd"] == "conditionFailed"] == ["it did not end in time"]


def test_log_points_evaluate_what_is_in_braces(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide, path = started(program, LOOP)
        ide.breakpoints(
            path, {"line": 4, "type": 1, "logMessage": "{i} is {doubled} {{x}} {no.such}", "hitCondition": "<= 2"}
        )
        ide.send("continue")
        ide.run_out()
        logs: list[dict[str, Any]] = [message["info"] for message in ide.seen if message["cmd"] == "debug_console"]
    assert [log["logInfo"].partition(" {x}")[0] for log in logs] == [
        f"[LogPoint Output]: {i} is {2 * i}" for i in (1, 2)
    ]
    assert all("no" in log["logInfo"].partition(" {x} ")[2] for log in logs)
    assert [(log["file"], log["line"]) for log in logs] == [(str(path), 4)] * 2


FAILS = START + "local function bad(t)\n  local here = 'bad'\n  return t.missing.field\nend\nbad({})\n"
RAISES = START + "local function bad()\n  local here = 'bad'\n  error('boom')\nend\n"
RAISES += "local ok, why = pcall(bad)\nprint(ok, why)\nbad()\n"


def test_an_uncaught_error_stops_where_it_is_raised(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        program.write("main.lua", RAISES)
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1", exceptions="uncaught")
        stop = ide.go()
        assert (stop["cmd"], stop["info"]["uncaught"], stop["info"]["text"]) == ("stopOnException", True, "boom")
        assert lines_of(stop)[:2] == [4, 8]
        assert "main.lua:8" in stop["info"]["traceback"]
        assert value_of(ide, "here") == "bad"
        ide.send("continue")
        ide.run_out()
        code, out, err = program.end()
    assert out.replace("\t", " ") == "false main.lua:4: boom\n"
    assert code == 1
    assert "main.lua:4: boom" in err


def test_all_errors_stop_when_that_is_wanted(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        program.write("main.lua", RAISES)
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1")
        assert ide.ask("setExceptions", {"filter": "all"}) == []
        assert ide.go()["info"]["uncaught"] is False
        assert ide.go()["info"]["uncaught"] is True


def test_an_error_of_the_language_itself_stops_a_program_that_we_run(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        program.write("fails.lua", FAILS.removeprefix(START) + "-- " + "x" * 10)
        port = program.listen()
        program.run("debugger/dragoman.lua", f"127.0.0.1:{port}", "fails.lua", "one", "two", port=port)
        ide = program.accept()
        ide.start(tmp_path, dragoman="1", exceptions="uncaught")
        assert value_of(ide, "arg[0] .. arg[1] .. arg[2]") == "fails.luaonetwo"
        stop = ide.go()
        assert stop["info"]["reason"] == "exception"
        assert "missing" in stop["info"]["text"]
        assert lines_of(stop) == [3, 5]
        assert value_of(ide, "here") == "bad"
        ide.send("continue")
        ide.run_out()
        code, _, err = program.end()
    assert code == 1
    assert "fails.lua:3:" in err


def end_as_shown(end: tuple[int, str, str]) -> tuple[int, str, list[str]]:
    """Without addresses, and without the frame of the function that stands for `error`."""
    code, out, err = end
    return code, out, [re.sub("0x[0-9a-f]+", "", line) for line in err.splitlines() if "dragoman.lua" not in line]


def test_an_error_of_the_language_itself_stops_a_program_that_called_start(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        program.write("main.lua", FAILS)
        program.run("main.lua", port=1)
        alone = program.end()
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1", exceptions="uncaught")
        stop = ide.go()
        assert (stop["cmd"], stop["info"]["uncaught"]) == ("stopOnException", True)
        assert "main.lua:4:" in stop["info"]["text"]
        assert lines_of(stop) == [4, 6]
        assert value_of(ide, "here") == "bad"
        ide.send("continue")
        ide.run_out()
        assert end_as_shown(program.end()) == end_as_shown(alone)


def test_a_runaway_recursion_ends_as_it_does_without_a_debugger(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        program.write("main.lua", START + "local function down(n)\n  return 1 + down(n + 1)\nend\ndown(1)\n")
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1", exceptions="all")
        ide.send("continue")
        ide.run_out()
        code, _, err = program.end()
    assert code == 1
    assert "stack overflow" in err


def test_an_error_object_of_any_kind_is_reported_and_handed_on(lua: str, tmp_path: Path) -> None:
    text = START + "error(setmetatable({}, { __tostring = function() return 'an object' end }))\n"
    with Program(lua, tmp_path) as program:
        program.write("main.lua", text)
        program.run("main.lua", port=1)
        alone = program.end()
        ide = program.debug("main.lua")
        ide.start(tmp_path, dragoman="1", exceptions="uncaught")
        assert ide.go()["info"]["text"] == "an object"
        ide.send("continue")
        ide.run_out()
        assert end_as_shown(program.end()) == end_as_shown(alone)


CAUGHT = (
    START
    + """local function bad(t)
  local here = "bad"
  return t.missing.field
end
print(pcall(bad, {}))
print(xpcall(function() return bad({}) end, function(text) return "handled " .. text end))
print(pcall(error, "plain", 0))
print(select("#", pcall(function(...) return ... end, 1, nil, nil)))
"""
)


def test_errors_that_the_language_raises_stop_though_they_are_caught(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide, _ = started(program, CAUGHT, exceptions="all")
        for below in (6, 7):
            stop = ide.go()
            assert (stop["info"]["reason"], stop["info"]["uncaught"]) == ("exception", False)
            assert (lines_of(stop)[0], lines_of(stop)[-1], value_of(ide, "here")) == (4, below, "bad")
        stop = ide.go()
        assert stop["info"]["text"] == "plain"
        ide.send("continue")
        ide.run_out()
        out = program.end()[1].replace("\t", " ").splitlines()
    assert [line.split(":")[0] for line in out[:2]] == ["false main.lua", "false handled main.lua"]
    assert out[2:] == ["false plain", "4"]


HOSTED = (
    "local host = pcall\n"
    + START
    + """local function bad(t)
  local here = "bad"
  return t.missing.field
end
local call = require("dragoman").call
print(host(call, bad, {}))
print(host(call, error, { "object" }))
print(host(call, function(...) return select("#", ...), ... end, nil, 2))
"""
)


def test_a_host_that_calls_through_us_sees_its_errors_where_they_are_raised(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide, _ = started(program, HOSTED, exceptions="uncaught")
        stop = ide.go()
        assert (stop["info"]["uncaught"], lines_of(stop)[0], value_of(ide, "here")) == (True, 5, "bad")
        assert ide.go()["info"]["reason"] == "exception"
        ide.send("continue")
        ide.run_out()
        out = program.end()[1].replace("\t", " ").splitlines()
    assert "main.lua:5:" in out[0]
    assert out[1].startswith("false table: ")
    assert out[2] == "true 2 nil 2"
