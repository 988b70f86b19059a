"""Which files an agent may read, and how one is opened so that the checked file is the one that is read.

A path is resolved and checked. The result is then opened name by name, and none of the names may be a link: one that
was swapped in after the check is refused.
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

MAX_FILE_BYTES = 1 << 20
MAX_PATH_CHARACTERS = 4096
# The kernel's file systems: they expose the environment, the memory and the open files of the daemon.
_KERNEL = ("/proc", "/sys", "/dev")
# Where the system supports it, a folder is traversed without the right to list it.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_A_LINK_CAME_BETWEEN = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
_TRIES = 3

FileAccessRefusal = Literal["bad_path", "outside", "private", "missing", "not_a_file", "too_large", "unreadable"]


class FileAccessError(Exception):
    """Why a file is not read. The caller, which knows the purpose of the file, writes the message."""

    def __init__(self, why: FileAccessRefusal) -> None:
        super().__init__(why)
        self.why: FileAccessRefusal = why


@dataclass(frozen=True, slots=True)
class FileAccessPolicy:
    allowed: tuple[Path, ...] = ()
    """Folders beside the workspace, from the user's settings."""
    private: tuple[Path, ...] = ()
    """The folders of Dragoman's tokens, settings and journal. They are not readable even inside a workspace."""

    def read(self, path: str, workspace: Path, named: Collection[str] = (), *, most: int = MAX_FILE_BYTES) -> bytes:
        """Read a whole regular file. `named` are paths from the stack of a live program."""
        for _ in range(_TRIES):
            real = self.judge(path, workspace, named)
            try:
                fd = _open_without_links(real)
            except OSError as error:
                if error.errno not in _A_LINK_CAME_BETWEEN:
                    raise FileAccessError(_WHY.get(error.errno or 0, "unreadable")) from error
            else:
                return _whole(fd, most)
        raise FileAccessError("missing")

    def judge(self, path: str, workspace: Path, named: Collection[str] = ()) -> str:
        """The resolved path, if it may be read."""
        if not path.startswith("/") or path.startswith("//") or "\0" in path or len(path) > MAX_PATH_CHARACTERS:
            raise FileAccessError("bad_path")
        try:
            real = os.path.realpath(path)
            folders = [os.path.realpath(folder) for folder in (workspace, *self.allowed)]
        except (OSError, ValueError) as error:
            raise FileAccessError("bad_path") from error
        if any(_is_within(real, folder) for folder in (*map(_lasting, self.private), *_KERNEL)):
            raise FileAccessError("private")
        if path not in named and not any(_is_within(real, folder) for folder in folders):
            raise FileAccessError("outside")
        return real


_WHY: dict[int, FileAccessRefusal] = {
    errno.ENOENT: "missing",
    errno.ENAMETOOLONG: "bad_path",
    errno.ENXIO: "not_a_file",
}


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@functools.cache
def _lasting(folder: Path) -> str:
    """The real path of one of Dragoman's folders, which does not change while the daemon runs."""
    return os.path.realpath(folder)


def _open_without_links(real: str) -> int:
    """Open each name relative to the folder before it, so that no link is followed."""
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
    """Read the whole file.

    A pipe or a device is refused before the first byte; an endless file at the first byte over the limit.
    """
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise FileAccessError("not_a_file")
        with os.fdopen(fd, "rb", closefd=False) as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise FileAccessError("unreadable") from error
    finally:
        os.close(fd)
    if len(data) > most:
        raise FileAccessError("too_large")
    return data
