"""A program by its bare name: what was installed with the client's interpreter, or the workspace's packages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from dragoman.debug.launch.files import kind_of
from dragoman.errors import DragomanError
from dragoman.workspace.interpreter import find_interpreter

_OF_NODE = Path("node_modules", ".bin")


def installed_script(name: str, workspace: Path, environment: Mapping[str, str]) -> Path | None:
    """`pytest` of the client's environment, `mocha` of the workspace's packages; a path is never looked for."""
    if Path(name).name != name:
        return None
    return next((path for folder in _folders(workspace, environment) if kind_of(path := folder / name) == "file"), None)


def environment_script(name: str, workspace: Path, environment: Mapping[str, str]) -> Path | None:
    """`pytest` of the active environment or of the workspace's own: whoever says `python` there means the same one."""
    with contextlib.suppress(DragomanError):
        found = find_interpreter(workspace, environment)
        path = found.path.parent / name
        return path if found.found_by != "PATH" and kind_of(path) == "file" else None
    return None


def _folders(workspace: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    with contextlib.suppress(DragomanError):  # without an interpreter, nothing could run the script
        yield find_interpreter(workspace, environment).path.parent
    yield workspace / _OF_NODE
