"""Read a file that somebody named: no more than a limit, and no device or pipe, because reading one might never end."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from dragoman.core.errors import ErrorSpec
from dragoman.core.localization import localize

not_readable = ErrorSpec("not_readable", "Cannot read {file}: {reason}.", "Check the path.")


def read_at_most(path: Path, limit: int) -> bytes:
    """The first bytes, one more than the limit where there are more."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as opened:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise not_readable(file=path, reason=localize("it is not a regular file"))
            return opened.read(limit + 1)
    except OSError as error:
        raise not_readable(file=path, reason=error.strerror or error) from error
