"""What must exist before a program starts. Asked after the tasks that may build it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dragoman.debug.launch.cores import require_core
from dragoman.debug.launch.files import kind_of
from dragoman.debug.launch.paths import no_folder, no_program
from dragoman.debug.launch.processes import no_target, require_process
from dragoman.debug.launch.resolving import SAYS_WHAT_TO_ATTACH_TO, Launch, Resolved
from dragoman.debug.launch.running import TaskRun, TaskRunner

# Debuggers that take a program without its extension.
_IMPLIED: Mapping[str, str] = {"node": ".js", "pwa-node": ".js"}

# Other debuggers have a place where they look of their own accord.
_NEEDS_A_TARGET = frozenset({"python", "debugpy", "go", "lldb", "lldb-dap", "codelldb", "cppdbg"})
_TARGETS = (
    *SAYS_WHAT_TO_ATTACH_TO,
    *("attachCommands", "targetCreateCommands", "coreFile", "coreDumpPath", "waitFor", "debugServer"),
    *("gdb-remote-port", "miDebuggerServerAddress", "pipeTransport"),
)


async def prepare(
    launch: Launch, session: Resolved, run: TaskRun, runner: TaskRunner, *, is_started_here: bool = True
) -> None:
    """Run what must run before this session, then see that there is something to start. Only what is trusted.

    A task that several sessions of a compound want runs once: they share `run`. What the program of a debugger means
    that only an editor has, only that editor knows.
    """
    await run.once(launch.before, runner)
    await run.once(session.before, runner)
    if is_started_here:
        require_program(session)


def require_program(session: Resolved) -> None:
    """The folder to run in and the program, for a launch; what is attached to answers for itself, but a core dump."""
    require_core(session)
    if session.request != "launch":
        return
    cwd = Path(os.path.normpath(session.folder / (session.arguments.get("cwd") or "")))
    if kind_of(cwd) != "folder":
        raise no_folder(cwd)
    program = session.arguments.get("program")
    if program and not _is_there(path := Path(os.path.normpath(cwd / program)), session.type):
        raise no_program(path)


def require_target(session: Resolved) -> None:
    """For an attach: that it says to what, and that a process which it names is there and ours."""
    if session.request != "attach":
        return
    arguments = session.arguments
    if session.type in _NEEDS_A_TARGET and not any(arguments.get(key) for key in _TARGETS):
        raise no_target()
    for key in ("processId", "pid"):
        if arguments.get(key) is not None:
            require_process(key, arguments[key])


def _is_there(path: Path, kind: str) -> bool:
    return any(kind_of(Path(f"{path}{suffix}")) != "nothing" for suffix in ("", _IMPLIED.get(kind, "")))
