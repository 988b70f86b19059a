"""The files of a stream: numbered, raw while they are new, compressed later; both are read in the same way."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from dragoman.io.files.private_files import open_private
from dragoman.io.files.system_calls import SystemCalls, write_all
from dragoman.journal.errors import record_damaged, record_gone

# No record is stamped 1970: a zero time means that its bytes were erased, so its checksum no longer applies. The
# format of segment files: framed records, and the compressed form of a closed file.
#
# Length, checksum and time precede the bytes of a record, so that a reader never accepts torn data. A compressed file
# has the same bytes at the same offsets, in blocks that can be read one by one: blocks first, then the table of their
# lengths, then a footer of fixed size. A block that does not decompress reads as zeros, which no checksum accepts.

ERASED_AT_NS = 0
BLOCK_BYTES = 128 * 1024
_LEVEL = 3
_MAGIC = b"dragseg1"

_HEADER = struct.Struct(">IIQ")
_COVERED = struct.Struct(">IQ")
HEADER_BYTES = _HEADER.size


class ReadableFile(Protocol):
    def seek(self, offset: int, /) -> object: ...

    def read(self, length: int, /) -> bytes: ...


class RecordHeader(NamedTuple):
    offset: int
    length: int
    checksum: int
    at_ns: int

    @property
    def end(self) -> int:
        return self.offset + HEADER_BYTES + self.length


def encode_record(payload: bytes, at_ns: int) -> bytes:
    return _HEADER.pack(len(payload), _checksum(payload, at_ns), at_ns) + payload


def erased_record(length: int) -> bytes:
    return _HEADER.pack(length, 0, ERASED_AT_NS) + bytes(length)


def read_headers(file: ReadableFile, offset: int, size: int) -> Iterator[RecordHeader]:
    """Whole records from `offset` on; a tail torn by a crash ends the file."""
    while offset + HEADER_BYTES <= size:
        file.seek(offset)
        header = RecordHeader(offset, *_HEADER.unpack(file.read(HEADER_BYTES)))
        if header.length == 0 or header.end > size:
            return
        yield header
        offset = header.end


def read_payloads(file: ReadableFile, offset: int, size: int, stream: str) -> Iterator[bytes]:
    for header in read_headers(file, offset, size):
        if header.at_ns == ERASED_AT_NS:
            raise record_gone(stream=stream)
        payload = sound_payload(file, header)
        if payload is None:
            raise record_damaged(stream=stream)
        yield payload


def sound_payload(file: ReadableFile, header: RecordHeader) -> bytes | None:
    """The bytes of a record, unless they were erased or damaged."""
    if header.at_ns == ERASED_AT_NS:
        return None
    file.seek(header.offset + HEADER_BYTES)
    payload = file.read(header.length)
    return payload if _checksum(payload, header.at_ns) == header.checksum else None


def _checksum(payload: bytes, at_ns: int) -> int:
    return zlib.crc32(payload, zlib.crc32(_COVERED.pack(len(payload), at_ns)))


_FOOTER = struct.Struct(">QII8s")


def pack(source: BinaryIO, target: int, *, system: SystemCalls) -> None:
    """Write the compressed form of a file to a descriptor."""
    lengths: list[int] = []
    size = 0
    for block in _blocks(source):
        packed = zlib.compress(block, _LEVEL)
        write_all(system, target, packed)
        lengths.append(len(packed))
        size += len(block)
    table = struct.pack(f">{len(lengths)}I", *lengths)
    write_all(system, target, table + _FOOTER.pack(size, len(lengths), zlib.crc32(table), _MAGIC))
    system.fsync(target)


class PackedFile:
    """Reads like the file that was packed; the last block is cached, since readers go forward."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size, self._starts = _read_block_table(file)
        self.is_damaged = self._starts == [0]
        """Whether a block could not be unpacked so far."""
        self._at = 0
        self._number = -1
        self._block = b""

    def seek(self, offset: int) -> None:
        self._at = offset

    def read(self, length: int) -> bytes:
        found = bytearray()
        while len(found) < length and self._at < self.size:
            block, skip = self._unpacked(self._at // BLOCK_BYTES), self._at % BLOCK_BYTES
            piece = block[skip : skip + length - len(found)]
            found += piece
            self._at += len(piece)
        return bytes(found)

    def _unpacked(self, number: int) -> bytes:
        if number != self._number:
            start, end = self._starts[number], self._starts[number + 1]
            self._file.seek(start)
            whole = min(BLOCK_BYTES, self.size - number * BLOCK_BYTES)
            block = _decompress_block(self._file.read(end - start), whole)
            self.is_damaged = self.is_damaged or block is None
            self._number, self._block = number, bytes(whole) if block is None else block
        return self._block


def _decompress_block(packed: bytes, length: int) -> bytes | None:
    """Never more than the block's own length, whatever a damaged file claims."""
    try:
        block = zlib.decompressobj().decompress(packed, length)
    except zlib.error:
        return None
    return block if len(block) == length else None


def _read_block_table(file: BinaryIO) -> tuple[int, list[int]]:
    """The unpacked size, and the offsets of the blocks; a damaged file has none."""
    end = os.fstat(file.fileno()).st_size - _FOOTER.size
    if end < 0:
        return 0, [0]
    file.seek(end)
    size, count, checksum, magic = _FOOTER.unpack(file.read(_FOOTER.size))
    if magic != _MAGIC or count * 4 > end or count != -(-size // BLOCK_BYTES):
        return 0, [0]
    file.seek(end - count * 4)
    table = file.read(count * 4)
    if zlib.crc32(table) != checksum:
        return 0, [0]
    return size, [0, *accumulate(struct.unpack(f">{count}I", table))]


def _blocks(source: BinaryIO) -> Iterator[bytes]:
    while block := source.read(BLOCK_BYTES):
        yield block


RAW = ".seg"
PACKED = ".segz"
DRAFT = ".new"


class SegmentName(NamedTuple):
    """The name of a file, raw or packed."""

    number: int
    stream: str


class RecordPlace(NamedTuple):
    """The place of a record in its stream; the order of places is the order of appending."""

    segment: int = 0
    offset: int = 0


class SegmentRecord(NamedTuple):
    place: RecordPlace
    at_ns: int
    payload: bytes


class RecordPage(NamedTuple):
    """Some records in order, and the place after the last one."""

    records: list[SegmentRecord]
    upto: RecordPlace


class OpenSegment(NamedTuple):
    file: ReadableFile
    size: int


def list_segments(folder: Path) -> dict[int, Path]:
    """By number, oldest first. If packing was interrupted both forms exist, and the raw one is authoritative."""
    packed = {int(path.stem): path for path in folder.glob(f"*{PACKED}")}
    raw = {int(path.stem): path for path in folder.glob(f"*{RAW}")}
    return dict(sorted((packed | raw).items()))


def is_unchanged(path: Path, before: os.stat_result) -> bool:
    now = path.stat() if path.exists() else None
    return now is not None and (now.st_ctime_ns, now.st_ino) == (before.st_ctime_ns, before.st_ino)


@contextmanager
def opened(path: Path) -> Iterator[OpenSegment]:
    """A raw file may be packed between listing and opening: then the packed form has the same bytes."""
    try:
        descriptor = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        path = path.with_suffix(PACKED if path.suffix == RAW else RAW)
        descriptor = open_private(path, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as file:
        if path.suffix == PACKED:
            packed = PackedFile(file)
            yield OpenSegment(packed, packed.size)
        else:
            yield OpenSegment(file, os.fstat(file.fileno()).st_size)


def records(folder: Path, after: RecordPlace, limit: int) -> RecordPage:
    """Sound records from a place on, at least one if there is any; erased, damaged and retired ones are skipped."""
    found: list[SegmentRecord] = []
    size = 0
    for number, path in _files_from(folder, after.segment):
        offset = after.offset if number == after.segment else 0
        for record, end in _records_of(path, number, offset):
            after = RecordPlace(number, end)
            if record is not None:
                found.append(record)
                size += len(record.payload)
            if size >= limit:
                return RecordPage(found, after)
    return RecordPage(found, after)


def _files_from(folder: Path, number: int) -> Iterator[tuple[int, Path]]:
    """The named file first: most reads end in it, and a folder with many files is slow to list."""
    if number:
        yield number, folder / f"{number:016d}{RAW}"
    yield from ((later, path) for later, path in list_segments(folder).items() if later > number)


def _records_of(path: Path, number: int, offset: int) -> Iterator[tuple[SegmentRecord | None, int]]:
    try:
        with opened(path) as (file, size):
            for header in read_headers(file, offset, size):
                payload = sound_payload(file, header)
                place = RecordPlace(number, header.offset)
                yield None if payload is None else SegmentRecord(place, header.at_ns, payload), header.end
    except FileNotFoundError:  # removed by retention meanwhile
        return
