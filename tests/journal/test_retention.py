"""What goes with time, and what a person has erased: the first in small steps, the second without a trace."""

from __future__ import annotations

import os
import random
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from dragoman.journal import BeforeScope, EverythingScope, Journal, RemovedCounts, Retention, Scope, SessionScope
from dragoman.journal.journal import PAGE_EVENTS
from tests.journal.support import append_bytes, files_with, line_event, lines, notes, require_sound, texts
from tests.support.clocks import VirtualClock

pytestmark = pytest.mark.anyio
NEVER = Retention(age_s=1e9)


async def test_events_older_than_the_age_go_and_their_words_with_them(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with Journal.open(tmp_path / "j", clock=clock) as journal:
        await journal.append(lines(1_000, word="old"))
        await journal.append(lines(300, word="old"))
        clock.advance(3_600)
        await journal.append(lines(5, word="young"))
        assert await journal.retain(NEVER) == RemovedCounts(events=0, segments=0)
        assert await journal.retain(Retention(age_s=1_800)) == RemovedCounts(events=1_300, segments=0)
        assert await journal.search("old") == []
        assert len(await journal.search("young")) == 5
        assert await journal.append([line_event("next")]) == 1_306
    require_sound(tmp_path / "j")


async def test_sequence_continues_though_everything_was_retired(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with Journal.open(tmp_path / "j", clock=clock) as journal:
        await journal.append(lines(7))
        clock.advance(100)
        await journal.retain(Retention(age_s=1))
    async with Journal.open(tmp_path / "j", clock=clock) as journal:
        assert await journal.append([line_event("next")]) == 8


async def test_a_journal_too_large_loses_its_oldest_events_and_gives_the_room_back(tmp_path: Path) -> None:
    dice = random.Random(1)
    async with Journal.open(tmp_path / "j") as journal:
        for _ in range(12):
            await journal.append(
                [line_event(" ".join(f"w{dice.randrange(5_000)}" for _ in range(12))) for _ in range(1_000)]
            )
        limit = 2 * 1024 * 1024
        removed = await journal.retain(Retention(age_s=1e9, events_bytes=limit))
        left = [row["sequence"] async for row in journal.export()]
        assert removed.events > 0
        assert left == list(range(removed.events + 1, 12_001)), "the oldest went"
        assert len(left) > 2_000, "and not many more than had to"
        assert await journal.retain(Retention(age_s=1e9, events_bytes=limit)) == RemovedCounts(events=0, segments=0)
    assert sum(path.stat().st_size for path in (tmp_path / "j").glob("events-*")) < limit * 1.2
    require_sound(tmp_path / "j")


async def test_appends_come_between_the_steps_of_retention(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with Journal.open(tmp_path / "j", clock=clock) as journal:
        for _ in range(10):
            await journal.append(lines(1_000))
        clock.advance(100)
        finished: list[str] = []

        async def retire() -> None:
            await journal.retain(Retention(age_s=1))
            finished.append("retention")

        async with anyio.create_task_group() as group:
            group.start_soon(retire)
            await anyio.lowlevel.checkpoint()
            await journal.append([line_event("in between")])
            finished.append("append")
        assert finished == ["append", "retention"]
        assert await texts(journal) == ["in between"]


async def test_segments_go_by_age_and_by_size_oldest_first_but_never_the_open_one(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j", segment_bytes=1_000) as journal:
        spans = [await append_bytes(journal, f"s{number}", b"x" * 2_000) for number in range(6)]
        for number in range(6):  # a second piece closes the first file
            await append_bytes(journal, f"s{number}", b"y" * 10)
        first = sorted((tmp_path / "j" / "segments").glob("*/*.seg"))[::2]
        for age, path in enumerate(reversed(first)):
            os.utime(path, (0, path.stat().st_mtime - 1_000 * age))
        assert (await journal.retain(Retention(age_s=4_500))).segments == 1
        assert not first[0].exists()
        assert (await journal.retain(Retention(age_s=1e9, segments_bytes=5_000))).segments == 3
        assert [path.exists() for path in first] == [False, False, False, False, True, True]
        assert (await journal.retain(Retention(age_s=-1))).segments == 2
        assert len(list((tmp_path / "j" / "segments").glob("*/*.seg"))) == 6, "what is written to stays"
        assert len(spans) == 6


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["session", "before", "all"])
async def test_after_forgetting_no_file_holds_a_byte_of_it(tmp_path: Path, kind: str, seed: int) -> None:
    """Rows of every size, overflow pages, a merged index, retired rows, an open WAL, and readers at work meanwhile."""
    dice, clock = random.Random(seed), VirtualClock()

    def event(secret: bool) -> object:
        word = "zqsecret" if secret else "plain"
        text = " ".join(f"{word}{dice.randrange(3_000)}" for _ in range(dice.randint(1, 12)))
        return line_event(text + "x" * dice.choice([0, 50, 5_000]), session="zqvictim" if secret else "other")

    async with Journal.open(tmp_path / "j", clock=clock) as journal:
        for turn in range(20):
            secret_time = turn < 12
            batch = [event(secret_time and (kind == "before" or dice.random() < 0.3)) for _ in range(100)]
            await journal.append(batch)  # type: ignore[arg-type]
            if secret_time:
                await append_bytes(journal, "zqvictim", b"zqsecret bytes")
            if turn == 11:
                clock.advance(10)
        last = journal.last_sequence
        assert files_with(tmp_path / "j", b"zqsecret")
        scopes: dict[str, Scope] = {
            "session": SessionScope("zqvictim"),
            "before": BeforeScope(clock.wall_ns()),
            "all": EverythingScope(),
        }
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(journal.search, "plain1")
            forgotten = await journal.forget(scopes[kind])
        assert forgotten > 0
        assert files_with(tmp_path / "j", b"zqsecret") == []
        assert files_with(tmp_path / "j", b"zqvictim") == []
        assert not any("zqvictim" in str(path) for path in (tmp_path / "j").rglob("*"))
        assert await journal.search("zqs*") == []
        assert len(await texts(journal)) == last - forgotten
        assert await journal.append([line_event("next")]) == last + 1
    require_sound(tmp_path / "j")


async def test_forgetting_the_newest_events_does_not_give_their_numbers_again(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(10, session="mine"))
        assert await journal.forget(SessionScope("mine")) == 10
    async with Journal.open(tmp_path / "j") as journal:
        assert await journal.append([line_event("next")]) == 11


@pytest.mark.parametrize(("at_ns", "left"), [(10**30, []), (-(10**30), ["line 0"])])
async def test_a_moment_beyond_all_clocks_is_all_or_nothing(tmp_path: Path, at_ns: int, left: list[str]) -> None:
    async with Journal.open(tmp_path / "j", stores=[notes()]) as journal:
        await journal.append(lines(1))
        assert await journal.forget(BeforeScope(at_ns)) == 1 - len(left)
        assert await texts(journal) == left


async def test_a_tail_survives_forgetting(tmp_path: Path) -> None:
    seen: list[int] = []

    async def follow(journal: Journal) -> None:
        async for item in journal.tail():
            seen.append(item.sequence)  # type: ignore[union-attr]
            if seen[-1] == 2 * PAGE_EVENTS + 1:
                return

    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(PAGE_EVENTS, session="kept"))
        await journal.append(lines(PAGE_EVENTS, session="gone"))
        await journal.forget(SessionScope("gone"))
        async with anyio.create_task_group() as group:
            group.start_soon(follow, journal)
            await journal.append([line_event("next")])
    assert seen == [*range(1, PAGE_EVENTS + 1), 2 * PAGE_EVENTS + 1]


async def test_damaged_files_set_aside_are_erased_too(tmp_path: Path) -> None:
    folder = tmp_path / "j"
    async with Journal.open(folder) as journal:
        await journal.append([line_event("zqsecret")])
    (folder / "events-000000.db").rename(folder / "damaged-20260101T000000-events-000000.db")
    async with Journal.open(folder) as journal:
        assert files_with(folder, b"zqsecret") != []
        await journal.forget(SessionScope("anyone"))
        assert files_with(folder, b"zqsecret") == []
