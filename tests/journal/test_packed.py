"""Packed segments: the same bytes at the same offsets, whatever happens while they are packed."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.core.errors import DragomanError
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls
from dragoman.journal import BeforeScope, RecordPlace, SessionScope, Span
from dragoman.journal.segment_files import BLOCK_BYTES, PackedFile, pack
from dragoman.journal.segments import Segments
from tests.journal.support import files_with
from tests.support.clocks import VirtualClock
from tests.support.faulty_system import FaultySystem

ROLL = 10_000


def segments(folder: Path, *, clock: VirtualClock | None = None, system: SystemCalls = REAL_SYSTEM) -> Segments:
    return Segments(folder, clock or VirtualClock(), system=system, roll_bytes=ROLL)


def filled(store: Segments, stream: str = "t") -> list[tuple[Span, bytes]]:
    """Three files, the last of which is written to."""
    pieces = [b"%d" % number * 3_000 for number in range(10)]
    return [(store.append(stream, piece), piece) for piece in pieces]


def packed_all(store: Segments) -> None:
    store.settle()
    while store.pack_one():
        pass


def suffixes(folder: Path) -> list[str]:
    return sorted(path.suffix for path in folder.rglob("*.*"))


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(DragomanError) as caught:
        work()
    return caught.value.code


@settings(max_examples=30, deadline=None)
@given(
    size=st.sampled_from([0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 7]),
    reads=st.lists(st.tuples(st.integers(0, 4 * BLOCK_BYTES), st.integers(0, 2 * BLOCK_BYTES)), max_size=5),
)
def test_any_read_of_a_packed_file_is_the_same_read_of_the_raw_one(
    tmp_path_factory: pytest.TempPathFactory, size: int, reads: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("p") / "x.segz"
    raw = (os.urandom(64) * (size // 64 + 1))[:size]
    with path.open("wb") as target:
        pack(io.BytesIO(raw), target.fileno(), system=REAL_SYSTEM)
    with path.open("rb") as file:
        packed = PackedFile(file)
        assert packed.size == size
        for offset, length in reads:
            packed.seek(offset)
            assert packed.read(length) == raw[offset : offset + length]


def test_spans_and_records_are_read_alike_before_and_after(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    kept = filled(store)
    walked = store.records("t", RecordPlace(), 10**6)
    packed_all(store)
    assert suffixes(tmp_path) == [".seg", ".segz", ".segz"]
    assert [store.read(span) for span, _ in kept] == [piece for _, piece in kept]
    assert store.records("t", RecordPlace(), 10**6) == walked
    assert store.read(kept[0][0].plus(kept[1][0]), limit=10) == b"0" * 10
    store.close()
    again = segments(tmp_path / "s")
    assert [again.read(span) for span, _ in kept] == [piece for _, piece in kept]
    later = again.append("t", b"later")
    assert later.segment > kept[-1][0].segment
    again.close()


def test_walking_continues_where_it_stopped_over_any_files(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    kept = filled(store)
    found: list[bytes] = []
    place = RecordPlace()
    while (reading := store.records("t", place, 1)).records:
        found += [record.payload for record in reading.records]
        place = reading.upto
    assert found == [piece for _, piece in kept]
    assert store.numbers("t") == sorted({span.segment for span, _ in kept})
    store.append("t", b"more")
    assert [record.payload for record in store.records("t", place, 1).records] == [b"more"]
    store.close()


def test_what_was_erased_or_damaged_is_passed_over(tmp_path: Path) -> None:
    clock = VirtualClock()
    store = segments(tmp_path / "s", clock=clock)
    store.append("t", b"old")
    clock.advance(10)
    moment = clock.wall_ns()
    store.append("t", b"young")
    store.forget(BeforeScope(moment))
    assert [record.payload for record in store.records("t", RecordPlace(), 100).records] == [b"young"]
    store.close()


def test_a_packed_file_keeps_its_age(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    filled(store)
    store.settle()
    old = min((tmp_path / "s" / "t").glob("*.seg"))
    os.utime(old, ns=(10**18, 10**18))
    packed_all(store)
    assert store.closed_files()[0][1].st_mtime_ns == 10**18
    store.close()


def test_forgetting_before_a_moment_erases_inside_a_packed_file(tmp_path: Path) -> None:
    clock = VirtualClock()
    store = segments(tmp_path / "s", clock=clock)
    old = store.append("t", b"topsecret" * 500)
    clock.advance(10)
    moment = clock.wall_ns()
    young = store.append("t", b"young" * 1_500)
    store.append("t", b"next file")
    packed_all(store)
    assert ".segz" in suffixes(tmp_path)
    store.forget(BeforeScope(moment))
    assert refused(lambda: store.read(old)) == "span_gone"
    assert store.read(young) == b"young" * 1_500
    packed_all(store)
    assert refused(lambda: store.read(old)) == "span_gone"
    assert store.read(young) == b"young" * 1_500
    store.close()


def test_what_is_forgotten_while_it_is_packed_does_not_come_back(tmp_path: Path) -> None:
    class Meanwhile(SystemCalls):
        def fsync(self, fd: int) -> None:
            super().fsync(fd)
            name = Path(f"/proc/self/fd/{fd}").readlink().name
            if name.endswith(".new"):  # packed, not yet exchanged
                store.forget(SessionScope("t"))

    store = segments(tmp_path / "s", system=Meanwhile())
    filled(store)
    store.settle()
    store.pack_one()
    assert suffixes(tmp_path) == []
    assert files_with(tmp_path, b"000") == []
    store.close()


def test_every_failing_call_of_packing_leaves_every_byte_readable(tmp_path: Path) -> None:
    for fail_at in range(1, 60):
        system = FaultySystem(10**6, code=errno.ENOSPC)
        store = segments(tmp_path / str(fail_at), system=system)
        kept = filled(store)
        store.settle()
        system.fail_at = system.calls + fail_at
        with suppress(DragomanError):
            packed_all(store)
        assert [store.read(span) for span, _ in kept] == [piece for _, piece in kept]
        store.close()
        fresh = segments(tmp_path / str(fail_at))
        assert [fresh.read(span) for span, _ in kept] == [piece for _, piece in kept]
        assert ".new" not in suffixes(tmp_path / str(fail_at))
        fresh.close()
        if not system.reached:
            return
    pytest.fail("never ran clean")


def test_where_both_forms_exist_the_raw_one_counts_and_packing_is_done_again(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    kept = filled(store)
    store.settle()
    (tmp_path / "s" / "t" / f"{kept[0][0].segment:016d}.segz").write_bytes(b"cut short")
    assert store.read(kept[0][0]) == kept[0][1]
    packed_all(store)
    assert store.read(kept[0][0]) == kept[0][1]
    assert suffixes(tmp_path) == [".seg", ".segz", ".segz"]
    store.close()


def test_a_damaged_packed_file_is_damage_and_never_passes_for_data(tmp_path: Path) -> None:
    store = segments(tmp_path / "s")
    (span, piece), *_ = filled(store)
    packed_all(store)
    store.close()
    path = min((tmp_path / "s" / "t").glob("*.segz"))
    whole = bytearray(path.read_bytes())
    for position in range(len(whole)):
        whole[position] ^= 0x10
        path.write_bytes(whole)
        with suppress(DragomanError):
            assert store.read(span) == piece
        whole[position] ^= 0x10
    path.write_bytes(whole[:-1])
    assert refused(lambda: store.read(span)) == "span_damaged"


def test_a_span_over_several_files_is_synced_to_its_end_and_a_full_file_only_once(tmp_path: Path) -> None:
    synced: list[str] = []

    class Watching(SystemCalls):
        def fsync(self, fd: int) -> None:
            synced.append(Path(f"/proc/self/fd/{fd}").readlink().name)
            super().fsync(fd)

    store = segments(tmp_path / "s", system=Watching())
    spans = [span for span, _ in filled(store)]
    assert synced == [], "appending waits for no disk, also where a file is full"
    joined = spans[0]
    for span in spans[1:]:
        joined = joined.plus(span)
    store.sync([joined])
    names = [f"{number:016d}.seg" for number in sorted({span.segment for span in spans})]
    assert [name for name in synced if name.endswith(".seg")] == names
    store.sync([joined])
    store.settle()
    store.close()
    assert [name for name in synced if name.endswith(".seg")] == names


def test_a_full_file_that_failed_to_sync_is_closed_and_its_spans_are_in_doubt(tmp_path: Path) -> None:
    system = FaultySystem(10**6, code=errno.EIO)
    store = segments(tmp_path / "s", system=system)
    kept = filled(store)
    system.fail_at = system.calls + 1
    with pytest.raises(OSError, match="Input/output"):
        store.settle()
    store.settle()
    assert not store.has_unsynced_files
    assert refused(lambda: store.sync([kept[0][0]])) == "journal_io_failed"
    assert [store.read(span) for span, _ in kept] == [piece for _, piece in kept]
    store.close()
