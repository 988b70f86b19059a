"""The accept loop of every listener: it survives a full table of file descriptors, and makes room instead of waiting.

asyncio's own stops accepting for a second and logs the backlog's length of errors, which is what a flood wants.
"""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable

import anyio

log = logging.getLogger(__name__)

_AT_ONCE = 16  # then everybody else has a turn
_OUT_OF_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_ROOM_AGAIN_AFTER_S = 0.05
_TOLD_EVERY_S = 60.0


async def accept_for_ever(
    listener: socket.socket, take: Callable[[socket.socket], object], make_room: Callable[[], bool]
) -> None:
    """`make_room` closes somebody who only waits, and tells whether there was one."""
    told = -_TOLD_EVERY_S
    while True:
        await anyio.wait_readable(listener)
        try:
            _accept_waiting(listener, take)
        except OSError as error:
            if error.errno not in _OUT_OF_ROOM:
                raise
            if anyio.current_time() - told >= _TOLD_EVERY_S:
                told = anyio.current_time()
                log.warning("connections wait, because of too many open files: %s", error.strerror)
            await anyio.sleep(0 if make_room() else _ROOM_AGAIN_AFTER_S)


def _accept_waiting(listener: socket.socket, take: Callable[[socket.socket], object]) -> None:
    for _ in range(_AT_ONCE):
        try:
            connection, _address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        connection.setblocking(False)
        take(connection)
