"""The files of a stream: numbered, raw while they are new, compressed later; read alike."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dragoman.journal import frames
from dragoman.journal.packed import PackedFile
from dragoman.transport.private_files import open_private

RAW = ".seg"
PACKED = ".segz"
DRAFT = ".new"


class Name(NamedTuple):
    """Which file, raw or packed."""

    number: int
    stream: str


class Place(NamedTuple):
    """Where a record stands in its stream; the order of places is the order of appending."""

    segment: int = 0
    offset: int = 0


class Record(NamedTuple):
    place: Place
    at_ns: int
    payload: bytes


class Reading(NamedTuple):
    """Some records in order, and the place after the last one."""

    records: list[Record]
    upto: Place


class Opened(NamedTuple):
    file: frames.Readable
    size: int


def standing(folder: Path) -> dict[int, Path]:
    """By number, oldest first. Where packing was cut short both forms stand, and the raw one is the truth."""
    packed = {int(path.stem): path for path in folder.glob(f"*{PACKED}")}
    raw = {int(path.stem): path for path in folder.glob(f"*{RAW}")}
    return dict(sorted((packed | raw).items()))


def is_as_it_was(path: Path, before: os.stat_result) -> bool:
    now = path.stat() if path.exists() else None
    return now is not None and (now.st_ctime_ns, now.st_ino) == (before.st_ctime_ns, before.st_ino)


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """A raw file may be packed between the look and the opening: then its other form has the same bytes."""
    try:
        descriptor = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        path = path.with_suffix(PACKED if path.suffix == RAW else RAW)
        descriptor = open_private(path, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as file:
        if path.suffix == PACKED:
            packed = PackedFile(file)
            yield Opened(packed, packed.size)
        else:
            yield Opened(file, os.fstat(file.fileno()).st_size)


def records(folder: Path, after: Place, limit: int) -> Reading:
    """Sound records from a place on, at least one if there is any; erased, damaged and retired ones are passed over."""
    found: list[Record] = []
    size = 0
    for number, path in _files_from(folder, after.segment):
        offset = after.offset if number == after.segment else 0
        for record, end in _records_of(path, number, offset):
            after = Place(number, end)
            if record is not None:
                found.append(record)
                size += len(record.payload)
            if size >= limit:
                return Reading(found, after)
    return Reading(found, after)


def _files_from(folder: Path, number: int) -> Iterator[tuple[int, Path]]:
    """The named one first: most readings end in it, and a folder of many files is slow to list."""
    if number:
        yield number, folder / f"{number:016d}{RAW}"
    yield from ((later, path) for later, path in standing(folder).items() if later > number)


def _records_of(path: Path, number: int, offset: int) -> Iterator[tuple[Record | None, int]]:
    try:
        with opened(path) as (file, size):
            for header in frames.headers(file, offset, size):
                payload = frames.sound_payload(file, header)
                place = Place(number, header.offset)
                yield None if payload is None else Record(place, header.at_ns, payload), header.end
    except FileNotFoundError:  # retired while we read
        return
