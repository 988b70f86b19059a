"""One side of a pipe: the first line, then frames."""

from __future__ import annotations

from collections.abc import Iterator

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.pipe.framing import (
    MAX_PAYLOAD,
    PipeFrame,
    PipeFrameKind,
    PipeFrames,
    encode_frame,
    numbered,
)
from dragoman.protocols.pipe.messages import MAGIC, MAX_GREETING, MAX_NOISE, Greeting, PipeFailure


class PipeConnection:
    """Either side. The near side skips what login scripts print before the first line; `noise` keeps its end."""

    def __init__(self, *, skips_noise: bool) -> None:
        self._skips_noise = skips_noise
        self._unread = bytearray()
        self._skipped = 0
        self._frames = PipeFrames()
        self._sent = 0
        self._last_query = 0
        self.noise = b""
        self.peer: Greeting | None = None

    def receive_data(self, data: bytes) -> Iterator[Greeting | PipeFrame]:
        if self.peer is None:
            self._unread += data
            self.peer = self._read_greeting()
            if self.peer is None:
                return
            data = bytes(self._unread)
            self._unread.clear()
            self._frames.feed(data)
            yield self.peer
        else:
            self._frames.feed(data)
        yield from self._frames.pop_frames()

    def _read_greeting(self) -> Greeting | None:
        while (end := self._unread.find(b"\n")) >= 0:
            line = bytes(self._unread[:end])
            del self._unread[: end + 1]
            # Behind the last line end, as a prompt without one stands before our line.
            start = line.find(MAGIC) if self._skips_noise else (0 if line.startswith(MAGIC) else -1)
            if start >= 0 and end - start <= MAX_GREETING:
                return Greeting.decode(line[start:])
            self._skip(line)
        if len(self._unread) > (MAX_NOISE if self._skips_noise else MAX_GREETING):
            self._skip(bytes(self._unread))
            raise RemoteProtocolError("no_greeting", "the first line is too long")
        return None

    def _skip(self, line: bytes) -> None:
        self._skipped += len(line) + 1
        self.noise = (self.noise + line + b"\n")[-MAX_GREETING:]
        if not self._skips_noise or self._skipped > MAX_NOISE:
            raise RemoteProtocolError("no_greeting", "the other side does not speak this protocol")

    def send_data(self, data: bytes) -> bytes:
        pieces = (data[start : start + MAX_PAYLOAD] for start in range(0, len(data), MAX_PAYLOAD))
        return b"".join(self.send(PipeFrameKind.DATA, piece) for piece in pieces)

    def send(self, kind: PipeFrameKind, payload: bytes = b"") -> bytes:
        if len(payload) > MAX_PAYLOAD:
            raise LocalProtocolError("too_long", f"a frame holds at most {MAX_PAYLOAD} bytes")
        encoded = encode_frame(self._sent, PipeFrame(kind, payload))
        self._sent += 1
        return encoded

    def send_query(self, payload: bytes) -> bytes:
        self._last_query += 1
        return self.send(PipeFrameKind.QUERY, numbered(self._last_query, payload))

    def send_reply(self, query: PipeFrame, payload: bytes) -> bytes:
        return self.send(PipeFrameKind.REPLY, numbered(query.query_number or 0, payload))

    def is_expected(self, reply: PipeFrame) -> bool:
        """Whether it answers the newest query. One that is late answers another question."""
        return reply.kind is PipeFrameKind.REPLY and reply.query_number == self._last_query > 0

    def send_failure(self, failure: PipeFailure) -> bytes:
        return self.send(PipeFrameKind.FAILURE, failure.encode())
