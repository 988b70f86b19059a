"""The scanner: transparent, never late, bounded, and the same for every chunking."""

from __future__ import annotations

import re
import subprocess
import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.osc import MAX_BODY, CommandFinished, CommandLineReported, MarkScanner, UnknownMark
from tests.protocols.osc.streams import CORPUS, NOISE, marks_of, placed_marks, scan, whole

POSSIBLE_MARK = re.compile(
    rb"\x1b(\](1|13|133|6|63|633)?)?|\x1b\](133|633);[^\x07\x18\x1a\x1b]{0,8192}\x1b?", re.DOTALL
)


def test_every_split_of_the_corpus_gives_the_same_marks_at_the_same_places() -> None:
    expected = scan([CORPUS])
    assert len(marks_of(expected)) == 6
    for first in range(len(CORPUS)):
        for second in range(first, len(CORPUS), 3):
            pieces = scan([CORPUS[:first], CORPUS[first:second], CORPUS[second:]])
            assert placed_marks(pieces) == placed_marks(expected)
            assert marks_of(pieces) == marks_of(expected)


def test_byte_by_byte_is_the_same_as_all_at_once() -> None:
    assert placed_marks(scan(bytes([byte]) for byte in CORPUS)) == placed_marks(scan([CORPUS]))


@given(st.lists(NOISE | st.binary(max_size=20)))
def test_what_comes_out_is_what_went_in(chunks: list[bytes]) -> None:
    assert whole(scan(chunks)) == b"".join(chunks)


@given(st.lists(NOISE))
def test_chunking_changes_no_mark(chunks: list[bytes]) -> None:
    assert placed_marks(scan(chunks)) == placed_marks(scan([b"".join(chunks)]))


@given(NOISE, NOISE)
def test_what_passes_comes_out_as_it_is_and_leaves_nothing_behind(before: bytes, data: bytes) -> None:
    scanner = MarkScanner()
    scanner.feed(before)
    if scanner.passes(data):
        assert scanner.feed(data) == [data] * bool(data)
        assert not scanner.held


@given(NOISE)
def test_after_every_byte_only_a_possible_mark_is_held_back(stream: bytes) -> None:
    scanner, released = MarkScanner(), b""
    for at, byte in enumerate(stream):
        released += whole(scanner.feed(bytes([byte])))
        assert released + scanner.held == stream[: at + 1]
        assert not scanner.held or POSSIBLE_MARK.fullmatch(scanner.held)


@pytest.mark.parametrize(
    "sequence",
    [
        b"\x1b]0;a title\x07",
        b"\x1b]2;a title\x1b\\",
        b"\x1b]8;;http://example.org\x1b\\",
        b"\x1b]52;c;aGVsbG8=\x07",
        b"\x1b]1337;CurrentDir=/\x07",
        b"\x1b]1330;A\x07",
        b"\x1b]133\x07",
        b"\x1b[1;33m",
        b"\x1bP133;A\x1b\\",
    ],
)
def test_other_sequences_pass_at_once_and_untouched(sequence: bytes) -> None:
    scanner = MarkScanner()
    assert whole(scanner.feed(sequence)) == sequence
    assert not scanner.held


def test_a_plain_chunk_is_handed_on_without_a_copy() -> None:
    chunk = b"plain text " * 100
    assert MarkScanner().feed(chunk)[0] is chunk


def test_nothing_gives_nothing() -> None:
    assert scan([b"", b""]) == []


def test_text_before_a_held_beginning_is_not_delayed() -> None:
    scanner = MarkScanner()
    assert scanner.feed(b"prompt$ \x1b]13") == [b"prompt$ "]
    assert scanner.held == b"\x1b]13"


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_both_ends_are_taken_and_belong_to_the_mark(end: bytes) -> None:
    before, mark, after = scan([b"a\x1b]133;D;3" + end + b"b"])
    assert (before, after) == (b"a", b"b")
    assert isinstance(mark, CommandFinished)
    assert mark.exit_code == 3
    assert mark.raw == b"\x1b]133;D;3" + end


def test_the_8_bit_ends_are_letters_in_utf_8_and_end_nothing() -> None:
    text = "echo “œ” \u009c\u009d"
    (mark,) = scan([b"\x1b]633;E;" + text.encode() + b"\x07"])
    assert isinstance(mark, CommandLineReported)
    assert mark.command_line == text


def test_the_8_bit_introducer_is_not_one() -> None:
    stream = b"\x9d133;A\x07 \xe2\x80\x9d133;A\x07"
    assert scan([stream]) == [stream]


@pytest.mark.parametrize("abort", [b"\x18", b"\x1a", b"\x1b[0m", b"\x1bc"])
def test_what_aborts_a_mark_in_a_terminal_aborts_it_here(abort: bytes) -> None:
    stream = b"\x1b]133;D;0" + abort + b"\x07"
    assert marks_of(scan([stream])) == []
    assert whole(scan([stream])) == stream


def test_a_mark_that_follows_an_aborted_one_is_found() -> None:
    pieces = scan([b"\x1b]633;E;rm -rf\x1b]133;A\x07"])
    assert pieces[0] == b"\x1b]633;E;rm -rf"
    assert placed_marks(pieces) == [(14, b"\x1b]133;A\x07")]


def test_a_mark_inside_a_title_is_taken_as_a_terminal_would() -> None:
    pieces = scan([b"\x1b]0;title\x1b]133;A\x07"])
    assert [raw for _, raw in placed_marks(pieces)] == [b"\x1b]133;A\x07"]


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
@pytest.mark.parametrize("chunk", [1, 7, 100_000])
def test_the_body_may_have_the_cap_and_not_a_byte_more(end: bytes, chunk: int) -> None:
    for extra, marks in ((0, 1), (1, 0)):
        stream = b"\x1b]633;E;" + b"x" * (MAX_BODY - 2 + extra) + end
        pieces = scan(stream[at : at + chunk] for at in range(0, len(stream), chunk))
        assert len(marks_of(pieces)) == marks
        assert whole(pieces) == stream


def test_an_osc_without_end_is_released_at_the_cap_and_held_no_longer() -> None:
    scanner, size = MarkScanner(), 0
    chunk = b"x" * 4096
    scanner.feed(b"\x1b]633;E;")
    tracemalloc.start()
    for _ in range(10 * 256):
        size += len(whole(scanner.feed(chunk)))
        assert len(scanner.held) <= MAX_BODY + len(b"\x1b]633;\x1b")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == 10 * 1024 * 1024 + len(b"\x1b]633;E;")
    assert peak < 128 * 1024


def test_a_smaller_cap_can_be_asked_for() -> None:
    assert marks_of(scan([b"\x1b]133;D;1;aid=9\x07"], MarkScanner(max_body=4))) == []


def test_the_end_of_the_stream_releases_what_was_held() -> None:
    scanner = MarkScanner()
    assert scanner.feed(b"\x1b]133;D;0") == []
    assert scanner.flush() == [b"\x1b]133;D;0"]
    assert scanner.flush() == []
    assert scanner.feed(b"\x07") == [b"\x07"]


def test_a_lone_escape_waits_for_its_next_byte_alone() -> None:
    scanner = MarkScanner()
    assert scanner.feed(b"a\x1b") == [b"a"]
    assert scanner.feed(b"[") == [b"\x1b["]


@given(st.binary(max_size=4000))
def test_binary_noise_comes_out_as_it_was(noise: bytes) -> None:
    assert whole(scan(noise[at : at + 97] for at in range(0, len(noise), 97))) == noise


def test_an_unknown_letter_keeps_its_body() -> None:
    for body in (b"Z;1", b"", b"AA", b"\xff\xfe", b"L"):
        (mark,) = scan([b"\x1b]133;" + body + b"\x07"])
        assert isinstance(mark, UnknownMark)
        assert (mark.body, mark.dialect) == (body, 133)


def test_the_package_needs_the_standard_library_alone() -> None:
    code = "import sys; import dragoman.protocols.osc; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "dragoman" in loaded
    assert not loaded & {"msgspec", "pydantic", "anyio", "asyncio", "socket", "apsw", "rich", "cyclopts"}
