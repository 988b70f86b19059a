"""C, C++, Rust and other compiled languages, debugged by lldb-dap or CodeLLDB."""

from __future__ import annotations

import mmap
import os
import platform
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug import source_files
from dragoman.debug.backends.adapters.discovery import command_output, find_adapter, find_on_path, require_adapter
from dragoman.debug.backends.adapters.program_io import create_input_file
from dragoman.debug.backends.adapters.spec import AdapterSpec, LaunchContext
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.errors import cargo_unsupported
from dragoman.debug.launch.programs import BUILT_FROM
from dragoman.io.processes.command import ProcessCommand

# The function that calls `main`, in both of rustc's name manglings. A Rust library in a C++ program has neither. The
# formatters treat every type as a Rust type, so they are loaded only for Rust programs.
_RUST_MAIN_SYMBOL = b"std2rt10lang_start"
# lldb-dap reports an end by signal 9 as exit code 9. The last packet of its server tells them apart: X for a signal,
# W for an exit code.
_PACKET_HISTORY = "process plugin packet history"

# Keys of the C/C++ extension of VS Code, and what both LLDB adapters call them.
_KEY_ALIASES: Mapping[str, str] = {
    "stopAtEntry": "stopOnEntry",
    "sourceFileMap": "sourceMap",
    "processId": "pid",
    "coreDumpPath": "coreFile",
}
# Keys of that extension, of its debuggers, or of an editor's terminal, which an LLDB adapter cannot use.
_IGNORED_KEYS = frozenset(
    {
        *("MIMode", "miDebuggerPath", "miDebuggerArgs", "miDebuggerServerAddress", "setupCommands", "externalConsole"),
        *("customLaunchSetupCommands", "launchCompleteCommand", "postRemoteConnectCommands", "visualizerFile"),
        *("showDisplayString", "logging", "symbolLoadInfo", "avoidWindowsConsoleRedirection", "console", "terminal"),
    }
)


# The lock word that a thread waits at in the kernel is the first field of a mutex of the C library; the thread that has
# it is the third. The register holds the first argument of the system call.
_REGISTERS = {"x86_64": "$rdi", "aarch64": "$x0"}
_MUTEX_HOLDER = f"*(int *)({register} + 8)" if (register := _REGISTERS.get(platform.machine())) else ""


NATIVE = AdapterQuirks(
    halts_anywhere=True,
    holder=_MUTEX_HOLDER,
    suffixes=source_files.NATIVE,
    hit_forms=frozenset(),  # it accepts only a number, and treats it as "from this hit on"
    # In this mode of the configuration, an expression is a command line of LLDB, in which `n` steps.
    evaluate_contexts={"repl": "watch", "console": "repl"},
    has_terminal_line_ends=True,
    has_several_locations=True,
    rechecks_conditions=True,
    takes_log_messages=False,  # it writes one message for every location of the line
    data_stop_pattern=r"watchpoint \d+",
    raise_functions={r"(?:.*::)?rust_panic(?:::h[0-9a-f]+)?": "panic"},
    # Before Rust 1.73, the message came in quotes before the location.
    raised_output_pattern=(
        r"(?s)panicked at (?:'|[^\n]+:\n)(?P<message>.*?)"
        r"(?:', [^\n]+:\d+:\d+\n|\nstack backtrace:\n|\nnote: [^\n]*RUST_BACKTRACE|\n?\Z)"
    ),
)


_BUILD_COMMANDS: Mapping[str, str] = {
    ".c": "cc -g -O0 {source} -o {binary}",
    ".cc": "c++ -g -O0 {source} -o {binary}",
    ".cpp": "c++ -g -O0 {source} -o {binary}",
    ".cxx": "c++ -g -O0 {source} -o {binary}",
    ".rs": "rustc -g {source} -o {binary}",
}


def native_arguments(context: LaunchContext) -> dict[str, Any]:
    """With the keys of every extension that people have for such programs."""
    given = {_KEY_ALIASES.get(key, key): value for key, value in context.arguments.items() if key not in _IGNORED_KEYS}
    if "cargo" in given:
        raise cargo_unsupported()
    if isinstance(program := given.get("program"), str) and program:
        folder = context.workspace / str(given.get("cwd") or "")
        given["program"] = str(built_program(Path(os.path.normpath(folder / program))))
    if isinstance(given.get("args"), str):
        given["args"] = given["args"].split()
    return given


def with_panic_breakpoint(given: dict[str, Any], *, quiet: str) -> dict[str, Any]:
    """`quiet` keeps a command out of sight."""
    return _with_commands(given, "initCommands", f"{quiet}breakpoint set --name rust_panic")


def with_sigterm_passed(given: dict[str, Any], *, quiet: str) -> dict[str, Any]:
    """A request to end is the program's to answer, as without a debugger: LLDB would stop there."""
    return _with_commands(
        given, "initCommands", f"{quiet}process handle --stop false --notify false --pass true SIGTERM"
    )


def with_input(given: dict[str, Any], stdin: str | None, *, quiet: str) -> dict[str, Any]:
    """With its input from a file, which goes once the program has opened it."""
    source = create_input_file(stdin)
    fed = _with_commands(given, "initCommands", f"{quiet}settings set target.input-path {shlex.quote(str(source))}")
    if source == Path(os.devnull):
        return fed
    return _with_commands(fed, "postRunCommands", f"{quiet}platform shell rm -f {shlex.quote(str(source))}")


def _with_commands(given: dict[str, Any], key: str, ours: str) -> dict[str, Any]:
    return given | {key: [ours, *given.get(key, ())]}


def built_program(path: Path) -> Path:
    """The program itself. For a source file, the newer executable that was built beside it."""
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
    how = _BUILD_COMMANDS.get(source.suffix, "").format(source=source.name, binary=binary.name)
    message = localize(
        "{program} is {language} source, with no newer executable beside it.", program=source, language=language
    )
    hint = localize("Build it with debug information, then set `program` to the executable.")
    if how:
        hint = localize("Build it with debug information ({how}), then set `program` to the executable.", how=how)
    return DragomanError("needs_build", message, hint=hint)


_RUST_FORMATTERS_FOLDER = Path("lib", "rustlib", "etc")


def rust_formatter_commands(context: LaunchContext, given: Mapping[str, Any]) -> list[str]:
    """The commands of LLDB that load them, as rust-lldb does; none where the program or the machine has no Rust."""
    rustc = find_on_path("rustc", context.adapter_environment) if is_rust(given) else None
    sysroot = command_output([str(rustc), "--print", "sysroot"]).strip() if rustc else ""
    script, commands = (Path(sysroot) / _RUST_FORMATTERS_FOLDER / name for name in ("lldb_lookup.py", "lldb_commands"))
    if not sysroot or '"' in sysroot or not (script.is_file() and commands.is_file()):
        return []
    return [f'command script import "{script}"', f'command source --silent-run true "{commands}"']


def is_rust(given: Mapping[str, Any]) -> bool:
    """From the configuration, otherwise from the program; for a program that is not built yet, from the Cargo.toml
    above it."""
    if given.get("type") == "rust" or "rust" in (given.get("sourceLanguages") or ()):
        return True
    program = _rust_program(given)
    if program is None:
        return False
    if not program.is_file():
        return any((folder / "Cargo.toml").is_file() for folder in program.parents)
    return _file_contains(program, _RUST_MAIN_SYMBOL)


def _rust_program(given: Mapping[str, Any]) -> Path | None:
    named, pid = given.get("program"), given.get("pid")
    if isinstance(named, str) and named:
        return Path(named)
    try:
        return Path(psutil.Process(pid).exe()) if isinstance(pid, int) else None
    except (psutil.Error, OverflowError, ValueError):
        return None


def _file_contains(file: Path, text: bytes) -> bool:
    try:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return mapped.find(text) >= 0
    except (OSError, ValueError):  # the file is unreadable or empty
        return False


_CODELLDB_NOISE = re.compile(
    r"Launch(?:ing: |ed process )|Console is in |Process exited|Attached to process|Loading \w+ formatters"
    r"|Executing script: |\(lldb\) |Breakpoint \d+: no locations|Breakpoint set in dummy target"
)


_CONNECTS = re.compile(r"\s*(?:gdb-remote|process\s+connect)\b")


def _codelldb_command(context: LaunchContext) -> ProcessCommand:
    adapter = require_adapter("codelldb", context.adapter_environment)
    return ProcessCommand([str(adapter), "--connect", context.at], context.environment, context.workspace)


def _codelldb_arguments(context: LaunchContext) -> dict[str, Any]:
    given = _with_synchronous_connect(with_panic_breakpoint(native_arguments(context), quiet=""))
    if core := given.pop("coreFile", None):
        # CodeLLDB has no key for core dumps, so the target is created from the core dump, without a process.
        create = shlex.join(["target", "create", "--core", str(core), *filter(None, [given.pop("program", "")])])
        return {**given, "targetCreateCommands": [create], "processCreateCommands": []}
    if context.request != "launch":
        return given
    # Expressions in the language itself, not in its Python wrapper. No terminal, because there is none.
    ours = {"terminal": "console", "expressions": "native"}
    return with_input({"cwd": str(context.workspace), **given, **ours}, context.stdin, quiet="")


def _with_synchronous_connect(given: dict[str, Any]) -> dict[str, Any]:
    """CodeLLDB reads the state of the process right after these commands. In asynchronous mode, LLDB reports a process
    it connected to as `unloaded` until a listener takes the first event. If CodeLLDB's event thread is late, the attach
    fails with "Process is not valid". In synchronous mode, `gdb-remote` returns once the process is stopped.
    """
    commands = given.get("processCreateCommands")
    if not isinstance(commands, list):
        return given
    return {**given, "processCreateCommands": [each for command in commands for each in _synchronous(command)]}


def _synchronous(command: Any) -> list[Any]:
    if not (isinstance(command, str) and _CONNECTS.match(command)):
        return [command]
    return ["script lldb.debugger.SetAsync(False)", command, "script lldb.debugger.SetAsync(True)"]


def _codelldb_facts(context: LaunchContext) -> Mapping[str, str]:
    return {"adapter": str(require_adapter("codelldb", context.adapter_environment))}


CODELLDB = AdapterSpec(
    name="codelldb",
    types=frozenset({"codelldb"}),
    adapter_id="codelldb",
    transport="calls",
    command=_codelldb_command,
    arguments=_codelldb_arguments,
    quirks=replace(NATIVE, adapter_lines=_CODELLDB_NOISE),
    facts=_codelldb_facts,
)


# CodeLLDB's own messages about Dragoman's commands and about the start and end of the process, which Dragoman reports
# itself.
_LLDB_NOISE = re.compile(r"Running \w+Commands:|\(lldb\) |Process \d+ (?:exited|launched|stopped|detached)")
_EXIT_REPORT = re.compile(rf"^\(lldb\) {_PACKET_HISTORY}$", re.MULTILINE)
_SIGNAL_PACKET = re.compile(r"^history\[\d+\] .* read packet: \$X(?P<signal>[0-9a-f]{2})[;#]", re.MULTILINE)


def _lldb_command(context: LaunchContext) -> ProcessCommand:
    """Evaluates expressions only: in the other mode, the variable `n` would be the command `next`."""
    adapter = require_adapter("lldb", context.adapter_environment)
    return ProcessCommand([str(adapter), "--repl-mode", "variable"], context.environment, context.workspace)


def _lldb_arguments(context: LaunchContext) -> dict[str, Any]:
    given = with_sigterm_passed(with_panic_breakpoint(native_arguments(context), quiet="?"), quiet="?")
    loads = [f"?{command}" for command in rust_formatter_commands(context, given)]
    given["initCommands"] = [*loads, *given["initCommands"]]
    given["exitCommands"] = [*given.get("exitCommands", ()), _PACKET_HISTORY]
    if context.request != "launch":
        return given
    return with_input({"cwd": str(context.workspace), **given}, context.stdin, quiet="?")


def _fallback(environment: Mapping[str, str]) -> AdapterSpec | None:
    is_here = find_adapter("lldb", environment) is not None
    return None if is_here or find_adapter("codelldb", environment) is None else CODELLDB


def _lldb_facts(context: LaunchContext) -> Mapping[str, str]:
    return {"adapter": str(require_adapter("lldb", context.adapter_environment))}


LLDB = AdapterSpec(
    name="lldb",
    types=frozenset({"lldb", "lldb-dap", "lldb-vscode", "cppdbg", "cpp", "c", "rust", "gdb", "native"}),
    adapter_id="lldb-dap",
    transport="stdio",
    command=_lldb_command,
    arguments=_lldb_arguments,
    quirks=replace(NATIVE, adapter_lines=_LLDB_NOISE, exit_report=_EXIT_REPORT, signal_in_exit_report=_SIGNAL_PACKET),
    fallback=_fallback,
    facts=_lldb_facts,
)
