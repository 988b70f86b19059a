"""Whole lines out of any pieces, and what is left of one that is too long."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.jsonrpc import CappedLines, OverlongLine, lost_id
from dragoman.protocols.jsonrpc.framing import ENDS_KEPT

CAP = 3 * ENDS_KEPT
short = st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"."))
long = st.integers(CAP - 2, CAP + 2 * ENDS_KEPT).map(lambda size: bytes(33 + at % 90 for at in range(size)))


def cut(data: bytes, places: list[int]) -> list[bytes]:
    marks = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[begin:end] for begin, end in pairwise(marks)]


def fed(pieces: list[bytes], cap: int = CAP) -> list[bytes | OverlongLine]:
    lines = CappedLines(cap)
    return [line for piece in pieces for line in lines.feed(piece)]


@given(lines=st.lists(short | long, max_size=6), places=st.lists(st.integers(0, 8 * CAP), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_lines(lines: list[bytes], places: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    expected = [
        line if len(line) <= CAP else OverlongLine(line[:ENDS_KEPT], line[-ENDS_KEPT:])
        for line in lines
    ]  # fmt: skip
    assert fed(cut(data, places)) == expected


def test_a_line_without_an_end_is_held_and_not_given() -> None:
    lines = CappedLines()
    assert list(lines.feed(b"one\ntwo")) == [b"one"]
    assert lines.held == 3
    assert list(lines.feed(b"\n")) == [b"two"]


def test_a_line_that_never_ends_costs_no_more_than_the_cap() -> None:
    lines = CappedLines(CAP)
    for _ in range(100):
        assert list(lines.feed(b"x" * ENDS_KEPT)) == []
        assert lines.held <= CAP
    assert list(lines.feed(b"\nnext\n")) == [OverlongLine(b"x" * ENDS_KEPT, b"x" * ENDS_KEPT), b"next"]


@pytest.mark.parametrize(
    ("begins", "ends", "id"),
    [
        ('{"jsonrpc":"2.0","id":7,"method":"a","params":{"x":"', '"}}', 7),
        ('{"method":"a","jsonrpc":"2.0","id":"seven","params":"', '"}', "seven"),
        (' { "id" : -1 , "x" : "', '"}', -1),
        ('{"method":"tools/call","params":{"x":"', '"},"jsonrpc":"2.0","id":3}', 3),
        ('{"method":"tools/call","params":{"x":"', '"},"id":"a\\"b","jsonrpc":"2.0"} ', 'a"b'),
        ('{"params":{"x":"', '"},"id": 12 , "method": "m"}', 12),
    ],
)
def test_the_id_of_an_overlong_message_is_found_at_either_end(begins: str, ends: str, id: int | str) -> None:
    (line,) = fed([f"{begins}{'x' * CAP}{ends}\n".encode()])
    assert isinstance(line, OverlongLine)
    assert lost_id(line) == id


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        ('{"method":"a","params":{"id":5,"x":"', '"}}'),
        ('{"method":"a","params":{"x":"', '","id":5}}'),
        ('{"method":"a","params":"', '\\"id\\":5}"}'),
        ('{"id":null,"x":"', '"}'),
        ('{"id":true,"x":"', '"}'),
        ('{"id":1.5,"x":"', '"}'),
        ('[{"id":5,"x":"', '"}]'),
        ("no", "JSON"),
    ],
)
def test_an_id_that_is_not_the_messages_own_is_not_taken_for_it(begins: str, ends: str) -> None:
    (line,) = fed([f"{begins}{'x' * CAP}{ends}\n".encode()])
    assert isinstance(line, OverlongLine)
    assert lost_id(line) is None
