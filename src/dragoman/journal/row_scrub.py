"""Redact what older versions recorded: rows, their search index, the stores.

`segment_scrub` does the same for segment files; its progress is stored here as well.

It runs beside everything else, in small steps on the writer's thread, and resumes after a crash: its progress is stored
in the database. If something was changed, the file is rewritten, as after `forget`, so that free pages and the index
hold nothing of it any more. The version of the redaction engine decides whether a new pass is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import apsw

from dragoman.core.redaction import ENGINE_VERSION, Redactor
from dragoman.journal import event_rows
from dragoman.journal.journal_file import JournalFile
from dragoman.journal.segment_files import SegmentName
from dragoman.journal.stores import ColumnScrub, Store

STEP_ROWS = 200
_NEWEST = (1 << 63) - 1
_VERSION, _UPTO, _CHANGED, _AT = "scrub:version", "scrub:upto", "scrub:changed", "scrub:at_ns"
_FILES_VERSION, _FILES_FROM, _FILES = "scrub:files_version", "scrub:files_from", "scrub:files"
_DERIVED, _UNREAD = "scrub:derived", "scrub:unread:"
_PAGE = f"select {event_rows.COLUMNS} from events where sequence > ? order by sequence limit ?"  # noqa: S608
_UNINDEX = "insert into search (search, rowid, text) select 'delete', sequence, text from searchable where sequence = ?"
_UPDATE = "update events set text = ?, body = ?, words = ? where sequence = ?"
_INDEX = "insert into search (rowid, text) select sequence, text from searchable where sequence = ?"


class ScrubStep(Protocol):
    def __call__(self, journal_file: JournalFile, /, redactor: Redactor) -> bool:
        """Process some rows; return whether there are more."""


class ScrubStatus(NamedTuple):
    """The result: whether it is complete, when it ended, how many rows and files were changed."""

    is_done: bool
    at_ns: int = 0
    changed: int = 0
    files: int = 0
    unread: tuple[str, ...] = ()
    """Segment files that could not be read, and so not searched; each is retried at every start."""


class FilesLeft(NamedTuple):
    """Which segment files are to be searched: all up to a number, and those that could not be read before."""

    upto: int
    unread: frozenset[str]

    def has(self, name: SegmentName) -> bool:
        return name.number <= self.upto or _label(name) in self.unread


def scrub_status(connection: apsw.Connection) -> ScrubStatus:
    is_done = not _has_pending_rows(connection) and _mark(connection, _FILES_VERSION) >= ENGINE_VERSION
    at_ns = _mark(connection, _AT) if is_done else 0
    return ScrubStatus(is_done, at_ns, _mark(connection, _CHANGED), _mark(connection, _FILES), _unread(connection))


def begin(journal_file: JournalFile) -> bool:
    """Return whether there is something to do; a pass of an older engine does not count."""
    done = scrub_status(journal_file.database.connection)
    return not done.is_done or bool(done.unread) or has_pending_derived(journal_file)


def has_pending_rows(journal_file: JournalFile) -> bool:
    return _has_pending_rows(journal_file.database.connection)


def _has_pending_rows(connection: apsw.Connection) -> bool:
    return _mark(connection, _VERSION) < ENGINE_VERSION


def segments_left(journal_file: JournalFile) -> FilesLeft:
    connection = journal_file.database.connection
    is_pending = _mark(connection, _FILES_VERSION) < ENGINE_VERSION
    upto = (_mark(connection, _FILES_FROM) or _NEWEST) if is_pending else -1
    return FilesLeft(upto, frozenset(_unread(connection)))


def count_files(journal_file: JournalFile, count: int) -> None:
    """Count files before they are replaced: after a crash, data derived from the old ones is still erased."""
    with journal_file.transaction() as connection:
        _put(connection, _FILES, _mark(connection, _FILES) + count)
        _put(connection, _DERIVED, 1)


def pass_files(journal_file: JournalFile, names: Sequence[SegmentName], unread: Sequence[SegmentName]) -> None:
    """Mark these files as done, except those that could not be read."""
    with journal_file.transaction() as connection:
        if _mark(connection, _FILES_VERSION) < ENGINE_VERSION:
            _put(connection, _FILES_FROM, min(name.number for name in names))
        for name in names:
            connection.execute("delete from marks where name = ?", (_UNREAD + _label(name),))
        for name in unread:
            _put(connection, _UNREAD + _label(name), 1)


def has_pending_derived(journal_file: JournalFile) -> bool:
    """Whether files were changed since the data derived from them was built."""
    return bool(_mark(journal_file.database.connection, _DERIVED))


def finish_segments(journal_file: JournalFile, existing_files: Sequence[SegmentName]) -> None:
    """Finish. A file that could not be read and is gone by now no longer matters."""
    kept = {_label(name) for name in existing_files}
    with journal_file.transaction() as connection:
        for label in _unread(connection):
            if label not in kept:
                connection.execute("delete from marks where name = ?", (_UNREAD + label,))
        if _mark(connection, _FILES_VERSION) < ENGINE_VERSION:
            _put(connection, _FILES_VERSION, ENGINE_VERSION)
            _put(connection, _AT, journal_file.clock.wall_ns())
        _put(connection, _FILES_FROM, 0)
        _put(connection, _DERIVED, 0)


def events_step(journal_file: JournalFile, redactor: Redactor) -> bool:
    """Process some of the oldest unprocessed events; return whether there are more."""
    connection = journal_file.database.connection
    after = _mark(connection, _UPTO)
    rows: list[Any] = connection.execute(_PAGE, (after, STEP_ROWS)).fetchall()
    if not rows:
        return False
    changed = [(row, draft) for row in rows if (draft := _redrafted(row, redactor))]
    with journal_file.transaction():
        for row, draft in changed:
            connection.execute(_UNINDEX, (row[0],))
            connection.execute(_UPDATE, (draft.text, draft.body, draft.words, row[0]))
            connection.execute(_INDEX, (row[0],))
        _put(connection, _UPTO, rows[-1][0])
        _put(connection, _CHANGED, _mark(connection, _CHANGED) + len(changed))
    return True


def store_steps(stores: Iterable[Store]) -> Iterator[StoreStep]:
    for store in stores:
        for scrub in store.scrubs():
            yield StoreStep(scrub)


class StoreStep:
    """Processes one table of a store, page by page. After a crash it starts again: changed rows need no change then."""

    def __init__(self, scrub: ColumnScrub) -> None:
        self._scrub = scrub
        self._after: Any = scrub.first

    def __call__(self, journal_file: JournalFile, redactor: Redactor) -> bool:
        connection = journal_file.database.connection
        rows = connection.execute(self._scrub.page, (self._after, STEP_ROWS)).fetchall()
        if not rows:
            return False
        changed = [(key, fresh) for key, value in rows if (fresh := self._scrub.change(value, redactor)) != value]
        with journal_file.transaction():
            for key, fresh in changed:
                for statement in self._scrub.writes(key, fresh):
                    connection.execute(*statement)
            _put(connection, _CHANGED, _mark(connection, _CHANGED) + len(changed))
        self._after = rows[-1][0]
        return True


def finish_rows(journal_file: JournalFile) -> None:
    with journal_file.transaction() as connection:
        _put(connection, _VERSION, ENGINE_VERSION)
        _put(connection, _AT, journal_file.clock.wall_ns())
        _put(connection, _UPTO, 0)


def _redrafted(row: tuple[Any, ...], redactor: Redactor) -> event_rows.EventDraft | None:
    """None if nothing in it has to change."""
    event = event_rows.event_from_row(row).event
    fresh = redactor.event(event)
    return None if fresh == event else event_rows.draft_event(fresh)


def _label(name: SegmentName) -> str:
    return f"{name.stream}/{name.number:016d}"


def _unread(connection: apsw.Connection) -> tuple[str, ...]:
    rows: list[Any] = connection.execute(
        "select name from marks where name >= ? and name < ?", (_UNREAD, _UNREAD + "~")
    ).fetchall()
    return tuple(name.removeprefix(_UNREAD) for (name,) in rows)


def _mark(connection: apsw.Connection, name: str) -> int:
    row = connection.execute("select value from marks where name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def _put(connection: apsw.Connection, name: str, value: int) -> None:
    connection.execute("replace into marks values (?, ?)", (name, value))
