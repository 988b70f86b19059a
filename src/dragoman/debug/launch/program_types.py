"""Which debugger a program wants, told by the file alone: its extension, its first line, or its first bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from fnmatch import filter
from itertools import islice
from pathlib import Path

from dragoman.debug.launch.faults import LaunchError, listed, quoted_path
from dragoman.debug.launch.files import UnreadableError, kind_of, read_start
from dragoman.phrases import Phrase, say

TypeFor = Callable[[Path], str]

NATIVE = "native"

EXTENSIONS: Mapping[str, str] = {
    ".py": "python",
    ".pyw": "python",
    ".pyz": "python",
    ".pyzw": "python",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
    ".jsx": "node",
    ".ts": "node",
    ".mts": "node",
    ".cts": "node",
    ".tsx": "node",
    ".go": "go",
    ".lua": "lua",
    ".rb": "ruby",
}

# Names of interpreters, without the version that may follow (`python3.12`, `lua5.4`).
INTERPRETERS: Mapping[str, str] = {
    "python": "python",
    "pypy": "python",
    "node": "node",
    "nodejs": "node",
    "ts-node": "node",
    "tsx": "node",
    "lua": "lua",
    "luajit": "lua",
    "ruby": "ruby",
}

# Sources whose debugger wants what they were built into.
BUILT_FROM: Mapping[str, str] = {
    ".c": "C",
    ".cc": "C++",
    ".cpp": "C++",
    ".cxx": "C++",
    ".h": "C",
    ".hpp": "C++",
    ".rs": "Rust",
    ".zig": "Zig",
    ".swift": "Swift",
}

# A folder is a program where one of these files says so; `*` stands for any name.
FOLDERS: Mapping[str, str] = {
    "__main__.py": "python",
    "go.mod": "go",
    "go.work": "go",
    "*.go": "go",
    "package.json": "node",
    "Cargo.toml": NATIVE,
}
_LOOKED_AT = 2000
"""Entries of a folder."""

_MAGIC = (
    b"\x7fELF",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"MZ",
)
_HEAD = 512
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?([^\s/]+)(?:[ \t]+([^\r\n]*))?")
_VERSION = re.compile(r"[\d.]+$")


def type_for(program: Path) -> str:
    """The type name of the debugger for this program, or an error that says what to give instead."""
    if kind_of(program) == "folder":
        names = _names_in(program)
        return next((kind for name, kind in FOLDERS.items() if filter(names, name)), None) or _unknown(program)
    suffix = program.suffix.lower()
    if suffix in BUILT_FROM:
        return NATIVE  # whose debugger knows whether it was built
    return EXTENSIONS.get(suffix) or _by_content(program) or _unknown(program)


def _names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [entry.name for entry in islice(found, _LOOKED_AT) if entry.is_file()]
    except OSError:
        return []


def _by_content(program: Path) -> str | None:
    head = _head(program)
    if head.startswith(_MAGIC):
        return NATIVE
    match = _SHEBANG.match(head)
    return None if match is None else _interpreter(match[1].decode(errors="replace"), match[2] or b"")


def _head(program: Path) -> bytes:
    try:
        return read_start(program, _HEAD)
    except (FileNotFoundError, UnreadableError):
        return b""


def _interpreter(name: str, rest: bytes) -> str | None:
    if name == "env":
        words = [word for word in rest.decode(errors="replace").split() if not word.startswith("-") and "=" not in word]
        name = words[0].rpartition("/")[2] if words else ""
    return INTERPRETERS.get(_VERSION.sub("", name))


def _unknown(program: Path) -> str:
    raise LaunchError(
        "unknown_program_type",
        say("What kind of program {program} is cannot be told from the file.", program=quoted_path(program)),
        hint=_how_to_say(),
        program=str(program),
    )


def _how_to_say() -> Phrase:
    known = listed(sorted(set(EXTENSIONS.values()) | {NATIVE}))
    return say("Start an inline `configuration` with its `type`, such as {known}.", known=known)
