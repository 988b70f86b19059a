"""What the debuggers of compiled programs have in common: what may stand in a configuration, and the file to run."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.debug import suffixes
from dragoman.debug.adapters.scratch import input_file
from dragoman.debug.adapters.spec import Situation
from dragoman.debug.dialect import Dialect
from dragoman.debug.launch.program_types import BUILT_FROM
from dragoman.errors import DragomanError
from dragoman.phrases import say

# Keys of the C/C++ extension of VS Code, and what both LLDB adapters call them.
_RENAMED: Mapping[str, str] = {
    "stopAtEntry": "stopOnEntry",
    "sourceFileMap": "sourceMap",
    "processId": "pid",
    "coreDumpPath": "coreFile",
}
# Of that extension, of its debuggers, or of an editor's terminal: nothing that an LLDB adapter could use.
_IGNORED = frozenset(
    {
        *("MIMode", "miDebuggerPath", "miDebuggerArgs", "miDebuggerServerAddress", "setupCommands", "externalConsole"),
        *("customLaunchSetupCommands", "launchCompleteCommand", "postRemoteConnectCommands", "visualizerFile"),
        *("showDisplayString", "logging", "symbolLoadInfo", "avoidWindowsConsoleRedirection", "console", "terminal"),
    }
)

# The lock word that a thread waits at in the kernel is the first field of a mutex of the C library; the thread that has
# it is the third. The register holds the first argument of the system call.
_REGISTERS = {"x86_64": "$rdi", "aarch64": "$x0"}
_HOLDER = f"*(int *)({register} + 8)" if (register := _REGISTERS.get(platform.machine())) else ""

NATIVE = Dialect(
    halts_anywhere=True,
    holder=_HOLDER,
    suffixes=suffixes.NATIVE,
    hit_forms=frozenset(),  # it takes but a number, and means "from there on" by it
    # What it calls so is a command line of LLDB, where `n` steps: for who means that one.
    contexts={"repl": "watch", "console": "repl"},
    ends_lines_as_terminals=True,
    several_places=True,
    rechecks=True,
    takes_log_messages=False,  # it writes one for every place of the line
    says_watched=r"watchpoint \d+",
    raises_in={r"(?:.*::)?rust_panic(?:::h[0-9a-f]+)?": "panic"},
    # Before Rust 1.73 the message stood in quotes before the place.
    prints_raised=(
        r"(?s)panicked at (?:'|[^\n]+:\n)(?P<message>.*?)"
        r"(?:', [^\n]+:\d+:\d+\n|\nstack backtrace:\n|\nnote: [^\n]*RUST_BACKTRACE|\n?\Z)"
    ),
)

_BUILDS: Mapping[str, str] = {
    ".c": "cc -g -O0 {source} -o {binary}",
    ".cc": "c++ -g -O0 {source} -o {binary}",
    ".cpp": "c++ -g -O0 {source} -o {binary}",
    ".cxx": "c++ -g -O0 {source} -o {binary}",
    ".rs": "rustc -g {source} -o {binary}",
}


def native_arguments(situation: Situation) -> dict[str, Any]:
    """With the keys of every extension that people have for such programs."""
    given = {_RENAMED.get(key, key): value for key, value in situation.arguments.items() if key not in _IGNORED}
    if "cargo" in given:
        raise _cargo()
    if isinstance(program := given.get("program"), str) and program:
        folder = situation.workspace / str(given.get("cwd") or "")
        given["program"] = str(built_program(Path(os.path.normpath(folder / program))))
    if isinstance(given.get("args"), str):
        given["args"] = given["args"].split()
    return given


def stopping_at_panics(given: dict[str, Any], *, quiet: str) -> dict[str, Any]:
    """`quiet` keeps a command out of sight."""
    return _with_commands(given, "initCommands", f"{quiet}breakpoint set --name rust_panic")


def answering_sigterm(given: dict[str, Any], *, quiet: str) -> dict[str, Any]:
    """A request to end is the program's to answer, as without a debugger: LLDB would stop there."""
    return _with_commands(
        given, "initCommands", f"{quiet}process handle --stop false --notify false --pass true SIGTERM"
    )


def reading_from(given: dict[str, Any], stdin: str | None, *, quiet: str) -> dict[str, Any]:
    """With its input from a file, which goes once the program has opened it."""
    source = input_file(stdin)
    fed = _with_commands(given, "initCommands", f"{quiet}settings set target.input-path {shlex.quote(str(source))}")
    if source == Path(os.devnull):
        return fed
    return _with_commands(fed, "postRunCommands", f"{quiet}platform shell rm -f {shlex.quote(str(source))}")


def _with_commands(given: dict[str, Any], key: str, ours: str) -> dict[str, Any]:
    return given | {key: [ours, *given.get(key, ())]}


def built_program(path: Path) -> Path:
    """The program itself; for a source file, what was built from it beside it, if that is newer."""
    language = BUILT_FROM.get(path.suffix.lower())
    if language is None or not path.is_file():
        return path
    binary = path.with_suffix("")
    if binary.is_file() and os.access(binary, os.X_OK) and _is_newer(binary, path):
        return binary
    raise _needs_build(path, binary, language)


def _is_newer(binary: Path, source: Path) -> bool:
    return binary.stat().st_mtime_ns >= source.stat().st_mtime_ns


def _needs_build(source: Path, binary: Path, language: str) -> DragomanError:
    how = _BUILDS.get(source.suffix, "").format(source=source.name, binary=binary.name)
    message = say(
        "{program} is {language} source, and there is no newer program beside it.", program=source, language=language
    )
    hint = say("Build it with debug information, then give `program` the executable.")
    if how:
        hint = say("Build it with debug information ({how}), then give `program` the executable.", how=how)
    return DragomanError("needs_build", message, hint=hint)


def _cargo() -> DragomanError:
    return DragomanError(
        "needs_build",
        say("This configuration has cargo build the program, which only CodeLLDB's extension does."),
        hint=say("Run `cargo build`, then give `program` the executable under target/debug."),
    )
