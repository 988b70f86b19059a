"""Stores: state that outlives retention, changed in the same transaction as the events that changed it.

A write is data, not a function: a group commit that fails is rolled back and tried again, and a statement can be run
twice where a function with side effects could not.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import apsw
import msgspec

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.redaction import Redactor

Value = TypeVar("Value")
Scalar = str | bytes | int | float | None

_NAME = re.compile(r"[a-z][a-z_]{0,31}")


class Statement(NamedTuple):
    """SQL with its values: run inside the transaction of an append, or read through `Journal.query`."""

    sql: str
    bindings: tuple[Scalar, ...] = ()


class JsonText(str):
    """JSON of a statement's value that the writer searches for secrets, as it does events, before it is written."""

    __slots__ = ()


class Everything(NamedTuple):
    """Scope of `forget`: all that was recorded."""


class OfSession(NamedTuple):
    """Scope of `forget`: one session's life."""

    session: str


class Before(NamedTuple):
    """Scope of `forget`: what is stamped earlier than this moment."""

    at_ns: int


Scope = Everything | OfSession | Before


class Scrub(NamedTuple):
    """A column that may hold what older versions did not redact."""

    page: str
    """Keys and values after a key, at most so many, in the keys' order."""
    first: Scalar
    change: Callable[[Any, Redactor], Any]
    writes: Callable[[Any, Any], Iterable[Statement]]
    """Of a key and its new value."""


class Records(NamedTuple):
    """The records of a segment file, and those of the files before and after it: a secret may run over their ends."""

    before: Sequence[bytes]
    payloads: Sequence[bytes]
    after: Sequence[bytes]


class Bulk(NamedTuple):
    """How secrets are found in the segment files that a store's rows point into."""

    masked: Callable[[Records, Redactor], list[bytes]]
    """A file's records, secrets masked and every length kept. Of the file after it, they may be masked already."""
    changed: Callable[[], None]
    """Files were masked: what is derived from them has to be made again. Called in a thread."""


class Store(ABC):
    """Own tables. `migrations` only ever grows: entry n brings the tables from version n to n + 1."""

    name: str
    tables: Sequence[str]
    migrations: Sequence[str]

    @abstractmethod
    def forget(self, scope: Scope) -> Iterable[Statement]:
        """The statements that erase this scope from the store's tables; every store must decide."""

    def scrubs(self) -> Iterable[Scrub]:
        """What is searched once more for secrets; nothing where it has to be used again as it is."""
        return ()

    def bulk(self) -> Bulk | None:
        """Of the store whose rows point into segment files."""
        return None


class JsonStore(Store, Generic[Value]):
    """Values of one type under a key, each belonging to a session or to none; what most state needs."""

    def __init__(self, name: str, type: type[Value], *, verbatim: bool = False) -> None:
        """`verbatim`: what it holds is sent to programs again, or grants something, and is kept to the letter."""
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

    def scrubs(self) -> Iterable[Scrub]:
        if not self._verbatim:
            yield json_column(self.table, "key", "value")

    def forget(self, scope: Scope) -> Iterable[Statement]:
        match scope:
            case Everything():
                return (Statement(f"delete from {self.table}"),)  # noqa: S608
            case OfSession(session):
                return (Statement(f"delete from {self.table} where session = ?", (session,)),)  # noqa: S608
            case Before(at_ns):
                return (Statement(f"delete from {self.table} where changed_ns < ?", (at_ns,)),)  # noqa: S608


def json_column(table: str, key: str, column: str, first: Scalar = "") -> Scrub:
    return Scrub(
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


def too_new() -> DragomanError:
    return DragomanError(
        "journal_too_new",
        say("The journal was written by a newer Dragoman."),
        hint=say("Update Dragoman, or point DRAGOMAN_HOME at another folder."),
    )
