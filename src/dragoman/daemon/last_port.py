"""The port that was served last: a client that was given an address over HTTP finds the daemon there again."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.transport.private_files import read_private, replace_private

log = logging.getLogger(__name__)


def last_port(file: Path) -> int:
    """0 where nobody knows: no reason not to start."""
    with contextlib.suppress(OSError, ValueError, DragomanError):
        port = int(read_private(file, limit=16))
        return port if 0 < port < 1 << 16 else 0
    return 0


def remember_port(file: Path, port: int) -> None:
    if last_port(file) == port:
        return
    try:
        replace_private(file, f"{port}\n".encode())
    except OSError as error:
        log.warning("the port is not remembered: %s", error.strerror)
