"""Write the settings file: one writer at a time, as a whole, with its comments kept."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.settings.loader import edit_settings_text
from dragoman.io.files.private_files import replace_private


def write_setting(file: Path, key: str, text: str) -> None:
    """Read, change and write in one step: of two concurrent writers, the second sees what the first wrote."""
    with _one_writer(file):
        _write(file, edit_settings_text(file, key, text))


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
    """If the path is a link, its target is replaced, not the link. The mode stays unchanged."""
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
            localize("Could not write the settings file {file} ({reason}).", file=file, reason=error.strerror),
            hint=localize("Check the folder's permissions and the free disk space."),
        ) from error
