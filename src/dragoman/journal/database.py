"""One SQLite file in WAL mode: opening, checking, numbering, setting aside, and rescuing rows of a damaged one.

Acknowledged means synced: `synchronous=full` makes SQLite sync the WAL once per commit, and a commit holds up to 1,000
events. The file's name carries a generation; the highest is the journal. A fresh file after a damaged one numbers its
events from `generation << 36`, so that no sequence number is ever used twice.

The stores' rows of a damaged file are rescued, because they are state and not only a record. A store is rescued
completely or not at all: half of it might mean something else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from dragoman.core.clock import Clock
from dragoman.io.files.private_files import open_private, sync_folder
from dragoman.io.files.system_calls import SystemCalls
from dragoman.journal import errors
from dragoman.journal.errors import too_new
from dragoman.journal.stores import Store, migrate

APPLICATION_ID = 0x44524147  # "DRAG"
SCHEMA_VERSION = 2
GENERATION_BITS = 36
_UNCLEAN_CHECK_S = 0.25
_DATABASE_SUFFIXES = ("", "-wal", "-shm", "-journal")
_READER_PRAGMAS = ("query_only=on", "temp_store=memory", "cache_size=-2000", "cell_size_check=on")
LAST_SEQUENCE = (
    "select max(coalesce((select max(sequence) from events), 0), (select value from marks where name = 'last'))"
)

_NAME = re.compile(r"events-(\d{6})\.db")
_SET_ASIDE = re.compile(r"damaged-.*")


_WRITER_PRAGMAS = (
    "auto_vacuum=incremental",
    f"application_id={APPLICATION_ID}",
    "journal_mode=wal",
    "synchronous=full",
    "fullfsync=on",  # macOS: fsync alone does not reach the disk
    "checkpoint_fullfsync=on",
    "secure_delete=on",
    "temp_store=memory",
    "cache_size=-8000",
    "wal_autocheckpoint=2000",
    "journal_size_limit=16777216",
    "cell_size_check=on",
)


_SCHEMA = (
    """create table events (sequence integer primary key, at_ns integer not null, kind text not null,
    session text not null, cause text not null, text text not null, body text not null, words text,
    workspace text not null default '')""",
    "create index events_by_session on events (session, sequence)",
    "create view searchable as select sequence, coalesce(words, text) as text from events",
    "create virtual table search using fts5 (text, content='searchable', content_rowid='sequence', prefix='2 3')",
    "create table marks (name text primary key, value integer not null) without rowid",
    "insert into marks values ('last', 0), ('retired', 0)",
    "create table stores (name text primary key, version integer not null) without rowid",
    f"pragma user_version={SCHEMA_VERSION}",
)


# The migrations from each older version to the next. Adding a column touches no row, however many there are.
_UPGRADES = {1: ("alter table events add column workspace text not null default ''", "pragma user_version=2")}


class DamagedError(Exception):
    """The file cannot be used as the journal any more."""


class Database(NamedTuple):
    path: Path
    connection: apsw.Connection

    @property
    def generation(self) -> int:
        return generation_of(self.path)

    def last_sequence(self) -> int:
        return int(self.connection.execute(LAST_SEQUENCE).get)

    def retired(self) -> int:
        return int(self.connection.execute("select value from marks where name = 'retired'").get)


def path_of(folder: Path, generation: int) -> Path:
    return folder / f"events-{generation:06d}.db"


def generation_of(path: Path) -> int:
    match = _NAME.search(path.name)
    return int(match[1]) if match else -1


def set_aside_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if _SET_ASIDE.fullmatch(path.name))


def open_writer(path: Path, stores: Sequence[Store], clock: Clock, *, vfs: str | None, system: SystemCalls) -> Database:
    """Open or create the file; raises `DamagedError` if the file there is not a sound journal of ours."""
    os.close(open_or_create(path, system=system))
    _require_ours(path)
    unclean = _size(path.with_name(path.name + "-wal")) > 0
    database = Database(path, connect(path, vfs, apsw.SQLITE_OPEN_READWRITE, _WRITER_PRAGMAS))
    try:
        _require_schema(database)
        if unclean:
            _check(database.connection, clock)
        database.last_sequence()
        migrate(database.connection, stores)
    except BaseException as error:
        database.connection.close(True)
        if isinstance(error, errors.CORRUPT):
            raise DamagedError(str(error)) from error
        raise
    return database


def open_or_create(path: Path, *, system: SystemCalls) -> int:
    """A file that we create now needs no check; an existing one must be ours."""
    try:
        return system.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return open_private(path, os.O_RDWR, system=system)


def open_reader(path: Path, vfs: str | None) -> apsw.Connection:
    return connect(path, vfs, apsw.SQLITE_OPEN_READONLY, _READER_PRAGMAS)


def check_all(path: Path, vfs: str | None) -> None:
    connection = open_reader(path, vfs)
    try:
        found = connection.execute("pragma quick_check(1)").get
    except errors.CORRUPT as error:
        found = str(error)
    finally:
        connection.close(True)
    if found != "ok":
        raise DamagedError(str(found))


def connect(path: Path, vfs: str | None, flags: int, pragmas: Sequence[str]) -> apsw.Connection:
    try:
        connection = apsw.Connection(str(path), flags=flags | apsw.SQLITE_OPEN_NOFOLLOW, vfs=vfs)
        try:
            connection.set_busy_timeout(1_000)
            for pragma in pragmas:
                connection.execute(f"pragma {pragma}").fetchall()
        except BaseException:
            connection.close(True)
            raise
    except errors.CORRUPT as error:
        raise DamagedError(str(error)) from error
    return connection


def set_aside(path: Path, clock: Clock, *, system: SystemCalls) -> Path:
    """Keep a damaged file under a dated name: a person may want to inspect it, or a tool to repair it."""
    day = datetime.fromtimestamp(clock.wall_ns() / 1e9, UTC).strftime("%Y%m%dT%H%M%S")
    target = path.with_name(f"damaged-{day}-{path.name}")
    for suffix in reversed(_DATABASE_SUFFIXES):
        source = path.with_name(path.name + suffix)
        if source.exists():
            system.rename(source, target.with_name(target.name + suffix))
    sync_folder(path.parent, system=system)
    return target


def remove(path: Path) -> None:
    for suffix in _DATABASE_SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def choose_generation(folder: Path) -> int:
    """The newest file that ever held data, or the number after every used one."""
    standing = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    filled = [generation_of(path) for path in standing if _size(path) > 0]
    if filled:
        return max(filled)
    return max(map(generation_of, [*standing, *set_aside_files(folder)]), default=-1) + 1


def remove_others(folder: Path, generation: int) -> None:
    """Remove what an unfinished `forget` or an unfinished creation left behind."""
    for path in list(folder.iterdir()):
        if path.name.endswith(".new") or (_NAME.match(path.name) and generation_of(path) != generation):
            path.unlink(missing_ok=True)


@contextmanager
def deadline(connection: apsw.Connection, clock: Clock, timeout_s: float) -> Iterator[None]:
    """Every query has a deadline: SQLite checks it every few thousand steps."""
    ends_s = clock.monotonic_s() + timeout_s
    connection.set_progress_handler(lambda: clock.monotonic_s() >= ends_s, 4_000)
    try:
        yield
    finally:
        connection.set_progress_handler(None)


def _require_ours(path: Path) -> None:
    """Checks the bytes of the header (sqlite.org/fileformat.html, 1.3): opening it with SQLite would change a
    foreign file."""
    with path.open("rb") as file:
        header = file.read(100)
    if header and (header[:16] != b"SQLite format 3\0" or header[68:72] != APPLICATION_ID.to_bytes(4, "big")):
        raise DamagedError("it is not a journal of Dragoman")


def _require_schema(database: Database) -> None:
    connection = database.connection
    version = int(connection.pragma("user_version"))
    if version > SCHEMA_VERSION:
        raise too_new()
    if version == 0:
        _create(database)
    for older in range(max(version, 1), SCHEMA_VERSION if version else 0):
        with connection:
            for statement in _UPGRADES[older]:
                connection.execute(statement)


def _create(database: Database) -> None:
    with database.connection:
        for statement in _SCHEMA:
            database.connection.execute(statement)
        base = database.generation << GENERATION_BITS
        database.connection.execute("update marks set value = ?", (base,))


def _check(connection: apsw.Connection, clock: Clock) -> None:
    """The last writer did not close the file: check for damage, but no longer than a person notices."""
    try:
        with deadline(connection, clock, _UNCLEAN_CHECK_S):
            found = connection.execute("pragma quick_check(1)").get
    except apsw.InterruptError:
        return
    if found != "ok":
        raise DamagedError(str(found))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


RescuedRows = Mapping[str, Sequence[tuple[Any, ...]]]


def rescue_rows(path: Path, stores: Sequence[Store], vfs: str | None) -> RescuedRows:
    """The rows of every store that can be read completely and has a version that we know."""
    rescued: dict[str, Sequence[tuple[Any, ...]]] = {}
    try:
        connection = open_reader(path, vfs)
    except (apsw.Error, DamagedError):
        return rescued
    for store in stores:
        with suppress(apsw.Error):
            rescued |= _sound_rows(connection, store)
    connection.close(True)
    return rescued


def store_rows(connection: apsw.Connection, stores: Sequence[Store]) -> RescuedRows:
    tables = [table for store in stores for table in store.tables]
    return {table: connection.execute(f"select * from {table}").fetchall() for table in tables}  # noqa: S608


def restore_rows(connection: apsw.Connection, rescued: RescuedRows) -> None:
    for table, rows in rescued.items():
        if rows:
            places = ",".join("?" * len(rows[0]))
            connection.executemany(f"insert into {table} values ({places})", rows)  # noqa: S608


def _sound_rows(connection: apsw.Connection, store: Store) -> RescuedRows:
    version = connection.execute("select version from stores where name = ?", (store.name,)).get
    checks = [connection.execute(f"pragma quick_check({table})").get for table in store.tables]
    if version != len(store.migrations) or checks.count("ok") != len(checks):
        return {}
    return store_rows(connection, [store])
