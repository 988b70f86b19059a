"""Where no function on the stack has a breakpoint, lines are not followed: yet nothing that has one is passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lua.program import LUAS, Ide, Message, Program

pytestmark = [pytest.mark.needs("lua"), pytest.mark.parametrize("lua", LUAS)]

# `spin` does nothing for so long that the hook has gone to rest when it ends.
SPINS = """require("dragoman").start("127.0.0.1", tonumber(os.getenv("PANDA_PORT")))
local marked = require("marked")
local old = coroutine.create(marked.twice)
local function spin()
  local n = 0
  for i = 1, 30000 do
    n = n + 1
    n = n - 1
    n = n + 2
    n = n - 2
  end
  return n
end
"""
MARKED = """local M = {}
function M.plain(n)
  local here = n
  return here
end
function M.twice(n)
  local here = n
  coroutine.yield()
  here = here + 1
  return here
end
function M.runs(spin)
  spin()
  local here = "ran"
  return here
end
return M
"""
WAYS = {
    "called": ("marked.plain(7)", 3, "7"),
    "called last": ("local _ = (function() return marked.plain(7) end)()", 3, "7"),
    "called safely": ("pcall(marked.plain, 7)", 3, "7"),
    "called by the library": ("string.gsub('7', '.', marked.plain)", 3, "7"),
    "called after an error": ("pcall(error) marked.plain(7)", 3, "7"),
    "waited for a call": ("marked.runs(spin)", 15, "ran"),
    "resumed": ("coroutine.resume(old, 7) spin() coroutine.resume(old)", 9, "7"),
    "begun in a coroutine": ("coroutine.wrap(function() spin() marked.plain(7) end)()", 3, "7"),
    "loaded later": ("package.loaded.marked = nil require('marked').plain(7)", 3, "7"),
}


def started(program: Program, then: str) -> tuple[Ide, Path]:
    path = program.write("marked.lua", MARKED)
    program.write("main.lua", SPINS + f"spin()\n{then}\nprint('END')\n")
    ide = program.debug("main.lua")
    ide.start(program.root, dragoman="1")
    return ide, path


def here(ide: Ide) -> str:
    return str(ide.ask("evaluate", {"expression": "here or n"})["results"][0]["value"])


@pytest.mark.parametrize("way", WAYS)
def test_a_breakpoint_is_found_however_it_is_come_to(lua: str, tmp_path: Path, way: str) -> None:
    then, line, value = WAYS[way]
    with Program(lua, tmp_path) as program:
        ide, path = started(program, then)
        ide.breakpoints(path, line)
        stop = ide.go()
        assert (stop["stack"][0]["file"], stop["stack"][0]["line"], here(ide)) == (str(path), str(line), value)
        ide.send("continue")
        ide.run_out()
        assert program.end()[:2] == (0, "END\n")


def test_a_breakpoint_is_set_in_what_runs_while_lines_rest(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        ide, path = started(program, "while not done do spin() end")
        ide.breakpoints(path, 3)
        ide.ask("continue")
        for _ in range(3):
            ide.ask("heartbeat")
        ide.breakpoints(tmp_path / "main.lua", 9)
        assert _place(ide.stop()) == ("main.lua", "9")
        ide.breakpoints(tmp_path / "main.lua")
        ide.ask("continue")
        ide.ask("heartbeat")
        ide.send("pause")
        assert ide.stop()["info"]["reason"] == "pause"
        assert ide.ask("evaluate", {"expression": "done = true"}) == {"results": []}
        assert ide.go("stopOnStepOut")["info"]["reason"] == "step"


def _place(stop: Message) -> tuple[str, str]:
    return Path(stop["stack"][0]["file"]).name, stop["stack"][0]["line"]
