"""Stores: state beside the record, migrated at opening, untouched by retention, erased on demand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from dragoman.core.errors import DragomanError
from dragoman.journal import (
    BeforeScope,
    EverythingScope,
    Journal,
    JsonStore,
    Retention,
    Scope,
    SessionScope,
    Statement,
    Store,
)
from tests.journal.support import files_with, line_event, lines
from tests.support.clocks import VirtualClock

pytestmark = pytest.mark.anyio


class Point(msgspec.Struct, frozen=True):
    file: str
    line: int


class Commands(Store):
    """A store with a table of its own, in its first and second version."""

    name = "commands"
    tables = ("commands",)
    migrations: tuple[str, ...] = (
        "create table commands (id integer primary key, session text, line text)",
        "alter table commands add column exit_code integer default -1",
    )

    def run(self, session: str, line: str) -> Statement:
        return Statement("insert into commands (session, line) values (?, ?)", (session, line))

    def forget(self, scope: Scope) -> Iterable[Statement]:
        match scope:
            case SessionScope(session):
                return [Statement("delete from commands where session = ?", (session,))]
            case EverythingScope() | BeforeScope():
                return [Statement("delete from commands")]


class FirstCommands(Commands):
    migrations = Commands.migrations[:1]


async def test_typed_values_come_back_as_what_they_were(tmp_path: Path) -> None:
    points = JsonStore("points", Point)
    async with Journal.open(tmp_path / "j", stores=[points]) as journal:
        put = [points.put("b1", Point("a.py", 3), at_ns=1), points.put("b2", Point("b.py", 4), at_ns=1)]
        await journal.append([line_event("two set")], writes=put)
        await journal.append([line_event("one moved, one removed")], writes=[points.remove("b1"), put[1]])
    async with Journal.open(tmp_path / "j", stores=[points]) as journal:
        rows = await journal.query(points.everything())
        assert points.decoded(rows.rows) == {"b2": Point("b.py", 4)}
        assert rows.sequence == 2


async def test_a_store_of_an_earlier_version_is_brought_up_with_its_rows(tmp_path: Path) -> None:
    first, second = FirstCommands(), Commands()
    async with Journal.open(tmp_path / "j", stores=[first]) as journal:
        await journal.append([], writes=[first.run("s", "make")])
    async with Journal.open(tmp_path / "j", stores=[second]) as journal:
        rows = await journal.query(Statement("select line, exit_code from commands"))
        assert rows.rows == [("make", -1)]
    with pytest.raises(DragomanError) as caught:
        async with Journal.open(tmp_path / "j", stores=[first]):
            pytest.fail("an older program must not write what it does not understand")
    assert caught.value.code == "journal_too_new"


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    class Broken(Commands):
        migrations = (*Commands.migrations, "create table half (x)", "create nonsense")

    async with Journal.open(tmp_path / "j", stores=[Commands()]) as journal:
        await journal.append([], writes=[Commands().run("s", "make")])
    with pytest.raises(DragomanError):
        async with Journal.open(tmp_path / "j", stores=[Broken()]):
            pytest.fail("opened")
    async with Journal.open(tmp_path / "j", stores=[Commands()]) as journal:
        assert (await journal.query(Statement("select count(*) from commands"))).rows == [(1,)]
        assert (await journal.query(Statement("select name from sqlite_schema where name = 'half'"))).rows == []


async def test_stores_outlive_the_events_that_changed_them(tmp_path: Path) -> None:
    clock, points = VirtualClock(), JsonStore("points", Point)
    async with Journal.open(tmp_path / "j", stores=[points], clock=clock) as journal:
        await journal.append(lines(5), writes=[points.put("b1", Point("a.py", 3), at_ns=clock.wall_ns())])
        clock.advance(3_600)
        assert (await journal.retain(Retention(age_s=60))).events == 5
        assert points.decoded((await journal.query(points.everything())).rows) == {"b1": Point("a.py", 3)}


@pytest.mark.parametrize(
    ("scope", "left"),
    [(SessionScope("s1"), {"old-2", "new-2"}), (BeforeScope(150), {"new-1", "new-2"}), (EverythingScope(), set())],
)
async def test_forgetting_reaches_the_stores(tmp_path: Path, scope: Scope, left: set[str]) -> None:
    texts = JsonStore("texts", str)
    async with Journal.open(tmp_path / "j", stores=[texts]) as journal:
        for age, at_ns in (("old", 100), ("new", 200)):
            puts = [texts.put(f"{age}-{n}", f"secret-{age}-{n}", at_ns=at_ns, session=f"s{n}") for n in (1, 2)]
            await journal.append([line_event("x", session="other")], writes=puts)
        await journal.forget(scope)
        assert set(texts.decoded((await journal.query(texts.everything())).rows)) == left
        gone = {"old-1", "old-2", "new-1", "new-2"} - left
        assert [name for name in gone if files_with(tmp_path / "j", f"secret-{name}".encode())] == []


async def test_a_query_of_a_store_cannot_write(tmp_path: Path) -> None:
    texts = JsonStore("texts", str)
    async with Journal.open(tmp_path / "j", stores=[texts]) as journal:
        with pytest.raises(DragomanError):
            await journal.query(texts.put("a", "b", at_ns=1))
        assert (await journal.query(texts.everything())).rows == []


def test_a_stores_name_must_be_fit_for_a_table() -> None:
    with pytest.raises(ValueError, match="table"):
        JsonStore("notes; drop table events", str)
