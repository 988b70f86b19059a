"""What is removed with time, in small steps, and what is erased when a person says so.

Retention removes the oldest events and segments; stores stay. Forgetting really erases: SQLite's secure_delete alone
leaves copies in pages that were rebalanced, and FTS5 keeps the words of deleted rows until its segments are merged.
So the index is merged, the whole file written anew without anything deleted, and the old one unlinked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import msgspec

from dragoman.journal import database as files
from dragoman.journal import salvage
from dragoman.journal.ledger import Ledger
from dragoman.journal.stores import Before, Everything, OfSession, Scope, Statement
from dragoman.transport.private_files import sync_folder

STEP_EVENTS = 500
_STEP_PAGES = 256
# Retiring goes below the limit by this much, so that a full journal is merged seldom, not at every call.
_SLACK = 0.9

_UNINDEX = (
    "insert into search (search, rowid, text) "
    "select 'delete', sequence, text from searchable where sequence in (select value from json_each(?))"
)
_DELETE = "delete from events where sequence in (select value from json_each(?))"
_MARK = "update marks set value = max(value, ?) where name = ?"
_MERGE = "insert into search (search, rank) values ('merge', ?)"


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long and how much is kept."""

    age_s: float = 30 * 24 * 3600.0
    events_bytes: int = 512 * 1024 * 1024
    segments_bytes: int = 2 * 1024 * 1024 * 1024
    segments_age_s: float | None = None
    """How long bulk bytes are kept; as long as events where it is not said."""


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    events: int
    segments: int


def crowded_upto(ledger: Ledger, policy: Retention) -> int:
    """Up to which sequence number events must go for the file to fit; 0 where it fits."""
    connection = ledger.database.connection
    used = (connection.pragma("page_count") - connection.pragma("freelist_count")) * connection.pragma("page_size")
    if used <= policy.events_bytes:
        return 0
    first = connection.execute("select min(sequence) from events").get or 0
    share = 1 - policy.events_bytes * _SLACK / used
    return int(first + (ledger.last_sequence - first + 1) * share)


def retire_step(ledger: Ledger, policy: Retention, upto: int) -> int:
    """At most 500 of the oldest events, never past the first one that is young enough."""
    oldest_ns = ledger.clock.wall_ns() - round(policy.age_s * 1e9)
    rows: list[tuple[Any, ...]] = ledger.database.connection.execute(
        "select sequence, at_ns from events order by sequence limit ?", (STEP_EVENTS,)
    ).fetchall()
    chosen: list[int] = []
    for sequence, at_ns in rows:
        if sequence > upto and at_ns >= oldest_ns:
            break
        chosen.append(sequence)
    if chosen:
        with ledger.transaction() as connection:
            _delete(connection, chosen, ledger.last_sequence)
            connection.execute(_MARK, (chosen[-1], "retired"))
    return len(chosen)


def merge_step(ledger: Ledger, *, begin: bool) -> bool:
    """Words of retired events leave the index only by merging; whether there is more to do."""
    connection = ledger.database.connection
    before = connection.total_changes()
    connection.execute(_MERGE, (-_STEP_PAGES if begin else _STEP_PAGES,))
    return connection.total_changes() - before >= 2


def give_back_step(ledger: Ledger) -> bool:
    """Return free pages to the disk; whether there are more."""
    connection = ledger.database.connection
    connection.execute(f"pragma incremental_vacuum({_STEP_PAGES})").fetchall()
    return bool(connection.pragma("freelist_count") > _STEP_PAGES)


def retire_segments(ledger: Ledger, policy: Retention) -> int:
    """Unlinking is quick: all that is too old, and then the oldest until the rest fits."""
    age_s = policy.age_s if policy.segments_age_s is None else policy.segments_age_s
    oldest_ns = ledger.clock.wall_ns() - round(age_s * 1e9)
    total = ledger.segments.total_bytes()
    removed = 0
    for path, status in ledger.segments.closed_files():
        if status.st_mtime_ns >= oldest_ns and total <= policy.segments_bytes:
            break
        ledger.segments.retire(path)
        total -= status.st_size
        removed += 1
    return removed


def forget_stores(ledger: Ledger, scope: Scope) -> None:
    with ledger.transaction() as connection:
        for store in ledger.stores:
            for statement in store.forget(scope):
                connection.execute(*statement)


def forget_step(ledger: Ledger, scope: OfSession | Before, after: int) -> tuple[int, int]:
    """Delete some events of the scope; how many, and after which sequence number to go on."""
    chosen = [row[0] for row in ledger.database.connection.execute(*_chosen(scope, after))]
    if not chosen:
        return 0, after
    with ledger.transaction() as connection:
        _delete(connection, chosen, ledger.last_sequence)
    return len(chosen), chosen[-1]


def rewrite(ledger: Ledger) -> None:
    """A new file with only what still counts, and no trace of anything else."""
    ledger.database.connection.execute("insert into search (search) values ('optimize')")
    _replace_file(ledger, _copy)


def forget_everything(ledger: Ledger) -> int:
    """An empty file that numbers on: this needs no room to speak of, and so works on a disk that is full."""
    count = int(ledger.database.connection.execute("select count(*) from events").get)
    _replace_file(ledger, _begin_empty)
    return count


def _replace_file(ledger: Ledger, make: Callable[[Ledger, Path], None]) -> None:
    old = ledger.database.path
    new = files.path_of(ledger.folder, ledger.database.generation + 1)
    draft = new.with_name(new.name + ".new")
    try:
        files.remove(draft)
        make(ledger, draft)
        ledger.system.rename(draft, new)
        sync_folder(ledger.folder, system=ledger.system)
        ledger.switch(new)
    except BaseException:
        # The highest number is the journal: as long as we write to the old file, there must be no newer one.
        files.remove(draft)
        files.remove(new)
        raise
    files.remove(old)
    for path in files.set_aside_files(ledger.folder):
        path.unlink(missing_ok=True)


def _copy(ledger: Ledger, draft: Path) -> None:
    """SQLite takes an empty file for its copy: made by us, it is private from the first byte."""
    descriptor = files.open_or_create(draft, system=ledger.system)
    try:
        ledger.database.connection.execute("vacuum into ?", (str(draft),))
        ledger.system.fsync(descriptor)
    finally:
        os.close(descriptor)


def _begin_empty(ledger: Ledger, draft: Path) -> None:
    """What the stores kept moves over; leaving WAL mode puts all of it, synced, into the one file to be renamed."""
    kept = salvage.rows_of(ledger.database.connection, ledger.stores)
    fresh = files.open_writer(draft, ledger.stores, ledger.clock, vfs=ledger.vfs, system=ledger.system)
    try:
        with fresh.connection:
            salvage.restore(fresh.connection, kept)
            fresh.connection.execute("update marks set value = iif(name = 'last', ?, 0)", (ledger.last_sequence,))
        fresh.connection.execute("pragma journal_mode=delete").fetchall()
    finally:
        fresh.connection.close(True)


def counting(scope: Scope) -> Statement:
    """How many events are in it."""
    if isinstance(scope, Everything):
        return Statement("select count(*) from events")
    condition, value = _condition(scope)
    return Statement(f"select count(*) from events where {condition}", (value,))  # noqa: S608


def _condition(scope: OfSession | Before) -> tuple[str, str | int]:
    return ("session = ?", scope.session) if isinstance(scope, OfSession) else ("at_ns < ?", scope.at_ns)


def _chosen(scope: OfSession | Before, after: int) -> tuple[str, tuple[str | int, ...]]:
    condition, value = _condition(scope)
    sql = f"select sequence from events where sequence > ? and {condition} order by sequence limit ?"  # noqa: S608
    return sql, (after, value, STEP_EVENTS)


def _delete(connection: apsw.Connection, sequences: Sequence[int], last_sequence: int) -> None:
    chosen = (msgspec.json.encode(sequences).decode(),)
    connection.execute(_UNINDEX, chosen)
    connection.execute(_DELETE, chosen)
    connection.execute(_MARK, (last_sequence, "last"))
