"""Redact segment files of older versions: secrets are masked in place, file by file.

Spans and counts point into these files, so every length stays: a secret becomes stars. A changed file is written beside
the old one, synced and renamed over it, with its time and its form, raw or compressed; a crash leaves one of the two
whole. The newest file comes first: the one before it then still has the start of a secret that crosses its end. Files
of this process are skipped: their content was redacted before it was written.
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

from dragoman.core.errors import DragomanError
from dragoman.core.redaction import Redactor
from dragoman.io.files.system_calls import SystemCalls, write_all
from dragoman.journal import row_scrub
from dragoman.journal import segment_files as files
from dragoman.journal.errors import translate_os_error
from dragoman.journal.journal_file import JournalFile
from dragoman.journal.segment_files import DRAFT, PACKED, PackedFile, SegmentName, pack
from dragoman.journal.segments import Segments
from dragoman.journal.stores import BulkScrub, SegmentRecords

Result = TypeVar("Result")
Mask = Callable[[SegmentRecords], list[bytes]]

_STEP_BYTES = 4 * 1024 * 1024
_STEP_FILES = 64
# Uses a fifth of a core, as packing does.
_PAUSE = 4.0
# A file may be erased in while it is read; the number of retries is bounded.
_TRIES = 5


class RunWork(Protocol):
    def __call__(self, run: Callable[[JournalFile], Result], /) -> Awaitable[Result]: ...


class SegmentChunk(NamedTuple):
    """A record, or what a crash left of one: that is masked as well, and stays invalid."""

    head: bytes
    payload: bytes
    at_ns: int
    is_sound: bool

    def encoded(self, payload: bytes) -> bytes:
        return files.encode_record(payload, self.at_ns) if self.is_sound else self.head + payload


class MaskedFile(NamedTuple):
    """A file with its secrets masked, beside the one that it replaces."""

    path: Path
    masked: Path
    before: os.stat_result


class SegmentScrubStep(NamedTuple):
    drafts: list[MaskedFile]
    unread: list[SegmentName]


class _UnreadableError(Exception):
    pass


async def scrub_segments(
    journal_file: JournalFile, work: RunWork, packing: anyio.CapacityLimiter, redactor: Redactor
) -> None:
    """Runs in steps, in a thread beside the writer's and the recorders'; resumes after a crash."""
    bulk = next((bulk for store in journal_file.stores if (bulk := store.bulk())), None)
    if bulk is not None:
        await _scrub(journal_file, work, packing, partial(_masked, bulk, redactor))
        if await work(row_scrub.has_pending_derived):
            await _in_thread(bulk.changed)
    existing = [name for name, _ in await _in_thread(journal_file.segments.earlier_files)]
    await work(partial(row_scrub.finish_segments, existing_files=existing))


async def _scrub(journal_file: JournalFile, work: RunWork, packing: anyio.CapacityLimiter, mask: Mask) -> None:
    segments = journal_file.segments
    for step in _steps(await _in_thread(segments.earlier_files), await work(row_scrub.segments_left)):
        began_s = time.monotonic()
        async with packing:  # a file that is being packed has two forms
            await _step(step, segments, mask, work)
        await anyio.sleep(_PAUSE * (time.monotonic() - began_s))


async def _step(names: list[SegmentName], segments: Segments, mask: Mask, work: RunWork) -> None:
    left, unread = names, list[SegmentName]()
    for _ in range(_TRIES):
        step = await _in_thread(partial(_prepared, segments, left, mask))
        unread += step.unread
        if step.drafts:
            await work(partial(row_scrub.count_files, count=len(step.drafts)))
        left = await _in_thread(partial(_exchanged, segments, step.drafts))
        if not left:
            break
    await work(partial(row_scrub.pass_files, names=names, unread=[*unread, *left]))


def _steps(existing: Sequence[tuple[SegmentName, int]], left: row_scrub.FilesLeft) -> Iterator[list[SegmentName]]:
    names: list[SegmentName] = []
    size = 0
    for name, length in existing:
        if not left.has(name):
            continue
        names.append(name)
        size += length
        if size >= _STEP_BYTES or len(names) >= _STEP_FILES:
            yield names
            names, size = [], 0
    if names:
        yield names


def _prepared(segments: Segments, names: Sequence[SegmentName], mask: Mask) -> SegmentScrubStep:
    drafts: list[MaskedFile] = []
    unread: list[SegmentName] = []
    for name in names:
        try:
            draft = _draft(segments, name, mask)
        except _UnreadableError:
            unread.append(name)
        except OSError as error:
            for made in drafts:
                made.masked.unlink(missing_ok=True)
            raise translate_os_error(error) from error
        else:
            drafts += [draft] if draft else []
    return SegmentScrubStep(drafts, unread)


def _draft(segments: Segments, name: SegmentName, mask: Mask) -> MaskedFile | None:
    """None if nothing in it has to change, or nothing is left of it."""
    there = files.list_segments(segments.folder / name.stream)
    path = there.get(name.number)
    if path is None:
        return None
    segments.drop_second_form(path)
    before = path.stat()
    chunks = _chunks(path)
    numbers = list(there)
    at = numbers.index(name.number)
    records = SegmentRecords(
        _neighbours(there, numbers[at - 1 : at] if at else []),
        [chunk.payload for chunk in chunks],
        _neighbours(there, numbers[at + 1 : at + 2]),
    )
    masked = mask(records)
    if masked == records.payloads:
        return None
    data = b"".join(chunk.encoded(payload) for chunk, payload in zip(chunks, masked, strict=True))
    draft = path.with_suffix(DRAFT)
    _write(draft, data, is_packed=path.suffix == PACKED, system=segments.system)
    return MaskedFile(path, draft, before)


def _exchanged(segments: Segments, drafts: Sequence[MaskedFile]) -> list[SegmentName]:
    """Return the files that changed while they were read: they are read again."""
    try:
        return [
            SegmentName(int(draft.path.stem), draft.path.parent.name)
            for draft in drafts
            if not segments.exchange(draft.path, draft.masked, draft.before)
        ]
    except OSError as error:
        raise translate_os_error(error) from error
    finally:
        for draft in drafts:
            draft.masked.unlink(missing_ok=True)


def _chunks(path: Path) -> list[SegmentChunk]:
    try:
        with files.opened(path) as (file, size):
            found = list(_chunks_of(file, size))
            if isinstance(file, PackedFile) and file.is_damaged:
                raise _UnreadableError
    except FileNotFoundError:  # removed by retention meanwhile
        return []
    except (OSError, DragomanError) as error:
        raise _UnreadableError from error
    return found


def _chunks_of(file: files.ReadableFile, size: int) -> Iterator[SegmentChunk]:
    end = 0
    for header in files.read_headers(file, 0, size):
        file.seek(header.offset)
        head, payload = file.read(files.HEADER_BYTES), file.read(header.length)
        yield SegmentChunk(head, payload, header.at_ns, files.sound_payload(file, header) is not None)
        end = header.end
    file.seek(end)
    torn = file.read(size - end)
    if torn:
        yield SegmentChunk(torn[: files.HEADER_BYTES], torn[files.HEADER_BYTES :], 0, is_sound=False)


def _neighbours(there: dict[int, Path], numbers: Sequence[int]) -> list[bytes]:
    try:
        return [chunk.payload for number in numbers for chunk in _chunks(there[number])]
    except _UnreadableError:
        return []


def _write(draft: Path, data: bytes, *, is_packed: bool, system: SystemCalls) -> None:
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


def _masked(bulk: BulkScrub, redactor: Redactor, records: SegmentRecords) -> list[bytes]:
    return bulk.masked(records, redactor)


async def _in_thread(run: Callable[[], Result]) -> Result:
    return await anyio.to_thread.run_sync(run)
