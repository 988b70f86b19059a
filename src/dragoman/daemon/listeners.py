"""What the daemon listens on: the last HTTP port, and the sockets for shell wrappers.

Clients keep an HTTP address, so the port stays the same if possible. Wrappers find the daemon at its own socket and at
OMNISH_SOCKET, which the protocol defines. A bad address there is only logged, because it may be meant for another
daemon.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.core.paths import Paths
from dragoman.io.files.private_files import read_private, replace_private
from dragoman.io.net.unix_socket import bind_named_socket, bind_private_socket

log = logging.getLogger(__name__)
VARIABLE = "OMNISH_SOCKET"


def last_port(file: Path) -> int:
    """The last port; 0 if it is not known."""
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


@contextlib.contextmanager
def wrapper_sockets(paths: Paths, environment: Mapping[str, str] = os.environ) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(bind_private_socket(paths.omnish_socket))]
        address = environment.get(VARIABLE, "")
        if address and address != str(paths.omnish_socket):
            listeners += stack.enter_context(_named_listener(address))
        yield listeners


@contextlib.contextmanager
def _named_listener(address: str) -> Iterator[list[socket.socket]]:
    path = Path(address)
    try:
        if not path.is_absolute():
            raise ValueError("it is no path of a socket")
        listener = bind_named_socket(path)
    except (DragomanError, OSError, ValueError) as error:
        log.warning("%s is not served: %s", VARIABLE, error)
        yield []
        return
    with listener:
        bound = path.stat().st_ino
        yield [listener]
        with contextlib.suppress(OSError):
            if path.lstat().st_ino == bound:
                path.unlink()
