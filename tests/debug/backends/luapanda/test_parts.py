"""Settings, names of files, lines with code, values as Lua source: the parts that need no program."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import lua as adapter
from dragoman.debug.backends.adapters.spec import LaunchContext
from dragoman.debug.backends.luapanda.binding_advice import explain_binding, explain_unbound, parse_path_command
from dragoman.debug.backends.luapanda.breakpoints import message_parts
from dragoman.debug.backends.luapanda.inspection import format_value, function_name
from dragoman.debug.backends.luapanda.lua_source import next_code_line
from dragoman.debug.backends.luapanda.path_map import LuaChunk, LuaPathMap
from dragoman.debug.backends.luapanda.runtime import choose_interpreter
from dragoman.debug.backends.luapanda.runtime_client import lua_string, lua_value
from dragoman.debug.backends.luapanda.settings import read_settings
from dragoman.debug.backends.port import AdapterRefusedError
from dragoman.protocols.luapanda.commands import encoded_info

LUA = next((name for name in ("lua5.4", "lua5.3", "lua5.1", "luajit") if shutil.which(name)), None)


def paths_in(folder: Path, **given: Any) -> LuaPathMap:
    return LuaPathMap(read_settings("attach", given, folder), folder)


@pytest.mark.parametrize(
    ("request_", "given", "mode"),
    [
        ("launch", {"program": "main.lua"}, "started"),
        ("launch", {"program": "main", "luaPath": "/usr/bin/lua"}, "started"),
        ("launch", {"program": "game.exe"}, "listening"),
        ("launch", {}, "listening"),
        ("attach", {"connectionPort": 8820}, "listening"),
        ("attach", {"VSCodeAsClient": True, "connectionIP": "10.0.0.2"}, "connecting"),
        ("launch", {"VSCodeAsClient": "true"}, "connecting"),
    ],
)
def test_the_configuration_decides_which_side_starts_and_listens(
    request_: str, given: dict[str, Any], mode: str
) -> None:
    assert read_settings(request_, given, Path("/w")).mode == mode


def test_luapandas_defaults_apply_to_missing_keys() -> None:
    settings = read_settings("attach", {}, Path("/w"))
    assert (settings.host, settings.port, settings.auto_path) == ("127.0.0.1", 8818, True)
    assert not read_settings("launch", {"program": "a.lua"}, Path("/w")).auto_path


def test_what_is_sent_first_is_whole_and_its_flags_are_text() -> None:
    given = {
        "luaFileExtension": ".lua.txt",
        "truncatedOPath": "x",
        "useCHook": "true",
        "logLevel": "7",
        "clibPath": "clib",
    }
    result = encoded_info("initSuccess", read_settings("attach", given, Path("/w")).init())
    assert (result["luaFileExtension"], result["useCHook"], result["logLevel"]) == ("lua.txt", "true", "1")
    assert result["clibPath"] == "/w/clib/"
    assert all(isinstance(value, str) for value in result.values())
    assert result["TempFilePath"]


@pytest.mark.parametrize("port", [0, 70000, "x", "-1", "８８１８"])
def test_what_is_not_a_port_is_refused(port: object) -> None:
    with pytest.raises(DragomanError) as caught:
        read_settings("attach", {"connectionPort": port}, Path("/w"))
    assert caught.value.code == "bad_configuration"


@pytest.mark.parametrize(
    ("given", "is_warned_of"),
    [
        ({"connectionIP": "0.0.0.0"}, True),
        ({"connectionIP": "192.0.2.7"}, True),
        ({}, False),
        ({"connectionIP": "localhost"}, False),
        ({"connectionIP": "192.0.2.7", "VSCodeAsClient": True}, False),
    ],
)
def test_a_port_that_others_can_reach_is_warned_of_in_the_first_answer(
    given: dict[str, Any], is_warned_of: bool
) -> None:
    text = adapter.LUA.facts(LaunchContext("attach", given, {}, Path("/w")))
    assert ("other machines can connect" in text.get("warning", "")) is is_warned_of
    assert 'start("0.0.0.0"' not in text["waits for"]


def test_an_interpreter_is_a_name_or_a_path_from_where_the_program_runs(tmp_path: Path) -> None:
    lua = tmp_path / "bin" / "lua"
    lua.parent.mkdir()
    lua.touch(0o755)
    named = {"lua": {"PATH": str(lua.parent)}, "./bin/lua": {}, "bin/lua": {}, str(lua): {}}
    for name, environment in named.items():
        settings = read_settings("launch", {"program": "a.lua", "luaPath": name}, tmp_path)
        assert Path(choose_interpreter(settings, environment)).samefile(lua)


# Names.


def test_dots_in_a_path_are_folders_to_the_runtime() -> None:
    paths = paths_in(Path("/w"), autoPathMode=False)
    assert paths.runtime_names("/w/my.game/a.b.lua") == ["/w/my/game/a/b.lua"]
    assert paths.runtime_names("/w.x/a.lua") == ["/w/x/a.lua"]
    assert LuaPathMap(read_settings("attach", {"autoPathMode": False}, Path("/w.x")), Path("/w.x")).runtime_names(
        "/w.x/a.lua"
    ) == ["/w/x/a.lua", "/w.x/a.lua"]


def test_a_loaded_chunk_says_for_certain_what_its_file_is_called(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    file = tmp_path / "src" / "mod.lua"
    file.write_text("")
    paths = paths_in(tmp_path, autoPathMode=False)
    chunk = LuaChunk(source="@../elsewhere/src/mod.lua", file="/elsewhere/src/mod.lua")
    assert paths.file_of(chunk) == str(file)
    assert paths.runtime_names(str(file), [chunk])[0] == "/elsewhere/src/mod.lua"


def test_a_wrong_folder_is_learned_from_what_is_loaded_and_applied_to_the_rest(tmp_path: Path) -> None:
    for name in ("start.lua", "other.lua"):
        (tmp_path / name).write_text("")
    paths = LuaPathMap(read_settings("attach", {"cwd": "/wrong", "autoPathMode": False}, tmp_path), tmp_path)
    loaded = [LuaChunk(source="@start.lua", file="/wrong/start.lua")]
    assert "/wrong/other.lua" in paths.runtime_names(str(tmp_path / "other.lua"), loaded)


def test_of_equal_names_the_folders_decide_and_a_draw_decides_nothing(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mod.lua").write_text("")
    paths = paths_in(tmp_path)
    assert paths.file_of(LuaChunk(file="mod.lua", opath="x/b/mod.lua")) == str(tmp_path / "b" / "mod.lua")
    assert paths.file_of(LuaChunk(file="mod.lua", opath="mod.lua")) == "mod.lua"


def test_a_path_of_another_machine_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "m.lua").write_text("")
    paths = paths_in(tmp_path, docPathReplace=["/phone/scripts", str(tmp_path)])
    assert paths.file_of(LuaChunk(source="@/phone/scripts/m.lua")) == str(tmp_path / "m.lua")
    assert paths.file_of(LuaChunk(source="@/phone/scriptsX/n.lua")) == "/phone/scriptsX/n.lua"


@given(st.text(max_size=300))
def test_whatever_a_program_calls_its_chunks_is_survived(name: str) -> None:
    assert isinstance(paths_in(Path("/nowhere")).file_of(LuaChunk(source="@" + name)), str)


@pytest.mark.parametrize(
    ("given", "chunk", "expected"),
    [
        ({"cwd": "/w/sub"}, LuaChunk(source="@src/mod.lua"), "`cwd` to /w in"),
        ({}, LuaChunk(source="@src/Mod.lua", file="Mod.lua"), "`pathCaseSensitivity` to false"),
        ({}, LuaChunk(source="@src/mod", file="mod"), "`luaFileExtension` to lua in"),
        ({}, LuaChunk(source="@main.lua"), "Loaded: main.lua"),
    ],
)
def test_the_advice_names_the_setting_that_would_fit(given: dict[str, Any], chunk: LuaChunk, expected: str) -> None:
    settings = read_settings("attach", given, Path("/w"))
    result = explain_unbound("/w/src/mod.lua", [chunk], LuaPathMap(settings, Path("/w")), settings)
    assert expected in result
    assert "mod.lua" in result


@pytest.mark.parametrize(
    ("chunks", "line"),
    [
        ([LuaChunk(source="@packed/MOD.lua.txt")], "dragoman path packed/MOD.lua.txt src/mod.lua"),
        ([LuaChunk(source="@it's one"), LuaChunk(source="@here.lua")], "dragoman path 'it'\"'\"'s one' src/mod.lua"),
        ([LuaChunk(source="@mod.bytes"), LuaChunk(source="@stranger")], "dragoman path mod.bytes src/mod.lua"),
        ([LuaChunk(source="@one"), LuaChunk(source="@two")], ""),
        ([LuaChunk(source="@here.lua")], ""),
        ([LuaChunk(source="@two\nlines")], ""),
        ([LuaChunk(source="@" + "x" * 300)], ""),
    ],
)
def test_what_may_be_the_file_is_offered_as_a_line_to_evaluate(
    tmp_path: Path, chunks: list[LuaChunk], line: str
) -> None:
    (tmp_path / "src").mkdir()
    for name in ("src/mod.lua", "here.lua"):
        (tmp_path / name).write_text("")
    settings = read_settings("attach", {"autoPathMode": False}, tmp_path)
    text = explain_unbound(str(tmp_path / "src/mod.lua"), chunks, LuaPathMap(settings, tmp_path), settings)
    assert text.partition("evaluate `")[2].partition("`. Loaded:")[0] == line
    if line:
        assert parse_path_command(line) == (chunks[0].plain, "src/mod.lua")


@pytest.mark.parametrize("text", ["dragoman", "dragoman path x", "dragoman path 'x y", "dragoman.path('a', 'b')", ""])
def test_any_other_line_is_lua(text: str) -> None:
    assert parse_path_command(text) is None


def test_a_declared_chunk_is_its_file_and_a_file_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "mod.lua").write_text("")
    paths = paths_in(tmp_path)
    chunk = LuaChunk(source="@blob", file="blob")
    assert not paths.is_known(chunk)
    assert paths.declare(chunk, "mod.lua") == str(tmp_path / "mod.lua")
    assert (paths.file_of(chunk), paths.is_guess(chunk, str(tmp_path / "mod.lua"))) == (
        str(tmp_path / "mod.lua"),
        False,
    )
    with pytest.raises(AdapterRefusedError):
        paths.declare(chunk, "none.lua")


@pytest.mark.parametrize(
    ("source", "is_reported"),
    [("src/mod.lua", False), ("mod", False), ("src.mod", False), ("lib/mod.lua", True), ("/else/mod.lua", True)],
)
def test_a_name_that_agrees_without_its_folder_is_reported(tmp_path: Path, source: str, is_reported: bool) -> None:
    settings = read_settings("attach", {}, tmp_path)
    text = explain_binding(
        str(tmp_path / "src/mod.lua"), LuaChunk(source="@" + source), LuaPathMap(settings, tmp_path), settings
    )
    assert (source in text) == is_reported


# Lines.

CODE = """-- a comment
local a = 1 -- behind code
--[[ long
comment ]] local b = 2
--[==[ ]]
]==]

local s = [[
inner
]]
local t = "--[["
return a
-- last"""


@pytest.mark.parametrize(("line", "code"), [(1, 2), (2, 2), (3, 4), (5, 8), (7, 8), (9, 10), (11, 11), (12, 12)])
def test_a_breakpoint_at_a_comment_moves_to_the_next_code(line: int, code: int) -> None:
    assert next_code_line(CODE.splitlines(), line) == code


@pytest.mark.parametrize("line", [0, 13, 14, 99])
def test_behind_the_last_code_there_is_no_line(line: int) -> None:
    assert next_code_line(CODE.splitlines(), line) is None


# Lua source.


@pytest.mark.skipif(LUA is None, reason="no Lua here")
@given(st.binary(max_size=60))
def test_every_string_of_bytes_is_the_same_in_lua(data: bytes) -> None:
    text = lua_string(data.decode("utf-8", "surrogateescape"))
    assert text.isascii()
    assert "|" not in text
    output = subprocess.run([str(LUA), "-e", f"io.write({text})"], capture_output=True, check=True).stdout
    assert output == data


def test_tables_are_written_with_their_keys() -> None:
    assert lua_value({"a": 1, 7: [True, None, "x"]}) == '{["a"]=1,[7]={true,nil,"x"}}'


def test_a_message_is_cut_at_its_expressions_and_doubled_braces_are_braces() -> None:
    assert message_parts("n is {n}, {{x}}!", lambda it: [it]) == ["n is ", ["n"], ", ", "{", "x", "}", "!"]


def test_strings_are_shown_in_quotes_and_cut_ones_say_so() -> None:
    assert format_value({"type": "string", "value": 'a"b\n', "length": 5000}) == '"a\\"b\\n"… (5000 bytes)'
    assert format_value({"type": "table", "value": "table", "failed": "boo"}) == "table <boo>"


def test_a_function_without_a_name_is_named_by_its_line() -> None:
    assert function_name({"function": "", "defined": 12}) == "function <12>"
    assert function_name({}) == "?"
