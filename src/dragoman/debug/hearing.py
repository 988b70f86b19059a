"""Listening to a backend: what cannot wait is taken at once, what must be taken in order is queued.

Output is taken while a stop is still looked at, so that what was printed before the stop is told with it. The end is
taken at once, so that neither a slow look nor a hung command holds it up.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator

import anyio

from dragoman.debug.backend import Backend
from dragoman.debug.bindings import Bindings
from dragoman.debug.dialect import Dialect
from dragoman.debug.interrupting import Interrupting
from dragoman.debug.mailbox import first_of
from dragoman.debug.output import Output
from dragoman.debug.program import Program
from dragoman.debug.pulse import Pulse
from dragoman.debug.threads import Threads
from dragoman.errors import RemoteProtocolError
from dragoman.wire.dap import Event, bodies, typed_body

log = logging.getLogger(__name__)

_QUEUED = 256
_DRAINED_WITHIN_S = 1.0

Ordered = bodies.InitializedBody | bodies.StoppedBody | bodies.ContinuedBody | bodies.CapabilitiesBody


class Hearing:
    def __init__(
        self,
        backend: Backend,
        dialect: Dialect,
        output: Output,
        bindings: Bindings,
        threads: Threads,
        interrupting: Interrupting,
        pulse: Pulse,
    ) -> None:
        self.exit_code: int | None = None
        self.exited = anyio.Event()
        self.terminated = anyio.Event()
        self.program = Program()
        self._next_stop = anyio.Event()
        self._backend = backend
        self._line_end = "\r\n" if dialect.ends_lines_as_terminals else "\n"
        self._log_prefix = re.compile(dialect.log_prefix or "")
        self._noise = re.compile(dialect.noise or r"(?!)")
        self._output = output
        self._bindings = bindings
        self._threads = threads
        self._interrupting = interrupting
        self._pulse = pulse
        self._queue, self._queued = anyio.create_memory_object_stream[Ordered](_QUEUED)
        self._is_drained = anyio.Event()

    async def listen(self) -> None:
        """Until the backend has gone. What cannot be read is passed over: the next message may be sound."""
        async for event in self._backend.events():
            try:
                await self._take(event)
                self._pulse.beat()
            except RemoteProtocolError as error:
                log.warning("an event was skipped: %s", error)
        self._queue.close()

    async def in_order(self) -> AsyncIterator[Ordered]:
        async for body in self._queued:
            yield body
        self._is_drained.set()

    async def put_back(self, body: Ordered) -> None:
        try:
            await self._queue.send(body)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("nobody looks at the stops of a session that has ended")

    async def drained(self) -> None:
        with anyio.move_on_after(_DRAINED_WITHIN_S):
            await first_of(self._is_drained, self.terminated)

    @property
    def has_ended(self) -> bool:
        return self.exited.is_set() or self.terminated.is_set()

    async def an_end(self) -> None:
        await first_of(self.exited, self.terminated)

    async def an_end_or_a_stop(self) -> None:
        self._next_stop = anyio.Event()
        await first_of(self.exited, self.terminated, self._next_stop)

    def close(self) -> None:
        self._queue.close()
        self._queued.close()

    async def _take(self, event: Event) -> None:
        match typed_body(event):
            case bodies.OutputBody() as body:
                self._hear(body)
            case bodies.BreakpointBody() as body:
                self._bindings.learn(body)
            case bodies.ThreadBody() as body:
                self._threads.changed(body)
            case bodies.ProcessBody() as body:
                self._interrupting.learn(body)
                self.program.learn(body)
            case bodies.ExitedBody() as body:
                self.exit_code = body.exit_code
                self.exited.set()
            case bodies.TerminatedBody():
                self.terminated.set()
            case (
                bodies.InitializedBody() | bodies.StoppedBody() | bodies.ContinuedBody() | bodies.CapabilitiesBody()
            ) as body:
                if isinstance(body, bodies.StoppedBody):
                    self._next_stop.set()
                await self.put_back(body)

    def _hear(self, body: bodies.OutputBody) -> None:
        """What an adapter says of itself is no output of the program."""
        if body.category == "telemetry" or self._noise.fullmatch(body.output):
            return
        if self._bindings.learn_from(body.output):
            return  # told with the breakpoint, and as often as it is hit
        prefix = self._log_prefix.match(body.output)
        text = body.output[prefix.end() if prefix else 0 :].replace(self._line_end, "\n")
        self._output.append(body.category or "console", text)
