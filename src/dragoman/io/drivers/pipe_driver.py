"""Copies bytes between a local socket and a framed pipe to another machine, and notices a pipe that hangs.

Both ends of a pipe run it: beside the command, and in `dragoman pipe`. It is blocking, with one `poll`, and never
waits on one side while the other is ready.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable
from typing import Literal, Protocol

from dragoman.core.errors import RemoteProtocolError
from dragoman.io.net.descriptors import CHUNK_SIZE, nonblocking_writer, read_available
from dragoman.protocols.pipe import PipeConnection, PipeFrame, PipeFrameKind

PipeEnd = Literal["finished", "closed", "silent", "damaged"]
"""`closed`: the pipe ended without an END frame; `silent`: nothing arrived for too long."""

KEEP_ALIVE_S = 3.0
SILENT_S = 9.0
"""Three keep-alive frames in a row are missing: a hung pipe is reported within 10 s."""
REPLY_WITHIN_S = 3.0
_MOVES_BYTES = 256
"""Only a frame that grew by this much is a sign of life. Where bytes were lost in a frame, keep-alive frames fill it up
without being read; all of them in the time of a silence are shorter than this."""
_FULL = 1 << 18
_FLUSH_S = 2.0
_HANGUP_EVENTS = select.POLLERR | select.POLLHUP | select.POLLNVAL


class PipeTranslator(Protocol):
    """Changes what passes, on the near side. It may ask the far side, and holds back what follows until the reply."""

    def to_far(self, data: bytes) -> bytes: ...

    def to_near(self, data: bytes) -> bytes: ...

    def next_query(self) -> bytes | None:
        """What to ask now; asked for again after each reply."""
        ...

    def handle_reply(self, payload: bytes | None) -> bytes:
        """What was held back. None: there is no reply in time."""
        ...


class PipeDriver:
    """Runs after the first lines were exchanged. It owns neither the descriptors of the pipe nor the socket.

    `answer` replies to queries, on the far side.
    """

    def __init__(
        self,
        connection: PipeConnection,
        pipe_in: int,
        pipe_out: int,
        local: socket.socket,
        *,
        keep_alive_s: float = KEEP_ALIVE_S,
        silent_s: float = SILENT_S,
        translator: PipeTranslator | None = None,
        answer: Callable[[bytes], bytes] | None = None,
    ) -> None:
        local.setblocking(False)
        self._connection = connection
        self._in = pipe_in
        self._out = pipe_out
        self._write = nonblocking_writer(pipe_out)
        self._local = local
        self._keep_alive_s = keep_alive_s
        self._silent_s = silent_s
        self._to_pipe = bytearray()
        self._to_local = bytearray()
        self._local_ended = self._peer_ended = self._was_shut_down = False
        self._end: PipeEnd | None = None
        self._flush_deadline = 0.0
        self._translator = translator
        self._answer = answer
        self._reply_deadline: float | None = None
        self._held_bytes = 0
        self._last_sent = self._last_received = time.monotonic()
        self._unfinished = 0

    def run(self, received: bytes = b"") -> PipeEnd:
        """Copy until one side ends. `received` is what arrived together with the first line."""
        self._receive(received)
        while not self._is_over():
            self._step()
        return self._end or "finished"

    def _is_over(self) -> bool:
        if self._end is not None:  # what arrived whole is still delivered
            return not self._to_local or time.monotonic() >= self._flush_deadline
        return self._local_ended and self._peer_ended and not (self._to_pipe or self._to_local)

    def _step(self) -> None:
        interests = self._interests()
        poll = select.poll()
        for fd, events in interests.items():
            poll.register(fd, events)
        ready = dict(poll.poll(self._timeout_ms()))
        if event := ready.get(self._local.fileno(), 0):
            self._with_local(event)
        if self._out in ready:
            self._flush_pipe()
        if self._in in ready:
            self._read_pipe()
        if self._in in interests:
            self._check_silence()
        else:
            self._last_received = time.monotonic()  # not read on purpose: the receiver is slow
        if self._reply_deadline is not None and time.monotonic() >= self._reply_deadline:
            self._release(None)
        if not self._to_pipe and time.monotonic() - self._last_sent >= self._keep_alive_s:
            self._send(self._connection.send(PipeFrameKind.KEEP_ALIVE))

    def _interests(self) -> dict[int, int]:
        interests = {}
        if self._end is None:
            if len(self._to_local) < _FULL:
                interests[self._in] = select.POLLIN
            if self._to_pipe:
                interests[self._out] = select.POLLOUT
        local = select.POLLOUT if self._to_local else 0
        if not self._local_ended and self._end is None and len(self._to_pipe) < _FULL:
            local |= select.POLLIN
        if local or (self._local_ended and not self._to_pipe):  # else a closed socket would be reported again and again
            interests[self._local.fileno()] = local
        return interests

    def _timeout_ms(self) -> int:
        now = time.monotonic()
        if self._end is not None:
            return max(0, int((self._flush_deadline - now) * 1000)) + 1
        until = min(
            self._last_sent + self._keep_alive_s,
            self._last_received + self._silent_s,
            self._reply_deadline or float("inf"),
        )
        return max(0, int((until - now) * 1000)) + 1

    def _check_silence(self) -> None:
        """Only after a look at the pipe: if this process itself was stopped, the other side's frames are waiting."""
        if time.monotonic() - self._last_received >= self._silent_s:
            self._stop("silent")

    # The pipe.

    def _read_pipe(self) -> None:
        data = read_available(self._in)
        if data == b"":
            self._stop_at_end()
        elif data:
            self._unfinished += len(data)
            self._receive(data)
            if self._unfinished == 0 or self._unfinished >= _MOVES_BYTES:
                self._last_received = time.monotonic()
                self._unfinished = 0

    def _receive(self, data: bytes) -> None:
        try:
            for frame in self._connection.receive_data(data):
                self._unfinished = 0
                if isinstance(frame, PipeFrame):
                    self._handle_frame(frame)
        except RemoteProtocolError:
            self._stop("damaged")
        self._flush_local()

    def _handle_frame(self, frame: PipeFrame) -> None:
        if frame.kind is PipeFrameKind.DATA:
            self._handle_data(frame.payload)
        elif frame.kind is PipeFrameKind.END:
            self._release_all()
            self._peer_ended = True
        elif frame.kind is PipeFrameKind.QUERY and self._answer is not None:
            self._send(self._connection.send_reply(frame, self._answer(frame.query_payload)))
        elif self._reply_deadline is not None and self._connection.is_expected(frame):
            self._release(frame.query_payload)

    def _handle_data(self, data: bytes) -> None:
        if self._translator is None:
            self._to_local += data
            return
        self._to_local += self._translator.to_near(data)
        if self._reply_deadline is None:
            self._ask()
            return
        self._held_bytes += len(data)
        if self._held_bytes > _FULL:
            self._release_all()

    def _ask(self) -> None:
        query = self._translator.next_query() if self._translator is not None else None
        self._reply_deadline = None if query is None else time.monotonic() + REPLY_WITHIN_S
        self._held_bytes = 0
        if query is not None:
            self._send(self._connection.send_query(query))

    def _release(self, reply: bytes | None) -> None:
        """Deliver what was held back for the reply, or for the lack of one."""
        assert self._translator is not None
        self._to_local += self._translator.handle_reply(reply)
        self._ask()

    def _release_all(self) -> None:
        while self._reply_deadline is not None:
            self._release(None)

    def _send(self, data: bytes) -> None:
        if data:  # a translator may wait for the rest of a message
            self._to_pipe += data
            self._last_sent = time.monotonic()

    def _flush_pipe(self) -> None:
        try:
            del self._to_pipe[: self._write(memoryview(bytes(self._to_pipe[:CHUNK_SIZE])))]
        except BlockingIOError:
            return
        except OSError:
            self._to_pipe.clear()
            self._stop_at_end()

    def _stop_at_end(self) -> None:
        self._stop("finished" if self._peer_ended else "closed")

    def _stop(self, end: PipeEnd) -> None:
        if self._end is None:
            self._release_all()
            self._end = end
            self._flush_deadline = time.monotonic() + _FLUSH_S

    # The local socket.

    def _with_local(self, event: int) -> None:
        if event & select.POLLOUT:
            self._flush_local()
        if event & select.POLLIN or (event & _HANGUP_EVENTS and not self._local_ended):
            self._read_local()
        elif event & _HANGUP_EVENTS:  # nobody reads what would still arrive
            self._peer_ended = True
            self._to_local.clear()

    def _read_local(self) -> None:
        try:
            data = self._local.recv(CHUNK_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._send(self._connection.send_data(self._translator.to_far(data) if self._translator else data))
        elif not self._local_ended:
            self._local_ended = True
            self._send(self._connection.send(PipeFrameKind.END))

    def _flush_local(self) -> None:
        try:
            while self._to_local:
                del self._to_local[: self._local.send(self._to_local[:CHUNK_SIZE])]
        except BlockingIOError:
            return
        except OSError:
            self._to_local.clear()
        if self._peer_ended and not self._was_shut_down:
            self._was_shut_down = True
            with contextlib.suppress(OSError):
                self._local.shutdown(socket.SHUT_WR)
