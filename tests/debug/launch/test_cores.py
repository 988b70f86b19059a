"""Configurations that name a core dump: it is opened, or refused, and its program is never run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.backends.adapters import CODELLDB, LaunchContext
from dragoman.debug.launch.errors import LaunchError
from dragoman.debug.launch.preconditions import require_debugging, require_program, with_core_dump
from dragoman.debug.launch.resolution import ResolvedConfiguration


def session(folder: Path, type: str, request: str = "launch", **arguments: Any) -> ResolvedConfiguration:
    given = {"type": type, "request": request, "program": str(folder / "app"), **arguments}
    return ResolvedConfiguration("x", type, request, given, {}, folder)


@pytest.mark.parametrize("request_", ["launch", "attach"])
@pytest.mark.parametrize(
    ("type", "key"), [("cppdbg", "coreDumpPath"), ("lldb", "coreFile"), ("native", "coreFile"), ("rust", "coreFile")]
)
def test_a_native_core_is_attached_to_whatever_was_asked(tmp_path: Path, type: str, key: str, request_: str) -> None:
    opened = with_core_dump(session(tmp_path, type, request_, **{key: "sub/core.1", "cwd": str(tmp_path)}))
    assert (opened.request, opened.arguments["request"]) == ("attach", "attach")
    assert opened.arguments["coreFile"] == str(tmp_path / "sub/core.1")
    assert "coreDumpPath" not in opened.arguments


def test_a_core_of_go_is_opened_by_delves_own_mode(tmp_path: Path) -> None:
    opened = with_core_dump(session(tmp_path, "go", "attach", mode="auto", coreFilePath="core"))
    entries = (opened.request, opened.arguments["mode"], opened.arguments["coreFilePath"])
    assert entries == ("launch", "core", str(tmp_path / "core"))


def test_without_a_core_nothing_changes(tmp_path: Path) -> None:
    """The other side of those above: a launch stays a launch."""
    for given in ({}, {"coreFile": ""}, {"coreDumpPath": None}):
        plain = session(tmp_path, "cppdbg", **given)
        assert with_core_dump(plain) is plain


@pytest.mark.parametrize("type", ["python", "debugpy", "node", "ruby", "lua"])
def test_a_debugger_without_cores_refuses_instead_of_running_the_program(tmp_path: Path, type: str) -> None:
    with pytest.raises(LaunchError) as refused:
        with_core_dump(session(tmp_path, type, coreFile="core"))
    assert refused.value.code == "core_not_supported"


def test_a_core_that_is_not_there_is_refused(tmp_path: Path) -> None:
    opened = with_core_dump(session(tmp_path, "cppdbg", coreDumpPath="core"))
    with pytest.raises(LaunchError) as refused:
        require_program(opened)
    assert refused.value.code == "no_such_core"
    (tmp_path / "core").touch()
    require_program(opened)


def test_a_core_is_not_run_without_debugging(tmp_path: Path) -> None:
    plain = session(tmp_path, "lldb")
    require_debugging(plain)
    with pytest.raises(LaunchError) as refused:
        require_debugging(replace(plain, arguments={**plain.arguments, "coreFile": "core"}))
    assert refused.value.code == "core_not_run"


def test_codelldb_makes_a_target_of_the_core_and_no_process(tmp_path: Path) -> None:
    opened = with_core_dump(session(tmp_path, "codelldb", coreFile="my core"))
    given = CODELLDB.arguments(LaunchContext(opened.request, opened.arguments, {}, tmp_path))
    assert given["targetCreateCommands"] == [f"target create --core '{tmp_path}/my core' {tmp_path}/app"]
    assert (given["processCreateCommands"], "program" in given) == ([], False)
