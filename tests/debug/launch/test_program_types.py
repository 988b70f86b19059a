"""The debugger that a program needs, recognised by its file."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import pytest

from dragoman.debug.launch import debugger_type_for
from tests.debug.launch.workspaces import Workspace, fault_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.py", "python"),
        ("A.PY", "python"),
        ("a.js", "node"),
        ("a.mjs", "node"),
        ("a.cjs", "node"),
        ("a.ts", "node"),
        ("a.go", "go"),
        ("a.lua", "lua"),
        ("a.rb", "ruby"),
    ],
)
def test_the_extension_chooses_the_debugger(workspace: Workspace, name: str, kind: str) -> None:
    assert debugger_type_for(workspace.write(name, "")) == kind


@pytest.mark.parametrize(
    ("first_line", "kind"),
    [
        ("#!/usr/bin/python3", "python"),
        ("#!/usr/bin/env python3.12", "python"),
        ("#! /usr/bin/env -S PYTHONUTF8=1 python -u", "python"),
        ("#!/usr/local/bin/node --inspect", "node"),
        ("#!/usr/bin/env lua5.4", "lua"),
        ("#!ruby\r", "ruby"),
        ("\x7fELF\x02\x01", "native"),
        ("MZ\x90", "native"),
    ],
)
def test_a_file_without_extension_is_recognised_by_how_it_begins(
    workspace: Workspace, first_line: str, kind: str
) -> None:
    small = workspace.write("program", first_line.encode("latin-1") + b"\n")
    large = workspace.write("larger", first_line.encode("latin-1") + b"\n" + b"x" * (2 << 20))
    assert [debugger_type_for(small), debugger_type_for(large)] == [kind, kind]


def test_a_real_executable_is_native() -> None:
    assert debugger_type_for(Path(os.path.realpath(sys.executable))) == "native"


@pytest.mark.parametrize("magic", [0xFEEDFACE, 0xFEEDFACF, 0xCAFEBABE])
def test_the_executables_of_macos_are_native(workspace: Workspace, magic: int) -> None:
    assert debugger_type_for(workspace.write("program", magic.to_bytes(4, "big"))) == "native"


@pytest.mark.parametrize(
    ("file", "kind"), [("__main__.py", "python"), ("go.mod", "go"), ("x.go", "go"), ("package.json", "node")]
)
def test_a_folder_is_recognised_by_the_file_that_makes_it_a_program(workspace: Workspace, file: str, kind: str) -> None:
    workspace.write(f"app/{file}", "")
    assert debugger_type_for(workspace.folder / "app") == kind


@pytest.mark.parametrize("name", ["a.c", "a.cpp", "a.rs"])
def test_source_that_must_be_built_is_left_to_the_debugger_of_what_it_is_built_into(
    workspace: Workspace, name: str
) -> None:
    assert debugger_type_for(workspace.write(name, "")) == "native"


@pytest.mark.parametrize("content", ["", "hello", "#!/bin/sh", "#!/usr/bin/env", "#!", "#!/usr/bin/env -S"])
def test_what_cannot_be_recognised_asks_for_the_type(workspace: Workspace, content: str) -> None:
    fault = fault_of(lambda: debugger_type_for(workspace.write("program", content)))
    assert fault.code == "unknown_program_type"
    assert '"go", "lua", "native", "node", "python", "ruby"' in str(fault.hint)


def test_a_pipe_a_device_and_a_missing_file_are_not_programs(workspace: Workspace) -> None:
    os.mkfifo(workspace.folder / "pipe")
    for path in (workspace.folder / "pipe", Path("/dev/zero"), workspace.folder / "none", workspace.folder):
        assert fault_of(functools.partial(debugger_type_for, path)).code == "unknown_program_type"
