"""Lines: any split, every cap, and what each side makes of the separator."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.luapanda.framing import LineReader, command_text, message_text

CAP = 100


def read(*chunks: bytes, cap: int = CAP) -> list[bytes]:
    reader = LineReader(cap)
    lines = []
    for chunk in chunks:
        reader.feed(chunk)
        while (line := reader.next_line()) is not None:
            lines.append(line)
    return lines


@given(st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line)), st.lists(st.integers(0, 300)))
def test_any_split_of_the_bytes_gives_the_same_lines(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    assert read(*(data[begin:end] for begin, end in pairwise(places))) == lines


@pytest.mark.parametrize("over", [-1, 0])
@pytest.mark.parametrize("chunk", [1, 1_000])
def test_a_line_up_to_the_cap_is_taken(over: int, chunk: int) -> None:
    data = b"x" * (CAP + over) + b"\n"
    assert read(*(data[at : at + chunk] for at in range(0, len(data), chunk))) == [data[:-1]]


@pytest.mark.parametrize("over", [1, 2])
@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("chunk", [1, 1_000])
def test_a_line_beyond_the_cap_is_refused_whether_it_ends_or_not(over: int, end: bytes, chunk: int) -> None:
    data = b"x" * (CAP + over) + end
    with pytest.raises(RemoteProtocolError) as caught:
        read(*(data[at : at + chunk] for at in range(0, len(data), chunk)))
    assert caught.value.code == "line_too_long"


def test_a_line_without_end_is_held_up_to_the_cap_and_no_further() -> None:
    cap = 1024 * 1024
    reader, piece = LineReader(cap), b"x" * 4096
    tracemalloc.start()
    try:
        for _ in range(cap // len(piece)):
            reader.feed(piece)
            assert reader.next_line() is None
        reader.feed(b"x")
        with pytest.raises(RemoteProtocolError):
            reader.next_line()
        reader.discard()
        assert tracemalloc.get_traced_memory()[1] < 2 * cap
        assert not reader.unread
    finally:
        tracemalloc.stop()


@pytest.mark.requirement("luapanda:framing:separator", "luapanda:framing:newline-ended")
def test_a_line_is_split_at_its_newline_and_never_at_a_separator_within() -> None:
    (line,) = read(b'{"value":"a|*|b"} |*|\n')
    assert message_text(line) == b'{"value":"a|*|b"} '
    assert read(b'{"value":"a|*|b"} |*|') == []


@pytest.mark.parametrize("line", [b"{}|*|", b"{} |*|", b"{}|*|\r", b"{}|*| ", b"{} |*| \r"])
def test_blanks_and_a_carriage_return_around_the_separator_are_tolerated(line: bytes) -> None:
    assert message_text(line).strip() == b"{}"
    assert command_text(line)[0].strip() == b"{}"


@pytest.mark.parametrize("line", [b"", b"{}", b"GET / HTTP/1.1\r", b"{}|*", b"|*|{}"])
def test_a_line_without_the_suffix_is_not_the_runtimes(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        message_text(line)
    assert caught.value.code == "missing_separator"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", "empty_line"),
        (b"  \r", "empty_line"),
        (b"{}", "missing_separator"),
        (b"{}  ", "missing_separator"),
        (b"1|*|2|*|3|*|", "three_on_a_line"),
    ],
)
def test_a_line_that_the_runtime_cannot_survive_is_refused(line: bytes, code: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        command_text(line)
    assert caught.value.code == code


def test_the_runtime_cuts_three_characters_whatever_they_are() -> None:
    assert command_text(b"{}   ") == (b"{}", b"")
    assert command_text(b"1 |*|2 |*|") == (b"1 ", b"2 ")
