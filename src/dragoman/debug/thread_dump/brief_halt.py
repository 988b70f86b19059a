"""A thread dump of a running program by a halt of a few milliseconds that is not reported.

For debuggers that can halt a program anywhere and cannot inspect it otherwise: Delve and LLDB.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.port import RequestPort
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.session.threads import ThreadStates
from dragoman.debug.stops.exceptions import as_pause
from dragoman.debug.stops.handles import Handles
from dragoman.debug.stops.snapshot import StopReader
from dragoman.debug.thread_dump.dumper import ThreadDumper
from dragoman.debug.thread_dump.model import ThreadDump
from dragoman.protocols.dap import bodies

log = logging.getLogger(__name__)

_PAUSE_TIMEOUT_S = 1.0
# A debugger that was slow to halt the program still halts it for us, not for anybody else.
_HALT_PERIOD_S = 10.0

ResumeThread = Callable[[int], Awaitable[bool]]


class BriefHalt:
    def __init__(
        self, backend: RequestPort, quirks: AdapterQuirks, threads: ThreadStates, dumper: ThreadDumper
    ) -> None:
        self._backend = backend
        self._quirks = quirks
        self._threads = threads
        self._dumper = dumper
        self._until_s = 0.0
        self._dump = ThreadDump()
        self._taken = anyio.Event()

    async def halt(self) -> None:
        """In the session's turn. What comes of it comes as a stop, to `handle`."""
        self._taken = anyio.Event()
        self._dump = ThreadDump()
        self._until_s = anyio.current_time() + _HALT_PERIOD_S
        await self._backend.request("pause", {"threadId": await self._threads.any()}, timeout_s=_PAUSE_TIMEOUT_S)

    async def seen(self, within_s: float) -> ThreadDump:
        with anyio.move_on_after(within_s):
            await self._taken.wait()
        return self._dump

    async def handle(self, body: bodies.StoppedBody, command: str, resume: ResumeThread) -> bool:
        """Whether a stop was only our own short halt, and is over. If somebody paused in the meantime, the stop is
        theirs."""
        if anyio.current_time() > self._until_s or body.hit_breakpoint_ids:
            return False
        if as_pause(body, "pause").reason != "pause":
            return False
        self._until_s = 0.0
        thread = body.thread_id if body.thread_id is not None else await self._threads.any()
        self._threads.stopped(thread, body)
        try:
            reader = StopReader(self._backend, Handles(0), self._quirks)
            self._dump = await self._dumper.stopped(await self._threads.listed(), reader)
        except (DragomanError, RemoteProtocolError) as error:
            log.info("no thread dump of a program that was halted for it: %s", error)
        is_over = command != "pause" and await resume(thread)
        self._taken.set()
        return is_over
