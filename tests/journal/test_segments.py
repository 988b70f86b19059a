"""Bulk bytes: spans that can be read after every kind of end, or that say why not."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.core.errors import DragomanError
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls
from dragoman.journal import BeforeScope, EverythingScope, Journal, SessionScope, Span
from dragoman.journal.segments import Segments
from tests.journal.support import append_bytes, files_with, line_event
from tests.support.clocks import VirtualClock
from tests.support.faulty_system import FaultySystem

ROLL = 1_000


def segments(folder: Path, *, clock: VirtualClock | None = None, system: SystemCalls = REAL_SYSTEM) -> Segments:
    return Segments(folder, clock or VirtualClock(), system=system, roll_bytes=ROLL)


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(DragomanError) as caught:
        work()
    return caught.value.code


@settings(max_examples=40, deadline=None)
@given(chunks=st.lists(st.binary(min_size=1, max_size=700), min_size=1, max_size=12), data=st.data())
def test_any_chunks_come_back_alone_and_joined_over_any_number_of_files(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], data: st.DataObject
) -> None:
    store = segments(tmp_path_factory.mktemp("s") / "segments")
    spans = [store.append("term-1", chunk) for chunk in chunks]
    assert [store.read(span) for span in spans] == chunks
    low = data.draw(st.integers(0, len(chunks) - 1))
    joined = spans[low]
    for span in spans[low + 1 :]:
        joined = joined.plus(span)
    assert store.read(joined) == b"".join(chunks[low:])
    assert store.read(joined, limit=5) == b"".join(chunks[low:])[:5]
    store.close()


def test_a_large_piece_is_cut_into_records_and_read_back_whole(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    piece = os.urandom(1_000_000)
    span = store.append("term-1", piece)
    assert store.read(span) == piece
    assert len(list((tmp_path / "s" / "term-1").glob("*.seg"))) > 1
    store.close()


def test_streams_do_not_see_each_other(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    spans = {name: store.append(name, name.encode()) for name in ("a", "b", "c")}
    assert {name: store.read(span) for name, span in spans.items()} == {"a": b"a", "b": b"b", "c": b"c"}
    store.close()


def test_more_streams_than_open_files_still_keep_every_byte(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    spans = [store.append(f"s{number}", b"%d" % (number + turn)) for turn in range(2) for number in range(100)]
    assert [store.read(span) for span in spans] == [b"%d" % (n + turn) for turn in range(2) for n in range(100)]
    store.close()


@pytest.mark.parametrize("stream", ["../up", "", ".", "a/b", "a" * 65, "a\0", "名"])
def test_a_stream_cannot_be_named_out_of_the_folder(tmp_path: Path, stream: str) -> None:
    store = segments(tmp_path / "s")
    assert refused(lambda: store.append(stream, b"x")) == "unsafe_id"
    assert refused(lambda: store.read(Span(stream, 1, 0, 1))) == "unsafe_id"


def test_a_tail_torn_at_any_byte_leaves_all_before_it_readable_and_new_bytes_continue(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    before, torn = store.append("t", b"before"), store.append("t", b"torn away")
    store.close()
    (path,) = (tmp_path / "s" / "t").glob("*.seg")
    whole = path.read_bytes()
    for cut in range(torn.offset, len(whole)):
        path.write_bytes(whole[:cut])
        again = segments(tmp_path / "s")
        after = again.append("t", b"after")
        assert again.read(before) == b"before"
        assert again.read(after) == b"after"
        assert refused(lambda: again.read(torn)) == "span_damaged"  # noqa: B023
        assert again.read(before.plus(after)) == b"beforeafter", "a torn tail is where a file ends"
        again.close()
        again_path = max((tmp_path / "s" / "t").glob("*.seg"))
        again_path.unlink()


def test_zeros_after_the_last_record_are_a_torn_tail_too(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    before = store.append("t", b"before")
    store.close()
    (path,) = (tmp_path / "s" / "t").glob("*.seg")
    path.write_bytes(path.read_bytes() + bytes(4_096))
    again = segments(tmp_path / "s")
    assert again.read(before.plus(again.append("t", b"after"))) == b"beforeafter"
    again.close()


def test_a_flipped_bit_is_damage_and_never_passes_for_data(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    span = store.append("t", b"what was printed")
    store.close()
    (path,) = (tmp_path / "s" / "t").glob("*.seg")
    whole = bytearray(path.read_bytes())
    for position in range(len(whole)):
        whole[position] ^= 0x10
        path.write_bytes(whole)
        assert refused(lambda: store.read(span)) in {"span_damaged", "span_gone"}
        whole[position] ^= 0x10


def test_every_failing_call_in_turn_loses_no_acknowledged_byte(tmp_path: Path) -> None:
    for code, short in ((errno.ENOSPC, False), (errno.EIO, False), (errno.ENOSPC, True)):
        for fail_at in range(1, 100):
            folder = tmp_path / f"{code}-{short}-{fail_at}"
            system = FaultySystem(fail_at, code=code, short=short)
            store = segments(folder, system=system)
            kept: list[tuple[Span, bytes]] = []
            for number in range(8):
                piece = b"%d" % number * 300
                try:
                    span = store.append("t", piece)
                    kept.append((span, piece))
                    store.sync([span])
                except (DragomanError, OSError):
                    continue
            store.close()
            fresh = segments(folder)
            assert [fresh.read(span) for span, _ in kept] == [piece for _, piece in kept]
            assert len(kept) >= 7
            if not system.reached:
                break
        else:
            pytest.fail("never ran clean")


def test_bytes_that_failed_to_sync_are_never_called_safe_afterwards(tmp_path: Path) -> None:
    system = FaultySystem(3, code=errno.EIO)  # open, write, then the sync
    store = segments(tmp_path / "s", system=system)
    doubtful = store.append("t", b"perhaps lost")
    with pytest.raises(OSError, match="Input/output"):
        store.sync([doubtful])
    assert refused(lambda: store.sync([doubtful])) == "journal_io_failed"
    store.close()


def test_a_retired_files_number_never_comes_back(tmp_path: Path) -> None:
    clock = VirtualClock()
    store = segments(tmp_path / "s", clock=clock)
    old = store.append("t", b"old")
    store.close()
    for path, _ in store.closed_files():
        store.retire(path)
    clock.advance(1)
    new = store.append("t", b"new")
    assert new.segment != old.segment
    assert refused(lambda: store.read(old)) == "span_gone"
    store.close()


@pytest.mark.anyio
async def test_an_event_that_names_a_span_is_committed_after_the_bytes_are_synced(tmp_path: Path) -> None:
    calls: list[str] = []

    class Watching(SystemCalls):
        def fsync(self, fd: int) -> None:
            calls.append(Path(f"/proc/self/fd/{fd}").readlink().name)
            super().fsync(fd)

    async with Journal.open(tmp_path / "j", system=Watching()) as journal:
        span = await append_bytes(journal, "talk-1", b"output")
        assert calls == [], "appending alone does not wait for the disk"
        await journal.append([line_event("output came")], spans=[span])
        assert calls == [f"{span.segment:016d}.seg", "talk-1", "segments"]
        await journal.append([line_event("once more")], spans=[span])
        assert len(calls) == 3, "what is synced is not synced again"
        assert await journal.read_bytes(span) == b"output"


@pytest.mark.anyio
async def test_an_append_that_cannot_be_synced_is_not_recorded(tmp_path: Path) -> None:
    system = FaultySystem(10_000, code=errno.ENOSPC)
    async with Journal.open(tmp_path / "j", system=system) as journal:
        span = await append_bytes(journal, "talk-1", b"output")
        system.fail_at = system.calls + 1
        with pytest.raises(DragomanError) as caught:
            await journal.append([line_event("output came")], spans=[span])
        assert caught.value.code == "disk_full"
        assert await journal.append([line_event("without bytes")]) == 1


@pytest.mark.anyio
async def test_many_recorders_at_once_each_get_their_bytes_back(tmp_path: Path) -> None:
    async def record(journal: Journal, number: int) -> None:
        spans = [await append_bytes(journal, f"term-{number}", b"%d:%d;" % (number, turn)) for turn in range(20)]
        joined = spans[0]
        for span in spans[1:]:
            joined = joined.plus(span)
        assert await journal.read_bytes(joined) == b"".join(b"%d:%d;" % (number, turn) for turn in range(20))

    async with Journal.open(tmp_path / "j", segment_bytes=100) as journal, anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(record, journal, number)


@pytest.mark.parametrize("everything", [True, False])
def test_forgotten_bytes_are_nowhere_and_their_spans_say_so(tmp_path: Path, everything: bool) -> None:
    store = segments(tmp_path / "s")
    mine, other = store.append("mine", b"topsecret"), store.append("other", b"harmless")
    store.forget(EverythingScope() if everything else SessionScope("mine"))
    assert refused(lambda: store.read(mine)) == "span_gone"
    assert files_with(tmp_path / "s", b"topsecret") == []
    if everything:
        assert refused(lambda: store.read(other)) == "span_gone"
    else:
        assert store.read(other) == b"harmless"
    assert store.read(store.append("mine", b"new life")) == b"new life"
    store.close()


def test_forgetting_before_a_moment_erases_inside_a_file_that_continues(tmp_path: Path) -> None:
    clock = VirtualClock()
    store = segments(tmp_path / "s", clock=clock)
    gone = store.append("whole", b"topsecret")
    old = store.append("t", b"topsecret")
    clock.advance(10)
    moment = clock.wall_ns()
    young = store.append("t", b"young")
    store.forget(BeforeScope(moment))
    assert files_with(tmp_path / "s", b"topsecret") == []
    assert [refused(lambda span=span: store.read(span)) for span in (gone, old)] == ["span_gone"] * 2  # type: ignore[misc]
    assert store.read(young) == b"young"
    assert not (tmp_path / "s" / "whole").exists()
    store.close()
