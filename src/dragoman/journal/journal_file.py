"""The journal's file as the writer thread sees it: the connection, the next number, and recovery after an error."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import apsw

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError, disk_full
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.io.files.system_calls import SystemCalls, write_all
from dragoman.journal import database as files
from dragoman.journal import database as journal_database
from dragoman.journal import errors as journal_errors
from dragoman.journal import event_rows
from dragoman.journal.readers import ReaderPool
from dragoman.journal.segments import Segments, Span
from dragoman.journal.stores import Statement, Store

Result = TypeVar("Result")
AppendEntry = tuple[Sequence[event_rows.EventDraft], Sequence[Statement], Sequence[Span]]


class JournalFile:
    """The open database file and its next number. One thread at a time uses it: the opener's, then the writer's."""

    def __init__(
        self,
        folder: Path,
        stores: Sequence[Store],
        segments: Segments,
        clock: Clock,
        *,
        vfs: str | None,
        system: SystemCalls,
    ) -> None:
        self.folder = folder
        self.stores = stores
        self.segments = segments
        self.clock = clock
        self.vfs = vfs
        self.system = system
        self._broken = False
        self._lock = _lock(folder, system)
        try:
            self.database = self._open()
        except BaseException:
            os.close(self._lock)
            raise
        self.readers = ReaderPool(self.database.path, clock, vfs=vfs)
        self.last_sequence = self.database.last_sequence()

    def write(self, entries: Sequence[AppendEntry]) -> list[int]:
        """Write all entries in one transaction; return each one's last sequence number once they are synced."""
        try:
            self.segments.sync([span for _, _, spans in entries for span in spans])
        except OSError as error:
            raise journal_errors.translate_os_error(error) from error
        return self.guarded(partial(JournalFile._write, entries=entries))

    def guarded(self, work: Callable[[JournalFile], Result]) -> Result:
        """Run with the connection. If the file is damaged, set it aside and run once more on the fresh one."""
        if self._broken:
            self._translated(JournalFile._reopen)
        try:
            return self._translated(work)
        except DragomanError as error:
            if error.code != "journal_corrupt":
                raise
            reason = str(error.message)
        self._translated(partial(JournalFile._create_next_file, reason=reason))
        return self._translated(work)

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        connection = self.database.connection
        connection.execute("begin immediate")
        try:
            yield connection
            connection.execute("commit")
        except BaseException:
            self._roll_back()
            raise

    def switch(self, path: Path) -> None:
        """Switch to another file with the same record; if it cannot be opened, nothing has changed."""
        fresh = self._open_one(path)
        _close(self.database)
        self.database = fresh
        self.readers.switch(path)

    def require_sound(self) -> None:
        """A reader found damage: check the whole file, bypassing our cache; raise what makes `guarded` set it aside."""
        try:
            files.check_all(self.database.path, self.vfs)
        except files.DamagedError as error:
            raise apsw.CorruptError(str(error)) from error

    def prove_room(self) -> None:
        prove_room(self.folder, self.system)

    def close(self) -> None:
        self.readers.close()
        self.segments.close()
        _close(self.database)
        os.close(self._lock)

    def _write(self, entries: Sequence[AppendEntry]) -> list[int]:
        at_ns = self.clock.wall_ns()
        drafts = [draft for entry in entries for draft in entry[0]]
        with self.transaction() as connection:
            if drafts:
                event_rows.insert_events(connection, self.last_sequence + 1, at_ns, drafts)
            for _, writes, _ in entries:
                for statement in writes:
                    connection.execute(*statement)
        ends = []
        for entry in entries:
            self.last_sequence += len(entry[0])
            ends.append(self.last_sequence)
        return ends

    def _translated(self, work: Callable[[JournalFile], Result]) -> Result:
        try:
            return work(self)
        except apsw.Error as error:
            raise journal_errors.translate_sqlite_error(error, self.database.connection) from error
        except OSError as error:
            raise journal_errors.translate_os_error(error) from error

    def _roll_back(self) -> None:
        """After a failed write SQLite may refuse even a rollback: then only a new connection shows the true state."""
        connection = self.database.connection
        try:
            if connection.in_transaction:
                connection.execute("rollback")
        except apsw.Error:
            self._broken = True

    def _reopen(self) -> None:
        _close(self.database)
        self.database = self._open()
        self.readers.switch(self.database.path)
        self.last_sequence = max(self.last_sequence, self.database.last_sequence())
        self._broken = False

    def _open(self) -> files.Database:
        generation = files.choose_generation(self.folder)
        files.remove_others(self.folder, generation)
        path = files.path_of(self.folder, generation)
        try:
            return self._open_one(path)
        except files.DamagedError as damage:
            return self._replace(path, str(damage))

    def _open_one(self, path: Path) -> files.Database:
        try:
            return files.open_writer(path, self.stores, self.clock, vfs=self.vfs, system=self.system)
        except apsw.Error as error:
            raise journal_errors.translate_sqlite_error(error) from error

    def _create_next_file(self, reason: str) -> None:
        self._broken = True
        _close(self.database)
        self._replace(self.database.path, reason).connection.close()
        self._reopen()

    def _replace(self, path: Path, reason: str) -> files.Database:
        """Set a damaged file aside and create the next, with the stores' rows as far as they can be read."""
        rescued = journal_database.rescue_rows(path, self.stores, self.vfs)
        aside = files.set_aside(path, self.clock, system=self.system)
        fresh = self._open_one(files.path_of(self.folder, files.generation_of(path) + 1))
        event = Event(
            kind="journal.set_aside",
            text=str(localize("The damaged journal was moved to {name}; a new one was created.", name=aside.name)),
            body={"file": aside.name, "reason": reason, "stores": [table for table, rows in rescued.items() if rows]},
        )
        with fresh.connection:
            journal_database.restore_rows(fresh.connection, rescued)
            first = fresh.last_sequence() + 1
            event_rows.insert_events(fresh.connection, first, self.clock.wall_ns(), [event_rows.draft_event(event)])
        return fresh


def _close(database: files.Database) -> None:
    with suppress(apsw.Error):  # the WAL keeps what could not be checkpointed, and the next opening reads it
        database.connection.close(True)


def _lock(folder: Path, system: SystemCalls) -> int:
    """Two writers would use the same numbers; the kernel drops the lock of a killed process."""
    descriptor = files.open_or_create(folder / "lock", system=system)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise DragomanError(
            "journal_in_use",
            localize("Another process is using the journal in {folder}.", folder=folder),
            hint=localize("Stop the other daemon with `dragoman down`."),
        ) from error
    return descriptor


# Whether the journal can be written: the last error, and the probe that finds out when it is over.
#
# When a disk has room again, no caller may be writing. So after an error a small file is written and removed once per
# second until that works.

TRY_AGAIN_S = 1.0
_NEEDED_BYTES = 64 * 1024
_OF_WRITING = frozenset({"disk_full", "journal_io_failed"})
_FILE = ".room"


class WriteHealth:
    """Belongs to the journal's event loop; `attempt` has the writer's thread prove that there is room."""

    def __init__(self, folder: Path, attempt: Callable[[], asyncio.Future[Any]]) -> None:
        self._folder, self._attempt = folder, attempt
        self._fault: DragomanError | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def fault(self) -> DragomanError | None:
        """A full disk is detected before the first write fails on it."""
        if self._fault is not None:
            return self._fault
        with suppress(OSError):
            disk = os.statvfs(self._folder)
            if disk.f_blocks and disk.f_bavail * disk.f_frsize < _NEEDED_BYTES:
                return disk_full()
        return None

    def note(self, outcome: object) -> None:
        """Note the result of a write; other errors are ignored here."""
        if isinstance(outcome, DragomanError) and outcome.code in _OF_WRITING:
            self._fault = outcome
            if self._timer is None and not self._is_closed:
                self._timer = asyncio.get_running_loop().call_later(TRY_AGAIN_S, self._try)

    def close(self) -> None:
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _try(self) -> None:
        self._attempt().add_done_callback(self._tried)

    def _tried(self, done: asyncio.Future[Any]) -> None:
        self._timer = None
        error = None if done.cancelled() else done.exception()
        if error is None:
            self._fault = None
        else:
            self.note(error)


def prove_room(folder: Path, system: SystemCalls) -> None:
    """Raises the error that a write of the record would meet now."""
    path = folder / _FILE
    path.unlink(missing_ok=True)
    descriptor = system.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW)
    try:
        write_all(system, descriptor, bytes(_NEEDED_BYTES))
        system.fsync(descriptor)
    finally:
        os.close(descriptor)
        path.unlink(missing_ok=True)
