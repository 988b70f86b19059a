"""Thread dumps of one session, in whatever state it is: running, stopped, or halted for some milliseconds."""

from __future__ import annotations

import logging
from collections.abc import Callable

import anyio

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.model import SessionState
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.lifecycle import SessionLifecycle
from dragoman.debug.session.run_control import Mailbox, RunControl
from dragoman.debug.stops.inspection import Inspection
from dragoman.debug.stops.pipeline import StopContext
from dragoman.debug.thread_dump.brief_halt import BriefHalt
from dragoman.debug.thread_dump.dumper import ThreadDumper
from dragoman.debug.thread_dump.model import ThreadDump

log = logging.getLogger(__name__)

_BRIEF_HALT_TIMEOUT_S = 1.8
_THREAD_DUMP_TIMEOUT_S = 2.0


class SessionThreadDumps:
    """Chooses how a dump is taken. It never halts a program that was there before us, nor one during a step."""

    def __init__(
        self,
        dumper: ThreadDumper,
        brief_halt: BriefHalt,
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

    async def take(self, *, may_halt: bool) -> ThreadDump:
        """Where each thread is and what it waits for, within two seconds. Empty if that cannot be read: answers have
        less detail without it, and do not fail. Some programs must be halted for some milliseconds."""
        with anyio.move_on_after(_THREAD_DUMP_TIMEOUT_S):
            try:
                return await self._take(may_halt=may_halt)
            except (DragomanError, RemoteProtocolError) as error:
                log.info("no thread dump: %s", error)
        return ThreadDump()

    async def _take(self, *, may_halt: bool) -> ThreadDump:
        if self._lifecycle.state is SessionState.RUNNING:
            is_to_halt = self._run_control.command == "pause"
            seen = await self._dumper.running(is_to_halt=is_to_halt) if self.can_dump_running else ThreadDump()
            # One that waits would halt when its wait is over, which nobody asked for.
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
