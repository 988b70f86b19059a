"""Reading on: a snapshot, then what comes, without gap or double, and without memory for a slow reader."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.events import RecordedEvent
from dragoman.journal import Journal, JournalGap, Retention, SessionScope
from dragoman.journal.journal import PAGE_EVENTS
from tests.journal.support import DEADLINE_S, first, line_event, lines, notes, sequences, texts
from tests.support.clocks import VirtualClock

pytestmark = pytest.mark.anyio


async def test_a_tail_gives_what_is_there_and_then_what_comes(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(3))
        async with anyio.create_task_group() as group:
            group.start_soon(journal.append, lines(3, word="new"))
            found = await first(journal, 5, after=1)
    assert sequences(found) == [2, 3, 4, 5, 6]


async def test_no_reader_misses_or_doubles_an_event_while_many_append(tmp_path: Path) -> None:
    total = 3 * PAGE_EVENTS
    seen: dict[int, list[int]] = {}

    async def follow(journal: Journal, reader: int, after: int) -> None:
        seen[reader] = sequences(await first(journal, total - after, after))

    async with Journal.open(tmp_path / "j") as journal, anyio.create_task_group() as group:
        for reader in range(8):
            group.start_soon(follow, journal, reader, reader * 10)
        for _ in range(total // 10):
            group.start_soon(journal.append, lines(10))
    assert seen == {reader: list(range(reader * 10 + 1, total + 1)) for reader in range(8)}


async def test_a_store_snapshot_and_the_tail_after_it_have_everything_once(tmp_path: Path) -> None:
    store = notes()

    async def write(journal: Journal) -> None:
        for number in range(100):
            await journal.append([line_event(str(number))], writes=[store.put(f"{number:03}", "x", at_ns=1)])

    async with Journal.open(tmp_path / "j", stores=[store]) as journal, anyio.create_task_group() as group:
        group.start_soon(write, journal)
        await first(journal, 20)
        snapshot = await journal.query(store.everything())
        rest = await first(journal, 100 - snapshot.sequence, after=snapshot.sequence)
    assert len(snapshot.rows) == snapshot.sequence, "the rows are those of exactly that moment"
    assert sequences(rest) == list(range(snapshot.sequence + 1, 101))


async def test_a_reader_that_stops_reading_costs_nothing_and_finds_everything_later(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(1))
        slow = journal.tail()
        assert isinstance(await anext(slow), RecordedEvent)
        for _ in range(5):
            await journal.append(lines(1_000))
        rest = [await anext(slow) for _ in range(5_000)]
        await slow.aclose()
    assert sequences(rest) == list(range(2, 5_002))


async def test_a_filtered_tail_waits_for_its_own_kind_and_session(tmp_path: Path) -> None:
    found: list[RecordedEvent | JournalGap] = []

    async def follow(journal: Journal) -> None:
        with anyio.fail_after(DEADLINE_S):
            async for item in journal.tail(session="b", kinds=["wanted"]):
                found.append(item)
                if len(found) == 2:
                    return

    async with Journal.open(tmp_path / "j") as journal, anyio.create_task_group() as group:
        group.start_soon(follow, journal)
        await journal.append(lines(600, session="a"))
        await journal.append([line_event("1", kind="wanted", session="b"), line_event("2", kind="other", session="b")])
        await journal.append([line_event("3", kind="wanted", session="a")])
        await journal.append([line_event("4", kind="wanted", session="b")])
    assert sequences(found) == [601, 604]


async def test_a_reader_too_late_learns_which_numbers_are_gone(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with Journal.open(tmp_path / "j", clock=clock) as journal:
        await journal.append(lines(10))
        clock.advance(3_600)
        await journal.append(lines(2, word="young"))
        await journal.retain(Retention(age_s=60))
        found = await first(journal, 3, after=4)
    assert found[0] == JournalGap(5, 10)
    assert sequences(found) == [11, 12]


async def test_a_tail_ends_when_the_journal_closes(tmp_path: Path) -> None:
    ended = anyio.Event()

    async def follow(journal: Journal) -> None:
        async for _ in journal.tail():
            pass
        ended.set()

    async with anyio.create_task_group() as group:
        async with Journal.open(tmp_path / "j") as journal:
            group.start_soon(follow, journal)
            await journal.append(lines(1))
            await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(DEADLINE_S):
            await ended.wait()


async def test_a_tail_that_is_about_to_read_when_the_journal_closes_ends_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, found = threading.Event(), list[RecordedEvent | JournalGap]()

    async def follow(journal: Journal) -> None:
        async for item in journal.tail():
            found.append(item)

    with anyio.fail_after(DEADLINE_S):
        async with anyio.create_task_group() as group:
            async with Journal.open(tmp_path / "j") as journal:
                readers = journal._journal_file.readers
                read = readers.read

                def late(*asked: Any) -> Any:
                    closed.wait(DEADLINE_S)
                    return read(*asked)

                monkeypatch.setattr(readers, "read", late)
                group.start_soon(follow, journal)
                await anyio.wait_all_tasks_blocked()
            closed.set()
    assert found == []


async def test_export_is_every_event_up_to_now_as_plain_json_types(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(PAGE_EVENTS + 3))
        rows = [row async for row in journal.export(after=PAGE_EVENTS + 2)]
        assert rows == [
            {
                "sequence": PAGE_EVENTS + 3,
                "at_ns": rows[0]["at_ns"],
                "kind": "line.said",
                "session": "talk-1",
                "cause": "call-1",
                "text": f"line {PAGE_EVENTS + 2}",
                "body": {"text": f"line {PAGE_EVENTS + 2}"},
            }
        ]
        assert len(await texts(journal)) == PAGE_EVENTS + 3
        assert await texts(journal, session="nobody") == []


async def test_a_rare_kind_is_found_however_much_lies_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.journal.readers.WINDOW_EVENTS", 10)
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(95))
        await journal.append([line_event("a", kind="rare"), *lines(33), line_event("b", kind="rare"), *lines(7)])
        assert [item.event.text for item in await journal.read(kinds=["rare"])] == ["a", "b"]
        assert [item.event.text for item in await journal.read(kinds=["rare"], limit=1)] == ["a"]
        assert sequences([item async for item in _some(journal, 2)]) == [96, 130]


async def _some(journal: Journal, count: int) -> AsyncIterator[RecordedEvent | JournalGap]:
    with anyio.fail_after(DEADLINE_S):
        async for item in journal.tail(kinds=["rare"]):
            yield item
            count -= 1
            if not count:
                return


async def test_reading_takes_a_page_of_one_session_or_kind(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append([line_event(str(number), session=f"s{number % 2}") for number in range(10)])
        page = await journal.read(2, limit=3, session="s1")
        assert [item.sequence for item in page] == [4, 6, 8]
        assert await journal.read(kinds=["no.such"]) == []


@pytest.mark.parametrize("after", [-1, 0, 99, 1 << 63, 10**30])
@pytest.mark.parametrize("limit", [-1, 0, 2, 10**30])
async def test_any_number_from_outside_is_a_question_with_an_answer(tmp_path: Path, after: int, limit: int) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(3))
        expected = [] if after > 3 else [1, 2, 3][: max(0, limit)]
        assert [item.sequence for item in await journal.read(after, limit=limit)] == expected
        assert len(await journal.search("line", limit=limit)) == min(3, max(0, limit))


async def test_a_session_is_found_by_the_name_it_was_given_even_when_no_file_can_hold_it(tmp_path: Path) -> None:
    odd = "s\0\udcff"
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append([line_event("word", session=odd), line_event("word", session="other")])
        assert sequences(await journal.read(session=odd)) == [1]
        assert sequences(await journal.search("word", session=odd)) == [1]
        assert await journal.forget(SessionScope(odd)) == 1
        assert await texts(journal) == ["word"]


async def test_a_tail_from_beyond_the_end_waits_for_its_turn(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(2))
        async with anyio.create_task_group() as group:
            group.start_soon(journal.append, lines(5))
            assert sequences(await first(journal, 2, after=5)) == [6, 7]
