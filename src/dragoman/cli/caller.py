"""What the daemon learns about the caller of a command: workspace, working folder and environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.cli.output import warn
from dragoman.cli.remote.options import allows_stop, chosen_names, crossing_variables, is_remote
from dragoman.core.localization import localize
from dragoman.protocols.control import LINE_CAP, encode_line

_HELLO_OVERHEAD = 1 << 16  # Part of the daemon's limit for the hello, reserved for everything except the environment.
_PROJECT_MARKERS = (".git", ".vscode")


def caller_info(workspace: Path) -> Mapping[str, Any]:
    return remote_caller_info(workspace, chosen_names()[0]) if is_remote() else local_caller_info(workspace)


def remote_caller_info(workspace: Path, target: str) -> Mapping[str, Any]:
    """Only what was named: the rest is known there, and the local environment never crosses."""
    from dragoman.cli.remote.folder_maps import far_workspace

    return {
        "workspace": far_workspace(workspace, target),
        "environment": fit_environment(crossing_variables()),
        "target": target,
        "allow_stop": allows_stop(),
    }


def local_caller_info(workspace: Path) -> Mapping[str, Any]:
    return {
        "workspace": str(workspace),
        "cwd": working_folder(),
        "environment": fit_environment(dict(os.environ)),
        "client_pid": os.getppid(),
    }


def working_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:  # the folder was deleted; commands still work
        return os.sep


def fit_environment(environment: dict[str, str]) -> dict[str, str]:
    """Drop the largest environment variables, with a warning, until the hello fits the daemon's limit."""
    while len(encode_line(environment)) > LINE_CAP - _HELLO_OVERHEAD:
        name = max(environment, key=lambda key: len(environment[key]) + len(key))
        del environment[name]
        warn(localize("The environment variable {name} is too long to pass to programs.", name=ascii(name[:80])))
    return environment


def find_workspace(named: Path | None) -> Path:
    """The folder that was named, else that of the project."""
    if is_remote():  # a folder there, which only `dragoman pipe` can look at
        return named or Path()
    if named is not None:
        from dragoman.cli.daemon import launcher

        return launcher.require_folder(named)
    return project_folder()


def project_folder() -> Path:
    """Find the nearest parent with .git or .vscode; the working folder if there is none.

    The search stops at the first folder of another user, because their launch.json does not belong to the project, and
    at the home folder, where editors keep their own `.vscode`.
    """
    here = Path(working_folder())
    for folder in (here, *here.parents):
        if folder == Path.home() or not _is_ours(folder):
            break
        if any((folder / mark).exists() for mark in _PROJECT_MARKERS):
            return folder
    return here


def record_scope(*, all_workspaces: bool) -> dict[str, str]:
    """Limit a journal query to the current workspace unless the user asked for all of them.

    On another machine there is no current one.
    """
    return {} if all_workspaces or is_remote() else {"workspace": str(find_workspace(None).resolve())}


def _is_ours(folder: Path) -> bool:
    try:
        return folder.stat().st_uid == os.getuid()
    except OSError:
        return False
