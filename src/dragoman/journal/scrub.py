"""What older versions left on the disk, searched for secrets once more: rows, their search index, the stores.

Segment files are `segment_scrub`'s; how far that came stands here as well.

It runs beside everything else, in small steps on the writer's thread, and goes on after a death where it stood: how far
it came is a mark in the database. When something was changed, the file is written anew, as after `forget`: free pages
and the index hold nothing of it any more. The engine's version says whether it is owed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import apsw

from dragoman.journal import records
from dragoman.journal.ledger import Ledger
from dragoman.journal.segment_files import Name
from dragoman.journal.stores import Scrub, Store
from dragoman.redaction import ENGINE_VERSION, Redactor

STEP_ROWS = 200
_NEWEST = (1 << 63) - 1
_VERSION, _UPTO, _CHANGED, _AT = "scrub:version", "scrub:upto", "scrub:changed", "scrub:at_ns"
_FILES_VERSION, _FILES_FROM, _FILES = "scrub:files_version", "scrub:files_from", "scrub:files"
_DERIVED, _UNREAD = "scrub:derived", "scrub:unread:"
_PAGE = f"select {records.COLUMNS} from events where sequence > ? order by sequence limit ?"  # noqa: S608
_UNINDEX = "insert into search (search, rowid, text) select 'delete', sequence, text from searchable where sequence = ?"
_UPDATE = "update events set text = ?, body = ?, words = ? where sequence = ?"
_INDEX = "insert into search (rowid, text) select sequence, text from searchable where sequence = ?"


class Step(Protocol):
    def __call__(self, ledger: Ledger, /, redactor: Redactor) -> bool:
        """Some rows; whether there are more."""


class Scrubbed(NamedTuple):
    """What was done: whether all of it, when it ended, how many rows and files had to be changed."""

    is_done: bool
    at_ns: int = 0
    changed: int = 0
    files: int = 0
    unread: tuple[str, ...] = ()
    """Segment files that could not be read, and so not searched; each is tried again at every start."""


class FilesLeft(NamedTuple):
    """Which segment files are to be searched: all up to a number, and those that could not be read before."""

    upto: int
    unread: frozenset[str]

    def has(self, name: Name) -> bool:
        return name.number <= self.upto or _label(name) in self.unread


def standing(connection: apsw.Connection) -> Scrubbed:
    is_done = not _owes_rows(connection) and _mark(connection, _FILES_VERSION) >= ENGINE_VERSION
    at_ns = _mark(connection, _AT) if is_done else 0
    return Scrubbed(is_done, at_ns, _mark(connection, _CHANGED), _mark(connection, _FILES), _unread(connection))


def begin(ledger: Ledger) -> bool:
    """Whether there is something to do; what an older engine did counts for nothing."""
    done = standing(ledger.database.connection)
    return not done.is_done or bool(done.unread) or owes_derived(ledger)


def owes_rows(ledger: Ledger) -> bool:
    return _owes_rows(ledger.database.connection)


def _owes_rows(connection: apsw.Connection) -> bool:
    return _mark(connection, _VERSION) < ENGINE_VERSION


def segments_left(ledger: Ledger) -> FilesLeft:
    connection = ledger.database.connection
    is_owed = _mark(connection, _FILES_VERSION) < ENGINE_VERSION
    upto = (_mark(connection, _FILES_FROM) or _NEWEST) if is_owed else -1
    return FilesLeft(upto, frozenset(_unread(connection)))


def count_files(ledger: Ledger, count: int) -> None:
    """Before they take their places: after a death, what was derived from the old ones still goes."""
    with ledger.transaction() as connection:
        _put(connection, _FILES, _mark(connection, _FILES) + count)
        _put(connection, _DERIVED, 1)


def pass_files(ledger: Ledger, names: Sequence[Name], unread: Sequence[Name]) -> None:
    """These are done, but for those that could not be read."""
    with ledger.transaction() as connection:
        if _mark(connection, _FILES_VERSION) < ENGINE_VERSION:
            _put(connection, _FILES_FROM, min(name.number for name in names))
        for name in names:
            connection.execute("delete from marks where name = ?", (_UNREAD + _label(name),))
        for name in unread:
            _put(connection, _UNREAD + _label(name), 1)


def owes_derived(ledger: Ledger) -> bool:
    """Whether files were changed since what is derived from them was made."""
    return bool(_mark(ledger.database.connection, _DERIVED))


def finish_segments(ledger: Ledger, standing_files: Sequence[Name]) -> None:
    """A file that could not be read and is gone by now is no concern any more."""
    kept = {_label(name) for name in standing_files}
    with ledger.transaction() as connection:
        for label in _unread(connection):
            if label not in kept:
                connection.execute("delete from marks where name = ?", (_UNREAD + label,))
        if _mark(connection, _FILES_VERSION) < ENGINE_VERSION:
            _put(connection, _FILES_VERSION, ENGINE_VERSION)
            _put(connection, _AT, ledger.clock.wall_ns())
        _put(connection, _FILES_FROM, 0)
        _put(connection, _DERIVED, 0)


def events_step(ledger: Ledger, redactor: Redactor) -> bool:
    """Some of the oldest events that were not looked at; whether there are more."""
    connection = ledger.database.connection
    after = _mark(connection, _UPTO)
    rows: list[Any] = connection.execute(_PAGE, (after, STEP_ROWS)).fetchall()
    if not rows:
        return False
    changed = [(row, draft) for row in rows if (draft := _redrafted(row, redactor))]
    with ledger.transaction():
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
    """One table of a store, page by page. A death begins it again: what was changed is found unchanged."""

    def __init__(self, scrub: Scrub) -> None:
        self._scrub = scrub
        self._after: Any = scrub.first

    def __call__(self, ledger: Ledger, redactor: Redactor) -> bool:
        connection = ledger.database.connection
        rows = connection.execute(self._scrub.page, (self._after, STEP_ROWS)).fetchall()
        if not rows:
            return False
        changed = [(key, fresh) for key, value in rows if (fresh := self._scrub.change(value, redactor)) != value]
        with ledger.transaction():
            for key, fresh in changed:
                for statement in self._scrub.writes(key, fresh):
                    connection.execute(*statement)
            _put(connection, _CHANGED, _mark(connection, _CHANGED) + len(changed))
        self._after = rows[-1][0]
        return True


def finish_rows(ledger: Ledger) -> None:
    with ledger.transaction() as connection:
        _put(connection, _VERSION, ENGINE_VERSION)
        _put(connection, _AT, ledger.clock.wall_ns())
        _put(connection, _UPTO, 0)


def _redrafted(row: tuple[Any, ...], redactor: Redactor) -> records.Draft | None:
    """None where nothing of it has to change."""
    event = records.recorded(row).event
    fresh = redactor.event(event)
    return None if fresh == event else records.draft(fresh)


def _label(name: Name) -> str:
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
