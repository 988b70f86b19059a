"""Which repository a folder is a checkout of, so that checkouts on two machines are recognized.

No hook and no program that a repository's configuration names is run: it may be a stranger's. Its files are read, and
git walks the history with transports, prompts and the file system monitor switched off.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dragoman.workspace.git_commands import GIT, git_environment

_MAX_CONFIG = 1 << 20
_WITHIN_S = 2.0
_MAX_ROOTS = 20
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REFERENCE = re.compile(r"refs/[^\x00-\x20\x7f~^:?*\[\\]{1,500}")
_SECTION = re.compile(r"\s*\[\s*([\w.-]+)\s*(?:\"([^\"]*)\")?\s*\]")
_URL = re.compile(r"\s*url\s*=\s*(\S+)\s*")
_SCP = re.compile(r"(?:[^@/:]+@)?([^/:@]+):(?!//|:)(.+)")
_SCHEME = re.compile(r"(?:ssh|git|https?|git\+ssh)://(?:[^@/]*@)?([^/:@]+)(?::\d+)?/+(.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Repository:
    """A checkout: its top folder, and what its other checkouts have in common with it."""

    top: Path
    origin: str
    """A digest of the remote `origin`, however it is written; empty for none, or one that is a folder."""

    def roots(self, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
        """The first commits of its history; none if git cannot say so in time."""
        command = (*GIT, "-C", str(self.top), "rev-list", "--max-parents=0", f"--max-count={_MAX_ROOTS}", "HEAD")
        try:
            done = subprocess.run(  # noqa: S603  a list of arguments; the folder stands behind its option
                command,
                env=git_environment(environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_WITHIN_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ()
        return tuple(_COMMIT.findall(done.stdout.decode("ascii", "replace"))) if done.returncode == 0 else ()


def find_repository(folder: Path) -> Repository | None:
    """The checkout that contains the folder."""
    for place in (folder, *folder.parents):
        mark = place / ".git"
        if mark.is_dir():
            return Repository(place, _origin(mark / "config"))
        if mark.is_file():
            return Repository(place, _origin(_common_folder(mark) / "config"))
    return None


def head_commit(folder: Path) -> str:
    """The commit that the folder's checkout is at, from its files alone; empty if they do not say."""
    mark = next((it / ".git" for it in (folder, *folder.parents) if (it / ".git").exists()), None)
    if mark is None:
        return ""
    own, common = (mark, mark) if mark.is_dir() else (_own_folder(mark), _common_folder(mark))
    head = _read(own / "HEAD").strip()
    if not head.startswith("ref: "):
        return _commit(head)
    name = head.removeprefix("ref: ").strip()
    if not _REFERENCE.fullmatch(name) or ".." in name:
        return ""
    packed = (line.partition(" ") for line in _read(common / "packed-refs").splitlines())
    loose = next(filter(None, (_commit(_read(it / name).strip()) for it in (own, common))), "")
    return loose or next((_commit(commit) for commit, _, it in packed if it == name), "")


def _commit(text: str) -> str:
    return text if _COMMIT.fullmatch(text) else ""


def _own_folder(mark: Path) -> Path:
    """What belongs to this worktree or submodule alone."""
    text = _read(mark)
    return mark.parent / text.removeprefix("gitdir:").strip() if text.startswith("gitdir:") else mark.parent


def _common_folder(mark: Path) -> Path:
    """Where a worktree or a submodule keeps its configuration: `.git` is a file there."""
    folder = _own_folder(mark)
    common = _read(folder / "commondir").strip()
    return folder / common if common else folder


def _origin(config: Path) -> str:
    section: tuple[str, str | None] = ("", None)
    for line in _read(config).splitlines():
        if match := _SECTION.match(line):
            section = match[1].lower(), match[2]
            line = line[match.end() :]  # noqa: PLW2901
        if section == ("remote", "origin") and (url := _URL.fullmatch(line)):
            name = normalized_url(url[1])
            return hashlib.sha256(name.encode()).hexdigest() if name else ""
    return ""


def normalized_url(url: str) -> str:
    """`host/path` of a remote, the same for ssh and https; empty for a folder, which is another on each machine."""
    found = _SCHEME.fullmatch(url) or (None if "://" in url else _SCP.fullmatch(url))
    if found is None:
        return ""
    path = found[2].strip("/").removesuffix(".git").rstrip("/")
    return f"{found[1].lower()}/{path}" if path else ""


def _read(file: Path) -> str:
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as opened:
            return opened.read(_MAX_CONFIG).decode("utf-8", "replace")
    except OSError:
        return ""
