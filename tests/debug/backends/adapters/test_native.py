"""Configurations of compiled programs as people have them, as the LLDB adapters take them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.paths import find_paths
from dragoman.debug.backends.adapters import CODELLDB, LLDB, AdapterSpec, LaunchContext
from dragoman.debug.backends.adapters.native import NATIVE, native_arguments

CPPDBG: dict[str, Any] = {
    "type": "cppdbg",
    "program": "build/app",
    "args": ["-v"],
    "stopAtEntry": True,
    "cwd": "sub",
    "MIMode": "gdb",
    "miDebuggerPath": "/usr/bin/gdb",
    "setupCommands": [{"text": "-enable-pretty-printing"}],
    "externalConsole": False,
    "sourceFileMap": {"/build": "/here"},
}


def situation(workspace: Path, request: str = "launch", stdin: str | None = None, **arguments: Any) -> LaunchContext:
    return LaunchContext(request, arguments, {"PATH": os.environ["PATH"]}, workspace, stdin=stdin)


def test_a_configuration_of_the_c_extension_is_translated(tmp_path: Path) -> None:
    result = native_arguments(situation(tmp_path, **CPPDBG))
    assert result == {
        "type": "cppdbg",
        "program": str(tmp_path / "sub" / "build" / "app"),
        "args": ["-v"],
        "stopOnEntry": True,
        "cwd": "sub",
        "sourceMap": {"/build": "/here"},
    }


def test_a_process_is_attached_to_by_the_name_that_lldb_has_for_it(tmp_path: Path) -> None:
    assert native_arguments(situation(tmp_path, "attach", processId=42)) == {"pid": 42}


def test_source_means_the_newer_program_beside_it(tmp_path: Path) -> None:
    source, binary = tmp_path / "main.c", tmp_path / "main"
    source.write_text("int main() {}")
    binary.write_text("")
    binary.chmod(0o755)
    os.utime(source, ns=(0, 1_000))
    os.utime(binary, ns=(0, 2_000))
    assert native_arguments(situation(tmp_path, program="main.c"))["program"] == str(binary)


@pytest.mark.parametrize(
    ("name", "builds"), [("a.c", "cc -g"), ("a.cpp", "c++ -g"), ("a.rs", "rustc -g"), ("a.zig", "")]
)
def test_source_without_a_newer_program_says_how_to_build_it(tmp_path: Path, name: str, builds: str) -> None:
    (tmp_path / "a").write_text("")
    (tmp_path / "a").chmod(0o755)
    os.utime(tmp_path / "a", ns=(0, 1_000))
    (tmp_path / name).write_text("")
    with pytest.raises(DragomanError) as caught:
        native_arguments(situation(tmp_path, program=name))
    assert caught.value.code == "needs_build"
    assert builds in str(caught.value.hint)


def test_what_cargo_would_build_must_be_built_before(tmp_path: Path) -> None:
    with pytest.raises(DragomanError, match="builds with cargo"):
        native_arguments(situation(tmp_path, cargo={"args": ["build"]}))


@pytest.mark.parametrize("spec", [LLDB, CODELLDB], ids=lambda spec: spec.name)
def test_input_is_a_private_file_that_goes_once_it_is_open(tmp_path: Path, spec: AdapterSpec) -> None:
    result = spec.arguments(situation(tmp_path, stdin="secret", program="a", initCommands=["mine"]))
    (file,) = (find_paths().runtime / "scratch").iterdir()
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("secret", 0o600)
    assert sum(str(file) in command for command in result["initCommands"]) == 1
    assert result["initCommands"][-1] == "mine"
    assert f"rm -f {file}" in result["postRunCommands"][0]


def test_without_input_nothing_is_written(tmp_path: Path) -> None:
    result = LLDB.arguments(situation(tmp_path, program="a"))
    assert sum(os.devnull in command for command in result["initCommands"]) == 1
    assert "postRunCommands" not in result


@pytest.mark.parametrize(
    "printed",
    [
        "thread 'main' panicked at 'too large\nby 3', src/main.rs:2:16\nnote: run with `RUST_BACKTRACE=1` …\n",
        "thread 'main' panicked at src/main.rs:2:16:\ntoo large\nby 3\nnote: run with `RUST_BACKTRACE=1` …\n",
        "thread 'w' (71) panicked at src/main.rs:2:16:\ntoo large\nby 3\nstack backtrace:\n   0: std::panicking\n",
        "thread 'w' panicked at src/main.rs:2:16:\ntoo large\nby 3\n",
    ],
)
def test_the_message_of_a_panic_is_read_as_old_and_new_rust_print_it(printed: str) -> None:
    match = re.search(NATIVE.raised_output_pattern, "before\n" + printed)
    assert match is not None
    assert match["message"] == "too large\nby 3"


@pytest.mark.parametrize("connect", ["gdb-remote 127.0.0.1:4242", "process connect connect://127.0.0.1:4242"])
def test_codelldb_waits_for_a_process_it_connects_to_and_for_no_other(tmp_path: Path, connect: str) -> None:
    """A launch in the foreground would wait until the program ends."""
    commands = ["settings set a b", connect, "process launch"]
    given = CODELLDB.arguments(LaunchContext("attach", {"processCreateCommands": commands}, {}, tmp_path))
    assert given["processCreateCommands"] == [
        "settings set a b",
        "script lldb.debugger.SetAsync(False)",
        connect,
        "script lldb.debugger.SetAsync(True)",
        "process launch",
    ]
