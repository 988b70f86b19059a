"""Both ends of a connection, without I/O. What arrives becomes events; what is sent becomes bytes.

A bad frame inside a good outer length is reported and skipped, as the reference does: the connection lives. An
announced length beyond the cap, an end within a frame, or a few frames in a row that have no room for an id break it:
`events()` gives what came before, then raises. A stream of zeros is four bytes per frame, so it must not live.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError, without_traceback
from dragoman.protocols.omnish.framing import (
    MAX_FRAME,
    REQUEST_ID_BYTES,
    FrameSplitter,
    body_span,
    encode_wire_parts,
    read_request_id,
)
from dragoman.protocols.omnish.messages import Ack
from dragoman.protocols.omnish.schema import BASE_REVISION, Schema, schema_of_first_body

PUSH_ID = 0
MAX_SHORT_FRAMES = 4


@dataclass(slots=True)
class RequestReceived:
    """At the daemon: a message that expects a reply with the same id."""

    request_id: int
    message: object


@dataclass(slots=True)
class ReplyReceived:
    """At the client: an answer to `request_id`; `final` when no more can come."""

    request_id: int
    message: object
    final: bool


@dataclass(slots=True)
class PushReceived:
    """At the client: an unsolicited message of the daemon."""

    message: object


@dataclass(slots=True)
class FrameSkipped:
    """An unusable frame; `request_id` is set if the frame was long enough to have one."""

    request_id: int | None
    error: RemoteProtocolError


ConnectionEvent: TypeAlias = RequestReceived | ReplyReceived | PushReceived | FrameSkipped


class Connection:
    """What both ends share: splitting, decoding, and the order of events."""

    def __init__(self, schema: Schema | None, max_frame: int = MAX_FRAME) -> None:
        self.schema = schema
        self._max_frame = max_frame
        self._splitter = FrameSplitter(max_frame)
        self._events: deque[ConnectionEvent] = deque()
        self._broken: RemoteProtocolError | None = None
        self._short_frames = 0
        """In a row."""

    def receive_data(self, data: bytes | bytearray | memoryview) -> None:
        if self._broken is not None:
            return
        try:
            for buffer, start, end in self._splitter.feed(bytes(data)):
                self._require_content(end - start)
                self._events.append(self._event_of(buffer, start, end))
        except RemoteProtocolError as error:
            self._broken = without_traceback(error)

    def receive_eof(self) -> None:
        if self._splitter.unfinished and self._broken is None:
            self._broken = RemoteProtocolError("cut_short", "the connection ended within a frame")

    def events(self) -> Iterator[ConnectionEvent]:
        while self._events:
            yield self._events.popleft()
        if self._broken is not None:
            raise self._broken

    def send(self, message: object, request_id: int) -> bytes:
        return b"".join(self.send_parts(message, request_id))

    def send_parts(self, message: object, request_id: int) -> tuple[bytes, bytes]:
        if self.schema is None:
            raise LocalProtocolError("schema_unknown", "the peer has not spoken yet, so its revision is unknown")
        return encode_wire_parts(message, request_id, self.schema, self._max_frame)

    def _require_content(self, length: int) -> None:
        self._short_frames = self._short_frames + 1 if length < REQUEST_ID_BYTES else 0
        if self._short_frames > MAX_SHORT_FRAMES:
            raise RemoteProtocolError("empty_frames", f"more than {MAX_SHORT_FRAMES} frames in a row are empty")

    def _event_of(self, data: bytes, start: int, end: int) -> ConnectionEvent:
        request_id = None
        try:
            request_id = read_request_id(data, start, end)
            begin, stop = body_span(data, start + 8, end)
            if self.schema is None:
                self.schema = schema_of_first_body(data, begin, stop)
            return self._matched(request_id, self.schema.decode_body(data, begin, stop))
        except RemoteProtocolError as error:
            self.schema = self.schema or BASE_REVISION
            return FrameSkipped(request_id, error)

    def _matched(self, request_id: int, message: object) -> ConnectionEvent:
        raise NotImplementedError


class DaemonConnection(Connection):
    """The daemon's end. Without a schema it takes the revision from the client's first frame."""

    def __init__(self, schema: Schema | None = None, max_frame: int = MAX_FRAME) -> None:
        super().__init__(schema, max_frame)

    def push(self, message: object) -> bytes:
        return self.send(message, PUSH_ID)

    def _matched(self, request_id: int, message: object) -> ConnectionEvent:
        return RequestReceived(request_id, message)


class ClientConnection(Connection):
    """The client's end. Ids start at 1 and grow by one; a reply is matched to the request that is still open."""

    def __init__(self, schema: Schema, max_frame: int = MAX_FRAME) -> None:
        super().__init__(schema, max_frame)
        self._next_id = 1
        self._streams: dict[int, bool] = {}

    @property
    def pending(self) -> list[int]:
        """The ids that still wait for a reply, oldest first."""
        return list(self._streams)

    def request(self, message: object, *, streams: bool = False) -> tuple[int, bytes]:
        """The id and the bytes of a new request. `streams` keeps it open for several replies, until an Ack."""
        request_id, parts = self.request_parts(message, streams=streams)
        return request_id, b"".join(parts)

    def request_parts(self, message: object, *, streams: bool = False) -> tuple[int, tuple[bytes, bytes]]:
        """The same, with the data of an IoData uncopied: a flood is copied no more often than necessary."""
        request_id = self._next_id
        parts = self.send_parts(message, request_id)
        self._next_id += 1
        self._streams[request_id] = streams
        return request_id, parts

    def forget(self, request_id: int) -> None:
        """Stop waiting: a later reply with this id is skipped."""
        self._streams.pop(request_id, None)

    def _matched(self, request_id: int, message: object) -> ConnectionEvent:
        if request_id == PUSH_ID:
            return PushReceived(message)
        streams = self._streams.get(request_id)
        if streams is None:
            raise RemoteProtocolError("unknown_id", f"a reply to request {request_id}, which is not open")
        final = not streams or isinstance(message, Ack)
        if final:
            del self._streams[request_id]
        return ReplyReceived(request_id, message, final)
