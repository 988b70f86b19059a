"""The pump of a LuaPanda connection: every command that is answered has its waiter, and none waits for ever."""

from __future__ import annotations

import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from anyio.abc import ByteStream

from dragoman.errors import DragomanError, LocalProtocolError, RemoteProtocolError, without_frames
from dragoman.phrases import say
from dragoman.transport.time_slice import TimeSlice
from dragoman.wire import luapanda
from dragoman.wire.luapanda import SILENT, IdeConnection, Message

log = logging.getLogger(__name__)

RECEIVE_BYTES = 64 * 1024
_STREAM_ENDS = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)

OnMessage = Callable[[Message], Awaitable[None]]


class _Waiter:
    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.message: Message | None = None

    def settle(self, message: Message | None) -> None:
        self.message = message
        self.settled.set()


class LuaPandaDriver:
    """`run` belongs into a task group. `on_message` gets stops and notices, one after another, in the order they came;
    it may ask something only in another task, since no answer is read while it runs."""

    def __init__(self, stream: ByteStream, on_message: OnMessage, *, ids: Callable[[], int] | None = None) -> None:
        self.fault: RemoteProtocolError | None = None
        self.closed = anyio.Event()
        self.connection = IdeConnection(ids or _random_id)
        self.late = 0  # answers after their time
        self.unasked = 0  # answers to nothing that we asked
        self._stream = stream
        self._on_message = on_message
        self._sending = anyio.Lock()

    async def run(self) -> None:
        """Until the stream ends. Closes it."""
        try:
            await self._read()
        except RemoteProtocolError as fault:
            self.fault = without_frames(fault)
        finally:
            self._end()
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    async def ask(self, cmd: str, info: Mapping[str, Any] | None = None, *, timeout_s: float) -> Message:
        """The answer of the runtime. Given up after the time-out; an answer that comes later is only counted."""
        if cmd in SILENT:
            raise LocalProtocolError("silent_command", f"{cmd} is never answered.")
        waiter = _Waiter()
        now = anyio.current_time()
        await self._send(self._line(cmd, info, now=now, timeout_s=timeout_s, context=waiter))
        with anyio.move_on_after(timeout_s):
            await waiter.settled.wait()
        if waiter.message is not None:
            return waiter.message
        if self.closed.is_set():
            raise self.gone(cmd)
        self.connection.expire(max(anyio.current_time(), now + timeout_s))
        raise silent(cmd, timeout_s)

    async def tell(self, cmd: str, info: Mapping[str, Any] | None = None) -> None:
        """A command that is never answered."""
        await self._send(self._line(cmd, info, now=anyio.current_time()))

    async def close(self) -> None:
        await self._stream.aclose()

    def gone(self, cmd: str) -> DragomanError:
        if self.fault is not None:
            return DragomanError(
                "adapter_broke_protocol",
                say("The Lua debugger broke the protocol: {reason}", reason=self.fault),
                hint=say("Is it LuaPanda that connects to this port? See the session's output, then start anew."),
            )
        return DragomanError(
            "adapter_gone",
            say("The Lua program closed the connection before it answered `{command}`.", command=cmd),
            hint=say("It has ended, or was disconnected. See its output, then start a new session."),
        )

    def _line(self, cmd: str, info: Mapping[str, Any] | None, **fields: Any) -> bytes:
        try:
            return self.connection.send_command(cmd, info or {}, **fields)
        except LocalProtocolError as error:
            raise self._refused(cmd, error) from error

    def _refused(self, cmd: str, error: LocalProtocolError) -> DragomanError:
        if self.closed.is_set():
            return self.gone(cmd)
        if error.code == "stop_budget_spent":
            return DragomanError(
                "stop_budget_spent",
                say("This stop has answered 2,000 questions; more could overflow the stack of the Lua program."),
                hint=say("Step or continue: at the next stop there are 2,000 more."),
            )
        return DragomanError(
            "not_sent",
            say("`{command}` was not sent: {reason}", command=cmd, reason=error),
            hint=say("The Lua debugger would drop it, or the program would die of it."),
        )

    async def _send(self, line: bytes) -> None:
        """Whole lines: a caller who is cancelled must not leave half of one behind, of which the program would die."""
        with anyio.CancelScope(shield=True):
            async with self._sending:
                with contextlib.suppress(*_STREAM_ENDS):
                    await self._stream.send(line)

    async def _read(self) -> None:
        turn = TimeSlice()
        try:
            while True:
                self.connection.receive_data(await self._stream.receive(RECEIVE_BYTES))
                for event in self.connection.events():
                    await self._take(event)
                    await turn.yield_if_spent()
        except _STREAM_ENDS:
            return

    async def _take(self, event: luapanda.IdeEvent) -> None:
        match event:
            case luapanda.Answered(message, command):
                command.context.settle(message)
            case luapanda.Stopped(message) | luapanda.Noticed(message):
                await self._on_message(message)
            case luapanda.AnsweredLate():
                self.late += 1
            case luapanda.AnsweredUnasked():
                self.unasked += 1

    def _end(self) -> None:
        self.closed.set()
        self.connection.receive_eof()
        with contextlib.suppress(RemoteProtocolError):
            for event in self.connection.events():
                if isinstance(event, luapanda.Closed):
                    self.fault = self.fault or event.error
                    for command in event.abandoned:
                        command.context.settle(None)


def _random_id() -> int:
    return random.randint(luapanda.MIN_ID, luapanda.MAX_ID)  # noqa: S311  only to be told apart


def silent(cmd: str, timeout_s: float) -> DragomanError:
    return DragomanError(
        "adapter_silent",
        say(
            "The Lua program did not answer `{command}` within {seconds} seconds.",
            command=cmd,
            seconds=f"{timeout_s:g}",
        ),
        hint=say("It looks for messages only where its hooks fire: while it waits or computes in C, it cannot answer."),
    )
