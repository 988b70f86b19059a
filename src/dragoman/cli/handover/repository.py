"""Whether the files of a folder still are those of the commit at which a session started.

No hook and no file system monitor of the repository runs for it.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_TIMEOUT_S = 10.0
_QUIET = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")


@dataclass(frozen=True, slots=True)
class TreeState:
    commit: str = ""
    """Empty: no repository, or nothing was committed yet."""
    is_dirty: bool = False


def tree_state(folder: Path, commit: str) -> TreeState:
    """`commit` is what was recorded when the session started: the folder may be at another one by now."""
    if not commit:
        return TreeState()
    if _git(folder, "rev-parse", "--verify", "--quiet", "HEAD") != commit:
        return TreeState(commit, is_dirty=True)
    return TreeState(commit, bool(_git(folder, "status", "--porcelain")))


def _git(folder: Path, *words: str) -> str:
    """What it prints; nothing, where git is missing, slow or has nothing to say."""
    variables = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(  # noqa: S603  a list of arguments, never a shell
            ["git", "-C", str(folder), *_QUIET, *words],  # noqa: S607
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
