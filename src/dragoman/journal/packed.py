"""A closed segment, compressed: the same bytes at the same offsets, in blocks that can be read one by one.

Blocks first, then the table of their lengths, then a footer of fixed size. What does not unpack reads as zeros, which
no record's checksum takes for true.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from itertools import accumulate
from typing import BinaryIO

from dragoman.transport.system import System, write_all

BLOCK_BYTES = 128 * 1024
_LEVEL = 3
_FOOTER = struct.Struct(">QII8s")
_MAGIC = b"dragseg1"


def pack(source: BinaryIO, target: int, *, system: System) -> None:
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
    """Reads like the file that was packed; the last block is kept, since readers go forward."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size, self._starts = _table(file)
        self.is_damaged = self._starts == [0]
        """Whether something of it could not be unpacked so far."""
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
            block = _block(self._file.read(end - start), whole)
            self.is_damaged = self.is_damaged or block is None
            self._number, self._block = number, bytes(whole) if block is None else block
        return self._block


def _block(packed: bytes, length: int) -> bytes | None:
    """Never more than the block's own length, whatever a damaged file says."""
    try:
        block = zlib.decompressobj().decompress(packed, length)
    except zlib.error:
        return None
    return block if len(block) == length else None


def _table(file: BinaryIO) -> tuple[int, list[int]]:
    """The size unpacked, and where each block begins and the last one ends; a damaged file has none."""
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
