"""Takes the events of a backend: urgent ones are applied at once, ordered ones stay in the backend's queue.

Output is read while a stop is still being inspected, so that everything printed before the stop is reported with it.
The end is handled at once, so that neither a slow inspection nor a hung command delays it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator

import anyio

from dragoman.core.errors import RemoteProtocolError
from dragoman.debug.backends.port import Backend
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.breakpoints.sync import BreakpointSync
from dragoman.debug.session.debuggee_process import DebuggeeProcess, InspectionInterrupter
from dragoman.debug.session.lifecycle import ChangeSignal
from dragoman.debug.session.mailbox import wait_for_first
from dragoman.debug.session.output import SessionOutput
from dragoman.debug.session.threads import ThreadStates
from dragoman.protocols.dap import bodies
from dragoman.protocols.dap.bodies import EventBody

log = logging.getLogger(__name__)

_DRAIN_TIMEOUT_S = 1.0


class AdapterEventReader:
    def __init__(
        self,
        backend: Backend,
        quirks: AdapterQuirks,
        output: SessionOutput,
        breakpoint_sync: BreakpointSync,
        threads: ThreadStates,
        interrupter: InspectionInterrupter,
        changes: ChangeSignal,
    ) -> None:
        self.exit_code: int | None = None
        self.exited = anyio.Event()
        self.terminated = anyio.Event()
        self.program = DebuggeeProcess()
        self._next_stop = anyio.Event()
        self._line_end = "\r\n" if quirks.has_terminal_line_ends else "\n"
        self._log_prefix = re.compile(quirks.log_prefix or "")
        self._noise = re.compile(quirks.noise or r"(?!)")
        self._output = output
        self._breakpoint_sync = breakpoint_sync
        self._threads = threads
        self._interrupter = interrupter
        self._changes = changes
        self._queue = backend.events
        self._is_drained = anyio.Event()

    async def read_events(self) -> None:
        """Until the backend has gone."""
        self._queue.attach(self._take)
        await self._queue.closed.wait()
        if self._queue.error is not None:
            raise self._queue.error

    async def ordered_events(self) -> AsyncIterator[EventBody]:
        async for body in self._queue.ordered():
            yield body
        self._is_drained.set()

    async def requeue(self, body: bodies.StoppedBody) -> None:
        self._queue.requeue(body)

    async def wait_until_drained(self) -> None:
        with anyio.move_on_after(_DRAIN_TIMEOUT_S):
            await wait_for_first(self._is_drained, self.terminated)

    @property
    def has_ended(self) -> bool:
        return self.exited.is_set() or self.terminated.is_set()

    async def wait_for_end(self) -> None:
        await wait_for_first(self.exited, self.terminated)

    async def wait_for_end_or_stop(self) -> None:
        self._next_stop = anyio.Event()
        await wait_for_first(self.exited, self.terminated, self._next_stop)

    def close(self) -> None:
        """Nobody handles a stop any more; output is still taken."""
        self._queue.discard()

    def _take(self, body: EventBody) -> bool:
        try:
            is_taken = self._apply(body)
        except RemoteProtocolError as error:
            log.warning("an event was skipped: %s", error)
            return True
        self._changes.notify()
        return is_taken

    def _apply(self, body: EventBody) -> bool:
        """Whether it was applied; an ordered event waits for its turn."""
        match body:
            case bodies.OutputBody():
                self._take_output(body)
            case bodies.BreakpointBody():
                self._breakpoint_sync.learn(body)
            case bodies.ThreadBody():
                self._threads.changed(body)
            case bodies.ProcessBody():
                self._interrupter.learn(body)
                self.program.learn(body)
            case bodies.ExitedBody():
                self.exit_code = body.exit_code
                self.exited.set()
            case bodies.TerminatedBody():
                self.terminated.set()
            case bodies.StoppedBody():
                self._next_stop.set()
                return False
            case bodies.InitializedBody() | bodies.ContinuedBody() | bodies.CapabilitiesBody():
                return False
        return True

    def _take_output(self, body: bodies.OutputBody) -> None:
        """What an adapter says of itself is no output of the program."""
        if body.category == "telemetry" or self._noise.fullmatch(body.output):
            return
        if self._breakpoint_sync.note_output(body.output):
            return  # told with the breakpoint, and as often as it is hit
        prefix = self._log_prefix.match(body.output)
        text = body.output[prefix.end() if prefix else 0 :].replace(self._line_end, "\n")
        self._output.append(body.category or "console", text)
