"""Records in a segment file: length, checksum and time before the bytes, so that a reader never takes torn for true."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from dragoman.errors import DragomanError
from dragoman.phrases import say

_HEADER = struct.Struct(">IIQ")
_COVERED = struct.Struct(">IQ")
HEADER_BYTES = _HEADER.size
# No record is stamped 1970: the zero says that its bytes were erased and that a checksum would be of zeros.
ERASED_AT_NS = 0


class Readable(Protocol):
    def seek(self, offset: int, /) -> object: ...

    def read(self, length: int, /) -> bytes: ...


class Header(NamedTuple):
    offset: int
    length: int
    checksum: int
    at_ns: int

    @property
    def end(self) -> int:
        return self.offset + HEADER_BYTES + self.length


def frame(payload: bytes, at_ns: int) -> bytes:
    return _HEADER.pack(len(payload), _checksum(payload, at_ns), at_ns) + payload


def erased(length: int) -> bytes:
    return _HEADER.pack(length, 0, ERASED_AT_NS) + bytes(length)


def headers(file: Readable, offset: int, size: int) -> Iterator[Header]:
    """Whole records from `offset` on; a tail torn by a crash is where the file ends."""
    while offset + HEADER_BYTES <= size:
        file.seek(offset)
        header = Header(offset, *_HEADER.unpack(file.read(HEADER_BYTES)))
        if header.length == 0 or header.end > size:
            return
        yield header
        offset = header.end


def payloads(file: Readable, offset: int, size: int, stream: str) -> Iterator[bytes]:
    for header in headers(file, offset, size):
        if header.at_ns == ERASED_AT_NS:
            raise gone(stream)
        payload = sound_payload(file, header)
        if payload is None:
            raise damaged(stream)
        yield payload


def sound_payload(file: Readable, header: Header) -> bytes | None:
    """The bytes of a record, unless they were erased or are not what was written."""
    if header.at_ns == ERASED_AT_NS:
        return None
    file.seek(header.offset + HEADER_BYTES)
    payload = file.read(header.length)
    return payload if _checksum(payload, header.at_ns) == header.checksum else None


def gone(stream: str) -> DragomanError:
    return DragomanError(
        "span_gone",
        say("These bytes of {stream} are no longer kept.", stream=stream),
        hint=say("They were forgotten, or older than what is kept."),
    )


def damaged(stream: str) -> DragomanError:
    return DragomanError(
        "span_damaged",
        say("These bytes of {stream} are damaged on the disk.", stream=stream),
        hint=say("Check the disk that holds the journal."),
    )


def _checksum(payload: bytes, at_ns: int) -> int:
    return zlib.crc32(payload, zlib.crc32(_COVERED.pack(len(payload), at_ns)))
