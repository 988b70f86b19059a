"""Which programs get Rust's formatters: those of Rust, where rustc has brought them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.backends.adapters import LLDB, LaunchContext
from dragoman.debug.backends.adapters.native import is_rust


def rustc_in(folder: Path) -> dict[str, str]:
    etc = folder / "a sysroot" / "lib" / "rustlib" / "etc"
    etc.mkdir(parents=True)
    for name in ("lldb_lookup.py", "lldb_commands"):
        (etc / name).touch()
    rustc = folder / "bin" / "rustc"
    rustc.parent.mkdir()
    rustc.write_text(f"#!/bin/sh\necho '{folder / 'a sysroot'}'\n")
    rustc.chmod(0o755)
    return {"PATH": str(rustc.parent)}


def loaded(folder: Path, environment: dict[str, str], **arguments: Any) -> list[str]:
    text = LLDB.arguments(LaunchContext("launch", {"program": "app", **arguments}, environment, folder))
    return [it for it in text["initCommands"] if "rustlib" in it]


def test_a_rust_program_gets_the_formatters_of_the_clients_rustc(tmp_path: Path) -> None:
    environment = rustc_in(tmp_path)
    (tmp_path / "app").write_bytes(b"\x7fELF _ZN3std2rt10lang_start17h")
    etc = tmp_path / "a sysroot" / "lib" / "rustlib" / "etc"
    assert loaded(tmp_path, environment) == [
        f'?command script import "{etc / "lldb_lookup.py"}"',
        f'?command source --silent-run true "{etc / "lldb_commands"}"',
    ]
    (etc / "lldb_commands").unlink()
    assert loaded(tmp_path, environment) == []


def test_without_rustc_and_for_other_languages_there_are_none(tmp_path: Path) -> None:
    environment = rustc_in(tmp_path)
    (tmp_path / "app").write_bytes(b"\x7fELF _ZSt4cout rust_eh_personality")
    assert loaded(tmp_path, environment) == []
    assert loaded(tmp_path, {"PATH": str(tmp_path)}, type="rust") == []
    assert len(loaded(tmp_path, environment, type="rust")) == 2


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"sourceLanguages": ["rust"]}, True),
        ({"sourceLanguages": ["cpp"]}, False),
        ({"pid": os.getpid()}, False),
        ({"pid": 2**40}, False),
        ({}, False),
    ],
)
def test_a_program_without_a_name_is_judged_by_its_configuration(given: dict[str, Any], expected: bool) -> None:
    assert is_rust(given) is expected


def test_what_cargo_has_yet_to_build_is_rust(tmp_path: Path) -> None:
    program = tmp_path / "target" / "debug" / "app"
    assert not is_rust({"program": str(program)})
    (tmp_path / "Cargo.toml").touch()
    assert is_rust({"program": str(program)})
    program.parent.mkdir(parents=True)
    program.touch()
    assert not is_rust({"program": str(program)}), "what is there speaks for itself"
