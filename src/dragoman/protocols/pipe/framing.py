"""Bytes in any chunks to frames. A frame that was damaged, lost or repeated ends the connection.

Header, big endian: kind (1 byte), number (4), length of the payload (4), CRC-32 of the three and the payload (4). The
numbers count from 0, so that a missing frame is noticed even if the next one is whole. `kubectl exec` is known to drop
bytes when it is busy, which is why a frame does not trust the stream below it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from dragoman.core.errors import RemoteProtocolError

MAX_PAYLOAD = 1 << 15
_QUERY_NUMBER = struct.Struct(">I")
MAX_QUERY = MAX_PAYLOAD - _QUERY_NUMBER.size
"""Of a query or its reply, which begin with the number of the query."""
_HEADER = struct.Struct(">BIII")
_CHECKED = struct.Struct(">BII")
_NUMBERS = 1 << 32


class PipeFrameKind(IntEnum):
    DATA = 1
    KEEP_ALIVE = 2
    END = 3
    """The sender's stream ends; the other direction may continue."""
    READY = 4
    """The far side is connected to its daemon."""
    FAILURE = 5
    QUERY = 6
    """From the near side to the far side itself, not to its daemon: about folders and files there."""
    REPLY = 7


@dataclass(frozen=True, slots=True)
class PipeFrame:
    kind: PipeFrameKind
    payload: bytes = b""

    @property
    def query_number(self) -> int | None:
        """Of a query, or of the one that a reply answers."""
        return _QUERY_NUMBER.unpack_from(self.payload)[0] if len(self.payload) >= _QUERY_NUMBER.size else None

    @property
    def query_payload(self) -> bytes:
        return self.payload[_QUERY_NUMBER.size :]


def numbered(number: int, payload: bytes) -> bytes:
    return _QUERY_NUMBER.pack(number % _NUMBERS) + payload


_KINDS = frozenset(map(int, PipeFrameKind))


def encode_frame(number: int, frame: PipeFrame) -> bytes:
    checked = _CHECKED.pack(frame.kind, number % _NUMBERS, len(frame.payload))
    checksum = zlib.crc32(frame.payload, zlib.crc32(checked))
    return _HEADER.pack(frame.kind, number % _NUMBERS, len(frame.payload), checksum) + frame.payload


class PipeFrames:
    """Holds at most one unfinished frame, and the bytes that were not read yet."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._number = 0

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def pop_frames(self) -> Iterator[PipeFrame]:
        """The whole frames. A caller may stop after any of them and go on later."""
        while (frame := self._next()) is not None:
            yield frame

    def _next(self) -> PipeFrame | None:
        if len(self._buffer) < _HEADER.size:
            return None
        kind, number, length, checksum = _HEADER.unpack_from(self._buffer)
        # Checked before the payload arrives: behind a lost byte, the length is wrong too.
        if kind not in _KINDS or number != self._number or length > MAX_PAYLOAD:
            raise RemoteProtocolError("damaged", "a frame is missing or damaged")
        if len(self._buffer) < _HEADER.size + length:
            return None
        payload = bytes(self._buffer[_HEADER.size : _HEADER.size + length])
        if zlib.crc32(payload, zlib.crc32(_CHECKED.pack(kind, number, length))) != checksum:
            raise RemoteProtocolError("damaged", "a frame has a wrong checksum")
        del self._buffer[: _HEADER.size + length]
        self._number = (self._number + 1) % _NUMBERS
        return PipeFrame(PipeFrameKind(kind), payload)
