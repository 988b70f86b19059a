"""Search in much output: lines, not stretches, are indexed; shards are asked newest first and go when they are old."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import apsw
import pytest

from dragoman.core.clock import SystemClock
from dragoman.io.files.system_calls import REAL_SYSTEM
from dragoman.journal import RecordPlace
from dragoman.terminal.search import index as indexes
from dragoman.terminal.search.index import NEWEST, IndexBlock, IndexPosition, IndexQuery, OutputIndex
from tests.terminal.record_support import Shell, indexed, recorded
from tests.terminal.search.program_logs import Logs

pytestmark = pytest.mark.anyio


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sixteen lines."""
    monkeypatch.setattr(indexes, "_SHARD_BITS", 4)
    monkeypatch.setattr(indexes, "_SHARD_ROWS", 1 << 4)


def new_index(folder: Path) -> OutputIndex:
    return OutputIndex(folder, SystemClock(), system=REAL_SYSTEM)


def add(index: OutputIndex, segment: int, text: str, terminal: str = "t1") -> None:
    block = IndexBlock(terminal, RecordPlace(segment, 1), RecordPlace(segment, 2), 0, 9, segment, b"")
    index.add(index.generation, terminal, [(block, text)], IndexPosition(RecordPlace(segment, 2)))


def segments(index: OutputIndex, expression: str, *, limit: int = 100, **narrowed: object) -> list[int]:
    """Of all candidates, page after page."""
    found: list[int] = []
    below = NEWEST
    while (page := index.find(IndexQuery(expression, **narrowed), below, limit, 5.0)).blocks:  # type: ignore[arg-type]
        found += [block.start.segment for block in page.blocks]
        below = page.below
    return found


async def test_words_that_come_everywhere_and_never_on_one_line_cost_no_look_at_the_stream(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"long ago: request PASSED\r\n")
        for chunk in islice(Logs().chunks(64 * 1024), 16):
            await shell.show(chunk)
        await indexed(service)
        never = await service.search_output("building request")
        assert (never.hits, never.complete, never.scanned_bytes) == ([], True, 0)
        once = await service.search_output("passed request")
        assert [hit.line for hit in once.hits] == ["long ago: request PASSED"]
        assert once.scanned_bytes <= 32 * 1024, "one block of a megabyte"


async def test_a_search_of_one_terminal_reads_nothing_of_the_others(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        quiet, loud = Shell(service, "quiet"), Shell(service, "loud")
        await quiet.begin()
        await loud.begin()
        await quiet.show(b"request one\r\n")
        for _ in range(8):
            await loud.show(b"request of another\r\n" * 3_000)
        await indexed(service)
        output = await service.search_output("request", terminal="quiet")
        assert [hit.line for hit in output.hits] == ["request one"]
        assert output.scanned_bytes < 100


async def test_a_search_that_was_cut_short_says_how_far_back_it_looked(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        for number in range(3):
            await shell.run("make", b"old request %d\r\n" % number)
        await indexed(service)
        everything = await service.search_output("request")
        assert (everything.complete, everything.back_to_ns) == (True, None)
        newest = await service.search_output("request", limit=1)
        assert not newest.complete
        assert newest.back_to_ns is not None
        assert newest.back_to_ns >= newest.hits[0].at_ns > everything.hits[1].at_ns
        nothing = await service.search_output("request", timeout_s=0.0)
        assert not nothing.complete
        assert nothing.back_to_ns is not None
        assert nothing.back_to_ns > newest.back_to_ns


def test_lines_are_found_over_many_shards_newest_first_each_block_once(tmp_path: Path, small_shards: None) -> None:
    index = new_index(tmp_path)
    for number in range(1, 21):
        add(index, number, f"apple {number}\n\nbanana\napple banana")
    assert segments(index, '"apple"') == list(range(20, 0, -1))
    assert segments(index, '"apple" AND "banana"', limit=2) == list(range(20, 0, -1))
    assert segments(index, '"7"') == [7]
    assert segments(index, '"1"*', limit=1) == [19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 1]


def test_terminals_narrow_and_besides_leaves_out(tmp_path: Path, small_shards: None) -> None:
    index = new_index(tmp_path)
    for number in range(1, 13):
        add(index, number, "apple", terminal=f"t{number % 3}")
    assert segments(index, '"apple"', terminal="t1") == [10, 7, 4, 1]
    assert segments(index, '"apple"', terminal="unknown") == []
    assert segments(index, '"apple"', besides={"t0", "t1", "unknown"}) == [11, 8, 5, 2]


def test_a_shard_goes_when_its_last_block_is_retired_and_the_newest_stays(tmp_path: Path, small_shards: None) -> None:
    index = new_index(tmp_path)
    for number in range(1, 41):
        add(index, number, "apple\nbanana")
    index.drop_retired({"t1": [12, 13]})
    assert segments(index, '"apple"') == list(range(40, 11, -1))
    index.drop_retired({})
    assert segments(index, '"apple"') == []
    connection = apsw.Connection(str(tmp_path / "output.db"))
    assert connection.execute("select count(*) from shards").get == 1
    assert connection.execute("select count(*) from sqlite_schema where sql like '%using fts5%'").get == 1
    connection.close()
    add(index, 50, "apple", terminal="t2")
    assert segments(index, '"apple"') == [50], "no row of a retired block is taken for a new one"
    index.close()


def test_parts_of_words_are_found_in_every_shard_and_their_list_goes_with_it(
    tmp_path: Path, small_shards: None
) -> None:
    index = new_index(tmp_path)
    for number in range(1, 41):
        add(index, number, f"pineapple {number}\nbanana\nfig{number}")
    assert segments(index, "", parts=("neapp",), limit=3) == list(range(40, 0, -1))
    assert segments(index, '"7"', parts=("neapp",)) == [7]
    assert segments(index, "", parts=("pine", "ana")) == []
    assert segments(index, "", parts=("ig39",)) == [39]
    index.drop_retired({"t1": [39, 40]})
    assert segments(index, "", parts=("neapp",)) == [40, 39]
    connection = apsw.Connection(str(tmp_path / "output.db"))
    shards = "select (select count(*) from shards), (select count(distinct shard) from vocabulary)"
    assert connection.execute(shards).fetchall() == [(1, 1)]
    connection.close()
    index.close()


def test_words_of_what_could_not_be_added_are_found_once_it_is(tmp_path: Path) -> None:
    index = new_index(tmp_path)

    def failing() -> Iterator[tuple[IndexBlock, str]]:
        yield IndexBlock("t1", RecordPlace(1, 1), RecordPlace(1, 2), 0, 9, 1, b""), "pineapple"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        index.add(index.generation, "t1", failing(), IndexPosition(RecordPlace(1, 2)))
    add(index, 1, "pineapple")
    assert segments(index, "", parts=("neapp",)) == [1]
    index.close()


def test_a_part_that_too_many_words_have_is_reported_as_not_looked_for_in_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "_ALTERNATIVES", 3)
    index = new_index(tmp_path)
    add(index, 1, "apples apple pineapple")
    add(index, 2, "banana")
    assert not index.find(IndexQuery("", parts=("ppl",)), NEWEST, 9, 5.0).whole
    assert index.find(IndexQuery("", parts=("anan",)), NEWEST, 9, 5.0).whole
    index.close()


def test_a_search_does_not_wait_for_the_indexer(tmp_path: Path) -> None:
    index = new_index(tmp_path)
    add(index, 1, "apple")
    assert segments(index, '"apple"') == [1]
    found: list[int] = []
    search = threading.Thread(target=lambda: found.extend(segments(index, '"apple"')))
    with index._use(index._writer) as connection, connection:
        connection.execute("delete from blocks")
        search.start()
        search.join(10)
        assert found == [1]
    index.close()


@pytest.mark.parametrize("limit", [1, 5, 1000])
async def test_what_is_not_indexed_yet_is_read_newest_file_first_and_no_line_is_lost_between_files(
    tmp_path: Path, limit: int
) -> None:
    """Pieces of all lengths over files of a few records: lines end anywhere."""
    lines = [f"request {number} took {number * 7} ms" for number in range(400)]
    whole = "".join(f"{line}\r\n" for line in lines).encode()
    async with recorded(tmp_path, segment_bytes=1_000) as service:
        shell = Shell(service)
        await shell.begin()
        for at in range(0, len(whole), 61):
            await shell.show(whole[at : at + 61])
        assert len(await service._journal.segments_of(shell.terminal)) > 5
        output = await service.search_output("request took", limit=limit)
        assert [hit.line for hit in output.hits] == lines[::-1][:limit]
        assert output.complete == (limit > len(lines))
        if limit == 1:
            assert output.back_to_ns is not None
            assert output.back_to_ns <= output.hits[0].at_ns
            assert output.scanned_bytes < len(whole) / 4, "older files are not read"
        for number in (0, 123, 399):
            only = await service.search_output(f'"request {number} took"', limit=limit)
            assert [hit.line for hit in only.hits] == [lines[number]]


async def test_a_file_that_begins_with_keys_or_with_a_command_keeps_its_first_line(tmp_path: Path) -> None:
    async with recorded(tmp_path, segment_bytes=1) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"first request\r\nbegun ")
        await shell.type(b"y")
        await shell.show(b"request\r\n")
        await shell.run("make", b"second request\r\n")
        output = await service.search_output("request")
        assert [hit.line for hit in output.hits] == ["second request", "request", "first request"]
