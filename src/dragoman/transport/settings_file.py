"""The settings file written, by one at a time and as a whole; its comments stay."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.settings import set_value
from dragoman.transport.private_files import replace_private


def write_setting(file: Path, key: str, text: str) -> None:
    """Read, change and write are one step: of two writers at once, the second sees what the first wrote."""
    with _one_writer(file):
        _write(file, set_value(file, key, text))


@contextlib.contextmanager
def _one_writer(file: Path) -> Iterator[None]:
    with _writing(file):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _write(file: Path, text: str) -> None:
    """The file a link leads to is replaced, not the link, and it stays as open or closed as it was."""
    with _writing(file):
        target = file.resolve()
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_private(target, text.encode())
        target.chmod(mode)


@contextlib.contextmanager
def _writing(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DragomanError(
            "settings_not_written",
            say("The settings file {file} could not be written ({reason}).", file=file, reason=error.strerror),
            hint=say("Check the folder's permissions and the space on the disk."),
        ) from error
