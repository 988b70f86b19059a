"""The table of stops. The newest are kept, so many in all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from dragoman.debug.history.kept import KeptStop, KeptVariable, packed, unpacked
from dragoman.journal import Before, Everything, OfSession, Scope, Scrub, Statement, Store
from dragoman.redaction import Redactor

MOST = 20_000
_COLUMNS = "session, number, at_ns, title, workspace, reason, seen"


class StopStore(Store):
    name = "stops"
    tables = ("store_stops",)
    migrations = (
        """create table store_stops (id integer primary key, session text not null, number integer not null,
        at_ns integer not null, title text not null, workspace text not null, reason text not null, seen blob not null);
        create unique index store_stops_session on store_stops (session, number);
        create index store_stops_workspace on store_stops (workspace, id)""",
    )

    def keep(self, stop: KeptStop) -> list[Statement]:
        values = (stop.session, stop.number, stop.at_ns, stop.title, stop.workspace, stop.reason, packed(stop.seen))
        return [
            Statement(f"replace into store_stops ({_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)", values),  # noqa: S608
            Statement("delete from store_stops where id <= (select max(id) from store_stops) - ?", (MOST,)),
        ]

    def one(self, session: str, number: int) -> Statement:
        wanted = "where session = ? and number = ?"
        return Statement(f"select id, {_COLUMNS} from store_stops {wanted}", (session, number))  # noqa: S608

    def of_session(self, session: str) -> Statement:
        wanted = "where session = ? order by number"
        return Statement(f"select id, {_COLUMNS} from store_stops {wanted}", (session,))  # noqa: S608

    def newest(self, workspace: str | None, session: str, before: int, limit: int) -> Statement:
        """Of a workspace and what lies below it, or of all; of one session, and before that row, where one is named."""
        folder = (workspace or "").rstrip("/") + "/"
        conditions: list[tuple[str, tuple[str | int, ...]]] = [
            *([("substr(workspace || '/', 1, ?) = ?", (len(folder), folder))] if workspace is not None else []),
            *([("session = ?", (session,))] if session else []),
            *([("id < ?", (before,))] if before else []),
        ]
        wanted = " and ".join(condition for condition, _ in conditions) or "true"
        values = (*(value for _, given in conditions for value in given), limit)
        found = f"select id, {_COLUMNS} from store_stops where {wanted} order by id desc limit ?"  # noqa: S608
        return Statement(found, values)

    def scrubs(self) -> Iterable[Scrub]:
        for column in ("title", "seen"):
            yield Scrub(
                f"select id, {column} from store_stops where id > ? order by id limit ?",  # noqa: S608
                0,
                _seen_again if column == "seen" else lambda title, redactor: redactor.text(title),
                partial(_put, column),
            )

    def forget(self, scope: Scope) -> Iterable[Statement]:
        match scope:
            case Everything():
                return (Statement("delete from store_stops"),)
            case OfSession(session):
                return (Statement("delete from store_stops where session = ?", (session,)),)
            case Before(at_ns):
                return (Statement("delete from store_stops where at_ns < ?", (at_ns,)),)


STORE = StopStore()


def _put(column: str, id: int, value: str | bytes) -> list[Statement]:
    return [Statement(f"update store_stops set {column} = ? where id = ?", (value, id))]  # noqa: S608


def _seen_again(data: bytes, redactor: Redactor) -> bytes:
    seen = unpacked(data)
    variables = tuple(
        it if (it.value == (value := redactor.value(it.name, it.value))) else KeptVariable(it.name, value, it.type)
        for it in seen.variables
    )
    raised = (seen.raised[0], redactor.text(seen.raised[1]))
    fresh = msgspec.structs.replace(seen, variables=variables, raised=raised)
    return data if fresh == seen else packed(fresh)


def rows_read(rows: Sequence[tuple[Any, ...]]) -> list[tuple[int, KeptStop]]:
    return [(row[0], _stop(row[1:])) for row in rows]


def _stop(row: Sequence[Any]) -> KeptStop:
    session, number, at_ns, title, workspace, reason, seen = row
    return KeptStop(
        session=session,
        number=number,
        at_ns=at_ns,
        title=title,
        workspace=workspace,
        reason=reason,
        seen=unpacked(seen),
    )
