"""The SQLite store of terminals and commands. Its rows outlive the output that they point to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec

from dragoman.journal import (
    BeforeScope,
    BulkScrub,
    ColumnScrub,
    EverythingScope,
    RecordPlace,
    Scope,
    SessionScope,
    Span,
    Statement,
    Store,
    json_column,
    search_query,
)
from dragoman.journal.event_rows import split_words
from dragoman.journal.stores import Scalar
from dragoman.protocols.osc import SUSPENDED
from dragoman.terminal.model import CommandFilter, RecordedCommand, RecordedTerminal
from dragoman.terminal.record import stream as record_stream

_COLUMNS = (
    "id, terminal, line, cwd, started_ns, ended_ns, exit_code, verified, "
    "stream, segment, offset, length, output_bytes, lost_bytes, summary, line_told, claimed_ns"
)
# `started_ns` is the primary key, so that reading newest first follows the table's order. Commands of the same
# millisecond differ in the digits below it, which no client sends.
_SCHEMA = """
create table terminals (id text primary key, parent text not null, attributes text not null,
    started_ns integer not null, ended_ns integer, exit_code integer, changed_ns integer not null) without rowid;
create table commands (started_ns integer primary key, id text not null unique, terminal text not null,
    line text not null, words text not null, cwd text not null, ended_ns integer, exit_code integer,
    verified integer not null, stream text, segment integer, offset integer, length integer,
    output_bytes integer not null, lost_bytes integer not null,
    until_segment integer, until_offset integer);
create index commands_by_terminal on commands (terminal, started_ns);
create index commands_by_cwd on commands (cwd, started_ns);
create index commands_by_place on commands (terminal, segment, offset);
create index commands_failed on commands (started_ns) where exit_code <> 0;
create virtual table command_words using fts5 (words, content='commands', content_rowid='started_ns', prefix='2 3');
insert into command_words (command_words, rank) values ('secure-delete', 1);
create trigger commands_added after insert on commands begin
    insert into command_words (rowid, words) values (new.started_ns, new.words); end;
create trigger commands_removed after delete on commands begin
    insert into command_words (command_words, rowid, words) values ('delete', old.started_ns, old.words); end;
"""
_REPORTED_FIELDS = """
alter table commands add column summary text not null default '';
alter table commands add column line_told integer not null default 1;
alter table commands add column claimed_ns integer;
update commands set line_told = 0 where line = '';
"""
_ARRIVED = "alter table commands add column arrived_ns integer"
# The second index has trigrams: it finds `python` in `python3`, and `test` in `pytest`.
_PARTS = """
create virtual table command_parts using fts5 (line, content='commands', content_rowid='started_ns',
    tokenize='trigram');
insert into command_parts (command_parts, rank) values ('secure-delete', 1);
insert into command_parts (command_parts) values ('rebuild');
create trigger command_parts_added after insert on commands begin
    insert into command_parts (rowid, line) values (new.started_ns, new.line); end;
create trigger command_parts_removed after delete on commands begin
    insert into command_parts (command_parts, rowid, line) values ('delete', old.started_ns, old.line); end;
"""
_SHORTEST_PART = 3
_ADD = """insert into commands values (
    iif(exists (select 1 from commands where started_ns = ?1),
        (select max(started_ns) + 1 from commands where started_ns < ?1 + 1000000), ?1),
    ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)
    on conflict (id) do nothing"""
# Age is measured by our own clock, as for events and bytes: a client may send any time.
_FORGET = {
    "terminals": {"session": "id = ?", "before": "changed_ns < ?"},
    "commands": {"session": "terminal = ?", "before": "coalesce(arrived_ns, started_ns) < ?"},
}
_BEGINS = "exists (select 1 from command_words b where b.command_words match ? and b.rowid = c.started_ns)"
_SUSPENDED = ", ".join(map(str, sorted(SUSPENDED)))
_BELOW = re.compile(r"/+$")


class CommandStore(Store):
    name = "terminal"
    tables = ("terminals", "commands")
    migrations = (_SCHEMA, _REPORTED_FIELDS, _ARRIVED, _PARTS)

    def __init__(self) -> None:
        self.on_forget: list[Callable[[Scope], None]] = []
        """Called in the journal's thread, so that derived data is erased too."""
        self.on_mask: list[Callable[[], None]] = []
        """Called in a thread when recorded bytes were masked, so that derived data is rebuilt."""

    def forget(self, scope: Scope) -> Iterable[Statement]:
        for callback in self.on_forget:
            callback(scope)
        for table in self.tables:
            yield Statement(f"delete from {table}{_scoped(table, scope)}", _bound(scope))  # noqa: S608
        for index in ("command_words", "command_parts"):
            yield Statement(f"insert into {index} ({index}) values ('optimize')")  # noqa: S608

    def scrubs(self) -> Iterable[ColumnScrub]:
        yield json_column("terminals", "id", "attributes")
        yield ColumnScrub(
            "select started_ns, line from commands where started_ns > ? order by started_ns limit ?",
            -1,
            lambda line, redactor: redactor.line(line),
            _rewrite_line,
        )
        for column in ("cwd", "summary"):
            yield ColumnScrub(
                f"select started_ns, {column} from commands where started_ns > ? order by started_ns limit ?",  # noqa: S608
                -1,
                lambda text, redactor: redactor.line(text),
                partial(_rewrite_column, column),
            )

    def bulk(self) -> BulkScrub:
        return BulkScrub(record_stream.mask_records, self._masked)

    def _masked(self) -> None:
        for callback in self.on_mask:
            callback()

    def put_terminal(self, terminal: RecordedTerminal, *, at_ns: int) -> Statement:
        attributes = msgspec.json.encode(terminal.attributes).decode()
        row = (terminal.id, terminal.parent, attributes, terminal.started_ns, terminal.ended_ns, terminal.exit_code)
        return Statement("replace into terminals values (?, ?, ?, ?, ?, ?, ?)", (*row, at_ns))

    def add(self, command: RecordedCommand, until: RecordPlace | None, *, arrived_ns: int) -> Statement:
        """`until` is where the stream continues after the command."""
        span = command.output
        place = (span.stream, span.segment, span.offset, span.length) if span else (None,) * 4
        began: tuple[Scalar, ...] = (command.started_ns, command.id, command.terminal, command.line)
        ended = (split_words(command.line), command.cwd, command.ended_ns, command.exit_code, command.verified)
        counts = (command.output_bytes, command.lost_bytes, *(until or (None, None)))
        reported = (command.summary, command.line_told, command.claimed_ns)
        return Statement(_ADD, (*began, *ended, *place, *counts, *reported, arrived_ns))

    def terminals(self) -> Statement:
        return Statement(
            """select id, parent, attributes, started_ns, ended_ns, exit_code,
            (select count(*) from commands where terminal = terminals.id) from terminals order by started_ns"""
        )

    def one(self, command_id: str) -> Statement:
        return Statement(f"select {_COLUMNS} from commands where id = ?", (command_id,))  # noqa: S608

    def chosen(self, wanted: CommandFilter, *, limit: int, before_ns: int | None) -> Statement:
        """Newest first. Hits are read in row order, so that a common word needs no sorting."""
        conditions, values = _conditions(wanted, before_ns)
        table, order = "commands c", "c.started_ns"
        if wanted.text:
            parts, beginnings = search_query.substring_terms(wanted.text, _SHORTEST_PART)
            index, match = ("command_parts", parts) if parts else ("command_words", beginnings)
            table, order = f"{index} w cross join commands c on c.started_ns = w.rowid", "w.rowid"
            conditions, values = [f"w.{index} match ?", *conditions], [match, *values]
            if parts and beginnings:
                conditions.append(_BEGINS)
                values.append(beginnings)
        columns = ", ".join(f"c.{name.strip()}" for name in _COLUMNS.split(","))
        where = f" where {' and '.join(conditions)}" if conditions else ""
        return Statement(f"select {columns} from {table}{where} order by {order} desc limit ?", (*values, limit))  # noqa: S608

    def after(self, started_ns: int, *, limit: int) -> Statement:
        """Oldest first, over all terminals."""
        sql = f"select {_COLUMNS} from commands where started_ns > ? order by started_ns limit ?"  # noqa: S608
        return Statement(sql, (started_ns, limit))

    def named(self, ids: Iterable[str]) -> Statement:
        among = msgspec.json.encode(list(ids)).decode()
        return Statement(f"select {_COLUMNS} from commands where id in (select value from json_each(?))", (among,))  # noqa: S608

    def following(self, command: RecordedCommand) -> Statement:
        """The next command in the same terminal."""
        sql = f"select {_COLUMNS} from commands where terminal = ? and started_ns > ? order by started_ns limit 1"  # noqa: S608
        return Statement(sql, (command.terminal, command.started_ns))

    def printing(self, terminal: str, places: Iterable[RecordPlace]) -> Statement:
        """Which command printed the output at each of these places of a terminal's stream; None for a prompt."""
        sql = """select p.value ->> 0, p.value ->> 1, (select iif((until_segment, until_offset) >
                (p.value ->> 0, p.value ->> 1), id, '') from commands
            where terminal = ? and (segment, offset) <= (p.value ->> 0, p.value ->> 1)
            order by segment desc, offset desc limit 1) from json_each(?) p"""
        return Statement(sql, (terminal, msgspec.json.encode(list(places)).decode()))

    def drop_terminals(self, ids: Iterable[str]) -> list[Statement]:
        return [Statement("delete from terminals where id = ?", (name,)) for name in ids]


def _rewrite_line(row: int, line: str) -> list[Statement]:
    """FTS5 needs the old text to delete an index entry: remove the old words, then add the new ones."""
    indexes = {"command_words": "words", "command_parts": "line"}
    again = "started_ns, {column} from commands where started_ns = ?"
    return [
        *(
            Statement(
                f"insert into {index} ({index}, rowid, {column}) select 'delete', {again.format(column=column)}", (row,)
            )
            for index, column in indexes.items()
        ),
        Statement("update commands set line = ?, words = ? where started_ns = ?", (line, split_words(line), row)),
        *(
            Statement(f"insert into {index} (rowid, {column}) select {again.format(column=column)}", (row,))
            for index, column in indexes.items()
        ),
    ]


def _rewrite_column(column: str, row: int, text: str) -> list[Statement]:
    return [Statement(f"update commands set {column} = ? where started_ns = ?", (text, row))]  # noqa: S608


def command_from_row(row: tuple[Any, ...]) -> RecordedCommand:
    *first, verified, stream, segment, offset, length, output_bytes, lost_bytes, summary, line_told, claimed_ns = row
    id_, terminal, line, cwd, started_ns, ended_ns, exit_code = first
    return RecordedCommand(
        id=id_,
        terminal=terminal,
        line=line,
        cwd=cwd,
        started_ns=started_ns,
        ended_ns=ended_ns,
        exit_code=exit_code,
        verified=bool(verified),
        output=Span(stream, segment, offset, length) if stream else None,
        output_bytes=output_bytes,
        lost_bytes=lost_bytes,
        summary=summary,
        line_told=bool(line_told),
        claimed_ns=claimed_ns,
    )


def terminal_from_row(row: tuple[Any, ...]) -> RecordedTerminal:
    id_, parent, attributes, started_ns, ended_ns, exit_code = row
    return RecordedTerminal(
        id=id_,
        parent=parent,
        attributes=msgspec.json.decode(attributes, type=dict[str, str]),
        started_ns=started_ns,
        ended_ns=ended_ns,
        exit_code=exit_code,
    )


def _conditions(wanted: CommandFilter, before_ns: int | None) -> tuple[list[str], list[Scalar]]:
    """Failures are few and in order. Using the folder index beside them would only add a sort."""
    cwd = "+c.cwd" if wanted.failed else "c.cwd"
    conditions: list[tuple[bool, str, tuple[Scalar, ...]]] = [
        (bool(wanted.terminal), "c.terminal = ?", (wanted.terminal,)),
        (
            bool(wanted.besides),
            "c.terminal not in (select value from json_each(?))",
            (msgspec.json.encode(wanted.besides).decode(),),
        ),
        (bool(wanted.cwd), f"({cwd} = ? or ({cwd} >= ? and {cwd} < ?))", _folder(wanted.cwd)),
        (wanted.failed, f"c.exit_code <> 0 and c.exit_code not in ({_SUSPENDED})", ()),
        (wanted.since_ns is not None, "c.started_ns >= ?", (_clamped(wanted.since_ns),)),
        (wanted.verified, "c.verified", ()),
        (before_ns is not None, "c.started_ns < ?", (_clamped(before_ns),)),
    ]
    chosen = [(sql, values) for is_set, sql, values in conditions if is_set]
    return [sql for sql, _ in chosen], [value for _, values in chosen for value in values]


def _folder(cwd: str) -> tuple[str, str, str]:
    """The folder itself and everything below it: `0` is the character after `/`."""
    folder = _BELOW.sub("", cwd)
    return folder or "/", f"{folder}/", f"{folder}0"


def _clamped(number: int | None) -> int:
    return min(max(number or 0, 0), (1 << 63) - 1)


def _scoped(table: str, scope: Scope) -> str:
    match scope:
        case EverythingScope():
            return ""
        case SessionScope():
            return f" where {_FORGET[table]['session']}"
        case BeforeScope():
            return f" where {_FORGET[table]['before']}"


def _bound(scope: Scope) -> tuple[Scalar, ...]:
    return tuple(scope)
