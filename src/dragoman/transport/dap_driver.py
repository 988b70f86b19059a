"""The pump of a DAP connection over any byte stream: every question gets an answer, every event its turn."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
from anyio.abc import ByteStream, TaskGroup
from msgspec import UNSET

from dragoman.errors import DragomanError, LocalProtocolError, RemoteProtocolError, without_frames
from dragoman.phrases import say
from dragoman.transport.dap_events import Delivered, EventQueue
from dragoman.transport.time_slice import TimeSlice
from dragoman.wire import dap

log = logging.getLogger(__name__)

RECEIVE_BYTES = 64 * 1024
MAX_UNSENT_BYTES = 64 * 1024 * 1024
_MAX_SERVED_AT_ONCE = 32
_STREAM_ENDS = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)

OnEvents = Callable[[Sequence[Delivered]], Awaitable[None]]
OnRequest = Callable[[dap.Request], Awaitable[Any]]


class _Waiter:
    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.response: dap.Response | None = None

    def settle(self, response: dap.Response | None) -> None:
        self.response = response
        self.settled.set()


class DapDriver:
    """`run` belongs into the session's task group; `request` may be called from anywhere once it runs.

    `on_events` gets batches and is called again only when it has returned. It may make requests of its own.
    `on_request` serves `runInTerminal` and `startDebugging`: it returns the answer's body, or raises DragomanError.
    """

    def __init__(self, stream: ByteStream, *, on_events: OnEvents, on_request: OnRequest) -> None:
        self.closed = anyio.Event()
        self.fault: RemoteProtocolError | None = None  # why it was closed, where the adapter did not simply end
        self.strays: Counter[str] = Counter()  # what came and belonged nowhere, by kind
        self._stream = stream
        self._on_events = on_events
        self._on_request = on_request
        self._connection = dap.Connection()
        self._events = EventQueue()
        self._outgoing = bytearray()
        self._to_send = anyio.Event()
        self._can_send = True
        self._waiting = 0
        self._serving = anyio.CapacityLimiter(_MAX_SERVED_AT_ONCE)
        self._sort: dict[type, Callable[[Any, TaskGroup], object]] = {
            dap.EventReceived: lambda got, _: self._take(got),
            dap.ResponseReceived: lambda got, _: got.request.context.settle(got.message),
            dap.RequestReceived: lambda got, group: group.start_soon(self._serve, got.message),
            dap.UnexpectedResponse: lambda got, _: self._count(f"{got.reason}_answer"),
            dap.RequestRepeated: lambda *_: self._count("repeated_request"),
            dap.UnknownReceived: lambda *_: self._count("unknown_message"),
        }

    async def run(self) -> None:
        """Until the stream ends and every event that came before was handled. Closes the stream."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._write)
                group.start_soon(self._deliver, group)
                await self._read(group)
                self._end()
        finally:
            self._end()
            self.closed.set()
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    async def request(self, command: str, arguments: Any = UNSET, *, timeout_s: float) -> dap.Response:
        """The answer, also one that says no. A caller who gives up stops waiting; the answer is read all the same."""
        waiter = _Waiter()
        self._ask(command, arguments, waiter)
        self._waiting += 1
        self._events.wake()
        try:
            with anyio.move_on_after(timeout_s):
                await waiter.settled.wait()
        finally:
            self._waiting -= 1
        if not waiter.settled.is_set():
            raise _silent(command, timeout_s)
        if waiter.response is None:
            raise self._gone(command)
        return waiter.response

    def _ask(self, command: str, arguments: Any, waiter: _Waiter) -> None:
        if not self._can_send:
            raise self._gone(command)
        if len(self._outgoing) > MAX_UNSENT_BYTES:
            raise _not_reading(command)
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
                    await self._events.wait_change()
                self._connection.receive_data(await self._stream.receive(RECEIVE_BYTES))
                for got in self._connection.events():
                    self._sort[type(got)](got, group)
                    await turn.yield_if_spent()
        except RemoteProtocolError as fault:
            self.fault = without_frames(fault)
        except _STREAM_ENDS:
            return

    async def _write(self) -> None:
        """One writer of whole messages: they cannot mix, and a caller who is cancelled cannot cut one short."""
        try:
            while True:
                while not self._outgoing:
                    self._to_send = anyio.Event()
                    await self._to_send.wait()
                data = bytes(self._outgoing)
                self._outgoing.clear()
                await self._stream.send(data)
        except _STREAM_ENDS:
            self._can_send = False  # what it still has to say is read to the end

    async def _deliver(self, group: TaskGroup) -> None:
        while batch := await self._events.take_all():
            await self._on_events(batch)
        group.cancel_scope.cancel()

    async def _serve(self, request: dap.Request) -> None:
        async with self._serving:
            try:
                body, refusal = await self._on_request(request), None
            except (DragomanError, RemoteProtocolError) as error:
                body, refusal = UNSET, str(error)
        if self._can_send:  # else it asked and died
            self._send(self._connection.send_response(request, body, success=refusal is None, message=refusal))

    def _take(self, got: dap.EventReceived) -> None:
        self._events.put(got.message, len(got.raw), may_leave_out=self._waiting > 0)

    def _send(self, data: bytes) -> None:
        self._outgoing += data
        self._to_send.set()

    def _count(self, kind: str) -> None:
        self.strays[kind] += 1

    def _end(self) -> None:
        """Nobody waits any longer than this; who asks from now on is told at once."""
        self._can_send = False
        self._connection.receive_eof()
        with contextlib.suppress(RemoteProtocolError):
            for got in self._connection.events():
                if isinstance(got, dap.ResponseReceived):
                    got.request.context.settle(got.message)
                elif isinstance(got, dap.Closed):
                    self._abandon(got)
        self._events.close()

    def _abandon(self, closed: dap.Closed) -> None:
        self.fault = self.fault or closed.error
        for pending in closed.abandoned:
            pending.context.settle(None)

    def _gone(self, command: str) -> DragomanError:
        if self.fault is None:
            return DragomanError(
                "adapter_gone",
                say("The debug adapter ended before it answered `{command}`.", command=command),
                hint=say("See the session's output for what it said last, then start a new session."),
            )
        return DragomanError(
            "adapter_broke_protocol",
            say("The debug adapter broke the protocol: {reason}", reason=self.fault),
            hint=say("See the session's output for what it said last, then start a new session."),
        )


def _silent(command: str, timeout_s: float) -> DragomanError:
    return DragomanError(
        "adapter_silent",
        say(
            "The debug adapter did not answer `{command}` within {seconds} seconds.",
            command=command,
            seconds=f"{timeout_s:g}",
        ),
        hint=say("The program or its adapter may be stuck: stop the session, then try again."),
    )


def _not_reading(command: str) -> DragomanError:
    return DragomanError(
        "adapter_silent",
        say("The debug adapter reads nothing any more; `{command}` was not sent.", command=command),
        hint=say("The program or its adapter may be stuck: stop the session, then try again."),
    )
