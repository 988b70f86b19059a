"""Drive a DAP connection from an editor: requests in, responses and events out by one writer.

Unsent data is not piled up: no request is read while too much is unsent, publishers of events use `wait_for_room`,
and an editor that takes nothing for too long is disconnected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import msgspec
from anyio.abc import ByteStream
from msgspec import UNSET

from dragoman.core.errors import DragomanError, RemoteProtocolError, without_traceback
from dragoman.core.localization import localize
from dragoman.io.event_loop import TimeSlice
from dragoman.protocols import dap

# An editor's requests need less than a hundredth of it.
MAX_REQUEST_BYTES = 16 * 1024 * 1024
MAX_UNSENT_BYTES = 1024 * 1024
MAX_OPEN_REQUESTS = 64
SENT_WITHIN_S = 30.0
_PIECE = 64 * 1024
_FLUSH_TIMEOUT_S = 1.0
_STREAM_ENDS = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)

OnEditorRequest = Callable[[dap.Request], None]


class _EditorReply:
    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.response: dap.Response | None = None

    def settle(self, response: dap.Response | None) -> None:
        self.response = response
        self.settled.set()


class DapEditorDriver:
    """Pumps a DAP connection from an editor. `run` ends with the stream; what is sent after that is dropped."""

    def __init__(self, stream: ByteStream, *, sent_within_s: float = SENT_WITHIN_S) -> None:
        self.fault: RemoteProtocolError | None = None  # why it was closed, unless the editor simply ended
        self._stream = stream
        self._sent_within_s = sent_within_s
        self._connection = dap.Connection(max_body=MAX_REQUEST_BYTES)
        self._outgoing = bytearray()
        self._unsent = 0
        self._changed = anyio.Event()
        self._can_send = True
        self._is_leaving = False
        self._writing = anyio.CancelScope(shield=True)

    async def run(self, take: OnEditorRequest, leaving: Callable[[], None], rest: bytes = b"") -> None:
        """Run until the editor ends, breaks the protocol, stops reading, or we end. `rest` is what was received
        before; events that are sent in `leaving` are the last ones. Closes the stream."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._write, group.cancel_scope)
                try:
                    await self._read(take, rest)
                    await self._answered()
                finally:
                    self._abandon()
                    leaving()
                    self._leave()
        finally:
            self._can_send = False
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    async def _answered(self) -> None:
        """An editor that has closed its output may still read: `… | dragoman dap --stdio`."""
        with anyio.move_on_after(_FLUSH_TIMEOUT_S):
            await self._until(
                lambda: not self._can_send or not (self._unsent or (self._connection.open_requests and not self.fault))
            )

    def _leave(self) -> None:
        """Send what is queued, within bounds, though everything else ends."""
        self._is_leaving = True
        self._writing.deadline = anyio.current_time() + _FLUSH_TIMEOUT_S
        self._change()

    def respond(self, request: dap.Request, body: Any = UNSET) -> None:
        self._answer(request, body, success=True, message=None)

    def refuse(self, request: dap.Request, message: str, body: Mapping[str, Any]) -> None:
        self._answer(request, body, success=False, message=message)

    def event(self, name: str, body: Any = UNSET) -> None:
        """Send an event, also to an editor that broke the protocol: it may still learn why."""
        raw = _raw(body)
        if self._can_send and self.fault is not None:
            event = dap.Event(seq=self._connection.next_seq, event=name, body=raw)
            self._send(dap.frame(msgspec.json.encode(event)))
        elif self._can_send:
            self._send(self._connection.send_event(name, raw))

    async def ask(self, command: str, arguments: Any, *, timeout_s: float) -> dap.Response:
        """Send a reverse request: `runInTerminal`."""
        waiter = _EditorReply()
        if self._can_send:
            self._send(self._connection.send_request(command, arguments, context=waiter))
            with anyio.move_on_after(timeout_s):
                await waiter.settled.wait()
        if waiter.response is None:
            raise DragomanError("editor_silent", localize("The editor did not answer `{command}`.", command=command))
        return waiter.response

    async def sent(self) -> None:
        """Wait until everything is sent, within bounds."""
        with anyio.move_on_after(_FLUSH_TIMEOUT_S):
            await self._until(lambda: not self._unsent)

    async def wait_for_room(self) -> None:
        """Wait until what was queued is nearly sent."""
        await self._until(lambda: self._unsent <= MAX_UNSENT_BYTES)

    def _answer(self, request: dap.Request, body: Any, *, success: bool, message: str | None) -> None:
        if not self._can_send or self.fault is not None or request.seq not in self._connection.open_requests:
            return
        self._send(self._connection.send_response(request, _raw(body), success=success, message=message))
        self._change()

    def _send(self, data: bytes) -> None:
        self._outgoing += data
        self._unsent += len(data)
        self._change()

    async def _read(self, take: OnEditorRequest, data: bytes) -> None:
        turn = TimeSlice()
        try:
            while True:
                self._connection.receive_data(data)
                for got in self._connection.events():
                    self._sort(got, take)
                    await turn.yield_if_spent()
                await self._until(self._reads_on)
                data = await self._stream.receive(_PIECE)
        except RemoteProtocolError as fault:
            self.fault = without_traceback(fault)
        except _STREAM_ENDS:
            return

    def _reads_on(self) -> bool:
        return self._unsent <= MAX_UNSENT_BYTES and len(self._connection.open_requests) < MAX_OPEN_REQUESTS

    def _sort(self, got: dap.ConnectionEvent, take: OnEditorRequest) -> None:
        """Events from an editor, and responses to no request, are ignored."""
        if isinstance(got, dap.RequestReceived):
            take(got.message)
        elif isinstance(got, dap.ResponseReceived):
            got.request.context.settle(got.message)

    async def _write(self, scope: anyio.CancelScope) -> None:
        """Shielded: a cancelled, truncated message would corrupt everything after it."""
        try:
            with self._writing:
                while await self._has_more():
                    data = self._next_piece()
                    with anyio.fail_after(self._sent_within_s):
                        await self._stream.send(data)
                    self._unsent -= len(data)
                    self._change()
        except TimeoutError:  # TimeoutError is an OSError too
            self.fault = RemoteProtocolError("reads_nothing", f"nothing was read for {self._sent_within_s:g} seconds")
            scope.cancel("the editor reads nothing")
        except _STREAM_ENDS:
            self._can_send = False
            self._outgoing, self._unsent = bytearray(), 0
            self._change()

    async def _has_more(self) -> bool:
        await self._until(lambda: bool(self._outgoing) or self._is_leaving)
        return bool(self._outgoing)

    def _next_piece(self) -> bytes:
        data = bytes(self._outgoing[:_PIECE])
        del self._outgoing[:_PIECE]
        return data

    def _abandon(self) -> None:
        """Calls that wait for a response of the editor stop waiting."""
        for pending in self._connection.pending.values():
            pending.context.settle(None)

    def _change(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()


def _raw(body: Any) -> Any:
    """Lone surrogates, which programs print, are sent as escapes: no output of a program ends a connection."""
    if body is UNSET:
        return UNSET
    try:
        return msgspec.Raw(msgspec.json.encode(body))
    except UnicodeEncodeError:
        return msgspec.Raw(json.dumps(body).encode())
