"""`dragoman lua`: the runtime's file, a copy of it, and what is wrong in a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.cli.installation.lua import doctor, install, path
from dragoman.core.errors import DragomanError
from dragoman.debug.backends.luapanda.runtime import find_copies, find_interpreters, require_runtime


def test_the_path_is_that_of_the_file_that_programs_are_started_with(capsys: pytest.CaptureFixture[str]) -> None:
    assert path() == 0
    assert Path(capsys.readouterr().out.strip()).samefile(require_runtime())


def test_a_copy_is_found_as_luapanda_and_may_be_renewed(tmp_path: Path) -> None:
    assert install(tmp_path) == 0
    assert (tmp_path / "LuaPanda.lua").read_bytes() == require_runtime().read_bytes()
    (found,) = find_copies(tmp_path)
    assert found.is_ours
    assert install(tmp_path) == 0


def test_a_file_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "LuaPanda.lua").write_text('local debuggerVer = "3.3.1"\n')
    with pytest.raises(DragomanError) as caught:
        install(tmp_path)
    assert caught.value.code == "file_exists"
    (found,) = find_copies(tmp_path)
    assert (found.version, found.is_ours) == ("3.3.1", False)


def test_a_copy_of_an_earlier_dragoman_is_reported_with_the_command_that_renews_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, name="dragoman.lua")
    assert 'require("dragoman").start(' in capsys.readouterr().out
    assert doctor(tmp_path) == 0
    (tmp_path / "dragoman.lua").write_text(require_runtime().read_text() + "-- of yesterday\n")
    assert doctor(tmp_path) == 1
    assert f"dragoman lua install {tmp_path} --name dragoman.lua" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DragomanError) as caught:
        install(tmp_path / "nowhere")
    assert caught.value.code == "no_folder"


def test_the_doctor_names_what_a_launch_file_gets_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {"name": "game", "type": "lua", "request": "launch", "cwd": "${workspaceFolder}/nope", "program": "x.lua"}
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_text("// mine\n" + json.dumps({"configurations": [wrong]}))
    assert doctor(tmp_path) == 1
    output = capsys.readouterr().err
    assert f"game: `cwd` is {tmp_path}/nope" in output
    assert "`program` is" in output


def test_a_configuration_that_cannot_be_read_hides_nothing_of_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [
        {"name": "first", "type": "luapanda", "request": "attach", "connectionPort": 99999},
        {"name": "second", "type": "lua-panda", "request": "launch", "program": "x.lua", "luaPath": "lua-of-nobody"},
        {"name": "other", "type": "node", "request": "launch", "program": "x.js"},
    ]
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_text(json.dumps({"configurations": entries}))
    assert doctor(tmp_path) == 1
    output = capsys.readouterr().err
    assert "first: `connectionPort` is not a valid port: '99999'" in output
    assert f"second: `program` is {tmp_path}/x.lua, which does not exist" in output
    assert "second: No Lua interpreter found: lua-of-nobody" in output
    assert "other" not in output


def test_the_doctor_says_that_a_launch_file_is_not_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_text("{")
    assert doctor(tmp_path) == 1
    assert "invalid JSON" in capsys.readouterr().err


def test_a_lua_without_luasocket_is_distinguished_from_one_with_it(tmp_path: Path) -> None:
    fake = tmp_path / "lua"
    fake.write_text("#!/bin/sh\nprintf 'Lua 5.4||'\n")
    fake.chmod(0o755)
    (found,) = find_interpreters({"PATH": str(tmp_path)})
    assert (found.version, found.has_socket) == ("Lua 5.4", False)
    fake.write_text("#!/bin/sh\nprintf 'Lua 5.1|LuaJIT 2.1|socket'\n")
    (found,) = find_interpreters({"PATH": str(tmp_path)})
    assert (found.version, found.has_socket) == ("LuaJIT 2.1", True)
