"""Reading connections: a few, shared by whoever reads next, so that a slow search never holds up the writer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from dragoman.clock import Clock
from dragoman.events import Recorded
from dragoman.journal import database as files
from dragoman.journal import faults
from dragoman.journal.records import COLUMNS, clean, recorded
from dragoman.journal.stores import Statement

READERS = 2
# A common word has hundreds of thousands of hits; ranking all of them takes half a second, the newest are enough.
RANKED_HITS = 10_000
# A kind has no index: a page looks at this many events, so that a rare kind in a long record is found in many short
# reads instead of one that runs out of time.
WINDOW_EVENTS = 50_000
_GREATEST = (1 << 63) - 1


class Page(NamedTuple):
    """Events in order, and the sequence number up to which nothing that matches is missing."""

    events: list[Recorded]
    upto: int
    last: int
    retired: int


class Rows(NamedTuple):
    """A store's rows as they were at `sequence`: the snapshot to which a tail after `sequence` belongs."""

    sequence: int
    rows: list[tuple[Any, ...]]


class Filter(NamedTuple):
    session: str | None = None
    kinds: Sequence[str] = ()
    workspace: str | None = None
    """This folder and what lies below it; events that belong to no folder are left out."""

    def sql(self) -> tuple[str, tuple[str, ...]]:
        of_session = "" if self.session is None else " and e.session = ?"
        of_kinds = f" and e.kind in ({','.join('?' * len(self.kinds))})" if self.kinds else ""
        of_workspace, folders = _below(self.workspace)
        values = (*([] if self.session is None else [self.session]), *self.kinds, *folders)
        return of_session + of_kinds + of_workspace, tuple(map(clean, values))


class Readers:
    """Thread-safe; the caller limits how many threads come at once."""

    def __init__(self, path: Path, clock: Clock, *, vfs: str | None) -> None:
        self._path = path
        self._clock = clock
        self._vfs = vfs
        self._lock = threading.Condition()
        self._idle: list[apsw.Connection] = []
        self._busy = 0
        self._closed = False

    def read(self, after: int, limit: int, chosen: Filter, timeout_s: float) -> Page:
        conditions, values = chosen.sql()
        after, limit = held(after), held(limit)
        sql = (
            f"select {_columns()} from events e where e.sequence > ? and e.sequence <= ?{conditions} "  # noqa: S608
            "order by e.sequence limit ?"
        )
        with self._snapshot(timeout_s) as connection:
            last = connection.execute(files.LAST_SEQUENCE).get
            retired = connection.execute("select value from marks where name = 'retired'").get
            end = min(last, _window_end(connection, after)) if chosen.kinds else last
            events = [recorded(row) for row in connection.execute(sql, (after, end, *values, limit))]
        return Page(events, events[-1].sequence if events and len(events) == limit else end, last, retired)

    def search(self, words: str, limit: int, chosen: Filter, *, ranked: bool, timeout_s: float) -> list[Recorded]:
        with self._snapshot(timeout_s) as connection:
            sql, values = _search(connection, words, held(limit), chosen, ranked)
            return [recorded(row) for row in connection.execute(sql, values)]

    def query(self, statement: Statement, timeout_s: float) -> Rows:
        with self._snapshot(timeout_s) as connection:
            last = connection.execute(files.LAST_SEQUENCE).get
            return Rows(last, connection.execute(*statement).fetchall())

    def switch(self, path: Path, *, patience_s: float = 5.0) -> None:
        """Use another file from now on, and wait until nobody reads the old one."""
        with self._lock:
            self._path = path
            self._drop_idle()
            self._lock.wait_for(lambda: self._busy == 0, patience_s)

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
        """One read transaction with a deadline: everything in it is true at the same moment."""
        with self._connection() as connection:
            try:
                with files.deadline(connection, self._clock, timeout_s), connection:
                    yield connection
            except apsw.Error as error:
                raise faults.translated(error, connection) from error

    @contextmanager
    def _connection(self) -> Iterator[apsw.Connection]:
        path, connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(path, connection)

    def _take(self) -> tuple[Path, apsw.Connection]:
        with self._lock:
            if self._closed:
                raise faults.closed()
            self._busy += 1
            path = self._path
            if self._idle:
                return path, self._idle.pop()
        try:
            return path, files.open_reader(path, self._vfs)
        except (apsw.Error, files.DamagedError) as error:
            self._left()
            cause = error if isinstance(error, apsw.Error) else apsw.CorruptError(str(error))
            raise faults.translated(cause) from error

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


def held(number: int) -> int:
    """As SQLite can hold it: a number from outside may be any, and a negative limit would mean none at all."""
    return min(max(number, 0), _GREATEST)


def _columns() -> str:
    return ", ".join(f"e.{name.strip()}" for name in COLUMNS.split(","))


def _search(
    connection: apsw.Connection, words: str, limit: int, chosen: Filter, ranked: bool
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
    """A session's events lie close together: its range spares the walk over every other session's hits."""
    if session is None:
        return 0, _GREATEST
    low, high = (
        connection.execute(f"select {end}(sequence) from events where session = ?", (clean(session),)).get  # noqa: S608
        for end in ("min", "max")
    )
    return low or 0, high or 0
