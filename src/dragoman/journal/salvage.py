"""What a damaged file still gives: the stores' rows, since they are state and not only a record.

A table is taken whole or not at all: half of a store might mean something else than all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from dragoman.journal import database as files
from dragoman.journal.stores import Store

Rescued = Mapping[str, Sequence[tuple[Any, ...]]]


def rescue(path: Path, stores: Sequence[Store], vfs: str | None) -> Rescued:
    """The rows of every table that can be read to its end, for stores of the version that we know."""
    try:
        connection = files.open_reader(path, vfs)
    except (apsw.Error, files.DamagedError):
        return {}
    try:
        tables = [table for store in stores if _is_current(connection, store) for table in store.tables]
        return {table: _rows(connection, table) for table in tables}
    finally:
        connection.close(True)


def restore(connection: apsw.Connection, rescued: Rescued) -> None:
    for table, rows in rescued.items():
        if rows:
            places = ",".join("?" * len(rows[0]))
            connection.executemany(f"insert into {table} values ({places})", rows)  # noqa: S608


def _is_current(connection: apsw.Connection, store: Store) -> bool:
    try:
        version = connection.execute("select version from stores where name = ?", (store.name,)).get
    except apsw.Error:
        return False
    return bool(version == len(store.migrations))


def _rows(connection: apsw.Connection, table: str) -> list[tuple[Any, ...]]:
    try:
        if connection.execute(f"pragma quick_check({table})").get != "ok":
            return []
        return connection.execute(f"select * from {table}").fetchall()  # noqa: S608
    except apsw.Error:
        return []
