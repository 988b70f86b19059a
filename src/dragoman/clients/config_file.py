"""Read and replace a configuration file: atomically, through links, keeping its mode and a backup."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dragoman.clients.machine import SERVER_NAME
from dragoman.core.localization import LocalizedText, localize
from dragoman.io.files.private_files import sync_folder
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls, write_all

_BOM = b"\xef\xbb\xbf"
_NEW_FILE_MODE = 0o600
_MAX_FILE_SIZE = 64 << 20


class UneditableConfigError(Exception):
    """A configuration file that is left unchanged, with the reason. The caller adds the path and what to do."""

    def __init__(self, reason: LocalizedText) -> None:
        super().__init__(reason)
        self.reason = reason


def syntax_problem(line: int, column: int, problem: str) -> UneditableConfigError:
    return UneditableConfigError(
        localize("line {line}, column {column}: {problem}", line=line, column=column, problem=problem)
    )


def wrong_type(where: str) -> UneditableConfigError:
    return UneditableConfigError(localize("{where} is not an object with server names as keys", where=where))


def unsupported_form(where: str) -> UneditableConfigError:
    return UneditableConfigError(localize("{where} uses a syntax that cannot be edited safely", where=where))


class StaleConfigError(Exception):
    """Another program wrote the file after we read it, so our edit is out of date."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    path: Path
    """The real path of the file, after all links."""
    data: bytes | None = None
    mode: int = _NEW_FILE_MODE

    @property
    def text(self) -> str:
        try:
            return (self.data or b"").removeprefix(_BOM).decode()
        except UnicodeDecodeError as error:
            raise UneditableConfigError(localize("byte {offset} is not UTF-8", offset=error.start)) from error

    def encoded(self, text: str) -> bytes:
        return (_BOM if (self.data or b"").startswith(_BOM) else b"") + text.encode()


def read_config(path: Path) -> ConfigFile:
    """Read a configuration file. Dotfiles are often links into a repository: the link stays, and its target is
    edited.
    """
    try:
        # Not blocking, so that a pipe with this name cannot block us.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ConfigFile(_resolve_links(path))
    except OSError as error:
        raise UneditableConfigError(localize("it cannot be read: {reason}", reason=error.strerror)) from error
    try:
        status = os.fstat(fd)
        _require_editable(status)
        with open(fd, "rb", closefd=False) as stream:
            return ConfigFile(_resolve_links(path), stream.read(), stat.S_IMODE(status.st_mode))
    finally:
        os.close(fd)


def mentions_dragoman(path: Path) -> bool:
    """Whether the file may contain our entry; also true if it cannot be parsed."""
    try:
        return SERVER_NAME.encode() in path.read_bytes()
    except OSError:
        return False


def replace_config(file: ConfigFile, data: bytes, *, now: datetime, system: SystemCalls = REAL_SYSTEM) -> Path | None:
    """Write a new file beside the old one, compare once more, rename. Returns the name of the backup, if one
    was made.
    """
    created: list[Path] = []
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        backup = _write_backup(file, now, created, system)
        draft = _write_draft(file, data, created, system)
        if _read_bytes(file.path) != file.data:
            raise StaleConfigError
        system.rename(draft, file.path)
    except BaseException as error:
        for path in created:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UneditableConfigError(localize("it cannot be written: {reason}", reason=error.strerror)) from error
        raise
    _sync_folder(file.path.parent, system)
    return backup


def _resolve_links(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _require_editable(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UneditableConfigError(localize("it is not a regular file"))
    if status.st_size > _MAX_FILE_SIZE:
        raise UneditableConfigError(localize("it is larger than {limit} bytes", limit=_MAX_FILE_SIZE))
    if status.st_uid != os.geteuid():
        raise UneditableConfigError(localize("it is owned by another user (uid {uid})", uid=status.st_uid))
    # A rename would work, but a read-only file was made so on purpose, by a person or a dotfile manager.
    if not status.st_mode & stat.S_IWUSR:
        raise UneditableConfigError(localize("it is read-only"))


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write_backup(file: ConfigFile, now: datetime, created: list[Path], system: SystemCalls) -> Path | None:
    if file.data is None:
        return None
    first = file.path.with_name(f"{file.path.name}.bak-{now:%Y%m%d-%H%M%S}")
    others = (first.with_name(f"{first.name}-{count}") for count in range(2, 100))
    backup = next((path for path in (first, *others) if not path.exists()), first)
    # These files hold secrets of other servers, so a copy is never more readable than 0600.
    _write_new(backup, file.data, file.mode & 0o600, created, system)
    return backup


def _write_draft(file: ConfigFile, data: bytes, created: list[Path], system: SystemCalls) -> Path:
    draft = file.path.with_name(f".{file.path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    _write_new(draft, data, file.mode, created, system)
    return draft


def _write_new(path: Path, data: bytes, mode: int, created: list[Path], system: SystemCalls) -> None:
    fd = system.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    created.append(path)
    try:
        write_all(system, fd, data)
        os.fchmod(fd, mode)
        system.fsync(fd)
    finally:
        os.close(fd)


def _sync_folder(folder: Path, system: SystemCalls) -> None:
    """Sync the folder. The file is already in place, so a folder that cannot be synced (some network disks) is not an
    error.
    """
    with contextlib.suppress(OSError):
        sync_folder(folder, system=system)
