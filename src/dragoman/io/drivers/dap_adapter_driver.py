"""Drive a DAP connection to an adapter: every request gets an answer, and every event is handed on as it is read.

The driver keeps no events. Its sink says when it is full: then nothing more is read, the pipe fills, and the adapter
waits. Only while somebody waits for a response the reader goes on, or a handler of events that makes a request could
wait for ever; what the sink cannot hold then, it omits.
"""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import anyio
from anyio.abc import ByteStream, TaskGroup
from msgspec import UNSET

from dragoman.core.errors import DragomanError, LocalProtocolError, RemoteProtocolError, without_traceback
from dragoman.core.localization import localize
from dragoman.io.errors import adapter_not_reading, adapter_silent
from dragoman.io.event_loop import TimeSlice
from dragoman.protocols import dap
from dragoman.protocols.dap import Event

log = logging.getLogger(__name__)
RECEIVE_BYTES = 64 * 1024
MAX_UNSENT_BYTES = 64 * 1024 * 1024
_MAX_SERVED_AT_ONCE = 32


class AdapterEventSink(Protocol):
    """Where events go."""

    @property
    def is_full(self) -> bool: ...

    def handle_event(self, event: Event, size: int, *, may_omit: bool) -> None:
        """Never waits. Raises RemoteProtocolError if that is too much from one peer."""
        ...

    async def wait_for_change(self) -> None:
        """Wait until there is room, or a reason to continue without."""
        ...

    def wake(self) -> None: ...


_STREAM_ENDS = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


OnRequest = Callable[[dap.Request], Awaitable[Any]]


class _AdapterReply:
    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.response: dap.Response | None = None

    def settle(self, response: dap.Response | None) -> None:
        self.response = response
        self.settled.set()


class DapAdapterDriver:
    """Pumps a DAP connection to an adapter. `run` belongs in the session's task group; then `request` may be called.

    `on_request` serves `runInTerminal` and `startDebugging`: it returns the response's body, or raises DragomanError.
    """

    def __init__(self, stream: ByteStream, *, events: AdapterEventSink, on_request: OnRequest) -> None:
        self.closed = anyio.Event()
        self.fault: RemoteProtocolError | None = None  # why it was closed, unless the adapter simply ended
        self.unmatched_counts: Counter[str] = Counter()  # messages that matched nothing, by kind
        self._stream = stream
        self._on_request = on_request
        self._connection = dap.Connection()
        self._events = events
        self._outgoing = bytearray()
        self._to_send = anyio.Event()
        self._can_send = True
        self._waiting = 0
        self._serving = anyio.CapacityLimiter(_MAX_SERVED_AT_ONCE)
        self._sort: dict[type, Callable[[Any, TaskGroup], object]] = {
            dap.EventReceived: lambda got, _: self._handle_event(got),
            dap.ResponseReceived: lambda got, _: got.request.context.settle(got.message),
            dap.RequestReceived: lambda got, group: group.start_soon(self._serve, got.message),
            dap.UnexpectedResponse: lambda got, _: self._count(f"{got.reason}_answer"),
            dap.RequestRepeated: lambda *_: self._count("repeated_request"),
            dap.UnknownReceived: lambda *_: self._count("unknown_message"),
        }

    async def run(self) -> None:
        """Run until the stream ends; every event before that has been passed on by then. Closes the stream."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._write)
                await self._read(group)
                self._end()
                group.cancel_scope.cancel("the stream has ended")
        finally:
            self._end()
            self.closed.set()
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    async def request(self, command: str, arguments: Any = UNSET, *, timeout_s: float) -> dap.Response:
        """Return the response, also an unsuccessful one. A caller may stop waiting; the response is read all the
        same."""
        waiter = _AdapterReply()
        self._ask(command, arguments, waiter)
        self._waiting += 1
        self._events.wake()
        try:
            with anyio.move_on_after(timeout_s):
                await waiter.settled.wait()
        finally:
            self._waiting -= 1
        if not waiter.settled.is_set():
            raise adapter_silent(command=command, seconds=timeout_s)
        if waiter.response is None:
            raise self._gone(command)
        return waiter.response

    def _ask(self, command: str, arguments: Any, waiter: _AdapterReply) -> None:
        if not self._can_send:
            raise self._gone(command)
        if len(self._outgoing) > MAX_UNSENT_BYTES:
            raise adapter_not_reading(command=command)
        try:
            self._send(self._connection.send_request(command, arguments, context=waiter))
        except LocalProtocolError as error:
            if error.code == "closed":
                raise self._gone(command) from error
            raise

    async def _read(self, group: TaskGroup) -> None:
        turn = TimeSlice()
        try:
            while True:
                while self._events.is_full and not self._waiting:
                    await self._events.wait_for_change()
                self._connection.receive_data(await self._stream.receive(RECEIVE_BYTES))
                for got in self._connection.events():
                    self._sort[type(got)](got, group)
                    await turn.yield_if_spent()
        except RemoteProtocolError as fault:
            self.fault = without_traceback(fault)
        except _STREAM_ENDS:
            return

    async def _write(self) -> None:
        """The only writer, of whole messages: they cannot interleave, and a cancelled caller cannot truncate one."""
        try:
            while True:
                while not self._outgoing:
                    self._to_send = anyio.Event()
                    await self._to_send.wait()
                data = bytes(self._outgoing)
                self._outgoing.clear()
                await self._stream.send(data)
        except _STREAM_ENDS:
            self._can_send = False  # what the adapter still sends is read to the end

    async def _serve(self, request: dap.Request) -> None:
        async with self._serving:
            try:
                body, refusal = await self._on_request(request), None
            except (DragomanError, RemoteProtocolError) as error:
                body, refusal = UNSET, str(error)
        if self._can_send:  # else the adapter sent a request and died
            self._send(self._connection.send_response(request, body, success=refusal is None, message=refusal))

    def _handle_event(self, got: dap.EventReceived) -> None:
        self._events.handle_event(got.message, len(got.raw), may_omit=self._waiting > 0)

    def _send(self, data: bytes) -> None:
        self._outgoing += data
        self._to_send.set()

    def _count(self, kind: str) -> None:
        self.unmatched_counts[kind] += 1

    def _end(self) -> None:
        """End all waits; later requests fail at once."""
        self._can_send = False
        self._connection.receive_eof()
        with contextlib.suppress(RemoteProtocolError):
            for got in self._connection.events():
                if isinstance(got, dap.ResponseReceived):
                    got.request.context.settle(got.message)
                elif isinstance(got, dap.Closed):
                    self._abandon(got)

    def _abandon(self, closed: dap.Closed) -> None:
        self.fault = self.fault or closed.error
        for pending in closed.abandoned:
            pending.context.settle(None)

    def _gone(self, command: str) -> DragomanError:
        if self.fault is None:
            return DragomanError(
                "adapter_gone",
                localize("The debug adapter exited before it answered `{command}`.", command=command),
                hint=localize("See the end of the session's output, then start a new session."),
            )
        return DragomanError(
            "adapter_broke_protocol",
            localize("The debug adapter broke the protocol: {reason}", reason=self.fault),
            hint=localize("See the end of the session's output, then start a new session."),
        )
