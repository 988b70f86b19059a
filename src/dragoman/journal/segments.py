"""Segment files: append-only bulk bytes, one folder per stream; the journal keeps spans that point into them.

A stream is named after the session whose bytes it holds. `append` returns when the kernel has the bytes: they survive
the death of this process. `sync`, which the journal calls before it commits an event that names a span, makes them
survive power loss too. A process never appends to a file of an earlier process, so that a torn tail stays at the end of
its file.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError, journal_io_failed
from dragoman.core.ids import is_safe_id
from dragoman.core.localization import localize
from dragoman.io.files.private_files import ensure_private_folder, open_private, sync_folder
from dragoman.io.files.system_calls import SystemCalls, write_all
from dragoman.journal import segment_files as files
from dragoman.journal.errors import record_damaged, record_gone, translate_os_error
from dragoman.journal.segment_files import DRAFT, PACKED, RAW, RecordPage, RecordPlace, SegmentName, pack
from dragoman.journal.stores import BeforeScope, EverythingScope, Scope, SessionScope

READ_LIMIT_BYTES = 8 * 1024 * 1024
_RECORD_BYTES = 256 * 1024
_OPEN_FILES = 64
_WORTH_PACKING_BYTES = 4_096
# Full files that are not synced yet; a caller that fills one more waits for the disk.
_OWED_FILES = 16


class Span(msgspec.Struct, frozen=True):
    """`length` bytes of a stream, from the record at `offset` of a segment, possibly continuing in later segments."""

    stream: str
    segment: int
    offset: int
    length: int

    def plus(self, later: Span) -> Span:
        """This span and the one appended right after it, as one."""
        return Span(self.stream, self.segment, self.offset, self.length + later.length)


@dataclass(slots=True, eq=False)
class _Tail:
    """The open file to which a stream's next bytes go."""

    number: int
    path: Path
    descriptor: int
    size: int = 0
    synced: int = 0
    named: bool = False


class Segments:
    """Thread-safe: a recorder's thread appends while the journal's thread syncs."""

    def __init__(self, folder: Path, clock: Clock, *, system: SystemCalls, roll_bytes: int) -> None:
        self.folder = ensure_private_folder(folder)
        self._clock = clock
        self.system = system
        self._roll_bytes = roll_bytes
        self._lock = threading.Lock()
        self._tails: dict[str, _Tail] = {}
        self._unsynced: list[_Tail] = []
        self._failed_syncs: set[Path] = set()
        for draft in self.folder.glob(f"*/*{DRAFT}"):
            draft.unlink(missing_ok=True)

    def append(self, stream: str, data: bytes) -> Span:
        if not data:
            raise ValueError("a span has at least one byte")
        folder = self._folder_of(stream)
        with self._lock:
            try:
                return self._append(folder, stream, data)
            except OSError as error:
                self._leave(stream)
                raise translate_os_error(error) from error

    def read(self, span: Span, *, limit: int = READ_LIMIT_BYTES) -> bytes:
        """The first `limit` bytes of a span; raises if they were erased, retired or damaged."""
        wanted = min(span.length, limit)
        found = bytearray()
        offset = span.offset
        for path in self._files_from(span):
            with files.opened(path) as (file, size):
                for payload in files.read_payloads(file, offset, size, span.stream):
                    found += payload
                    if len(found) >= wanted:
                        return bytes(found[:wanted])
            if not found:  # a span begins with a record: bytes of another file do not belong to it
                break
            offset = 0
        raise record_damaged(stream=span.stream)

    def records(self, stream: str, after: RecordPlace, limit: int) -> RecordPage:
        """The sound records of a stream from a place on; at least one, if there is one."""
        return files.records(self._folder_of(stream), after, limit)

    def numbers(self, stream: str) -> list[int]:
        """The stream's files, oldest first."""
        return list(files.list_segments(self._folder_of(stream)))

    def sync(self, spans: Iterable[Span]) -> None:
        """Make these bytes survive power loss: one sync per file, while others continue to append."""
        begins: dict[str, int] = {}
        for span in spans:
            begins[span.stream] = min(span.segment, begins.get(span.stream, span.segment))
        self._sync_all(lambda path, number: number >= begins.get(path.parent.name, number + 1))

    def settle(self) -> None:
        """Sync the full files."""
        self._close_settled()
        with self._lock:
            owed = {tail.path for tail in self._unsynced}
        if owed:
            self._sync_all(lambda path, _: path in owed)

    @property
    def has_unsynced_files(self) -> bool:
        return bool(self._unsynced)

    def _sync_all(self, meant: Callable[[Path, int], bool]) -> None:
        with self._lock:
            if any(meant(path, int(path.stem)) for path in self._failed_syncs):
                raise _unsynced_data_error()
            tails = [tail for tail in (*self._unsynced, *self._tails.values()) if meant(tail.path, tail.number)]
            work = [(tail, os.dup(tail.descriptor), tail.size) for tail in tails if tail.synced < tail.size]
        try:
            for tail, descriptor, size in work:
                self._sync(tail, descriptor, size)
        finally:
            for _, descriptor, _ in work:
                os.close(descriptor)
            self._close_settled()

    def _close_settled(self) -> None:
        with self._lock:
            settled = [tail for tail in self._unsynced if tail.synced >= tail.size or tail.path in self._failed_syncs]
            self._unsynced = [tail for tail in self._unsynced if tail not in settled]
        for tail in settled:
            os.close(tail.descriptor)

    def forget(self, scope: Scope) -> None:
        with self._lock:
            for folder in self._folders(scope):
                self._leave(folder.name)
                self._drop_unsynced(folder)
                for path in sorted([*folder.glob(f"*{RAW}"), *folder.glob(f"*{PACKED}")]):
                    self._erase(path, scope.at_ns if isinstance(scope, BeforeScope) else None)
                with suppress(OSError):  # not empty: newer files stay
                    folder.rmdir()

    def retire(self, path: Path) -> None:
        with self._lock:  # a replacement must not bring the file back
            path.unlink(missing_ok=True)
        with suppress(OSError):
            path.parent.rmdir()

    def closed_files(self) -> list[tuple[Path, os.stat_result]]:
        """Files that retention may remove, least recently changed first."""
        with self._lock:
            open_now = {tail.path for tail in self._tails.values()}
        found = [(path, path.stat()) for path in self._all_files() if path not in open_now]
        return sorted(found, key=lambda item: item[1].st_mtime_ns)

    def earlier_files(self) -> list[tuple[SegmentName, int]]:
        """Files that are not written to, with their sizes, newest first."""
        with self._lock:
            busy = {tail.path for tail in (*self._tails.values(), *self._unsynced)}
        sizes: dict[SegmentName, int] = {}
        for path in self._all_files():
            with suppress(FileNotFoundError):
                if path not in busy:
                    sizes[SegmentName(int(path.stem), path.parent.name)] = path.lstat().st_size
        return sorted(sizes.items(), reverse=True)

    def drop_second_form(self, path: Path) -> None:
        """If packing was interrupted, both forms exist, and the raw one is authoritative."""
        with self._lock:
            if path.suffix == RAW and path.exists():
                path.with_suffix(PACKED).unlink(missing_ok=True)

    def exchange(self, path: Path, draft: Path, before: os.stat_result) -> bool:
        """Replace a file with one of the same lengths, unless it was changed since it was read."""
        with self._lock:
            if not path.exists():
                return not path.with_suffix(RAW).exists()
            if not files.is_unchanged(path, before):
                return False
            os.utime(draft, ns=(before.st_atime_ns, before.st_mtime_ns))
            self.system.rename(draft, path)
            sync_folder(path.parent, system=self.system)
        return True

    def total_bytes(self) -> int:
        return sum(path.stat().st_size for path in self._all_files())

    def pack_one(self) -> bool:
        """Compress one full file; return whether there was one. What is erased meanwhile stays erased."""
        with self._lock:
            busy = {tail.path for tail in (*self._tails.values(), *self._unsynced)}
        raw = next((path for path in self.folder.glob(f"*/*{RAW}") if path not in busy and _worth_packing(path)), None)
        if raw is None:
            return False
        draft = raw.with_suffix(DRAFT)
        try:
            before = _pack_to(draft, raw, self.system)
            with self._lock:
                self._exchange(raw, draft, before)
        except OSError as error:
            raise translate_os_error(error) from error
        finally:
            draft.unlink(missing_ok=True)
        return True

    def _exchange(self, raw: Path, draft: Path, before: os.stat_result) -> None:
        """Replace the file only if nothing was erased in it since it was read. Its time stays, because retention
        uses it."""
        if not files.is_unchanged(raw, before):
            return
        os.utime(draft, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.system.rename(draft, raw.with_suffix(PACKED))
        sync_folder(raw.parent, system=self.system)
        raw.unlink()

    def _all_files(self) -> list[Path]:
        return [*self.folder.glob(f"*/*{RAW}"), *self.folder.glob(f"*/*{PACKED}")]

    def close(self) -> None:
        with self._lock:
            for stream in list(self._tails):
                self._leave(stream)
            for folder in {tail.path.parent for tail in self._unsynced}:
                self._drop_unsynced(folder)

    def _append(self, folder: Path, stream: str, data: bytes) -> Span:
        at_ns = max(1, self._clock.wall_ns())
        span: Span | None = None
        for start in range(0, len(data), _RECORD_BYTES):
            tail = self._tail(folder, stream)
            span = span or Span(stream, tail.number, tail.size, len(data))
            record = files.encode_record(data[start : start + _RECORD_BYTES], at_ns)
            write_all(self.system, tail.descriptor, record)
            tail.size += len(record)
        assert span is not None
        return span

    def _tail(self, folder: Path, stream: str) -> _Tail:
        tail = self._tails.get(stream)
        if tail is not None and tail.size < self._roll_bytes:
            return tail
        if tail is not None:
            self._sync_later(self._tails.pop(stream))
        if len(self._tails) >= _OPEN_FILES:
            self._leave(next(iter(self._tails)))
        ensure_private_folder(folder)
        number = self._next_number(folder)
        path = self._path(stream, number)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW
        tail = self._tails[stream] = _Tail(number, path, self.system.open(path, flags, 0o600))
        return tail

    def _next_number(self, folder: Path) -> int:
        """Higher than every existing number, and based on the clock, so that the number of a removed file is never
        reused."""
        standing = max(files.list_segments(folder), default=0)
        return max(standing + 1, self._clock.wall_ns() // 1_000_000)

    def _sync_later(self, tail: _Tail) -> None:
        """A full file is synced when an event names its bytes, or by `settle`: callers that append need not wait for
        it."""
        self._unsynced.append(tail)
        if len(self._unsynced) > _OWED_FILES:
            self._finish(self._unsynced.pop(0))

    def _drop_unsynced(self, folder: Path) -> None:
        for tail in [tail for tail in self._unsynced if tail.path.parent == folder]:
            self._unsynced.remove(tail)
            self._finish(tail)

    def _leave(self, stream: str) -> None:
        """Close a stream's file; its next bytes go to a new one, also after a failed write tore this one's tail."""
        tail = self._tails.pop(stream, None)
        if tail is not None:
            self._finish(tail)

    def _finish(self, tail: _Tail) -> None:
        with suppress(OSError):  # remembered as doubtful
            if tail.synced < tail.size:
                self._sync(tail, tail.descriptor, tail.size)
        os.close(tail.descriptor)

    def _sync(self, tail: _Tail, descriptor: int, size: int) -> None:
        """After a failed fsync the kernel may mark lost pages as clean: a second fsync that succeeds proves nothing."""
        try:
            self.system.fsync(descriptor)
            if not tail.named:
                sync_folder(tail.path.parent, system=self.system)
                sync_folder(self.folder, system=self.system)
                tail.named = True
        except OSError:
            self._failed_syncs.add(tail.path)
            raise
        tail.synced = max(tail.synced, size)

    def _erase(self, path: Path, before_ns: int | None) -> None:
        old = [] if before_ns is None else _older(path, before_ns)
        if old is None or before_ns is None:
            path.unlink(missing_ok=True)
        elif old:
            self._zero(path, old)

    def _zero(self, path: Path, old: list[files.RecordHeader]) -> None:
        """A packed file is unpacked first: the raw one is then authoritative, and is packed again later."""
        raw = path if path.suffix == RAW else _unpack(path, self.system)
        descriptor = open_private(raw, os.O_WRONLY, system=self.system)
        try:
            for header in old:
                os.lseek(descriptor, header.offset, os.SEEK_SET)
                write_all(self.system, descriptor, files.erased_record(header.length))
            self.system.fsync(descriptor)
        finally:
            os.close(descriptor)
        raw.with_suffix(PACKED).unlink(missing_ok=True)

    def _folders(self, scope: Scope) -> list[Path]:
        match scope:
            case SessionScope(session):
                folder = self.folder / session
                return [folder] if is_safe_id(session) and folder.is_dir() else []
            case EverythingScope() | BeforeScope():
                return sorted(folder for folder in self.folder.iterdir() if folder.is_dir())

    def _files_from(self, span: Span) -> Iterator[Path]:
        there = files.list_segments(self._folder_of(span.stream))
        if span.segment not in there:
            raise record_gone(stream=span.stream)
        return (path for number, path in there.items() if number >= span.segment)

    def _folder_of(self, stream: str) -> Path:
        if not is_safe_id(stream):
            raise DragomanError(
                "unsafe_id",
                localize("Invalid stream name: {name}.", name=repr(stream[:80])),
                hint=localize("Use up to 64 letters, digits, - and _."),
            )
        return self.folder / stream

    def _path(self, stream: str, number: int) -> Path:
        return self.folder / stream / f"{number:016d}{RAW}"


def _older(path: Path, before_ns: int) -> list[files.RecordHeader] | None:
    """The records stamped before a time; None means all of them, including a torn tail."""
    with files.opened(path) as (file, size):
        every = list(files.read_headers(file, 0, size))
    old = [header for header in every if header.at_ns < before_ns]
    return None if len(old) == len(every) else old


def _worth_packing(path: Path) -> bool:
    return path.stat().st_size >= _WORTH_PACKING_BYTES


def _pack_to(draft: Path, raw: Path, system: SystemCalls) -> os.stat_result:
    with os.fdopen(open_private(raw, os.O_RDONLY), "rb") as source:
        before = os.fstat(source.fileno())
        target = system.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            pack(source, target, system=system)
        finally:
            os.close(target)
    return before


def _unpack(path: Path, system: SystemCalls) -> Path:
    raw, draft = path.with_suffix(RAW), path.with_suffix(DRAFT)
    target = system.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with files.opened(path) as (file, size):
            file.seek(0)
            write_all(system, target, file.read(size))
        system.fsync(target)
    finally:
        os.close(target)
    status = path.stat()
    os.utime(draft, ns=(status.st_atime_ns, status.st_mtime_ns))
    system.rename(draft, raw)
    return raw


def _unsynced_data_error() -> DragomanError:
    return journal_io_failed(reason=localize("earlier data of this stream may not have been written to disk"))
