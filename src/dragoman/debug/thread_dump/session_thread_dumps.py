"""Thread dumps of one session, in whatever state it is: running, stopped, or halted for some milliseconds."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.port import RequestPort
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import SessionState
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.lifecycle import SessionLifecycle
from dragoman.debug.session.run_control import Mailbox, RunControl
from dragoman.debug.session.threads import ThreadStates
from dragoman.debug.stops.exceptions import as_pause
from dragoman.debug.stops.handles import Handles
from dragoman.debug.stops.inspection import Inspection
from dragoman.debug.stops.pipeline import StopContext
from dragoman.debug.stops.snapshot import StopReader
from dragoman.debug.thread_dump.dumper import ThreadDumper
from dragoman.debug.thread_dump.model import ThreadDump
from dragoman.protocols.dap import bodies

_PAUSE_TIMEOUT_S = 1.0
# A stop that comes late still belongs to this thread dump and is not reported.
_HALT_PERIOD_S = 10.0

ResumeThread = Callable[[int], Awaitable[bool]]


class ThreadDumpPause:
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


# A thread dump of a running program, by suspending it for a few milliseconds without reporting a stop. For debuggers
# that can suspend a program anywhere but cannot inspect it while it runs: Delve and LLDB.

log = logging.getLogger(__name__)

_BRIEF_HALT_TIMEOUT_S = 1.8
_THREAD_DUMP_TIMEOUT_S = 2.0


class SessionThreadDumps:
    """Chooses how a dump is taken. It never halts a program that was there before us, nor one during a step."""

    def __init__(
        self,
        dumper: ThreadDumper,
        brief_halt: ThreadDumpPause,
        lifecycle: SessionLifecycle,
        run_control: RunControl,
        mailbox: Mailbox,
        inspection: Inspection,
        launch: AdapterLaunch,
        *,
        is_owned_by_person: bool,
        stop_context: Callable[[], StopContext | None],
    ) -> None:
        self._dumper = dumper
        self._brief_halt = brief_halt
        self._lifecycle = lifecycle
        self._run_control = run_control
        self._mailbox = mailbox
        self._inspection = inspection
        self._quirks = launch.quirks
        self._may_halt_program = launch.is_launch and not is_owned_by_person
        self._stop_context = stop_context

    @property
    def can_dump_running(self) -> bool:
        """Whether a thread dump can be had of it while it runs."""
        return self._dumper.can_dump_running

    @property
    def must_dump_before_pause(self) -> bool:
        """Whether the threads can be dumped only while the program runs."""
        is_running = self._lifecycle.state is SessionState.RUNNING
        return self.can_dump_running and not self._dumper.can_dump_stopped and is_running

    async def read(self, *, may_halt: bool) -> ThreadDump:
        """Where each thread is and what it waits for, within two seconds. Empty if that cannot be read: answers have
        less detail without it, and do not fail. Some programs must be halted for some milliseconds."""
        with anyio.move_on_after(_THREAD_DUMP_TIMEOUT_S):
            try:
                return await self._read(may_halt=may_halt)
            except (DragomanError, RemoteProtocolError) as error:
                log.info("no thread dump: %s", error)
        return ThreadDump()

    async def _read(self, *, may_halt: bool) -> ThreadDump:
        if self._lifecycle.state is SessionState.RUNNING:
            is_to_halt = self._run_control.command == "pause"
            seen = await self._dumper.running(is_to_halt=is_to_halt) if self.can_dump_running else ThreadDump()
            # A waiting program would stop when its wait ends, which nobody asked for.
            is_unplaced = may_halt and not seen.is_placed and not (seen and seen.is_blocked)
            return (await self._dump_in_brief_halt() or seen) if is_unplaced else seen
        stop_context = self._stop_context()
        if self._lifecycle.state is not SessionState.STOPPED or stop_context is None:
            return ThreadDump()
        if self._dumper.can_dump_stopped:
            return await self._dumper.running()
        return await self._dumper.stopped(await self._inspection.threads(placed=False), stop_context.reader)

    async def _dump_in_brief_halt(self) -> ThreadDump:
        """Halts the program briefly, unless that would end a step."""
        is_free = self._may_halt_program and self._run_control.command == "continue"
        if not is_free or not (self._quirks.halts_anywhere or self._quirks.halts_busy):
            return ThreadDump()

        async def perform() -> None:
            if self._lifecycle.state is SessionState.RUNNING:
                await self._brief_halt.halt()

        await self._mailbox.perform(perform)
        return await self._brief_halt.seen(_BRIEF_HALT_TIMEOUT_S)
