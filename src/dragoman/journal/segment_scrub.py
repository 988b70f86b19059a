"""Segment files of older versions, searched for secrets once more: masked where they stand, file by file.

Spans and counts point into these files, so every length stays: a secret becomes stars. A changed file is written beside
the old one, synced and renamed over it, with its time and its form, raw or packed; a death leaves one of the two whole.
The newest file comes first: the one before it then still shows what a secret that runs over its end begins with. Files
of this life are left alone: what is in them was redacted before it was written.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import anyio
import anyio.to_thread

from dragoman.errors import DragomanError
from dragoman.journal import frames, scrub
from dragoman.journal import segment_files as files
from dragoman.journal.faults import translated_os
from dragoman.journal.ledger import Ledger
from dragoman.journal.packed import PackedFile, pack
from dragoman.journal.segment_files import DRAFT, PACKED, Name
from dragoman.journal.segments import Segments
from dragoman.journal.stores import Bulk, Records
from dragoman.redaction import Redactor
from dragoman.transport.system import System, write_all

Result = TypeVar("Result")
Mask = Callable[[Records], list[bytes]]

_STEP_BYTES = 4 * 1024 * 1024
_STEP_FILES = 64
# With a fifth of a core, as packing.
_PAUSE = 4.0
# Somebody may erase in a file while it is read; nobody does so for ever.
_TRIES = 5


class Work(Protocol):
    def __call__(self, run: Callable[[Ledger], Result], /) -> Awaitable[Result]: ...


class Chunk(NamedTuple):
    """A record, or what a crash left of one: that is masked as well, and stays as unsound as it was."""

    head: bytes
    payload: bytes
    at_ns: int
    is_sound: bool

    def encoded(self, payload: bytes) -> bytes:
        return frames.frame(payload, self.at_ns) if self.is_sound else self.head + payload


class Draft(NamedTuple):
    """A file with its secrets masked, beside the one whose place it takes."""

    path: Path
    masked: Path
    before: os.stat_result


class Step(NamedTuple):
    drafts: list[Draft]
    unread: list[Name]


class _UnreadableError(Exception):
    pass


async def run(ledger: Ledger, work: Work, packing: anyio.CapacityLimiter, redactor: Redactor) -> None:
    """In steps, in a thread beside the writer's and the recorders'; goes on after a death where it stood."""
    bulk = next((bulk for store in ledger.stores if (bulk := store.bulk())), None)
    if bulk is not None:
        await _scrub(ledger, work, packing, partial(_masked, bulk, redactor))
        if await work(scrub.owes_derived):
            await _in_thread(bulk.changed)
    standing = [name for name, _ in await _in_thread(ledger.segments.earlier_files)]
    await work(partial(scrub.finish_segments, standing_files=standing))


async def _scrub(ledger: Ledger, work: Work, packing: anyio.CapacityLimiter, mask: Mask) -> None:
    segments = ledger.segments
    for step in _steps(await _in_thread(segments.earlier_files), await work(scrub.segments_left)):
        began_s = time.monotonic()
        async with packing:  # a file that is being packed has two forms
            await _step(step, segments, mask, work)
        await anyio.sleep(_PAUSE * (time.monotonic() - began_s))


async def _step(names: list[Name], segments: Segments, mask: Mask, work: Work) -> None:
    left, unread = names, list[Name]()
    for _ in range(_TRIES):
        step = await _in_thread(partial(_prepared, segments, left, mask))
        unread += step.unread
        if step.drafts:
            await work(partial(scrub.count_files, count=len(step.drafts)))
        left = await _in_thread(partial(_exchanged, segments, step.drafts))
        if not left:
            break
    await work(partial(scrub.pass_files, names=names, unread=[*unread, *left]))


def _steps(standing: Sequence[tuple[Name, int]], left: scrub.FilesLeft) -> Iterator[list[Name]]:
    names: list[Name] = []
    size = 0
    for name, length in standing:
        if not left.has(name):
            continue
        names.append(name)
        size += length
        if size >= _STEP_BYTES or len(names) >= _STEP_FILES:
            yield names
            names, size = [], 0
    if names:
        yield names


def _prepared(segments: Segments, names: Sequence[Name], mask: Mask) -> Step:
    drafts: list[Draft] = []
    unread: list[Name] = []
    for name in names:
        try:
            draft = _draft(segments, name, mask)
        except _UnreadableError:
            unread.append(name)
        except OSError as error:
            for made in drafts:
                made.masked.unlink(missing_ok=True)
            raise translated_os(error) from error
        else:
            drafts += [draft] if draft else []
    return Step(drafts, unread)


def _draft(segments: Segments, name: Name, mask: Mask) -> Draft | None:
    """None where nothing of it has to change, or nothing is left of it."""
    there = files.standing(segments.folder / name.stream)
    path = there.get(name.number)
    if path is None:
        return None
    segments.drop_second_form(path)
    before = path.stat()
    chunks = _chunks(path)
    numbers = list(there)
    at = numbers.index(name.number)
    records = Records(
        _beside(there, numbers[at - 1 : at] if at else []),
        [chunk.payload for chunk in chunks],
        _beside(there, numbers[at + 1 : at + 2]),
    )
    masked = mask(records)
    if masked == records.payloads:
        return None
    data = b"".join(chunk.encoded(payload) for chunk, payload in zip(chunks, masked, strict=True))
    draft = path.with_suffix(DRAFT)
    _write(draft, data, is_packed=path.suffix == PACKED, system=segments.system)
    return Draft(path, draft, before)


def _exchanged(segments: Segments, drafts: Sequence[Draft]) -> list[Name]:
    """Those that changed while they were read: they are read again."""
    try:
        return [
            Name(int(draft.path.stem), draft.path.parent.name)
            for draft in drafts
            if not segments.exchange(draft.path, draft.masked, draft.before)
        ]
    except OSError as error:
        raise translated_os(error) from error
    finally:
        for draft in drafts:
            draft.masked.unlink(missing_ok=True)


def _chunks(path: Path) -> list[Chunk]:
    try:
        with files.opened(path) as (file, size):
            found = list(_chunks_of(file, size))
            if isinstance(file, PackedFile) and file.is_damaged:
                raise _UnreadableError
    except FileNotFoundError:  # retired meanwhile
        return []
    except (OSError, DragomanError) as error:
        raise _UnreadableError from error
    return found


def _chunks_of(file: frames.Readable, size: int) -> Iterator[Chunk]:
    end = 0
    for header in frames.headers(file, 0, size):
        file.seek(header.offset)
        head, payload = file.read(frames.HEADER_BYTES), file.read(header.length)
        yield Chunk(head, payload, header.at_ns, frames.sound_payload(file, header) is not None)
        end = header.end
    file.seek(end)
    torn = file.read(size - end)
    if torn:
        yield Chunk(torn[: frames.HEADER_BYTES], torn[frames.HEADER_BYTES :], 0, is_sound=False)


def _beside(there: dict[int, Path], numbers: Sequence[int]) -> list[bytes]:
    try:
        return [chunk.payload for number in numbers for chunk in _chunks(there[number])]
    except _UnreadableError:
        return []


def _write(draft: Path, data: bytes, *, is_packed: bool, system: System) -> None:
    target = system.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        if is_packed:
            pack(io.BytesIO(data), target, system=system)
        else:
            write_all(system, target, data)
            system.fsync(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        os.close(target)


def _masked(bulk: Bulk, redactor: Redactor, records: Records) -> list[bytes]:
    return bulk.masked(records, redactor)


async def _in_thread(run: Callable[[], Result]) -> Result:
    return await anyio.to_thread.run_sync(run)
