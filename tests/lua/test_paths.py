"""Chunk names and the files of the IDE: dots, spaces, Chinese, cases, the same name twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lua.program import Ide, Program

pytestmark = pytest.mark.needs("lua")
luas = pytest.mark.parametrize("lua", ["lua5.1", "lua5.4", "luajit"])

START = 'require("dragoman").start("127.0.0.1", tonumber(os.getenv("PANDA_PORT")))\n'
MODULE = "return function(x)\n  local y = x + 1\n  return y\nend\n"


def started(program: Program, main: str, name: str = "main.lua", **changed: str) -> Ide:
    program.write(name, START + main)
    ide = program.debug(name)
    ide.start(program.root, dragoman="1", **changed)
    return ide


def first_file(ide: Ide) -> str:
    return str(ide.go()["stack"][0]["file"])


@luas
@pytest.mark.parametrize("name", ["v1.2/mod.lua", "with space/a b.lua", "模块/熊猫.lua", "a-b+c/(x).lua", "%d/[a].lua"])
def test_a_breakpoint_hits_in_a_file_of_any_name(lua: str, tmp_path: Path, name: str) -> None:
    with Program(lua, tmp_path) as program:
        path = program.write(name, MODULE)
        ide = started(program, f"print(dofile('{name}')(1))\n")
        ide.breakpoints(path, 2)
        assert first_file(ide) == str(path)


@luas
def test_a_file_that_is_named_absolutely_or_by_detours_is_the_same_file(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        path = program.write("a/mod.lua", MODULE)
        ide = started(program, f"dofile('{path}')(1)\ndofile('./a/../a/mod.lua')(1)\ndofile('a//mod.lua')(1)\n")
        ide.breakpoints(path, 2)
        assert [first_file(ide) for _ in range(3)] == [str(path)] * 3


@luas
def test_hosts_that_name_chunks_as_require_does_are_understood(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        path = program.write("game/unit.lua", MODULE)
        load = f"local text = io.open('{path}'):read('*a');\n(loadstring or load)(text, '@game.unit')()(1)\n"
        ide = started(program, load + "print('END')\n", luaFileExtension="lua")
        ide.breakpoints(path, 2)
        assert first_file(ide) == str(path)


@luas
def test_by_name_alone_both_files_hit_unless_they_are_distinguished(lua: str, tmp_path: Path) -> None:
    both = "dofile('a/mod.lua')(1)\ndofile('b/mod.lua')(1)\ndofile('b/mod.lua')(1)\n"
    for distinguishes, wanted in (
        ("false", ["a/mod.lua", "b/mod.lua", "b/mod.lua"]),
        ("true", ["b/mod.lua", "b/mod.lua"]),
    ):
        with Program(lua, tmp_path) as program:
            program.write("a/mod.lua", MODULE)
            path = program.write("b/mod.lua", MODULE)
            ide = started(program, both, autoPathMode="true", distinguishSameNameFile=distinguishes)
            ide.breakpoints(path, 2)
            stops = [ide.go()["stack"][0] for _ in wanted]
            assert [stop["oPath"] for stop in stops] == wanted
            assert {stop["file"] for stop in stops} == {"mod.lua"}
            ide.send("continue")
            ide.run_out()


@luas
def test_breakpoints_of_files_with_one_name_stay_apart_when_one_is_cleared(lua: str, tmp_path: Path) -> None:
    with Program(lua, tmp_path) as program:
        a, b = program.write("a/mod.lua", MODULE), program.write("b/mod.lua", MODULE)
        ide = started(program, "dofile('a/mod.lua')(1)\ndofile('b/mod.lua')(1)\nprint('END')\n")
        ide.breakpoints(a, 2)
        ide.breakpoints(b, 2)
        ide.breakpoints(a)
        assert first_file(ide) == str(b)


def test_case_is_ignored_where_that_is_wanted(tmp_path: Path) -> None:
    with Program("lua5.4", tmp_path) as program:
        path = program.write("Mod.lua", MODULE)
        ide = started(program, "dofile('Mod.lua')(1)\n", pathCaseSensitivity="false")
        ide.breakpoints(Path(str(path).upper()), 2)
        assert first_file(ide) == str(path).lower()


def test_code_from_strings_is_stepped_over_but_can_be_paused_in(tmp_path: Path) -> None:
    text = "local f = (loadstring or load)('local n = 0\\nwhile not done do\\n  n = n + 1\\nend')\nf()\nprint('END')\n"
    with Program("lua5.4", tmp_path) as program:
        ide = started(program, text)
        ide.breakpoints(tmp_path / "main.lua", 3)
        ide.go()
        ide.send("stopOnStepIn")
        ide.wait_for("stopOnStepIn")
        ide.ask("heartbeat")
        ide.send("pause")
        assert ide.stop()["cmd"] == "stopOnPause"
        ide.ask("evaluate", {"expression": "done = true"})
        assert ide.go("stopOnStepIn")["stack"][0]["line"] == "4"


def test_a_wrong_folder_is_recognised_by_the_sources_that_are_known(tmp_path: Path) -> None:
    with Program("lua5.4", tmp_path) as program:
        program.write("main.lua", START + "print(1)\nprint(2)\n")
        ide = program.debug("main.lua")
        ide.start(tmp_path / "elsewhere", dragoman="1")
        assert ide.breakpoints(tmp_path / "main.lua", 3)["breakpoints"][0]["known"] is False
        sources = ide.ask("sources")["sources"]
        assert [(item["source"], item["file"]) for item in sources] == [("@main.lua", f"{tmp_path}/elsewhere/main.lua")]
