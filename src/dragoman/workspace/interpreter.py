"""Which Python a client's program runs with: the client's own, never the daemon's."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.phrases import say

_ENVIRONMENT_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
_FOLDERS = (".venv", "venv")
_NAMES = ("python3", "python")


@dataclass(frozen=True, slots=True)
class Interpreter:
    path: Path
    found_by: str
    """What named it, as a person would look for it: `VIRTUAL_ENV`, `.venv`, `PATH`."""


def find_interpreter(workspace: Path, environment: Mapping[str, str]) -> Interpreter:
    """The active environment, else the workspace's own, else what the client's PATH says."""
    for found in _candidates(workspace, environment):
        if os.access(found.path, os.X_OK) and not _is_own(found.path):
            return found
    raise DragomanError(
        "no_interpreter",
        say("No Python was found for {workspace}.", workspace=workspace),
        hint=say("Name one with `python` in the configuration, or make a .venv in the workspace."),
    )


def _candidates(workspace: Path, environment: Mapping[str, str]) -> Iterator[Interpreter]:
    for name in _ENVIRONMENT_VARIABLES:
        if environment.get(name):
            yield Interpreter(workspace / environment[name] / "bin" / "python", name)
    for name in _FOLDERS:
        yield Interpreter(workspace / name / "bin" / "python", name)
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        for name in _NAMES:
            # One that is not absolute would be looked for where the daemon stands, not where the client does.
            found = shutil.which(name, path=folder) if Path(folder).is_absolute() else None
            if found:
                yield Interpreter(Path(found), "PATH")


def _is_own(path: Path) -> bool:
    """Ours holds our dependencies, not the program's; a workspace that *is* our environment may still name it."""
    return path.parent.resolve() == Path(sys.executable).parent.resolve() and sys.prefix != sys.base_prefix
