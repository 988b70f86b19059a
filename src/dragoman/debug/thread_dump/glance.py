"""A thread dump of a running program by a halt of some milliseconds, which nobody is told of.

For debuggers that can halt a program anywhere and cannot look at it otherwise: Delve, LLDB.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from dragoman.debug.backend import Answering
from dragoman.debug.dialect import Dialect
from dragoman.debug.handles import Handles
from dragoman.debug.raising import as_paused
from dragoman.debug.snapshot import Looking
from dragoman.debug.thread_dump.dumper import ThreadDumper
from dragoman.debug.thread_dump.model import ThreadDump
from dragoman.debug.threads import Threads
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.wire.dap import bodies

log = logging.getLogger(__name__)

_ASKED_WITHIN_S = 1.0
# A debugger that was slow to halt the program still halts it for us, not for anybody else.
_AWAITED_FOR_S = 10.0

GoesOn = Callable[[int], Awaitable[bool]]


class Glance:
    def __init__(self, backend: Answering, dialect: Dialect, threads: Threads, dumper: ThreadDumper) -> None:
        self._backend = backend
        self._dialect = dialect
        self._threads = threads
        self._dumper = dumper
        self._until_s = 0.0
        self._dump = ThreadDump()
        self._taken = anyio.Event()

    async def halt(self) -> None:
        """In the session's turn. What comes of it comes as a stop, to `take`."""
        self._taken = anyio.Event()
        self._dump = ThreadDump()
        self._until_s = anyio.current_time() + _AWAITED_FOR_S
        await self._backend.request("pause", {"threadId": await self._threads.any()}, timeout_s=_ASKED_WITHIN_S)

    async def seen(self, within_s: float) -> ThreadDump:
        with anyio.move_on_after(within_s):
            await self._taken.wait()
        return self._dump

    async def take(self, body: bodies.StoppedBody, command: str, goes_on: GoesOn) -> bool:
        """Whether a stop was only our halt, and is over. One that somebody paused meanwhile is theirs."""
        if anyio.current_time() > self._until_s or body.hit_breakpoint_ids:
            return False
        if as_paused(body, "pause").reason != "pause":
            return False
        self._until_s = 0.0
        thread = body.thread_id if body.thread_id is not None else await self._threads.any()
        self._threads.stopped(thread, body)
        try:
            looking = Looking(self._backend, Handles(0), self._dialect)
            self._dump = await self._dumper.stopped(await self._threads.listed(), looking)
        except (DragomanError, RemoteProtocolError) as error:
            log.info("no thread dump of a program that was halted for it: %s", error)
        is_over = command != "pause" and await goes_on(thread)
        self._taken.set()
        return is_over
