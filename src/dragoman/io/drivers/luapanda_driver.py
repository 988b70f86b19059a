"""Drive a LuaPanda connection: every command that expects an answer has a waiter with a deadline."""

from __future__ import annotations

import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from anyio.abc import ByteStream

from dragoman.core.errors import DragomanError, LocalProtocolError, RemoteProtocolError, without_traceback
from dragoman.core.localization import localize
from dragoman.io.errors import runtime_silent
from dragoman.io.event_loop import TimeSlice
from dragoman.protocols import luapanda
from dragoman.protocols.luapanda import SILENT, IdeConnection, Message

log = logging.getLogger(__name__)

RECEIVE_BYTES = 64 * 1024
_STREAM_ENDS = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)

OnMessage = Callable[[Message], Awaitable[None]]


class _LuaPandaReply:
    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.message: Message | None = None

    def settle(self, message: Message | None) -> None:
        self.message = message
        self.settled.set()


class LuaPandaDriver:
    """`run` belongs in a task group. `on_message` gets stops and notices one at a time, in order; it may send a
    command only in another task, since no answer is read while it runs."""

    def __init__(self, stream: ByteStream, on_message: OnMessage, *, ids: Callable[[], int] | None = None) -> None:
        self.fault: RemoteProtocolError | None = None
        self.closed = anyio.Event()
        self.connection = IdeConnection(ids or _random_id)
        self.late = 0  # answers after their deadline
        self.unexpected = 0  # answers that match no command
        self._stream = stream
        self._on_message = on_message
        self._sending = anyio.Lock()

    async def run(self) -> None:
        """Run until the stream ends. Closes it."""
        try:
            await self._read()
        except RemoteProtocolError as fault:
            self.fault = without_traceback(fault)
        finally:
            self._end()
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    async def ask(self, cmd: str, info: Mapping[str, Any] | None = None, *, timeout_s: float) -> Message:
        """Return the runtime's answer, within the time-out; a later answer is only counted."""
        if cmd in SILENT:
            raise LocalProtocolError("silent_command", f"{cmd} is never answered.")
        waiter = _LuaPandaReply()
        now = anyio.current_time()
        await self._send(self._line(cmd, info, now=now, timeout_s=timeout_s, context=waiter))
        with anyio.move_on_after(timeout_s):
            await waiter.settled.wait()
        if waiter.message is not None:
            return waiter.message
        if self.closed.is_set():
            raise self.gone(cmd)
        self.connection.expire(max(anyio.current_time(), now + timeout_s))
        raise runtime_silent(command=cmd, seconds=timeout_s)

    async def notify(self, cmd: str, info: Mapping[str, Any] | None = None) -> None:
        """Send a command that is never answered."""
        await self._send(self._line(cmd, info, now=anyio.current_time()))

    async def close(self) -> None:
        await self._stream.aclose()

    def gone(self, cmd: str) -> DragomanError:
        if self.fault is not None:
            return DragomanError(
                "adapter_broke_protocol",
                localize("The Lua debugger broke the protocol: {reason}", reason=self.fault),
                hint=localize(
                    "Is LuaPanda connecting to this port? See the session's output, then start a new session."
                ),
            )
        return DragomanError(
            "adapter_gone",
            localize("The Lua program closed the connection before it answered `{command}`.", command=cmd),
            hint=localize("It has ended, or was disconnected. See its output, then start a new session."),
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
                localize("This stop has answered 2,000 requests; more could overflow the Lua program's stack."),
                hint=localize("Step or continue. The next stop allows another 2,000 requests."),
            )
        return DragomanError(
            "not_sent",
            localize("`{command}` was not sent: {reason}", command=cmd, reason=error),
            hint=localize("The Lua debugger would drop it, or the program would crash."),
        )

    async def _send(self, line: bytes) -> None:
        """Send whole lines: a cancelled caller must not leave half a line behind, because the program would die of
        it."""
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
                    await self._handle_event(event)
                    await turn.yield_if_spent()
        except _STREAM_ENDS:
            return

    async def _handle_event(self, event: luapanda.IdeEvent) -> None:
        match event:
            case luapanda.CommandAnswered(message, command):
                command.context.settle(message)
            case luapanda.StopReceived(message) | luapanda.NoticeReceived(message):
                await self._on_message(message)
            case luapanda.CommandAnsweredLate():
                self.late += 1
            case luapanda.UnexpectedAnswer():
                self.unexpected += 1

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
    return random.randint(luapanda.MIN_ID, luapanda.MAX_ID)  # noqa: S311  only has to be unique
