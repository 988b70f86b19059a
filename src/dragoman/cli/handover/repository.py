"""Whether the files of a folder still are those of the commit at which a session started.

Nothing that the repository configures runs for it: no hook, no file system monitor, no filter, no submodule's either.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.workspace.git_commands import GIT, LIST_SETTINGS, git_environment, without_own_programs
from dragoman.workspace.repository import head_commit

_TIMEOUT_S = 10.0
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class TreeState:
    commit: str = ""
    """Empty: no repository, or nothing was committed yet."""
    is_dirty: bool = False


def tree_state(folder: Path, commit: str) -> TreeState:
    """`commit` is what was recorded when the session started: the folder may be at another one by now."""
    if not commit:
        return TreeState()
    settings = _git(folder, *LIST_SETTINGS)
    try:
        quiet = None if settings is None else without_own_programs(settings)
    except DragomanError:
        quiet = None
    if quiet is None or head_commit(folder) != commit:
        return TreeState(commit, is_dirty=True)
    return TreeState(commit, is_dirty=_git(folder, *quiet, "status", "--porcelain", "--ignore-submodules=all") != b"")


def has_commit(folder: Path, commit: str) -> bool:
    """Whether the repository has it; the name comes from somebody else, and must be a whole hash."""
    return bool(_HASH.fullmatch(commit)) and _git(folder, "cat-file", "-e", f"{commit}^{{commit}}") is not None


def _git(folder: Path, *words: str) -> bytes | None:
    """What it prints; None where git is missing, slow or fails."""
    try:
        done = subprocess.run(  # noqa: S603  a list of arguments, never a shell
            [*GIT, "-C", str(folder), *words],
            env=git_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
