"""Retention removes old data in small steps; forgetting erases data when a person asks for it.

Retention removes the oldest events and segments; stores stay. Forgetting really erases: SQLite's secure_delete alone
leaves copies in pages that were rebalanced, and FTS5 keeps the words of deleted rows until its segments are merged. So
the index is merged, the whole file is rewritten without anything deleted, and the old one is unlinked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import msgspec

from dragoman.io.files.private_files import sync_folder
from dragoman.journal import database as files
from dragoman.journal import database as journal_database
from dragoman.journal.journal_file import JournalFile
from dragoman.journal.stores import BeforeScope, EverythingScope, Scope, SessionScope, Statement

STEP_EVENTS = 500
_STEP_PAGES = 256
# Retention goes below the limit by this much, so that a full journal is merged rarely, not at every call.
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
    """How long bulk bytes are kept; by default as long as events."""


class RemovedCounts(msgspec.Struct, frozen=True, kw_only=True):
    events: int
    segments: int


def sequence_over_limit(journal_file: JournalFile, policy: Retention) -> int:
    """Up to which sequence number events must be removed for the file to fit; 0 if it fits."""
    connection = journal_file.database.connection
    used = (connection.pragma("page_count") - connection.pragma("freelist_count")) * connection.pragma("page_size")
    if used <= policy.events_bytes:
        return 0
    first = connection.execute("select min(sequence) from events").get or 0
    share = 1 - policy.events_bytes * _SLACK / used
    return int(first + (journal_file.last_sequence - first + 1) * share)


def retire_step(journal_file: JournalFile, policy: Retention, upto: int) -> int:
    """Remove at most 500 of the oldest events, never past the first one that is young enough."""
    oldest_ns = journal_file.clock.wall_ns() - round(policy.age_s * 1e9)
    rows: list[tuple[Any, ...]] = journal_file.database.connection.execute(
        "select sequence, at_ns from events order by sequence limit ?", (STEP_EVENTS,)
    ).fetchall()
    chosen: list[int] = []
    for sequence, at_ns in rows:
        if sequence > upto and at_ns >= oldest_ns:
            break
        chosen.append(sequence)
    if chosen:
        with journal_file.transaction() as connection:
            _delete(connection, chosen, journal_file.last_sequence)
            connection.execute(_MARK, (chosen[-1], "retired"))
    return len(chosen)


def merge_step(journal_file: JournalFile, *, begin: bool) -> bool:
    """Words of removed events leave the index only by merging; return whether there is more to do."""
    connection = journal_file.database.connection
    before = connection.total_changes()
    connection.execute(_MERGE, (-_STEP_PAGES if begin else _STEP_PAGES,))
    return connection.total_changes() - before >= 2


def give_back_step(journal_file: JournalFile) -> bool:
    """Return free pages to the disk; return whether there are more."""
    connection = journal_file.database.connection
    connection.execute(f"pragma incremental_vacuum({_STEP_PAGES})").fetchall()
    return bool(connection.pragma("freelist_count") > _STEP_PAGES)


def retire_segments(journal_file: JournalFile, policy: Retention) -> int:
    """Unlinking is quick: remove all that is too old, then the oldest until the rest fits."""
    age_s = policy.age_s if policy.segments_age_s is None else policy.segments_age_s
    oldest_ns = journal_file.clock.wall_ns() - round(age_s * 1e9)
    total = journal_file.segments.total_bytes()
    removed = 0
    for path, status in journal_file.segments.closed_files():
        if status.st_mtime_ns >= oldest_ns and total <= policy.segments_bytes:
            break
        journal_file.segments.retire(path)
        total -= status.st_size
        removed += 1
    return removed


def forget_stores(journal_file: JournalFile, scope: Scope) -> None:
    with journal_file.transaction() as connection:
        for store in journal_file.stores:
            for statement in store.forget(scope):
                connection.execute(*statement)


def forget_step(journal_file: JournalFile, scope: SessionScope | BeforeScope, after: int) -> tuple[int, int]:
    """Delete some events of the scope; return how many, and the sequence number after which to continue."""
    chosen = [row[0] for row in journal_file.database.connection.execute(*_chosen(scope, after))]
    if not chosen:
        return 0, after
    with journal_file.transaction() as connection:
        _delete(connection, chosen, journal_file.last_sequence)
    return len(chosen), chosen[-1]


def rewrite(journal_file: JournalFile) -> None:
    """Write a new file with only what still counts, and no trace of anything else."""
    journal_file.database.connection.execute("insert into search (search) values ('optimize')")
    _replace_file(journal_file, _copy)


def forget_everything(journal_file: JournalFile) -> int:
    """Create an empty file that continues the numbering: this needs almost no space, and so works on a full disk."""
    count = int(journal_file.database.connection.execute("select count(*) from events").get)
    _replace_file(journal_file, _begin_empty)
    return count


def _replace_file(journal_file: JournalFile, make: Callable[[JournalFile, Path], None]) -> None:
    old = journal_file.database.path
    new = files.path_of(journal_file.folder, journal_file.database.generation + 1)
    draft = new.with_name(new.name + ".new")
    try:
        files.remove(draft)
        make(journal_file, draft)
        journal_file.system.rename(draft, new)
        sync_folder(journal_file.folder, system=journal_file.system)
        journal_file.switch(new)
    except BaseException:
        # The highest number is the journal: as long as we write to the old file, no newer one may exist.
        files.remove(draft)
        files.remove(new)
        raise
    files.remove(old)
    for path in files.set_aside_files(journal_file.folder):
        path.unlink(missing_ok=True)


def _copy(journal_file: JournalFile, draft: Path) -> None:
    """SQLite accepts an empty file for its copy: created by us, it is private from the first byte."""
    descriptor = files.open_or_create(draft, system=journal_file.system)
    try:
        journal_file.database.connection.execute("vacuum into ?", (str(draft),))
        journal_file.system.fsync(descriptor)
    finally:
        os.close(descriptor)


def _begin_empty(journal_file: JournalFile, draft: Path) -> None:
    """The stores' rows move over. Leaving WAL mode puts all of it, synced, into the one file to be renamed."""
    kept = journal_database.store_rows(journal_file.database.connection, journal_file.stores)
    fresh = files.open_writer(
        draft, journal_file.stores, journal_file.clock, vfs=journal_file.vfs, system=journal_file.system
    )
    try:
        with fresh.connection:
            journal_database.restore_rows(fresh.connection, kept)
            fresh.connection.execute("update marks set value = iif(name = 'last', ?, 0)", (journal_file.last_sequence,))
        fresh.connection.execute("pragma journal_mode=delete").fetchall()
    finally:
        fresh.connection.close(True)


def counting(scope: Scope) -> Statement:
    """A query for the number of events in a scope."""
    if isinstance(scope, EverythingScope):
        return Statement("select count(*) from events")
    condition, value = _condition(scope)
    return Statement(f"select count(*) from events where {condition}", (value,))  # noqa: S608


def _condition(scope: SessionScope | BeforeScope) -> tuple[str, str | int]:
    return ("session = ?", scope.session) if isinstance(scope, SessionScope) else ("at_ns < ?", scope.at_ns)


def _chosen(scope: SessionScope | BeforeScope, after: int) -> tuple[str, tuple[str | int, ...]]:
    condition, value = _condition(scope)
    sql = f"select sequence from events where sequence > ? and {condition} order by sequence limit ?"  # noqa: S608
    return sql, (after, value, STEP_EVENTS)


def _delete(connection: apsw.Connection, sequences: Sequence[int], last_sequence: int) -> None:
    chosen = (msgspec.json.encode(sequences).decode(),)
    connection.execute(_UNINDEX, chosen)
    connection.execute(_DELETE, chosen)
    connection.execute(_MARK, (last_sequence, "last"))
