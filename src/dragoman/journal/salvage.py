"""What a damaged file still gives: the stores' rows, since they are state and not only a record.

A store is taken whole or not at all: half of a store might mean something else than all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from dragoman.journal import database as files
from dragoman.journal.stores import Store

Rescued = Mapping[str, Sequence[tuple[Any, ...]]]


def rescue(path: Path, stores: Sequence[Store], vfs: str | None) -> Rescued:
    """The rows of every store that can be read to its end and is of the version that we know."""
    rescued: dict[str, Sequence[tuple[Any, ...]]] = {}
    try:
        connection = files.open_reader(path, vfs)
    except (apsw.Error, files.DamagedError):
        return rescued
    for store in stores:
        with suppress(apsw.Error):
            rescued |= _sound_rows(connection, store)
    connection.close(True)
    return rescued


def rows_of(connection: apsw.Connection, stores: Sequence[Store]) -> Rescued:
    tables = [table for store in stores for table in store.tables]
    return {table: connection.execute(f"select * from {table}").fetchall() for table in tables}  # noqa: S608


def restore(connection: apsw.Connection, rescued: Rescued) -> None:
    for table, rows in rescued.items():
        if rows:
            places = ",".join("?" * len(rows[0]))
            connection.executemany(f"insert into {table} values ({places})", rows)  # noqa: S608


def _sound_rows(connection: apsw.Connection, store: Store) -> Rescued:
    version = connection.execute("select version from stores where name = ?", (store.name,)).get
    checks = [connection.execute(f"pragma quick_check({table})").get for table in store.tables]
    if version != len(store.migrations) or checks.count("ok") != len(checks):
        return {}
    return rows_of(connection, [store])
