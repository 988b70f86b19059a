"""Messages out of bytes in any chunks; what is no message passes unchanged, and nothing is kept without bound."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.remote import message_streams
from dragoman.cli.remote.message_streams import DapStream, LineStream, MessageStream, StreamChunk

WELCOME = b'{"dragoman":1}\n'


def fed(stream: MessageStream, data: bytes, cuts: list[int]) -> list[StreamChunk]:
    ends = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [piece for start, end in pairwise(ends) for piece in stream.feed(data[start:end])]


def dap(value: object) -> bytes:
    return DapStream().encode(value)


_CUTS = st.lists(st.integers(0, 200), max_size=6)


@given(_CUTS)
def test_lines_are_the_same_however_they_arrive(cuts: list[int]) -> None:
    data = b'{"a":1}\n\nno json\n["b"]\n{"half"'
    pieces = fed(LineStream(), data, cuts)
    assert [it.data for it in pieces] == [b'{"a":1}\n', b"\n", b"no json\n", b'["b"]\n']
    assert [it.message for it in pieces] == [{"a": 1}, None, None, ["b"]]


@given(_CUTS)
def test_frames_are_the_same_however_they_arrive(cuts: list[int]) -> None:
    odd = b"X-Other: 1\r\ncontent-length:  2\r\n\r\n{}"
    data = WELCOME + dap({"seq": 1}) + odd + dap([])[:-1]
    pieces = fed(DapStream(), data, cuts)
    assert [it.data for it in pieces] == [WELCOME, dap({"seq": 1}), odd]
    assert [it.message for it in pieces] == [{"dragoman": 1}, {"seq": 1}, {}]


@given(_CUTS, st.sampled_from([b"no header\r\n\r\n{}", b"Content-Length: x\r\n\r\n", b"y" * 9000]))
def test_bytes_that_are_no_frames_pass_as_they_are(cuts: list[int], garbage: bytes) -> None:
    data = WELCOME + garbage + dap({"seq": 1})
    pieces = fed(DapStream(), data, cuts)
    assert b"".join(it.data for it in pieces) == data
    assert [it.body for it in pieces[1:]] == [None] * (len(pieces) - 1)


@given(_CUTS)
def test_a_message_that_is_too_long_passes_in_pieces_and_the_next_is_read(cuts: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_streams, "MAX_MESSAGE", 50)
        long = {"text": "x" * 60}
        for stream, encode, first in (
            (LineStream(), LineStream().encode, b""),
            (DapStream(), dap, WELCOME),
        ):
            data = first + encode(long) + encode({"seq": 2})
            pieces = fed(stream, data, [*cuts, len(first) + 70])
            assert b"".join(it.data for it in pieces) == data
            assert pieces[-1].message == {"seq": 2}


def test_a_deeply_nested_message_is_none() -> None:
    [piece] = LineStream().feed(b"[" * 100_000 + b"]" * 100_000 + b"\n")
    assert piece.message is None


def test_a_message_is_encoded_in_one_line() -> None:
    encoded = LineStream().encode({"text": "a\nü"})
    assert encoded.count(b"\n") == 1
    assert json.loads(encoded) == {"text": "a\nü"}


@pytest.mark.parametrize("stream", [LineStream, DapStream])
def test_a_message_that_may_be_too_deep_to_be_encoded_again_passes_as_it_is(stream: type[MessageStream]) -> None:
    deep = b'{"a":' * 600 + b"1" + b"}" * 600
    encoded = deep + b"\n" if stream is LineStream else WELCOME + b"Content-Length: %d\r\n\r\n%b" % (len(deep), deep)
    *_, piece = stream().feed(encoded)
    assert piece.body == deep
    assert piece.message is None
