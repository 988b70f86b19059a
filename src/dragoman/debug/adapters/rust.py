"""Rust's own formatters for LLDB, which come with rustc: without them a String is an address."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from dragoman.debug.adapters.commands import output_of
from dragoman.debug.adapters.finding import on_path
from dragoman.debug.adapters.spec import Situation

# Of the function that calls `main`, in both of rustc's ways to write names. A Rust library in a C++ program has none:
# the formatters take every type for Rust's, so they are for such programs alone.
_STARTS_MAIN = b"std2rt10lang_start"
_FOLDER = Path("lib", "rustlib", "etc")


def formatters(situation: Situation, given: Mapping[str, Any]) -> list[str]:
    """The commands of LLDB that load them, as rust-lldb does; none where the program or the machine has no Rust."""
    rustc = on_path("rustc", situation.searched) if is_rust(given) else None
    sysroot = output_of([str(rustc), "--print", "sysroot"]).strip() if rustc else ""
    script, commands = (Path(sysroot) / _FOLDER / name for name in ("lldb_lookup.py", "lldb_commands"))
    if not sysroot or '"' in sysroot or not (script.is_file() and commands.is_file()):
        return []
    return [f'command script import "{script}"', f'command source --silent-run true "{commands}"']


def is_rust(given: Mapping[str, Any]) -> bool:
    """By the configuration's word, else by the program; one that is yet to be built, by the Cargo.toml above it."""
    if given.get("type") == "rust" or "rust" in (given.get("sourceLanguages") or ()):
        return True
    program = _program(given)
    if program is None:
        return False
    if not program.is_file():
        return any((folder / "Cargo.toml").is_file() for folder in program.parents)
    return _holds(program, _STARTS_MAIN)


def _program(given: Mapping[str, Any]) -> Path | None:
    named, pid = given.get("program"), given.get("pid")
    if isinstance(named, str) and named:
        return Path(named)
    try:
        return Path(psutil.Process(pid).exe()) if isinstance(pid, int) else None
    except (psutil.Error, OverflowError, ValueError):
        return None


def _holds(file: Path, text: bytes) -> bool:
    try:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return mapped.find(text) >= 0
    except (OSError, ValueError):  # it may not be read, or is empty
        return False
