"""Events come out whole however the bytes were cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.models.http_model import OversizedEventError, ServerSentEventReader

STREAM = b': hello\n\nevent: a\ndata: {"x": 1}\n\ndata: two\r\ndata:lines\r\n\r\nid: 3\n\ndata: \xe6\x99\x9a\n\n'
EVENTS = [b'{"x": 1}', b"two\nlines", "晚".encode()]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_cut_of_the_bytes_gives_the_same_events(cuts: list[int]) -> None:
    at = [0, *sorted(cuts), len(STREAM)]
    reader = ServerSentEventReader()
    pieces = [STREAM[a:b] for a, b in itertools.pairwise(at)]
    assert [event for piece in pieces for event in reader.feed(piece)] == EVENTS


def test_an_event_that_never_ends_is_given_up() -> None:
    reader = ServerSentEventReader()
    for _ in range(16):
        assert list(reader.feed(b"x" * 65_536)) == []
    with pytest.raises(OversizedEventError):
        list(reader.feed(b"x"))
