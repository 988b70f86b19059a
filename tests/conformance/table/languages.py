"""The columns of the table: in each language the same program, and what differs, as data."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.conformance.table import typescript

PROGRAMS = Path(__file__).parents[1] / "programs"
INTERPRETER = os.environ.get("LUA", "lua5.4")


@dataclass(frozen=True)
class Language:
    name: str
    adapter: str
    type: str
    """As in launch.json."""
    source: str
    needs: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    """The command that makes the program, without its last word: the source."""
    twice: str = "twice"
    """What a function breakpoint calls it."""
    column: str = "twice(first)"
    """Where the second of two statements in a line can be stopped at."""
    raised: tuple[str, str] = ("", "too large: 4")
    """Type and message of what is thrown."""
    configuration: Mapping[str, object] = field(default_factory=dict)
    """What its launch configuration has beside the program."""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """Behaviours that its adapter has not, and a pattern of how it says or shows so."""

    def __str__(self) -> str:
        return self.name

    def built_in(self, folder: Path) -> Path:
        if self.source.endswith(".ts"):
            return typescript.written(PROGRAMS / JAVASCRIPT.source, folder)
        source = Path(shutil.copy(PROGRAMS / self.source, folder))
        if not self.build:
            return source
        subprocess.run([*self.build, str(source)], check=True, capture_output=True, cwd=folder)
        return folder / "walk"


_NO_COLUMNS = {"column breakpoint": r"requested column"}
_NO_DATA = {"data breakpoint": r"does not announce supportsDataBreakpoints"}
_NO_CHILDREN = {"a breakpoint in a child process": r"the child ran past the breakpoint"}
_RAISED = "exception breakpoint: stops where a caught exception is raised"
_BLIND = {"not bound: the reason is reported": r"a file that is not loaded, it reports verified: True"}

PYTHON = Language(
    "Python",
    "debugpy",
    "debugpy",
    "python/walk.py",
    ("gdb",),
    raised=("ValueError", "too large: 4"),
    cannot={**_NO_COLUMNS, **_NO_DATA, **_BLIND},
)
JAVASCRIPT = Language(
    "JavaScript",
    "js-debug",
    "node",
    "javascript/walk.js",
    ("javascript",),
    raised=("TypeError", "too large: 4"),
    cannot={"function breakpoint": r"does not announce supportsFunctionBreakpoints", **_NO_DATA},
)
TYPESCRIPT = replace(JAVASCRIPT, name="TypeScript", source="walk.ts")
GO = Language(
    "Go",
    "Delve",
    "go",
    "go/walk.go",
    ("go",),
    ("go", "build", "-gcflags", "all=-N -l", "-o", "walk"),
    twice="main.twice",
    cannot={
        **_NO_COLUMNS,
        **_NO_DATA,
        **_NO_CHILDREN,
        "a line without code: bound to another line, which is reported": r"could not find statement",
        _RAISED: r"Unknown exception filter\. The adapter has: -",
    },
)

# LLDB gives the program a terminal, and follows no children.
_LLDB = {
    **_NO_CHILDREN,
    "output by kind: stdout and stderr": r"arrived as stdout: warned",
}
_CODELLDB = {**_LLDB, "end by a signal": r"for an end by SIGKILL, it reports: .* exit code 9"}
_NOT_C = {_RAISED: r"the first stop was not where the exception was raised: .*SIGSEGV"}
_NOT_RUST = {_RAISED: r"the first stop was not where the exception was raised: .*panic"}
_C = ("gcc", "-g", "-O0", "-pthread", "-o", "walk")
_CPP = ("g++", "-g", "-O0", "-pthread", "-o", "walk")
_RUST = ("rustc", "-g", "-o", "walk")
_CRASH = ("(?i)signal", "SIGSEGV")

C = Language("C", "lldb-dap", "lldb", "c/walk.c", ("lldb", "c"), _C, raised=_CRASH, cannot=_LLDB | _NOT_C)
CPP = Language(
    "C++",
    "lldb-dap",
    "lldb",
    "cpp/walk.cpp",
    ("lldb", "c"),
    _CPP,
    column="(first)",
    raised=("signal", "SIGABRT"),
    cannot=_LLDB,
)
RUST = Language(
    "Rust",
    "lldb-dap",
    "lldb",
    "rust/walk.rs",
    ("lldb", "rust"),
    _RUST,
    raised=("panic", ""),
    cannot=_LLDB | _NOT_RUST,
)
C_BY_CODELLDB = Language(
    "C", "CodeLLDB", "codelldb", "c/walk.c", ("codelldb", "c"), _C, raised=_CRASH, cannot=_CODELLDB | _NOT_C
)
RUST_BY_CODELLDB = Language(
    "Rust",
    "CodeLLDB",
    "codelldb",
    "rust/walk.rs",
    ("codelldb", "rust"),
    _RUST,
    raised=("panic", ""),
    cannot=_CODELLDB | _NOT_RUST,
)
RUBY = Language(
    "Ruby",
    "rdbg",
    "rdbg",
    "ruby/walk.rb",
    ("ruby",),
    raised=("ArgumentError", "too large: 4"),
    cannot={
        **_NO_COLUMNS,
        **_NO_DATA,
        **_NO_CHILDREN,
        **_BLIND,
        "function breakpoint": r"announces supportsFunctionBreakpoints, but then",
        "a line without code: bound to another line, which is reported": r"reports only that line \d+ is verified",
        "attach by process ID, and detach without ending the program": r"must listen for a debugger",
    },
)
LUA = Language(
    "Lua",
    "dragoman.lua",
    "lua",
    "lua/walk.lua",
    ("lua",),
    raised=("error", "too large: 4"),
    configuration={"luaPath": INTERPRETER},
    cannot={
        **_NO_COLUMNS,
        **_NO_CHILDREN,
        "attach by process ID, and detach without ending the program": r"attached by port",
    },
)
# The original runtime, where somebody has named their copy of it.
LUA_BY_PANDA = replace(
    LUA,
    adapter="LuaPanda.lua",
    cannot={**LUA.cannot, "data breakpoint": r"announces supportsDataBreakpoints, but then"},
    configuration={
        **LUA.configuration,
        "packagePath": [str(Path(os.environ.get("LUAPANDA_LUA", "")).parent)],
        "useCHook": "LUAPANDA_CLIB" in os.environ,
        "clibPath": os.environ.get("LUAPANDA_CLIB", ""),
    },
)
