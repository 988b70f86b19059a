"""The three layers around a body, all big-endian: outer length, frame (request id), message (magic, length).

The outer length is what travels on the socket although the protocol document does not show it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.omnish.schema import Schema

MAGIC = b"OS"
MAX_FRAME = 64 * 1024 * 1024

_LENGTH = struct.Struct(">I")
_REQUEST_ID = struct.Struct(">Q")
REQUEST_ID_BYTES = _REQUEST_ID.size
_MESSAGE = struct.Struct(">2sI")
_WIRE = struct.Struct(">IQ2sI")
_FRAME_OVERHEAD = _REQUEST_ID.size + _MESSAGE.size


@dataclass(slots=True)
class OmnishFrame:
    """A message with the id that ties a reply to its request."""

    request_id: int
    payload: object


def encode_message(message: object, schema: Schema) -> bytes:
    body = schema.encode_body(message)
    return _MESSAGE.pack(MAGIC, _declarable(body)) + body


def decode_message(data: bytes, schema: Schema) -> object:
    return schema.decode_body(data, *body_span(data, 0, len(data)))


def encode_frame(frame: OmnishFrame, schema: Schema) -> bytes:
    return _request_id(frame.request_id) + encode_message(frame.payload, schema)


def decode_frame(data: bytes, schema: Schema) -> OmnishFrame:
    request_id = read_request_id(data, 0, len(data))
    return OmnishFrame(request_id, schema.decode_body(data, *body_span(data, 8, len(data))))


def encode_wire_parts(
    message: object, request_id: int, schema: Schema, max_frame: int = MAX_FRAME
) -> tuple[bytes, bytes]:
    """What goes to the socket: outer length, frame and message, and apart from them a message's byte string."""
    head, tail = schema.encode_parts(message)
    size = len(head) + len(tail)
    length = _FRAME_OVERHEAD + size
    if length > max_frame:
        raise LocalProtocolError("frame_too_large", f"a frame of {length} bytes; the cap is {max_frame}")
    if not 0 <= request_id < 1 << 64:
        raise _bad_request_id(request_id)
    return _WIRE.pack(length, request_id, MAGIC, size) + head, tail


def read_request_id(data: bytes, start: int, end: int) -> int:
    if end - start < _REQUEST_ID.size:
        raise RemoteProtocolError("frame_too_short", "frame too short")
    request_id: int = _REQUEST_ID.unpack_from(data, start)[0]
    return request_id


def body_span(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Where the declared body lies. Bytes after it are ignored, as the reference does."""
    begin = start + _MESSAGE.size
    if begin > end:
        raise RemoteProtocolError("message_too_short", "message too short")
    magic, length = _MESSAGE.unpack_from(data, start)
    if magic != MAGIC:
        raise RemoteProtocolError("invalid_magic", "invalid magic bytes")
    if begin + length > end:
        raise RemoteProtocolError("message_truncated", "message truncated")
    return begin, begin + length


def _request_id(request_id: int) -> bytes:
    try:
        return _REQUEST_ID.pack(request_id)
    except struct.error:
        raise _bad_request_id(request_id) from None


def _bad_request_id(request_id: int) -> LocalProtocolError:
    return LocalProtocolError("bad_request_id", f"request id {request_id} does not fit 64 bits")


def _declarable(body: bytes) -> int:
    if len(body) >= 1 << 32:
        raise LocalProtocolError("frame_too_large", f"a body of {len(body)} bytes does not fit its length field")
    return len(body)


class FrameSplitter:
    """Cuts a stream of any chunking into frames; holds one unfinished frame at most, and never a claimed length."""

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max_frame = max_frame
        self._held = bytearray()

    @property
    def unfinished(self) -> bool:
        return bool(self._held)

    def feed(self, data: bytes) -> Iterator[tuple[bytes, int, int]]:
        """Each whole frame as (buffer, start, end): inside the chunk itself where it can be, without a copy."""
        at = 0
        if self._held:
            at = self._top_up(data)
            if len(self._held) < 4 or len(self._held) < self._wanted(self._held, 0):
                return
            frame = bytes(self._held)
            self._held.clear()
            yield frame, 4, len(frame)
        size = len(data)
        while size - at >= 4:
            stop = at + self._wanted(data, at)
            if stop > size:
                break
            yield data, at + 4, stop
            at = stop
        self._held += memoryview(data)[at:]

    def _top_up(self, data: bytes) -> int:
        """Give the held frame what it lacks, first of its length, then of itself; where the chunk goes on."""
        held = self._held
        at = max(0, 4 - len(held))
        held += data[:at]
        if len(held) < 4:
            return at
        stop = at + self._wanted(held, 0) - len(held)
        held += memoryview(data)[at:stop]
        return stop

    def _wanted(self, data: bytes | bytearray, at: int) -> int:
        length: int = _LENGTH.unpack_from(data, at)[0]
        if length > self._max_frame:
            raise RemoteProtocolError(
                "frame_too_large", f"a frame of {length} bytes is announced; the cap is {self._max_frame}"
            )
        return 4 + length
