"""Files read for an agent: which ones may be, and how one is opened so that what was judged is what is read.

A path is first followed to where it really leads, and judged there. That place is then opened name by name from the top
of the tree it lies in, and none of the names may be a link: one that was swapped in after the judgement is refused.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MOST_BYTES = 1 << 20
MOST_CHARACTERS = 4096
# The kernel's own: among them the environment, the memory and the open files of our process.
_KERNEL = ("/proc", "/sys", "/dev")
# Where the system can, a folder is passed through without the right to list it.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_A_LINK_CAME_BETWEEN = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
_TRIES = 3

Refusal = Literal["bad_path", "outside", "private", "missing", "not_a_file", "too_large", "unreadable"]


class RefusedError(Exception):
    """Why a file is not read. Whoever knows what it was wanted for says it in words."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why)
        self.why: Refusal = why


@dataclass(frozen=True, slots=True)
class PathRule:
    allowed: tuple[Path, ...] = ()
    """Folders beside the workspace, from the user's settings."""
    private: tuple[Path, ...] = ()
    """Where our own tokens, settings and journal are: not even in a workspace that holds them."""

    def read(self, path: str, workspace: Path, named: Collection[str] = (), *, most: int = MOST_BYTES) -> bytes:
        """The whole of a regular file. `named` are paths that a live program's own stack names."""
        for _ in range(_TRIES):
            real = self.judge(path, workspace, named)
            try:
                fd = _open_without_links(real)
            except OSError as error:
                if error.errno not in _A_LINK_CAME_BETWEEN:
                    raise RefusedError(_WHY.get(error.errno or 0, "unreadable")) from error
            else:
                return _whole(fd, most)
        raise RefusedError("missing")

    def judge(self, path: str, workspace: Path, named: Collection[str] = ()) -> str:
        """Where the path leads, if that may be read."""
        if not path.startswith("/") or path.startswith("//") or "\0" in path or len(path) > MOST_CHARACTERS:
            raise RefusedError("bad_path")
        try:
            real = os.path.realpath(path)
            folders = [os.path.realpath(folder) for folder in (workspace, *self.allowed)]
        except (OSError, ValueError) as error:
            raise RefusedError("bad_path") from error
        if any(_is_within(real, folder) for folder in (*map(_lasting, self.private), *_KERNEL)):
            raise RefusedError("private")
        if path not in named and not any(_is_within(real, folder) for folder in folders):
            raise RefusedError("outside")
        return real


_WHY: dict[int, Refusal] = {errno.ENOENT: "missing", errno.ENAMETOOLONG: "bad_path", errno.ENXIO: "not_a_file"}


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@functools.cache
def _lasting(folder: Path) -> str:
    """Where a folder of ours really is, which is so for as long as we run."""
    return os.path.realpath(folder)


def _open_without_links(real: str) -> int:
    """Opened by handle, each name in the folder opened before it."""
    *folders, name = Path(real).parts[1:] or ("",)
    at = os.open("/", _FOLDER)
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name or ".", _FILE, dir_fd=at)
    finally:
        os.close(at)


def _whole(fd: int, most: int) -> bytes:
    """A pipe or a device is refused before a byte of it is read; a file without end at its first byte too many."""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise RefusedError("not_a_file")
        with os.fdopen(fd, "rb", closefd=False) as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise RefusedError("unreadable") from error
    finally:
        os.close(fd)
    if len(data) > most:
        raise RefusedError("too_large")
    return data
