"""The accept loop of every listener, and the deadlines of peers that owe the next step.

The loop survives a full table of file descriptors: it drops the peer that has waited longest instead of stopping.
asyncio's own loop stops accepting for a second and logs an error per queued connection, which is what a flood wants.
So a crowd of silent callers can neither exhaust the descriptors nor keep a real caller out.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import socket
from collections.abc import Callable, Hashable
from typing import NamedTuple

import anyio

log = logging.getLogger(__name__)
_AT_ONCE = 16  # then other tasks get a turn
_RETRY_AFTER_S = 0.05
_WARN_EVERY_S = 60.0

_OUT_OF_DESCRIPTORS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


async def accept_forever(
    listener: socket.socket, take: Callable[[socket.socket], object], make_room: Callable[[], bool]
) -> None:
    """`make_room` closes a peer that is only waiting, and returns whether there was one."""
    warned_s = -_WARN_EVERY_S
    while True:
        await anyio.wait_readable(listener)
        try:
            _accept_waiting(listener, take)
        except OSError as error:
            if error.errno not in _OUT_OF_DESCRIPTORS:
                raise
            if anyio.current_time() - warned_s >= _WARN_EVERY_S:
                warned_s = anyio.current_time()
                log.warning("connections wait, because of too many open files: %s", error.strerror)
            await anyio.sleep(0 if make_room() else _RETRY_AFTER_S)


def _accept_waiting(listener: socket.socket, take: Callable[[socket.socket], object]) -> None:
    for _ in range(_AT_ONCE):
        try:
            connection, _address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        connection.setblocking(False)
        take(connection)


class _PeerDeadline(NamedTuple):
    deadline: asyncio.TimerHandle
    drop: Callable[[], object]


class PeerDeadlines:
    """The peers that owe us the next step, each with a deadline. When full, the oldest is dropped."""

    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        self._waits: dict[Hashable, _PeerDeadline] = {}

    def __len__(self) -> int:
        return len(self._waits)

    def begin(self, who: Hashable, drop: Callable[[], object], within_s: float) -> None:
        """A new step of a known peer starts a new deadline, at the end of the queue."""
        self.end(who)
        while len(self._waits) >= self._at_most:
            self.drop_longest()
        deadline = asyncio.get_running_loop().call_later(within_s, self._drop, who)
        self._waits[who] = _PeerDeadline(deadline, drop)

    def end(self, who: Hashable) -> None:
        wait = self._waits.pop(who, None)
        if wait is not None:
            wait.deadline.cancel()

    def drop_longest(self) -> bool:
        """Return whether there was one: its descriptor is free after the loop's next round."""
        if not self._waits:
            return False
        self._drop(next(iter(self._waits)))
        return True

    def _drop(self, who: Hashable) -> None:
        drop = self._waits[who].drop
        self.end(who)
        drop()


def share_of_descriptors(part: int, *, at_most: int) -> int:
    """One `part`-th of the descriptors that this process may open, within limits."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return at_most if limit == resource.RLIM_INFINITY else max(8, min(at_most, limit // part))
