"""Where shell wrappers find us: a socket of our own, and the address in OMNISH_SOCKET, as the protocol's origin has it.

What is wrong with that address is logged and no reason not to start: it may be meant for another daemon.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.places import Places
from dragoman.transport.unix_socket import bind_named_socket, bind_private_socket

log = logging.getLogger(__name__)

VARIABLE = "OMNISH_SOCKET"


@contextlib.contextmanager
def wrapper_sockets(places: Places, environment: Mapping[str, str] = os.environ) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(bind_private_socket(places.omnish_socket))]
        address = environment.get(VARIABLE, "")
        if address and address != str(places.omnish_socket):
            listeners += stack.enter_context(_at(address))
        yield listeners


@contextlib.contextmanager
def _at(address: str) -> Iterator[list[socket.socket]]:
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
