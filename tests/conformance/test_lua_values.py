"""What a stopped Lua program holds: frames, values of all kinds, and names of files that are hard to match."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.model import ProgramEnd, Stop, VariableInfo
from dragoman.debug.service import DebugService
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.lua_runtimes import LUA, LUAS, RUNTIMES, LuaWorkspace, free_port
from tests.conformance.test_python import end_of, eventually, service_in, stop_of, values

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

EVERY = [(runtime, name) for runtime in RUNTIMES for name in LUAS if shutil.which(name)]
VALUES = """local up = { count = 1 }
local function fact(n, ...)
  local me = "n=" .. n
  if n == 1 then
    up.count = up.count + 1
    return n
  end
  return n * fact(n - 1, "extra", n)
end
local tricky = { bar = "a|*|b", lines = "one\\ntwo", zero = "a\\0b", bytes = "\\255\\254", panda = "🐼" }
local cycle = { name = "c" }
cycle.me = cycle
local rude = setmetatable({}, { __tostring = function() error("rude") end, __index = function() error("no") end })
local big = {}
for i = 1, 3000 do big["key" .. i] = i end
local after = { last = "told too" }
print(fact(4), tricky.bar, cycle.name, rawget(rude, 1), big.key1, after.last)
"""


@pytest.fixture(params=EVERY, ids=lambda it: f"{it[0]}-{it[1]}")
def lua(request: pytest.FixtureRequest, tmp_path: Path) -> LuaWorkspace:
    return LuaWorkspace.made(tmp_path, *request.param)


async def _scope(service: DebugService, lua: LuaWorkspace, name: str, frame: int | None = None) -> list[VariableInfo]:
    scopes = await service.find(lua.client, "").inspection.scopes(frame, None)
    reference = next(scope.reference for scope in scopes if scope.name == name)
    return list((await service.find(lua.client, "").inspection.page(reference, start=0, count=100)).variables)


async def _result(service: DebugService, lua: LuaWorkspace, expression: str) -> str:
    found = await service.evaluate(lua.client, "", expression, frame=None, context="repl", within_s=10)
    return found.result


async def test_each_frame_of_a_recursion_has_its_own_locals_and_varargs(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", VALUES)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 5))
        stop = stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        assert [frame.name for frame in stop.frames] == ["fact", "fact", "fact", "fact", "main chunk"]
        seen = [
            {it.name: it.value for it in await _scope(service, lua, "Locals", frame.id)} for frame in stop.frames[:4]
        ]
        assert [each["me"] for each in seen] == ['"n=1"', '"n=2"', '"n=3"', '"n=4"']
        ups = {it.name: it for it in await _scope(service, lua, "Upvalues")}
        assert {"up", "fact"} <= set(ups)
        assert "print" in {it.name for it in await _scope(service, lua, "Globals")}
        if lua.interpreter != "lua5.1":
            assert [it.value for it in await _scope(service, lua, "Varargs")] == ['"extra"', "2"]
            assert await _result(service, lua, "...") == '"extra", 2'


async def test_locals_upvalues_and_fields_are_set_where_they_are(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", VALUES)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 5))
        stop = stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        caller = stop.frames[1].id
        changed = await service.set_variable(lua.client, "", name="n", value="20", reference=None, frame=caller)
        assert changed.result == "20"
        assert {it.name: it.value for it in await _scope(service, lua, "Locals", caller)}["n"] == "20"
        assert values(service.find(lua.client).require_stopped())["n"] == "1"
        ups = {it.name: it for it in await _scope(service, lua, "Upvalues")}
        await service.set_variable(
            lua.client, "", name="count", value="40 + 1", reference=ups["up"].reference, frame=None
        )
        assert await _result(service, lua, "up.count") == "41"
        assert await _result(service, lua, "count") == "nil"
        ended = end_of(await service.resume(lua.client, "", thread_id=None, within_s=20))
        assert ended.output.startswith("240\t")


async def test_errors_of_expressions_and_several_results_are_reported(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", VALUES)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 5))
        await service.start(lua.client, lua.launch(program), within_s=20)
        assert await _result(service, lua, "1, nil, 'x'") == '1, nil, "x"'
        with pytest.raises(DragomanError, match="my own words"):
            await _result(service, lua, "error('my own words', 0)")
        with pytest.raises(DragomanError, match="nothere"):
            await _result(service, lua, "nothere.field")
        await _result(service, lua, "fresh = { 1, 2, 3 }")
        assert await _result(service, lua, "#fresh") == "3"


async def test_strings_that_break_protocols_arrive_whole(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", VALUES)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 17))
        await service.start(lua.client, lua.launch(program), within_s=20)
        assert await _result(service, lua, "tricky.bar") == '"a|*|b"'
        assert await _result(service, lua, "tricky.panda") == '"🐼"'
        assert await _result(service, lua, "#tricky.zero, #tricky.bytes, #'🐼|*|'") == "3, 2, 7"
        assert "255" in await _result(service, lua, "tricky.bytes")
        assert "two" in await _result(service, lua, "tricky.lines")


async def test_cycles_rude_metatables_and_large_tables_are_looked_into(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", VALUES)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 17))
        stop = stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        assert stop.top_locals is not None
        found = {it.name: it for it in stop.top_locals.variables}
        inner = await service.find(lua.client, "").inspection.page(found["cycle"].reference, start=0, count=10)
        assert {it.name for it in inner.variables} == {"me", "name"}
        assert found["rude"].value
        assert found["after"].value == '{last = "told too"}'
        page = await service.find(lua.client, "").inspection.page(found["big"].reference, start=100, count=50)
        assert (len(page.variables), page.total) == (50, 3000)


@pytest.mark.parametrize(
    "name", ["my.game/main.lua", "with space/ma in.lua", "目录/主程序.lua", "a-b/c%d.lua", "x.y.lua"]
)
async def test_breakpoints_bind_in_files_with_hard_names(lua: LuaWorkspace, name: str) -> None:
    program = lua.write(name, "local a = 1\nlocal b = a + 1\nprint(b)\n")
    async with service_in(lua.folder, LUA) as service:
        made, _ = await service.set_breakpoint(lua.client, lua.at(program, 2))
        stop = stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        assert (stop.frames[0].path, stop.frames[0].line, stop.hit_breakpoints) == (str(program), 2, (made.id,))
        assert service.binding(lua.client, made.id).verified


async def test_of_files_with_the_same_name_only_the_meant_one_stops(lua: LuaWorkspace) -> None:
    lua.write("a/mod.lua", "local who = 'a'\nreturn who\n")
    meant = lua.write("b/mod.lua", "local who = 'b'\nreturn who\n")
    program, port = lua.write("main.lua", "require('a.mod')\nrequire('b.mod')\n"), free_port()
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(meant, 2))
        waits = await service.start(lua.client, lua.listening(port), within_s=0.1)
        with lua.running(program, f"start('127.0.0.1', {port})"):
            stop = stop_of(await service.wait(lua.client, waits.session.id, within_s=20))
            assert (stop.frames[0].path, values(stop)["who"]) == (str(meant), '"b"')
            await service.resume(lua.client, waits.session.id, thread_id=None, within_s=10)


async def test_with_a_wrong_folder_configured_breakpoints_are_hit_all_the_same(lua: LuaWorkspace) -> None:
    lua.write("src/begin.lua", "local a = 1\nrequire('mod')\n")
    module, port = lua.write("src/mod.lua", "local m = 2\nreturn m\n"), free_port()
    launch_request = lua.listening(port, autoPathMode=False, cwd=str(lua.folder / "panda"))
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(module, 2))
        waits = await service.start(lua.client, launch_request, within_s=0.1)
        inside = LuaWorkspace(lua.folder / "src", lua.runtime, lua.interpreter)
        shutil.copytree(lua.folder / "panda", inside.folder / "panda")
        with inside.running(inside.folder / "begin.lua", f"start('127.0.0.1', {port})"):
            stop = stop_of(await service.wait(lua.client, waits.session.id, within_s=20))
            assert (stop.frames[0].path, values(stop)["m"]) == (str(module), "2")


async def test_a_breakpoint_in_a_file_that_is_never_loaded_says_what_is(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", "local a = 1\nprint(a)\n")
    other = lua.write("other.lua", "print(1)\n")
    async with service_in(lua.folder, LUA) as service:
        made, _ = await service.set_breakpoint(lua.client, lua.at(other, 1))
        await service.start(lua.client, lua.launch(program, stopOnEntry=True), within_s=20)
        binding = service.binding(lua.client, made.id)
        assert not binding.verified
        assert "other.lua" in binding.message
        assert "main.lua" in binding.message


WATCHED = """local function work(t)
  local sum = 0
  for i = 1, 3 do
    sum = sum + i
    t.count = sum
  end
  return sum
end
local point = { count = 0 }
local first = work(point)
print(first, point.count)
"""


async def test_where_a_field_or_a_local_changes_it_stops_and_says_what_it_was(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", WATCHED)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 3))
        stop = stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        assert stop.top_locals is not None
        holder = next(it.reference for it in stop.top_locals.variables if it.name == "t")
        field = Breakpoint(id=0, kind="data", variable="count", reference=holder, condition="sum > 1")
        if lua.runtime == "panda":
            with pytest.raises(DragomanError, match="does not report data changes"):
                await service.set_breakpoint(lua.client, field)
            return
        of_field, _ = await service.set_breakpoint(lua.client, field)
        of_local, _ = await service.set_breakpoint(lua.client, Breakpoint(id=0, kind="data", variable="sum"))
        seen = []
        while isinstance(outcome := (await service.resume(lua.client, "", thread_id=None, within_s=20)).outcome, Stop):
            if outcome.reason == "data breakpoint":
                seen.append((outcome.hit_breakpoints, values(outcome).get("sum")))
        assert ((of_field.id,), "3") in seen
        assert [hit for hit, _ in seen].count((of_local.id,)) == 3
        assert isinstance(outcome, ProgramEnd)
        assert outcome.output.startswith("6\t6")


async def test_a_breakpoint_is_hit_behind_a_call_into_another_file(lua: LuaWorkspace) -> None:
    lua.write("mod.lua", "local M = {}\nfunction M.twice(n)\n  return n * 2\nend\nreturn M\n")
    program = lua.write("main.lua", "local mod = require('mod')\nlocal a = mod.twice(2)\nlocal b = a\nprint(b)\n")
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 4))
        stop = stop_of(await service.start(lua.client, lua.launch(program, cwd=str(lua.folder)), within_s=20))
        assert (stop.reason, stop.frames[0].line, values(stop)["b"]) == ("breakpoint", 4, "4")


async def test_what_may_be_the_file_is_offered_and_taken_with_one_call(lua: LuaWorkspace) -> None:
    text = "local function draw(n)\n  local size = n\n  return size\nend\nreturn draw\n"
    module = lua.write("src/ui.lua", text)
    program = lua.write(
        "main.lua",
        f"local draw = (loadstring or load)([==[{text}]==], '@packed/UI.bytes')()\nlocal a = 1\nprint(draw(a))\n",
    )
    async with service_in(lua.folder, LUA) as service:
        made, _ = await service.set_breakpoint(lua.client, lua.at(module, 2))
        await service.set_breakpoint(lua.client, lua.at(program, 7))
        await service.start(lua.client, lua.launch(program), within_s=20)
        result = service.binding(lua.client, made.id).message
        offer = result.partition("evaluate `")[2].partition("`. Loaded:")[0]
        assert offer == "dragoman path packed/UI.bytes src/ui.lua"
        with pytest.raises(DragomanError, match=r"packed/UI\.bytes"):
            await _result(service, lua, "dragoman path nothing src/ui.lua")
        await _result(service, lua, offer)
        await eventually(lambda: service.binding(lua.client, made.id).verified)
        stop = stop_of(await service.resume(lua.client, "", thread_id=None, within_s=20))
        assert (stop.frames[0].path, values(stop)["n"], stop.hit_breakpoints) == (str(module), "1", (made.id,))


async def test_a_condition_that_fails_is_reported_with_its_breakpoint(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", "for i = 1, 3 do\n  local x = i\n  print(x)\nend\nprint('end')\n")
    async with service_in(lua.folder, LUA) as service:
        failing, _ = await service.set_breakpoint(lua.client, lua.at(program, 3, condition="nothere.field > 1"))
        await service.set_breakpoint(lua.client, lua.at(program, 5))
        stop = stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        assert stop.frames[0].line == 5
        await eventually(lambda: "nothere" in service.binding(lua.client, failing.id).message)
