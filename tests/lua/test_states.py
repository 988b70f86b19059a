"""Two Lua states in one process, each on a thread of its own: two sessions that know nothing of each other."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.lua.program import LUAS, Ide, Program, settings

pytestmark = [pytest.mark.needs("lua", "c"), pytest.mark.parametrize("lua", LUAS)]

# The interpreters export Lua's own functions, so that no header is needed.
HOST = """
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
typedef struct lua_State lua_State;
extern lua_State *luaL_newstate(void);
extern void luaL_openlibs(lua_State *);
extern void lua_close(lua_State *);
extern const char *lua_tolstring(lua_State *, int, size_t *);
#ifdef LUA51
extern int luaL_loadfile(lua_State *, const char *);
extern int lua_pcall(lua_State *, int, int, int);
static int run_file(lua_State *L, const char *path) { return luaL_loadfile(L, path) || lua_pcall(L, 0, 0, 0); }
#else
extern int luaL_loadfilex(lua_State *, const char *, const char *);
extern int lua_pcallk(lua_State *, int, int, int, ptrdiff_t, void *);
static int run_file(lua_State *L, const char *path) {
  return luaL_loadfilex(L, path, NULL) || lua_pcallk(L, 0, 0, 0, 0, NULL);
}
#endif
static pthread_t thread;
static char path[4096];
static void *second_state(void *unused) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  long failed = run_file(L, path);
  lua_close(L);
  return (void *)failed;
}
int begin(lua_State *L) {
  const char *given = lua_tolstring(L, 1, NULL);
  size_t at = 0;
  while ((path[at] = given[at])) at++;
  pthread_create(&thread, NULL, second_state, NULL);
  return 0;
}
int join(lua_State *L) {
  void *failed;
  pthread_join(thread, &failed);
  if (failed) abort();
  return 0;
}
"""
MAIN = """assert(package.loadlib("./host.so", "begin"))("second.lua")
require("dragoman").start("127.0.0.1", tonumber(os.getenv("PANDA_PORT")))
local function work(name)
  local where = name
  return where
end
work("first")
work("first again")
package.loadlib("./host.so", "join")()
print("END")
"""
SECOND = MAIN.partition("\n")[2].replace("first", "second").partition("package.loadlib")[0]


def built(program: Program, lua: str) -> None:
    source = program.write("host.c", HOST)
    flag = ["-DLUA51"] if lua in ("lua5.1", "luajit") else []
    command = ["gcc", "-shared", "-fPIC", *flag, "-o", str(program.root / "host.so"), str(source), "-lpthread"]
    subprocess.run(command, check=True, capture_output=True)


def where(ide: Ide) -> str:
    return str(ide.ask("evaluate", {"expression": "where"})["results"][0]["value"])


def test_two_states_of_a_process_are_two_sessions(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        built(program, lua)
        paths = {"main.lua": program.write("main.lua", MAIN), "second.lua": program.write("second.lua", SECOND)}
        program.run("main.lua", port=program.listen())
        sessions = {}
        received = []
        for ide in (program.accept(), program.accept()):
            received.append(ide.ask("initSuccess", settings(tmp_path, dragoman="1")))
            name = Path(ide.stop()["stack"][0]["file"]).name
            sessions[name] = ide
            line = 5 if name == "main.lua" else 4
            ide.breakpoints(paths[name], line)
        assert set(sessions) == set(paths)
        assert len({info["pid"] for info in received}) == 1
        assert len({info["state"] for info in received}) == 2
        first, second = sessions["main.lua"], sessions["second.lua"]
        second.go()
        first.go()
        assert (where(first), where(second)) == ("first", "second")
        second.go()
        assert (where(first), where(second)) == ("first", "second again")
        for ide in (first, second):
            ide.send("stopRun", {"attach": "false"})
            ide.run_out()
        assert program.end() == (0, "END\n", "")
