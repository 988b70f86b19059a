"""Files and folders that only their owner may read, created so that nobody can plant one before us.

Every path is opened with O_NOFOLLOW and judged by its descriptor, never by name: what was checked is what is used.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from dragoman.core.localization import localize
from dragoman.io.errors import unsafe_file
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls, write_all

# These errors mean that the path is not a file of ours; any other error (such as a full disk) is not about the file.
_IN_THE_WAY = frozenset(
    {errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR, errno.ENOTDIR, errno.EACCES, errno.EPERM}
)
# A name has at most 255 bytes, and characters up to four each.
_DRAFT_NAME = 50
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def ensure_private_folder(path: Path) -> Path:
    """Create the folder with mode 0700, or verify that the existing one is ours and closed to others."""
    for folder in reversed([path, *path.parents]):  # `parents=True` would leave those in between to the umask
        if not folder.exists():
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
    _require_safe_way(path)
    try:
        fd = os.open(path, _FOLDER_FLAGS)
    except OSError as error:
        if error.errno not in _IN_THE_WAY:
            raise
        raise unsafe_file(path=path, reason=localize("it is not a folder, or it is a symbolic link")) from error
    try:
        _require_own(path, os.fstat(fd))
        os.fchmod(fd, 0o700)
    finally:
        os.close(fd)
    return path


def read_private(path: Path, *, limit: int = 1 << 20) -> bytes:
    """Read a small file of ours; a link, a foreign owner or an open mode is refused with the reason."""
    fd = open_private(path, os.O_RDONLY)
    try:
        data = os.read(fd, limit + 1)
    finally:
        os.close(fd)
    if len(data) > limit:
        raise unsafe_file(path=path, reason=localize("it is larger than {limit} bytes", limit=limit))
    return data


def open_private(path: Path, flags: int, *, system: SystemCalls = REAL_SYSTEM) -> int:
    """Open (or create, with O_CREAT) a 0600 file and return a descriptor that is verified to be ours."""
    try:
        fd = system.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno not in _IN_THE_WAY:
            raise
        raise unsafe_file(
            path=path, reason=localize("it could not be opened: {reason}", reason=error.strerror)
        ) from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise unsafe_file(path=path, reason=localize("it is not a regular file"))
        _require_own(path, status)
        if status.st_mode & 0o077:
            os.fchmod(fd, 0o600)
    except BaseException:
        os.close(fd)
        raise
    return fd


def replace_private(path: Path, data: bytes, *, system: SystemCalls = REAL_SYSTEM) -> None:
    """Write a temporary file, sync, rename, sync the folder: a reader sees the old file or the new one, whole."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    _write_new(draft, data, system)
    try:
        system.rename(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent, system=system)


def create_private(path: Path, data: bytes, *, system: SystemCalls = REAL_SYSTEM) -> None:
    """Write a new file, whole or not at all; FileExistsError where there is one, which is never touched."""
    draft = path.with_name(f".{path.name[:_DRAFT_NAME]}.{secrets.token_hex(8)}.new")
    _write_new(draft, data, system)
    try:
        system.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        # FAT, many network and FUSE file systems have no hard links. Only a crash could leave a part of the file then.
        _write_new(path, data, system)
    finally:
        draft.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # the file is there; some of these file systems cannot sync a folder
        sync_folder(path.parent.resolve(), system=system)


def _write_new(path: Path, data: bytes, system: SystemCalls) -> None:
    fd = system.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        try:
            write_all(system, fd, data)
            system.fsync(fd)
        finally:
            os.close(fd)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def sync_folder(path: Path, *, system: SystemCalls = REAL_SYSTEM) -> None:
    fd = os.open(path, _FOLDER_FLAGS)
    try:
        system.fsync(fd)
    finally:
        os.close(fd)


def _require_safe_way(path: Path) -> None:
    """Require that no other user can replace our folder. The owner of a folder above it, or of a link on the way,
    could rename what is in it, and so could anyone who may write there. Sticky folders, such as /tmp, prevent that."""
    trusted = {os.getuid(), 0, Path("/").stat().st_uid}  # in a user namespace, root has another uid
    for step in _steps(path):
        link, folder = step.lstat(), step.stat()
        if not {link.st_uid, folder.st_uid} <= trusted:
            raise unsafe_file(path=path, reason=localize("{step} in its path belongs to another user", step=step))
        if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
            raise unsafe_file(path=path, reason=localize("any user can rename what is in {step}", step=step))


def _steps(path: Path) -> Iterator[Path]:
    """Every folder and every link on the way to the path."""
    known: set[Path] = set()
    ways = [path]
    while ways:
        for step in reversed(ways.pop().parents):
            if step not in known:
                known.add(step)
                yield step
                if step.is_symlink():
                    ways.append(step.parent / step.readlink() / path.name)


def _require_own(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.getuid():
        raise unsafe_file(path=path, reason=localize("it belongs to another user (uid {uid})", uid=status.st_uid))
