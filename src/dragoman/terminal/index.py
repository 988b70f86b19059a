"""The index of output: which words stand in which stretch of a stream. Derived, so it may be thrown away at any time.

It keeps no text. A stretch that has the words is read again from the stream, which says the lines, and says nothing
where it was forgotten meanwhile.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from dragoman.clock import Clock
from dragoman.journal import Place
from dragoman.journal.database import DamagedError, connect, deadline, open_or_create, remove
from dragoman.transport.private_files import ensure_private_folder
from dragoman.transport.system import System

log = logging.getLogger(__name__)

_VERSION = 1
# Words are gathered in memory and written out seldom: the fewer pieces there are, the less is merged again and again.
_HASH_BYTES = 16 * 1024 * 1024
_PRAGMAS = (
    "journal_mode=wal",
    "synchronous=normal",
    "secure_delete=on",
    "temp_store=memory",
    "cache_size=-16000",
    "journal_size_limit=16777216",
)
# A word's rows alone, without positions: a third of the size, and twice as fast to make.
_SCHEMA = f"""
create table blocks (n integer primary key, terminal text not null, segment integer not null, offset integer not null,
    until_segment integer not null, until_offset integer not null, low integer not null, high integer not null,
    at_ns integer not null, carry blob not null);
create index blocks_by_place on blocks (terminal, segment);
create virtual table words using fts5 (text, content='', contentless_delete=1, detail=none,
    tokenize='unicode61 remove_diacritics 0');
insert into words (words, rank) values ('hashsize', {_HASH_BYTES}), ('automerge', 8);
create table reach (terminal text primary key, segment integer not null, offset integer not null,
    at_ns integer not null, carry blob not null) without rowid;
pragma user_version={_VERSION};
"""  # noqa: S608  numbers of ours
_FAULTS = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.IOError, apsw.CantOpenError, DamagedError)


class Block(NamedTuple):
    """A stretch of one terminal's output, from a place up to another one; `carry` is the line it goes on with."""

    terminal: str
    start: Place
    until: Place
    low: int
    high: int
    """Which bytes of its one frame, where that is long."""
    at_ns: int
    carry: bytes


class Reach(NamedTuple):
    """Up to where a stream is indexed, and the line that was cut there."""

    place: Place = Place()
    at_ns: int = 0
    carry: bytes = b""


class OutputIndex:
    """Thread-safe: one connection, one user of it at a time."""

    def __init__(self, folder: Path, clock: Clock, *, system: System) -> None:
        self._path = ensure_private_folder(folder) / "output.db"
        self._clock = clock
        self._system = system
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self.generation = 0
        """Changes when it was thrown away, and what was read for the old one must not go into the new one."""

    def reaches(self) -> dict[str, Reach]:
        with self._use() as connection:
            rows: list[Any] = connection.execute("select terminal, segment, offset, at_ns, carry from reach").fetchall()
        return {name: Reach(Place(segment, offset), at_ns, carry) for name, segment, offset, at_ns, carry in rows}

    def add(self, generation: int, terminal: str, blocks: Iterable[tuple[Block, str]], reach: Reach) -> None:
        with self._use() as connection, connection:
            if generation != self.generation:
                return
            for block, text in blocks:
                row = (block.terminal, *block.start, *block.until, *block[3:])
                connection.execute("insert into blocks values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
                number = connection.last_insert_rowid()
                connection.execute("insert into words (rowid, text) values (?, ?)", (number, text))
            place = (terminal, *reach.place, reach.at_ns, reach.carry)
            connection.execute("replace into reach values (?, ?, ?, ?, ?)", place)

    def find(self, expression: str, terminal: str, below: int, limit: int, timeout_s: float) -> list[tuple[int, Block]]:
        """Blocks that have all the words, newest first, numbered below a number."""
        of_terminal = " and b.terminal = ?" if terminal else ""
        sql = f"""select b.* from words w cross join blocks b on b.n = w.rowid
        where w.words match ? and w.rowid < ?{of_terminal} order by w.rowid desc limit ?"""  # noqa: S608
        values = (expression, below, *([terminal] if terminal else []), limit)
        with self._use() as connection, deadline(connection, self._clock, timeout_s):
            rows: list[Any] = connection.execute(sql, values).fetchall()
        return [(row[0], Block(row[1], Place(*row[2:4]), Place(*row[4:6]), *row[6:])) for row in rows]

    def drop_retired(self, standing: Mapping[str, Sequence[int]]) -> None:
        """Blocks whose files are gone; in each stream the oldest files go first."""
        with self._use() as connection, connection:
            known: list[Any] = connection.execute("select terminal from reach").fetchall()
            for (terminal,) in known:
                oldest = min(standing.get(terminal, ()), default=1 << 62)
                gone = "select n from blocks where terminal = ? and segment < ?"
                connection.execute(f"delete from words where rowid in ({gone})", (terminal, oldest))  # noqa: S608
                connection.execute("delete from blocks where terminal = ? and segment < ?", (terminal, oldest))
                if terminal not in standing:
                    connection.execute("delete from reach where terminal = ?", (terminal,))

    def throw_away(self) -> None:
        """Words that were forgotten must be in no file: the index begins anew from what is still there."""
        with self._lock:
            self._discard()

    def close(self) -> None:
        with self._lock:
            self._shut()

    @contextmanager
    def _use(self) -> Iterator[apsw.Connection]:
        with self._lock:
            if self._connection is None:
                self._connection = self._opened()
            try:
                yield self._connection
            except _FAULTS as error:
                log.warning("the index of output is made again: %s", error)
                self._discard()
                raise

    def _opened(self) -> apsw.Connection:
        try:
            return self._open()
        except _FAULTS as error:
            log.warning("the index of output is made again: %s", error)
            self._discard()
            return self._open()

    def _open(self) -> apsw.Connection:
        os.close(open_or_create(self._path, system=self._system))
        connection = connect(self._path, None, apsw.SQLITE_OPEN_READWRITE, _PRAGMAS)
        try:
            version = connection.pragma("user_version")
            if version == 0:
                with connection:
                    connection.execute(_SCHEMA)
            elif version != _VERSION:
                raise DamagedError(f"it has version {version}")
            connection.execute("select count(*) from reach").fetchall()
        except BaseException:
            connection.close(True)
            raise
        return connection

    def _discard(self) -> None:
        self._shut()
        remove(self._path)
        self.generation += 1

    def _shut(self) -> None:
        if self._connection is not None:
            with suppress(apsw.Error):
                self._connection.close(True)
            self._connection = None
