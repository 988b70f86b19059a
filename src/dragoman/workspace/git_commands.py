"""How git is called in a folder that may be a stranger's: nothing that its configuration names runs.

A repository can name programs in its own `.git/config`: hooks, a file system monitor, a transport, and the filters
through which `git status` and a checkout pass files. A repository that came as an archive brings that file along.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from dragoman.core.errors import ErrorSpec

GIT = (
    *("git", "--no-pager", "--no-replace-objects", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.sshCommand=false", "-c", "credential.helper=", "-c", "log.showSignature=false"),
    *("-c", "submodule.recurse=false", "-c", "advice.detachedHead=false"),
)
LIST_SETTINGS = ("config", "--list", "--includes", "--show-scope", "--name-only", "-z")
"""Its output is what `without_own_programs` reads."""
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ASKPASS": "false",
}
# The user's own settings stay where the user put them. Other variables would lead to another repository.
_KEPT_VARIABLES = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
_OWN_SCOPES = frozenset({"local", "worktree"})
_FILTER = re.compile(r"filter\.(.+)\.[^.]+", re.DOTALL)
_HOOK = re.compile(r"hook\.(.+)\.[^.]+", re.DOTALL)


def git_environment(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: it for name, it in environment.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES}
    return {**kept, **_VARIABLES}


def without_own_programs(settings: bytes) -> tuple[str, ...]:
    """Options that switch off the filters and hooks which the repository itself configures. Those in the user's own
    settings stay.
    """
    words = settings.decode("utf-8", "surrogateescape").split("\0")
    names = {name for scope, name in zip(words[::2], words[1::2], strict=False) if scope in _OWN_SCOPES}
    off: dict[str, str] = {}
    for name in sorted(names):
        if match := _FILTER.fullmatch(name):
            off |= {f"filter.{match[1]}.{it}": "" for it in ("clean", "smudge", "process")}
            off |= {f"filter.{match[1]}.required": "false"}
        elif match := _HOOK.fullmatch(name):
            off |= {f"hook.{match[1]}.enabled": "false"}
    if any("=" in name for name in off):
        raise _unusable_settings()
    return tuple(word for name, value in off.items() for word in ("-c", f"{name}={value}"))


_unusable_settings = ErrorSpec(
    "unusable_repository",
    "The repository's configuration names a filter or a hook that git cannot switch off.",
    "Remove the name with `=` in it from .git/config.",
)
