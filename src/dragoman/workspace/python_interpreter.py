"""Which Python a client's program runs with: the client's own, never the daemon's."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize

_ENVIRONMENT_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
_FOLDERS = (".venv", "venv")
_NAMES = ("python3", "python")


@dataclass(frozen=True, slots=True)
class PythonInterpreter:
    path: Path
    found_by: str
    """What selected it, in the user's terms: `VIRTUAL_ENV`, `.venv`, `PATH`."""


def find_interpreter(workspace: Path, environment: Mapping[str, str]) -> PythonInterpreter:
    """The active environment, else the workspace's own, else the first on the client's PATH."""
    for found in _candidates(workspace, environment):
        if os.access(found.path, os.X_OK) and not _is_own(found.path):
            return found
    raise DragomanError(
        "no_interpreter",
        localize("No Python found for {workspace}.", workspace=workspace),
        hint=localize("Set `python` in the configuration, or create a .venv in the workspace."),
    )


def _candidates(workspace: Path, environment: Mapping[str, str]) -> Iterator[PythonInterpreter]:
    for name in _ENVIRONMENT_VARIABLES:
        if environment.get(name):
            yield PythonInterpreter(workspace / environment[name] / "bin" / "python", name)
    for name in _FOLDERS:
        yield PythonInterpreter(workspace / name / "bin" / "python", name)
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        for name in _NAMES:
            # A relative entry would be resolved against the daemon's folder, not the client's.
            found = shutil.which(name, path=folder) if Path(folder).is_absolute() else None
            if found:
                yield PythonInterpreter(Path(found), "PATH")


def _is_own(path: Path) -> bool:
    """The daemon's environment has Dragoman's dependencies, not the program's.

    A workspace that *is* this environment may still name it.
    """
    return path.parent.resolve() == Path(sys.executable).parent.resolve() and sys.prefix != sys.base_prefix
