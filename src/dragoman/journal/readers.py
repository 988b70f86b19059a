"""A pool of reading connections, so that a slow search never blocks the writer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from dragoman.core.clock import Clock
from dragoman.core.events import RecordedEvent
from dragoman.journal import database as files
from dragoman.journal import errors
from dragoman.journal.event_rows import COLUMNS, clean_text, event_from_row
from dragoman.journal.stores import Statement

READERS = 2
# A common word has hundreds of thousands of hits; ranking all of them takes half a second, and the newest are enough.
RANKED_HITS = 10_000
# A kind has no index: a page scans this many events, so that a rare kind in a long record is found in many short reads
# instead of one that times out.
WINDOW_EVENTS = 50_000
_MAX_INT64 = (1 << 63) - 1


class EventPage(NamedTuple):
    """Events in order, and the sequence number up to which no match is missing."""

    events: list[RecordedEvent]
    upto: int
    last: int
    retired: int


class StoreRows(NamedTuple):
    """A store's rows as they were at `sequence`: the snapshot to which a tail after `sequence` belongs."""

    sequence: int
    rows: list[tuple[Any, ...]]


class EventFilter(NamedTuple):
    session: str | None = None
    kinds: Sequence[str] = ()
    workspace: str | None = None
    """This folder and the folders below it; events without a folder are excluded."""

    def sql(self) -> tuple[str, tuple[str, ...]]:
        of_session = "" if self.session is None else " and e.session = ?"
        of_kinds = f" and e.kind in ({','.join('?' * len(self.kinds))})" if self.kinds else ""
        of_workspace, folders = _below(self.workspace)
        values = (*([] if self.session is None else [self.session]), *self.kinds, *folders)
        return of_session + of_kinds + of_workspace, tuple(map(clean_text, values))


class ReaderPool:
    """Thread-safe; the caller limits the number of threads."""

    def __init__(self, path: Path, clock: Clock, *, vfs: str | None) -> None:
        self._path = path
        self._clock = clock
        self._vfs = vfs
        self._lock = threading.Condition()
        self._idle: list[apsw.Connection] = []
        self._busy = 0
        self._closed = False

    def read(self, after: int, limit: int, chosen: EventFilter, timeout_s: float) -> EventPage:
        conditions, values = chosen.sql()
        after, limit = clamp_int64(after), clamp_int64(limit)
        sql = (
            f"select {_columns()} from events e where e.sequence > ? and e.sequence <= ?{conditions} "  # noqa: S608
            "order by e.sequence limit ?"
        )
        with self._snapshot(timeout_s) as connection:
            last = connection.execute(files.LAST_SEQUENCE).get
            retired = connection.execute("select value from marks where name = 'retired'").get
            end = min(last, _window_end(connection, after)) if chosen.kinds else last
            events = [event_from_row(row) for row in connection.execute(sql, (after, end, *values, limit))]
        return EventPage(events, events[-1].sequence if events and len(events) == limit else end, last, retired)

    def search(
        self, words: str, limit: int, chosen: EventFilter, *, ranked: bool, timeout_s: float
    ) -> list[RecordedEvent]:
        with self._snapshot(timeout_s) as connection:
            sql, values = _search(connection, words, clamp_int64(limit), chosen, ranked)
            return [event_from_row(row) for row in connection.execute(sql, values)]

    def query(self, statement: Statement, timeout_s: float) -> StoreRows:
        with self._snapshot(timeout_s) as connection:
            last = connection.execute(files.LAST_SEQUENCE).get
            return StoreRows(last, connection.execute(*statement).fetchall())

    def switch(self, path: Path, *, busy_timeout_s: float = 5.0) -> None:
        """Use another file from now on, and wait until nothing reads the old one."""
        with self._lock:
            self._path = path
            self._drop_idle()
            self._lock.wait_for(lambda: self._busy == 0, busy_timeout_s)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._drop_idle()

    def _drop_idle(self) -> None:
        for connection in self._idle:
            connection.close(True)
        self._idle.clear()

    @contextmanager
    def _snapshot(self, timeout_s: float) -> Iterator[apsw.Connection]:
        """One read transaction with a deadline: everything in it is from the same moment."""
        with self._connection() as connection:
            try:
                with files.deadline(connection, self._clock, timeout_s), connection:
                    yield connection
            except apsw.Error as error:
                raise errors.translate_sqlite_error(error, connection) from error

    @contextmanager
    def _connection(self) -> Iterator[apsw.Connection]:
        path, connection = self._borrow()
        try:
            yield connection
        finally:
            self._give_back(path, connection)

    def _borrow(self) -> tuple[Path, apsw.Connection]:
        with self._lock:
            if self._closed:
                raise errors.journal_closed()
            self._busy += 1
            path = self._path
            if self._idle:
                return path, self._idle.pop()
        try:
            return path, files.open_reader(path, self._vfs)
        except (apsw.Error, files.DamagedError) as error:
            self._left()
            cause = error if isinstance(error, apsw.Error) else apsw.CorruptError(str(error))
            raise errors.translate_sqlite_error(cause) from error

    def _give_back(self, path: Path, connection: apsw.Connection) -> None:
        with self._lock:
            keep = path == self._path and not self._closed
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close(True)
        self._left()

    def _left(self) -> None:
        with self._lock:
            self._busy -= 1
            self._lock.notify_all()


def _below(folder: str | None) -> tuple[str, tuple[str, ...]]:
    """`0` is the character after `/`: a range finds what begins with the folder and a slash."""
    if folder is None:
        return "", ()
    folder = folder.rstrip("/")
    return " and (e.workspace = ? or (e.workspace >= ? and e.workspace < ?))", (
        folder or "/",
        f"{folder}/",
        f"{folder}0",
    )


def clamp_int64(number: int) -> int:
    """Clamp to SQLite's range: numbers from outside are arbitrary, and a negative limit would mean no limit."""
    return min(max(number, 0), _MAX_INT64)


def _columns() -> str:
    return ", ".join(f"e.{name.strip()}" for name in COLUMNS.split(","))


def _search(
    connection: apsw.Connection, words: str, limit: int, chosen: EventFilter, ranked: bool
) -> tuple[str, tuple[Any, ...]]:
    conditions, values = chosen.sql()
    low, high = _bounds(connection, chosen.session)
    hits = (
        "from search s cross join events e on e.sequence = s.rowid where s.search match ? and s.rowid between ? and ?"
    )
    newest = f"{hits}{conditions} order by s.rowid desc limit ?"
    if not ranked:
        return f"select {_columns()} {newest}", (words, low, high, *values, limit)
    best = f"select s.rowid as sequence, bm25(search) as score {newest}"
    sql = (
        f"select {_columns()} from ({best}) hit join events e on e.sequence = hit.sequence "  # noqa: S608
        "order by hit.score, hit.sequence desc limit ?"
    )
    return sql, (words, low, high, *values, RANKED_HITS, limit)


def _window_end(connection: apsw.Connection, after: int) -> int:
    first = connection.execute("select min(sequence) from events where sequence > ?", (after,)).get
    return (after if first is None else first) + WINDOW_EVENTS


def _bounds(connection: apsw.Connection, session: str | None) -> tuple[int, int]:
    """A session's events are close together: limiting the range avoids the hits of all other sessions."""
    if session is None:
        return 0, _MAX_INT64
    low, high = (
        connection.execute(f"select {end}(sequence) from events where session = ?", (clean_text(session),)).get  # noqa: S608
        for end in ("min", "max")
    )
    return low or 0, high or 0
