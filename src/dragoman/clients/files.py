"""A client's file, read and replaced: whole or not at all, through links, with its mode, after a backup."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dragoman.clients.command import NAME
from dragoman.clients.refusals import RefusedError
from dragoman.phrases import say
from dragoman.transport.private_files import sync_folder
from dragoman.transport.system import REAL_SYSTEM, System, write_all

_BOM = b"\xef\xbb\xbf"
_NEW_FILE_MODE = 0o600
_LIMIT = 64 << 20


class StaleError(Exception):
    """Somebody else wrote the file after we read it; what we made from it is out of date."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    path: Path
    """Where the bytes are: the end of all links."""
    data: bytes | None = None
    mode: int = _NEW_FILE_MODE

    @property
    def text(self) -> str:
        try:
            return (self.data or b"").removeprefix(_BOM).decode()
        except UnicodeDecodeError as error:
            raise RefusedError(say("byte {offset} is not UTF-8", offset=error.start)) from error

    def encoded(self, text: str) -> bytes:
        return (_BOM if (self.data or b"").startswith(_BOM) else b"") + text.encode()


def read_config(path: Path) -> ConfigFile:
    """A dotfile is often a link into a folder under version control: the link stays, its target is edited."""
    try:
        # Not blocking, so that a pipe put in the file's place cannot hold us.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ConfigFile(_end_of_links(path))
    except OSError as error:
        raise RefusedError(say("it could not be read: {reason}", reason=error.strerror)) from error
    try:
        status = os.fstat(fd)
        _require_editable(status)
        with open(fd, "rb", closefd=False) as stream:
            return ConfigFile(_end_of_links(path), stream.read(), stat.S_IMODE(status.st_mode))
    finally:
        os.close(fd)


def mentions_us(path: Path) -> bool:
    """Whether a file is worth a removal; also true of one that cannot be understood."""
    try:
        return NAME.encode() in path.read_bytes()
    except OSError:
        return False


def replace_config(file: ConfigFile, data: bytes, *, now: datetime, system: System = REAL_SYSTEM) -> Path | None:
    """Write beside, compare once more, rename. The name of the backup, where there was something to keep."""
    made: list[Path] = []
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        backup = _backed_up(file, now, made, system)
        draft = _drafted(file, data, made, system)
        if _bytes_at(file.path) != file.data:
            raise StaleError
        system.rename(draft, file.path)
    except BaseException as error:
        for path in made:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise RefusedError(say("it could not be written: {reason}", reason=error.strerror)) from error
        raise
    _make_lasting(file.path.parent, system)
    return backup


def _end_of_links(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _require_editable(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise RefusedError(say("there is something else than a regular file"))
    if status.st_size > _LIMIT:
        raise RefusedError(say("it has more than {limit} bytes", limit=_LIMIT))
    if status.st_uid != os.geteuid():
        raise RefusedError(say("it is owned by another user (uid {uid})", uid=status.st_uid))
    # A rename would get past it, but a person or a tool that manages dotfiles made it so on purpose.
    if not status.st_mode & stat.S_IWUSR:
        raise RefusedError(say("it is read-only"))


def _bytes_at(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _backed_up(file: ConfigFile, now: datetime, made: list[Path], system: System) -> Path | None:
    if file.data is None:
        return None
    first = file.path.with_name(f"{file.path.name}.bak-{now:%Y%m%d-%H%M%S}")
    others = (first.with_name(f"{first.name}-{count}") for count in range(2, 100))
    backup = next((path for path in (first, *others) if not path.exists()), first)
    # These files hold other servers' secrets: a copy is never more open than 0600, whatever the original is.
    _write_new(backup, file.data, file.mode & 0o600, made, system)
    return backup


def _drafted(file: ConfigFile, data: bytes, made: list[Path], system: System) -> Path:
    draft = file.path.with_name(f".{file.path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    _write_new(draft, data, file.mode, made, system)
    return draft


def _write_new(path: Path, data: bytes, mode: int, made: list[Path], system: System) -> None:
    fd = system.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    made.append(path)
    try:
        write_all(system, fd, data)
        os.fchmod(fd, mode)
        system.fsync(fd)
    finally:
        os.close(fd)


def _make_lasting(folder: Path, system: System) -> None:
    """The new file is in place; a folder that cannot be synced (some network disks) is no reason to say it is not."""
    with contextlib.suppress(OSError):
        sync_folder(folder, system=system)
