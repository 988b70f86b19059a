"""The files of a stream: numbered, raw while they are new, compressed later; both are read in the same way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dragoman.io.files.private_files import open_private
from dragoman.journal import segment_format
from dragoman.journal.segment_format import PackedFile

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
    file: segment_format.ReadableFile
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
            for header in segment_format.read_headers(file, offset, size):
                payload = segment_format.sound_payload(file, header)
                place = RecordPlace(number, header.offset)
                yield None if payload is None else SegmentRecord(place, header.at_ns, payload), header.end
    except FileNotFoundError:  # removed by retention meanwhile
        return
