"""Which workspace a command is about: the folder that holds the project one stands in."""

from __future__ import annotations

import os
from pathlib import Path

from dragoman.cli.hello import working_folder

_MARKS = (".git", ".vscode")


def find_workspace(named: Path | None) -> Path:
    """Upwards to a folder with .git or .vscode, else the working folder itself.

    Not beyond what is ours: a launch.json that another user put into a folder above is not the project's. And not the
    home folder, where editors keep a `.vscode` of their own.
    """
    if named is not None:
        from dragoman.cli import launcher

        return launcher.folder(named)
    here = Path(working_folder())
    for folder in (here, *here.parents):
        if folder == Path.home() or not _is_ours(folder):
            break
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
    return here


def record_scope(*, all_workspaces: bool) -> dict[str, str]:
    """What of the record is asked for: that of the workspace one stands in, unless a person wants all of it."""
    return {} if all_workspaces else {"workspace": str(find_workspace(None).resolve())}


def _is_ours(folder: Path) -> bool:
    try:
        return folder.stat().st_uid == os.getuid()
    except OSError:
        return False
