"""Debugging real Lua programs through the engine and an unmodified LuaPanda.lua, where one is given.

Its file is not part of this repository: `LUAPANDA_LUA` says where a copy is.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters.lua import LUA
from dragoman.debug.model import LaunchRequest
from tests.conformance.lua_runtimes import LuaWorkspace, free_port
from tests.conformance.scenario import PROGRAMS, Behaviours, Language, Stage
from tests.conformance.test_python import service_in, stop_of, values

PANDA = os.environ.get("LUAPANDA_LUA", "")
NO_CODE = """local t = { x = "y" }
local function f(n)
  local r = n
  return r
end
for i = 1, 5 do
  f(i)
end
local z = os.time()
while os.time() - z < 20 do f(1) end
"""

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(180),
    pytest.mark.skipif(not PANDA, reason="LUAPANDA_LUA does not name a LuaPanda.lua"),
]

LANGUAGE = Language("lua", LUA, "lua/main.lua", computes=2, calls=10, prints=11)


class PandaStage(Stage):
    """With the user's own copy of LuaPanda, found by `packagePath`."""

    def launch_request(self, *args: str, **fields: object) -> LaunchRequest:
        launch_request = super().launch_request(*args, **fields)
        own = {"packagePath": [str(self.workspace / "panda")], "luaPath": os.environ.get("LUA", "lua5.3")}
        return LaunchRequest(configuration={**launch_request.configuration, **own}, stdin=launch_request.stdin)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    (tmp_path / "panda").mkdir()
    shutil.copy(PANDA, tmp_path / "panda" / "LuaPanda.lua")
    return PandaStage(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))


class TestLuaPanda(Behaviours):
    """What every language does."""


async def test_a_runtime_that_may_load_no_code_does_what_its_own_commands_can(tmp_path: Path) -> None:
    lua = LuaWorkspace.made(tmp_path, "panda")
    program, port = lua.write("main.lua", NO_CODE), free_port()
    client = lua.client
    async with service_in(tmp_path, LUA) as service:
        await service.set_breakpoint(client, lua.at(program, 4, hit_condition="== 3"))
        await service.set_breakpoint(client, lua.at(program, 7, log_message="i={i}"))
        waits = await service.start(client, lua.listening(port), within_s=0.1)
        with lua.running(program, f"start('127.0.0.1', {port})", before="load = nil loadstring = nil"):
            stop = stop_of(await service.wait(client, waits.session.id, within_s=20))
            assert (stop.reason, values(stop)["n"], stop.output) == ("breakpoint", "3", "i=1\ni=2\ni=3\n")
            with pytest.raises(DragomanError, match="cannot load code"):
                await service.evaluate(client, "", "n + 1", frame=None, context="repl", within_s=5)
            await service.set_variable(client, "", name="n", value="44", reference=None, frame=None)
            assert values(service.find(client).require_stopped())["n"] == "44"
            await service.remove_breakpoints(client, lambda _: True)
            await service.resume(client, "", thread_id=None, within_s=0.2)
            paused = stop_of(await service.pause(client, "", within_s=10))
            assert (paused.reason, paused.frames[0].path) == ("pause", str(program))
