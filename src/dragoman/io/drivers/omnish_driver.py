"""Drive a shell wrapper's connection: requests in their order, replies and pushes by one writer.

No request is read while the one before is being handled, so that a flood waits in the kernel and with its sender. A
slow request does not block the following ones: `reply` may be called at any later time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

import anyio

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError, without_traceback
from dragoman.io.event_loop import TimeSlice
from dragoman.io.net.streams import TcpStream
from dragoman.protocols.omnish import DaemonConnection, FrameSkipped, RequestReceived, Schema

# In all, a wrapper keeps twice that for us; one frame holds a part of it.
MAX_FRAME_BYTES = 4 * 1024 * 1024
MAX_UNSENT_BYTES = 1024 * 1024
MAX_SKIPPED_IN_A_ROW = 1000
SENT_WITHIN_S = 60.0
_RECEIVE_BYTES = 64 * 1024
_FLUSH_TIMEOUT_S = 1.0
_STREAM_ENDS = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)

OnRequest = Callable[[int, object], Awaitable[None]]
"""Gets a request's id and message; raises HangUp to end the connection."""


class HangUp(Exception):  # noqa: N818  a decision, not a fault
    """Ends the connection after the replies so far. The text is English: it goes to the log."""


class OmnishDriver:
    """`run` ends with the stream. `reply` and `push` never wait, and are dropped if the peer is gone."""

    def __init__(self, stream: TcpStream, on_request: OnRequest) -> None:
        self.fault: Exception | None = None  # why it was closed, unless the peer simply ended
        self.skipped: Counter[str] = Counter()  # unusable frames, by error code
        self.first_frame_received = anyio.Event()  # the first whole frame arrived, valid or not
        self._stream = stream
        self._on_request = on_request
        self._connection = DaemonConnection(max_frame=MAX_FRAME_BYTES)
        self._outgoing = bytearray()
        self._writing = bytearray()
        self._changed = anyio.Event()
        self._can_send = True
        self._skipped_in_a_row = 0

    @property
    def schema(self) -> Schema | None:
        return self._connection.schema

    async def run(self) -> None:
        """Run until the peer ends, breaks the protocol, or reads nothing for too long. Closes the stream."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._write, group.cancel_scope)
                await self._read()
                await self._until_sent()
                group.cancel_scope.cancel("the conversation is over")
        finally:
            self._can_send = False
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    def reply(self, request_id: int, message: object) -> None:
        if not self._can_send:
            return
        try:
            data = self._connection.send(message, request_id)
        except LocalProtocolError as error:
            self.skipped[error.code] += 1
        else:
            self._send(data)

    def push(self, message: object) -> None:
        self.reply(0, message)

    def _send(self, data: bytes) -> None:
        """Send at once if possible, otherwise after what is queued."""
        sent = 0
        if not self._outgoing and not self._writing:
            try:
                sent = self._stream.send_now(data)
            except _STREAM_ENDS:
                self._can_send = False
                return
        if sent < len(data):
            self._outgoing += data[sent:]
            self._change()

    async def _read(self) -> None:
        turn = TimeSlice()
        try:
            while True:
                await self._until_unsent_is_at_most(MAX_UNSENT_BYTES)
                self._connection.receive_data(await self._stream.receive(_RECEIVE_BYTES))
                for event in self._connection.events():
                    self.first_frame_received.set()
                    await self._handle_event(event)
                    await turn.yield_if_spent()
        except (RemoteProtocolError, HangUp) as fault:
            self.fault = without_traceback(fault)
        except _STREAM_ENDS:
            return

    async def _handle_event(self, event: object) -> None:
        if isinstance(event, RequestReceived):
            self._skipped_in_a_row = 0
            await self._on_request(event.request_id, event.message)
        elif isinstance(event, FrameSkipped):
            self.skipped[event.error.code] += 1
            self._skipped_in_a_row += 1
            if self._skipped_in_a_row > MAX_SKIPPED_IN_A_ROW:
                raise HangUp(f"more than {MAX_SKIPPED_IN_A_ROW} frames in a row could not be used")

    async def _write(self, scope: anyio.CancelScope) -> None:
        """Write whole frames, as many as possible at once. A peer that reads nothing is disconnected: it sends
        again, or asks again for what it missed. A peer that has left is read to the end."""
        try:
            while True:
                while not self._outgoing:
                    await self._changed.wait()
                self._writing, self._outgoing = self._outgoing, bytearray()
                with anyio.fail_after(SENT_WITHIN_S):
                    await self._stream.send(bytes(self._writing))
                self._writing = bytearray()
                self._change()
        except _STREAM_ENDS:
            self._can_send = False
            self._outgoing, self._writing = bytearray(), bytearray()
            self._change()
        except TimeoutError:
            self.fault = RemoteProtocolError("reads_nothing", f"nothing was read for {SENT_WITHIN_S:g} seconds")
            scope.cancel("the peer reads nothing")

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _until_unsent_is_at_most(self, size: int) -> None:
        while len(self._outgoing) + len(self._writing) > size:
            await self._changed.wait()

    async def _until_sent(self) -> None:
        with anyio.move_on_after(_FLUSH_TIMEOUT_S):
            await self._until_unsent_is_at_most(0)
