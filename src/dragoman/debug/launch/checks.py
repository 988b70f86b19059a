"""What must exist before a program starts. Asked after the tasks that may build it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dragoman.debug.launch.paths import require_exists, require_folder
from dragoman.debug.launch.resolving import Resolved
from dragoman.debug.launch.running import TaskRunner, run_plan

# Debuggers that take a program without its extension.
_IMPLIED: Mapping[str, str] = {"node": ".js", "pwa-node": ".js"}


async def prepare(session: Resolved, runner: TaskRunner, environment: Mapping[str, str]) -> None:
    """Run what must run before, then see that there is something to start. Only for a trusted workspace."""
    if session.before is not None:
        await run_plan(session.before, runner, environment)
    require_program(session)


def require_program(session: Resolved) -> None:
    """The folder to run in and the program, for a launch; what is attached to answers for itself."""
    if session.request != "launch":
        return
    cwd = Path(os.path.normpath(session.folder / session.arguments.get("cwd", "")))
    require_folder(cwd)
    program = session.arguments.get("program")
    if program:
        path = Path(os.path.normpath(cwd / program))
        if not Path(f"{path}{_IMPLIED.get(session.type, '')}").exists():
            require_exists(path)
