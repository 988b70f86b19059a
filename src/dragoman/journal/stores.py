"""Stores: state that outlives retention, changed in the same transaction as the events that changed it.

A write is data, not a function: a group commit that fails is rolled back and retried, and a statement can be run twice
where a function with side effects could not.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import apsw
import msgspec

from dragoman.core.redaction import Redactor
from dragoman.journal.errors import too_new

Value = TypeVar("Value")
Scalar = str | bytes | int | float | None

_NAME = re.compile(r"[a-z][a-z_]{0,31}")


class Statement(NamedTuple):
    """SQL with its values: run inside the transaction of an append, or read through `Journal.query`."""

    sql: str
    bindings: tuple[Scalar, ...] = ()


class JsonText(str):
    """JSON of a statement's value, which the writer searches for secrets before it is written, as it does with
    events."""

    __slots__ = ()


class EverythingScope(NamedTuple):
    """Scope of `forget`: everything that was recorded."""


class SessionScope(NamedTuple):
    """Scope of `forget`: one session."""

    session: str


class BeforeScope(NamedTuple):
    """Scope of `forget`: what is stamped earlier than this time."""

    at_ns: int


Scope = EverythingScope | SessionScope | BeforeScope


class ColumnScrub(NamedTuple):
    """A column that may hold what older versions did not redact."""

    page: str
    """Keys and values after a key, in key order, up to a limit."""
    first: Scalar
    change: Callable[[Any, Redactor], Any]
    writes: Callable[[Any, Any], Iterable[Statement]]
    """The statements for a key and its new value."""


class SegmentRecords(NamedTuple):
    """The records of a segment file, and those of the files before and after it: a secret may cross their ends."""

    before: Sequence[bytes]
    payloads: Sequence[bytes]
    after: Sequence[bytes]


class BulkScrub(NamedTuple):
    """How secrets are found in the segment files that a store's rows point into."""

    masked: Callable[[SegmentRecords, Redactor], list[bytes]]
    """A file's records with secrets masked and every length kept. Those of the file after it may be masked already."""
    changed: Callable[[], None]
    """Called in a thread when files were masked: data derived from them has to be rebuilt."""


class Store(ABC):
    """A set of tables. `migrations` only ever grows: entry n brings the tables from version n to n + 1."""

    name: str
    tables: Sequence[str]
    migrations: Sequence[str]

    @abstractmethod
    def forget(self, scope: Scope) -> Iterable[Statement]:
        """The statements that erase this scope from the store's tables; every store must decide."""

    def scrubs(self) -> Iterable[ColumnScrub]:
        """The columns to search again for secrets; none if the values must be used again unchanged."""
        return ()

    def bulk(self) -> BulkScrub | None:
        """For the store whose rows point into segment files."""
        return None


class JsonStore(Store, Generic[Value]):
    """Values of one type under a key, each belonging to a session or to none; this suits most state."""

    def __init__(self, name: str, type: type[Value], *, verbatim: bool = False) -> None:
        """`verbatim`: the values are sent to programs again, or grant something, so they are kept unredacted."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"a store's name becomes a table's name: {name!r}")
        self.name = name
        self.table = f"store_{name}"
        self.tables = (self.table,)
        self.migrations = (
            f"""create table {self.table} (key text primary key, session text not null, value text not null,
            changed_ns integer not null) without rowid""",
        )
        self._decoder = msgspec.json.Decoder(type)
        self._verbatim = verbatim

    def put(self, key: str, value: Value, *, at_ns: int, session: str = "") -> Statement:
        text = msgspec.json.encode(value).decode()
        encoded = text if self._verbatim else JsonText(text)
        return Statement(f"replace into {self.table} values (?, ?, ?, ?)", (key, session, encoded, at_ns))  # noqa: S608

    def remove(self, key: str) -> Statement:
        return Statement(f"delete from {self.table} where key = ?", (key,))  # noqa: S608

    def everything(self) -> Statement:
        """The query for `Journal.query`; `decoded` reads its rows."""
        return Statement(f"select key, value from {self.table} order by key")  # noqa: S608

    def decoded(self, rows: Iterable[tuple[Any, ...]]) -> dict[str, Value]:
        return {key: self._decoder.decode(value) for key, value in rows}

    def scrubs(self) -> Iterable[ColumnScrub]:
        if not self._verbatim:
            yield json_column(self.table, "key", "value")

    def forget(self, scope: Scope) -> Iterable[Statement]:
        match scope:
            case EverythingScope():
                return (Statement(f"delete from {self.table}"),)  # noqa: S608
            case SessionScope(session):
                return (Statement(f"delete from {self.table} where session = ?", (session,)),)  # noqa: S608
            case BeforeScope(at_ns):
                return (Statement(f"delete from {self.table} where changed_ns < ?", (at_ns,)),)  # noqa: S608


def json_column(table: str, key: str, column: str, first: Scalar = "") -> ColumnScrub:
    return ColumnScrub(
        f"select {key}, {column} from {table} where {key} > ? order by {key} limit ?",  # noqa: S608
        first,
        _without_secrets,
        lambda row, value: (Statement(f"update {table} set {column} = ? where {key} = ?", (value, row)),),  # noqa: S608
    )


def _without_secrets(value: str, redactor: Redactor) -> str:
    document = msgspec.json.decode(value)
    fresh = redactor.document(document)
    return value if fresh == document else msgspec.json.encode(fresh).decode()


def migrate(connection: apsw.Connection, stores: Iterable[Store]) -> None:
    """Bring every store's tables to its newest version, all or nothing."""
    with connection:
        for store in stores:
            _migrate_one(connection, store)


def _migrate_one(connection: apsw.Connection, store: Store) -> None:
    row = connection.execute("select version from stores where name = ?", (store.name,)).fetchone()
    version = row[0] if row else 0
    if version > len(store.migrations):
        raise too_new()
    for script in store.migrations[version:]:
        connection.execute(script)
    connection.execute("replace into stores values (?, ?)", (store.name, len(store.migrations)))
