"""What must exist before a session starts: the program, the folder, the process to attach to, or the core dump.

Programs are checked after the tasks that may build them. The program of a core dump is never run: lldb-dap reads the
core only in an `attach`, and in a `launch` it would start the program instead.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from dragoman.core.localization import localize
from dragoman.debug.launch.errors import LaunchError, LaunchErrorSpec, LaunchNote, quoted, quoted_path
from dragoman.debug.launch.programs import no_folder, no_program
from dragoman.debug.launch.resolution import ATTACH_TARGET_KEYS, LaunchPlan, ResolvedConfiguration
from dragoman.debug.launch.task_execution import TaskExecution, TaskRunner
from dragoman.debug.launch.workspace_files import file_kind

_CORE_KEYS = ("coreFile", "coreDumpPath", "coreFilePath")

_NATIVE_TYPES = frozenset(
    {"lldb", "lldb-dap", "lldb-vscode", "codelldb", "cppdbg", "cpp", "c", "rust", "gdb", "native", "cppvsdbg"}
)
_GO_TYPES = frozenset({"go", "delve", "dlv"})
# These adapters ignore the key and run the program. An editor's debugger may support it.
_TYPES_WITHOUT_CORES = frozenset({"python", "debugpy", "node", "pwa-node", "javascript", "ruby", "rdbg", "lua"})


def core_dump_path(arguments: Mapping[str, Any]) -> str:
    """The core dump that the configuration names; empty if it names none."""
    return next(
        (str(arguments[key]) for key in _CORE_KEYS if isinstance(arguments.get(key), str) and arguments[key]), ""
    )


def with_core_dump(session: ResolvedConfiguration) -> ResolvedConfiguration:
    """The same session, where it names a core dump with what its debugger opens that by."""
    named = core_dump_path(session.arguments)
    if not named:
        return session
    if session.type in _TYPES_WITHOUT_CORES:
        raise _no_cores(type=session.type)
    if session.type not in _NATIVE_TYPES | _GO_TYPES:
        return session
    core = Path(os.path.normpath(session.folder / str(session.arguments.get("cwd") or "") / named))
    rest = {key: value for key, value in session.arguments.items() if key not in _CORE_KEYS}
    if session.type in _GO_TYPES:
        opened = {**rest, "mode": "core", "coreFilePath": str(core)}
        return replace(session, request="launch", arguments={**opened, "request": "launch"})
    return replace(session, request="attach", arguments={**rest, "request": "attach", "coreFile": str(core)})


def require_core(session: ResolvedConfiguration) -> None:
    core = core_dump_path(session.arguments)
    if core and session.type in _NATIVE_TYPES | _GO_TYPES and file_kind(Path(core)) != "file":
        raise _no_core(path=core, details={"path": str(Path(core))})


def require_debugging(session: ResolvedConfiguration) -> None:
    """Asked to be run without a debugger, there is nothing that a core dump could do."""
    if core_dump_path(session.arguments):
        raise LaunchError(
            "core_not_run",
            localize("A core dump cannot run; it can only be opened in the debugger."),
            hint=localize("Remove `no_debug`."),
        )


_no_cores = LaunchErrorSpec(
    "core_not_supported",
    "The debugger for type {type} cannot open core dumps. Nothing was started.",
    "Use type `lldb`, or `go` for a Go program.",
    type=quoted,
)


_no_core = LaunchErrorSpec(
    "no_such_core",
    "The core dump does not exist: {path}. Nothing was started.",
    "Fix the path. `cat /proc/sys/kernel/core_pattern` shows where the system puts core dumps.",
    path=quoted_path,
)


def require_process(key: str, value: object) -> None:
    """Before anything is started: a debugger's own words about it come late and say little."""
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise _bad_process_id(key=key, value=value, example="${command:pickProcess}")
    try:
        process = psutil.Process(value)
        owner, is_dead = process.uids().effective, process.status() == psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, OverflowError, ValueError):
        raise _no_process(pid=value, details={"process_id": value}) from None
    except psutil.AccessDenied:
        raise _foreign_process(pid=value, details={"process_id": value}) from None
    if is_dead:
        raise _no_process(pid=value, details={"process_id": value})
    if value == os.getpid():
        raise _own_process(pid=value, details={"process_id": value})
    if os.geteuid() not in (0, owner):
        raise _foreign_process(pid=value, details={"process_id": value})


_no_target = LaunchErrorSpec(
    "nothing_to_attach_to",
    "The configuration does not say what to attach to.",
    "Pass `process_id`, or set processId or connect (host and port) in the configuration.",
)


_bad_process_id = LaunchErrorSpec(
    "bad_process_id",
    "{key} must be a process ID, not {value}.",
    "Pass `process_id`, and use {example} in the configuration.",
    value=quoted,
)


_no_process = LaunchErrorSpec(
    "no_such_process",
    "Process {pid} does not exist.",
    "It may have ended. Find the running one, for example with `pgrep`.",
)


_foreign_process = LaunchErrorSpec(
    "foreign_process",
    "Process {pid} belongs to another user.",
    "You can only attach to your own processes.",
)


_own_process = LaunchErrorSpec(
    "own_process", "Process {pid} is the daemon, which cannot debug itself.", "Choose another process."
)


# Debuggers that take a program without its extension.
_IMPLIED_SUFFIXES: Mapping[str, str] = {"node": ".js", "pwa-node": ".js"}


# Other debuggers have default search paths of their own.
_TYPES_WITH_TARGET = frozenset({"python", "debugpy", "go", "lldb", "lldb-dap", "codelldb", "cppdbg"})
_TARGET_KEYS = (
    *ATTACH_TARGET_KEYS,
    *("attachCommands", "targetCreateCommands", "coreFile", "coreDumpPath", "waitFor", "debugServer"),
    *("gdb-remote-port", "miDebuggerServerAddress", "pipeTransport"),
)


async def prepare(
    launch: LaunchPlan,
    session: ResolvedConfiguration,
    run: TaskExecution,
    runner: TaskRunner,
    *,
    is_started_here: bool = True,
) -> None:
    """Run what must run before this session, then see that there is something to start. Only what is trusted.

    A task that several sessions of a compound want runs once: they share `run`. What the program of a debugger means
    that only an editor has, only that editor knows.
    """
    await run.run_once(launch.before, runner)
    await run.run_once(session.before, runner)
    if is_started_here:
        require_program(session)


def require_program(session: ResolvedConfiguration) -> None:
    """The folder to run in and the program, for a launch; what is attached to answers for itself, but a core dump."""
    require_core(session)
    if session.request != "launch":
        return
    cwd = Path(os.path.normpath(session.folder / (session.arguments.get("cwd") or "")))
    if file_kind(cwd) != "folder":
        raise no_folder(cwd)
    program = session.arguments.get("program")
    if program and not _program_exists(path := Path(os.path.normpath(cwd / program)), session.type):
        raise no_program(path)


def require_target(session: ResolvedConfiguration) -> None:
    """For an attach: that it says to what, and that a process which it names is there and ours."""
    if session.request != "attach":
        return
    arguments = session.arguments
    if session.type in _TYPES_WITH_TARGET and not any(arguments.get(key) for key in _TARGET_KEYS):
        raise _no_target(details={"needs": "process_id"})
    for key in ("processId", "pid"):
        if arguments.get(key) is not None:
            require_process(key, arguments[key])


def _program_exists(path: Path, kind: str) -> bool:
    return any(file_kind(Path(f"{path}{suffix}")) != "nothing" for suffix in ("", _IMPLIED_SUFFIXES.get(kind, "")))


_PYTHON_TYPES = frozenset({"python", "debugpy"})


def is_zipapp(path: Path) -> bool:
    if file_kind(path) != "file":
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "__main__.py" in archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, RuntimeError):
        return False


def with_zipapp_note(session: ResolvedConfiguration) -> ResolvedConfiguration:
    program = session.arguments.get("program")
    if session.type not in _PYTHON_TYPES or session.request != "launch" or not isinstance(program, str) or not program:
        return session
    path = Path(os.path.normpath(session.folder / str(session.arguments.get("cwd") or "") / program))
    if path.suffix == ".py" or not is_zipapp(path):
        return session
    why = localize(
        "Breakpoints do not bind in a zipapp: the debugger cannot read archives. Unpack it (`python -m zipfile "
        "-e FILE FOLDER`) and start the folder."
    )
    return replace(session, notes=(*session.notes, LaunchNote(why, str(path))))
