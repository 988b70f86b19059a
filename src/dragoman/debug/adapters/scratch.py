"""Files that live as long as a start: a program's input where an adapter takes only a path, and what it builds."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

from dragoman.places import find_places

_LEFT_BEHIND_AFTER_S = 86_400.0


def input_file(text: str | None) -> Path:
    """Whoever gives it to a program removes it once the program has opened it."""
    if text is None:
        return Path(os.devnull)
    fd, path = tempfile.mkstemp(dir=_folder(), prefix="input-")
    with os.fdopen(fd, "wb") as file:
        file.write(input_bytes(text))
    return Path(path)


def input_bytes(text: str) -> bytes:
    """Bytes that were no UTF-8 came as halves of surrogate pairs, and are bytes again; other halves mean nothing."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def rows_file() -> Path:
    """For what a program that is probed says of itself; who probes it removes it."""
    fd, path = tempfile.mkstemp(dir=_folder(), prefix="rows-")
    os.close(fd)
    return Path(path)


def build_file() -> Path:
    """Where to build to, instead of beside the sources; the debugger removes it, unless it is killed."""
    return _folder() / f"build-{os.urandom(8).hex()}"


def _folder() -> Path:
    folder = find_places().runtime / "scratch"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _LEFT_BEHIND_AFTER_S:
                path.unlink()
    return folder
