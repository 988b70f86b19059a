"""Read and write descriptors that other processes share, without making them non-blocking for everyone."""

from __future__ import annotations

import os
import select
import socket
import stat
from collections.abc import Callable

CHUNK_SIZE = 1 << 16


def nonblocking_writer(fd: int) -> Callable[[memoryview], int]:
    """A function that writes what fits. Call it when `poll` reports the descriptor as writable."""
    if stat.S_ISSOCK(os.fstat(fd).st_mode):
        connection = socket.socket(fileno=os.dup(fd))  # closed with the function
        return lambda data: connection.send(data[:CHUNK_SIZE], socket.MSG_DONTWAIT)
    return lambda data: os.write(fd, data[: select.PIPE_BUF])


def read_available(fd: int) -> bytes | None:
    """Read bytes; None if nothing is there, on a descriptor that another process made non-blocking."""
    try:
        return os.read(fd, CHUNK_SIZE)
    except BlockingIOError:
        return None
    except OSError:
        return b""
