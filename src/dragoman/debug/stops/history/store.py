"""The store of past stops: their records, redacted and bounded, and the table that keeps the newest."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from dragoman.core.redaction import Redactor
from dragoman.debug.model import Stop
from dragoman.journal import BeforeScope, ColumnScrub, EverythingScope, Scope, SessionScope, Statement, Store

VALUE_CHARACTERS = 400
MAX_VARIABLES = 100
_MAX_FRAMES = 20
_MESSAGE_CHARACTERS = 1000
# Stops are compressed while the program waits; this level is fast and makes them three times smaller.
_COMPRESSION_LEVEL = 1
MAX_STOPS = 20_000
_COLUMNS = "session, number, at_ns, title, workspace, reason, seen"

RedactValue = Callable[[str, str], str]
"""Searched by name and value."""


class FrameRecord(msgspec.Struct, frozen=True, array_like=True):
    name: str
    path: str = ""
    line: int = 0
    is_library: bool = False


class VariableRecord(msgspec.Struct, frozen=True, array_like=True):
    name: str
    value: str
    type: str = ""


class StopContents(msgspec.Struct, frozen=True, array_like=True):
    """What was visible at a stop. `at` is the frame of the variables."""

    frames: tuple[FrameRecord, ...] = ()
    variables: tuple[VariableRecord, ...] = ()
    changed: tuple[str, ...] = ()
    at: int = 0
    raised: tuple[str, str] = ("", "")


class StopRecord(msgspec.Struct, frozen=True, kw_only=True):
    session: str
    number: int
    at_ns: int
    title: str
    workspace: str
    reason: str
    seen: StopContents

    @property
    def id(self) -> str:
        return f"{self.session}:{self.number}"

    @property
    def frame(self) -> FrameRecord | None:
        return self.seen.frames[self.seen.at] if self.seen.at < len(self.seen.frames) else None


_DECODER = msgspec.msgpack.Decoder(StopContents)


def encode_contents(seen: StopContents) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(seen), _COMPRESSION_LEVEL)


def decode_contents(data: bytes) -> StopContents:
    return _DECODER.decode(zlib.decompress(data))


def stop_contents(stop: Stop, redacted: RedactValue) -> StopContents:
    variables = stop.top_locals.variables[:MAX_VARIABLES] if stop.top_locals else ()
    raised = stop.raised
    return StopContents(
        tuple(FrameRecord(it.name, it.path, it.line, it.is_library) for it in stop.frames[:_MAX_FRAMES]),
        tuple(VariableRecord(it.name, _redacted_value(it.name, it.value, redacted), it.type or "") for it in variables),
        tuple(it.name for it in stop.changed),
        stop.at,
        (raised.type, _redacted_value("", raised.message, redacted)[:_MESSAGE_CHARACTERS]) if raised else ("", ""),
    )


def _redacted_value(name: str, text: str, redacted: RedactValue) -> str:
    """Redact first, truncate afterwards: the redactor does not recognise half a secret."""
    shown = redacted(name, text[: 2 * VALUE_CHARACTERS])
    return shown if len(shown) <= VALUE_CHARACTERS else f"{shown[:VALUE_CHARACTERS]}… ({len(text)} chars)"


class StopStore(Store):
    name = "stops"
    tables = ("store_stops",)
    migrations = (
        """create table store_stops (id integer primary key, session text not null, number integer not null,
        at_ns integer not null, title text not null, workspace text not null, reason text not null, seen blob not null);
        create unique index store_stops_session on store_stops (session, number);
        create index store_stops_workspace on store_stops (workspace, id)""",
    )

    def add(self, stop: StopRecord) -> list[Statement]:
        values = (
            stop.session,
            stop.number,
            stop.at_ns,
            stop.title,
            stop.workspace,
            stop.reason,
            encode_contents(stop.seen),
        )
        return [
            Statement(f"replace into store_stops ({_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)", values),  # noqa: S608
            Statement("delete from store_stops where id <= (select max(id) from store_stops) - ?", (MAX_STOPS,)),
        ]

    def one(self, session: str, number: int) -> Statement:
        wanted = "where session = ? and number = ?"
        return Statement(f"select id, {_COLUMNS} from store_stops {wanted}", (session, number))  # noqa: S608

    def of_session(self, session: str, after: int = 0, limit: int = -1) -> Statement:
        wanted = "where session = ? and number > ? order by number limit ?"
        return Statement(f"select id, {_COLUMNS} from store_stops {wanted}", (session, after, limit))  # noqa: S608

    def newest(self, workspace: str | None, session: str, before: int, limit: int) -> Statement:
        """Selects rows of a workspace and the folders below it, or of all; optionally of one session, and before a
        row."""
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

    def scrubs(self) -> Iterable[ColumnScrub]:
        for column in ("title", "seen"):
            yield ColumnScrub(
                f"select id, {column} from store_stops where id > ? order by id limit ?",  # noqa: S608
                0,
                _scrub_contents if column == "seen" else lambda title, redactor: redactor.text(title),
                partial(_update_column, column),
            )

    def forget(self, scope: Scope) -> Iterable[Statement]:
        match scope:
            case EverythingScope():
                return (Statement("delete from store_stops"),)
            case SessionScope(session):
                return (Statement("delete from store_stops where session = ?", (session,)),)
            case BeforeScope(at_ns):
                return (Statement("delete from store_stops where at_ns < ?", (at_ns,)),)


STORE = StopStore()


def _update_column(column: str, id: int, value: str | bytes) -> list[Statement]:
    return [Statement(f"update store_stops set {column} = ? where id = ?", (value, id))]  # noqa: S608


def _scrub_contents(data: bytes, redactor: Redactor) -> bytes:
    seen = decode_contents(data)
    variables = tuple(
        it if (it.value == (value := redactor.value(it.name, it.value))) else VariableRecord(it.name, value, it.type)
        for it in seen.variables
    )
    raised = (seen.raised[0], redactor.text(seen.raised[1]))
    fresh = msgspec.structs.replace(seen, variables=variables, raised=raised)
    return data if fresh == seen else encode_contents(fresh)


def read_rows(rows: Sequence[tuple[Any, ...]]) -> list[tuple[int, StopRecord]]:
    return [(row[0], _stop_record(row[1:])) for row in rows]


def _stop_record(row: Sequence[Any]) -> StopRecord:
    session, number, at_ns, title, workspace, reason, seen = row
    return StopRecord(
        session=session,
        number=number,
        at_ns=at_ns,
        title=title,
        workspace=workspace,
        reason=reason,
        seen=decode_contents(seen),
    )


RecordStop = Callable[[str, str, str, Stop], Sequence[Statement]]
"""Searched by session id, title and workspace."""


def stop_recorder(redacted: RedactValue) -> RecordStop:
    def add(session: str, title: str, workspace: str, stop: Stop) -> Sequence[Statement]:
        return STORE.add(
            StopRecord(
                session=session,
                number=stop.number,
                at_ns=stop.at_ns,
                title=redacted("", title),
                workspace=workspace,
                reason=stop.reason,
                seen=stop_contents(stop, redacted),
            )
        )

    return add


def record_nothing(session: str, title: str, workspace: str, stop: Stop) -> Sequence[Statement]:  # noqa: ARG001
    return ()
