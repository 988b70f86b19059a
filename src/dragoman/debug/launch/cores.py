"""Core dumps: a configuration that names one opens it. The program of a core dump is never run.

Every debugger spells the key in its own way, and lldb-dap reads it in an `attach` alone: in a `launch` it would start
the program instead.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dragoman.debug.launch.faults import LaunchError, quoted, quoted_path
from dragoman.debug.launch.files import kind_of
from dragoman.debug.launch.resolving import Resolved
from dragoman.phrases import say

_KEYS = ("coreFile", "coreDumpPath", "coreFilePath")
_NATIVE = frozenset(
    {"lldb", "lldb-dap", "lldb-vscode", "codelldb", "cppdbg", "cpp", "c", "rust", "gdb", "native", "cppvsdbg"}
)
_GO = frozenset({"go", "delve", "dlv"})
# They would pass over the key and run the program. What an editor's debugger makes of it is its own affair.
_HAVE_NONE = frozenset({"python", "debugpy", "node", "pwa-node", "javascript", "ruby", "rdbg", "lua"})


def core_of(arguments: Mapping[str, Any]) -> str:
    """As the configuration names it; empty where it names none."""
    return next((str(arguments[key]) for key in _KEYS if isinstance(arguments.get(key), str) and arguments[key]), "")


def opening_core(session: Resolved) -> Resolved:
    """The same session, where it names a core dump with what its debugger opens that by."""
    named = core_of(session.arguments)
    if not named:
        return session
    if session.type in _HAVE_NONE:
        raise _no_cores(session.type)
    if session.type not in _NATIVE | _GO:
        return session
    core = Path(os.path.normpath(session.folder / str(session.arguments.get("cwd") or "") / named))
    rest = {key: value for key, value in session.arguments.items() if key not in _KEYS}
    if session.type in _GO:
        opened = {**rest, "mode": "core", "coreFilePath": str(core)}
        return replace(session, request="launch", arguments={**opened, "request": "launch"})
    return replace(session, request="attach", arguments={**rest, "request": "attach", "coreFile": str(core)})


def require_core(session: Resolved) -> None:
    core = core_of(session.arguments)
    if core and session.type in _NATIVE | _GO and kind_of(Path(core)) != "file":
        raise _no_core(Path(core))


def require_debugging(session: Resolved) -> None:
    """Asked to be run without a debugger, there is nothing that a core dump could do."""
    if core_of(session.arguments):
        raise LaunchError(
            "core_not_run",
            say("A core dump cannot be run: it can only be opened in the debugger."),
            hint=say("Leave `no_debug` out."),
        )


def _no_cores(type: str) -> LaunchError:
    return LaunchError(
        "core_not_supported",
        say("The debugger for the type {type} cannot open a core dump. Nothing was started.", type=quoted(type)),
        hint=say("Open it with the type `lldb`, or `go` for a Go program."),
    )


def _no_core(path: Path) -> LaunchError:
    return LaunchError(
        "no_such_core",
        say("The core dump does not exist: {path}. Nothing was started.", path=quoted_path(path)),
        hint=say("Correct the path. `cat /proc/sys/kernel/core_pattern` says where the system puts core dumps."),
        path=str(path),
    )
