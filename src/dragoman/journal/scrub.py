"""What older versions left on the disk, searched for secrets once more: rows, their search index, the stores.

It runs beside everything else, in small steps on the writer's thread, and goes on after a death where it stood: how far
it came is a mark in the database. When something was changed, the file is written anew, as after `forget`: free pages
and the index hold nothing of it any more. The engine's version says whether it is owed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import apsw

from dragoman.journal import records
from dragoman.journal.ledger import Ledger
from dragoman.journal.stores import Scrub, Store
from dragoman.redaction import ENGINE_VERSION, Redactor

STEP_ROWS = 200
_VERSION, _UPTO, _CHANGED, _AT = "scrub:version", "scrub:upto", "scrub:changed", "scrub:at_ns"
_PAGE = f"select {records.COLUMNS} from events where sequence > ? order by sequence limit ?"  # noqa: S608
_UNINDEX = "insert into search (search, rowid, text) select 'delete', sequence, text from searchable where sequence = ?"
_UPDATE = "update events set text = ?, body = ?, words = ? where sequence = ?"
_INDEX = "insert into search (rowid, text) select sequence, text from searchable where sequence = ?"


Step = Callable[[Ledger, Redactor], bool]
"""Some rows; whether there are more."""


class Scrubbed(NamedTuple):
    """What was done: whether all of it, when it ended, and how many rows had to be changed."""

    is_done: bool
    at_ns: int = 0
    changed: int = 0


def standing(connection: apsw.Connection) -> Scrubbed:
    is_done = _mark(connection, _VERSION) >= ENGINE_VERSION
    return Scrubbed(is_done, _mark(connection, _AT) if is_done else 0, _mark(connection, _CHANGED))


def begin(ledger: Ledger) -> bool:
    """Whether there is something to do; what an older engine did counts for nothing."""
    return not standing(ledger.database.connection).is_done


def events_step(ledger: Ledger, redactor: Redactor) -> bool:
    """Some of the oldest events that were not looked at; whether there are more."""
    connection = ledger.database.connection
    after = _mark(connection, _UPTO)
    rows: list[Any] = connection.execute(_PAGE, (after, STEP_ROWS)).fetchall()
    if not rows:
        return False
    changed = [(row, draft) for row in rows if (draft := _redrafted(row, redactor))]
    with ledger.transaction():
        for row, draft in changed:
            connection.execute(_UNINDEX, (row[0],))
            connection.execute(_UPDATE, (draft.text, draft.body, draft.words, row[0]))
            connection.execute(_INDEX, (row[0],))
        _put(connection, _UPTO, rows[-1][0])
        _put(connection, _CHANGED, _mark(connection, _CHANGED) + len(changed))
    return True


def store_steps(stores: Iterable[Store]) -> Iterator[StoreStep]:
    for store in stores:
        for scrub in store.scrubs():
            yield StoreStep(scrub)


class StoreStep:
    """One table of a store, page by page. A death begins it again: what was changed is found unchanged."""

    def __init__(self, scrub: Scrub) -> None:
        self._scrub = scrub
        self._after: Any = scrub.first

    def __call__(self, ledger: Ledger, redactor: Redactor) -> bool:
        connection = ledger.database.connection
        rows = connection.execute(self._scrub.page, (self._after, STEP_ROWS)).fetchall()
        if not rows:
            return False
        changed = [(key, fresh) for key, value in rows if (fresh := self._scrub.change(value, redactor)) != value]
        with ledger.transaction():
            for key, fresh in changed:
                for statement in self._scrub.writes(key, fresh):
                    connection.execute(*statement)
            _put(connection, _CHANGED, _mark(connection, _CHANGED) + len(changed))
        self._after = rows[-1][0]
        return True


def finish(ledger: Ledger) -> Scrubbed:
    with ledger.transaction() as connection:
        _put(connection, _VERSION, ENGINE_VERSION)
        _put(connection, _AT, ledger.clock.wall_ns())
        _put(connection, _UPTO, 0)
    return standing(ledger.database.connection)


def _redrafted(row: tuple[Any, ...], redactor: Redactor) -> records.Draft | None:
    """None where nothing of it has to change."""
    event = records.recorded(row).event
    fresh = redactor.event(event)
    return None if fresh == event else records.draft(fresh)


def _mark(connection: apsw.Connection, name: str) -> int:
    row = connection.execute("select value from marks where name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def _put(connection: apsw.Connection, name: str, value: int) -> None:
    connection.execute("replace into marks values (?, ?)", (name, value))
