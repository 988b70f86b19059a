"""JSONL: any split of the bytes gives the same lines, and no line is longer than allowed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.a2ui.framing import LineSplitter
from dragoman.protocols.a2ui.messages import A2uiError, A2uiLimits

SMALL = A2uiLimits(message_bytes=8)


def split(chunks: list[bytes], limits: A2uiLimits = SMALL) -> tuple[list[bytes], str]:
    """The lines, and the code of the error that ended them."""
    splitter = LineSplitter(limits)
    lines: list[bytes] = []
    try:
        for chunk in chunks:
            splitter.receive_data(chunk)
            lines.extend(splitter.lines())
        splitter.receive_eof()
        lines.extend(splitter.lines())
    except A2uiError as error:
        return lines, error.code
    return lines, ""


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def test_lines_end_with_lf_or_crlf_and_blank_ones_are_skipped() -> None:
    assert split([b"one\ntwo\r\n\n  \t\r\n\r\n three \n"]) == ([b"one", b"two", b"three"], "")


def test_the_end_of_input_ends_the_last_line() -> None:
    assert split([b"one\ntw", b"o"]) == ([b"one", b"two"], "")


def test_a_line_is_refused_from_one_byte_above_the_limit() -> None:
    assert split([b"1234567\n"]) == ([b"1234567"], "")
    assert split([b"12345678\r\n"]) == ([b"12345678"], "")
    assert split([b"123456789\n"]) == ([], "message_too_large")


def test_the_lines_before_a_broken_one_are_given_out_first() -> None:
    assert split([b"a\nb\n123456789 and more\nc\n"]) == ([b"a", b"b"], "message_too_large")


def test_a_line_that_never_ends_is_not_kept() -> None:
    splitter = LineSplitter(SMALL)
    for _ in range(1000):
        splitter.receive_data(b"x" * 8)
    assert len(splitter._partial) == 0
    with pytest.raises(A2uiError):
        list(splitter.lines())


def test_data_after_the_end_is_our_own_mistake() -> None:
    splitter = LineSplitter()
    splitter.receive_eof()
    with pytest.raises(LocalProtocolError):
        splitter.receive_data(b"late")


@given(
    st.lists(st.sampled_from([b"a", b"12345678", b"123456789", b"\n", b"\r\n", b"\r", b" ", b"ab"])).map(b"".join),
    st.lists(st.integers(0, 200), max_size=6),
)
def test_any_split_of_the_input_gives_the_same_lines(data: bytes, places: list[int]) -> None:
    assert split(cut(data, places)) == split([data])


@given(st.lists(st.integers(0, 200), max_size=6))
def test_one_byte_at_a_time_is_a_split_like_any_other(places: list[int]) -> None:
    data = b'{"a":1}\r\n\n{"b":2}\n{"c":3}'
    bytewise = [data[index : index + 1] for index in range(len(data))]
    assert split(bytewise) == split(cut(data, places)) == ([b'{"a":1}', b'{"b":2}', b'{"c":3}'], "")
