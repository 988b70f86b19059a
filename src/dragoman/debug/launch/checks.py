"""What must exist before a program starts. Asked after the tasks that may build it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dragoman.debug.launch.files import kind_of
from dragoman.debug.launch.paths import no_folder, no_program
from dragoman.debug.launch.resolving import Launch, Resolved
from dragoman.debug.launch.running import TaskRun, TaskRunner

# Debuggers that take a program without its extension.
_IMPLIED: Mapping[str, str] = {"node": ".js", "pwa-node": ".js"}


async def prepare(launch: Launch, runner: TaskRunner, environment: Mapping[str, str]) -> None:
    """Run what must run before, then see that there is something to start. Only for a trusted workspace.

    A task that several sessions of a compound want runs once.
    """
    run = TaskRun(runner, environment)
    await run.once(launch.before)
    for session in launch.sessions:
        await run.once(session.before)
        require_program(session)


def require_program(session: Resolved) -> None:
    """The folder to run in and the program, for a launch; what is attached to answers for itself."""
    if session.request != "launch":
        return
    cwd = Path(os.path.normpath(session.folder / (session.arguments.get("cwd") or "")))
    if kind_of(cwd) != "folder":
        raise no_folder(cwd)
    program = session.arguments.get("program")
    if program and not _is_there(path := Path(os.path.normpath(cwd / program)), session.type):
        raise no_program(path)


def _is_there(path: Path, kind: str) -> bool:
    return any(kind_of(Path(f"{path}{suffix}")) != "nothing" for suffix in ("", _IMPLIED.get(kind, "")))
