"""Content-Length frames: any split, every cap, nothing buffered that will not be used."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.dap.framing import MAX_HEADER, FrameReader, content_length, frame

CAP = 1_000


def read(*chunks: bytes, cap: int = CAP) -> list[bytes]:
    reader = FrameReader(cap)
    bodies = []
    for chunk in chunks:
        reader.feed(chunk)
        while (body := reader.next_body()) is not None:
            bodies.append(body)
    return bodies


def code_of(*chunks: bytes, cap: int = CAP) -> str:
    with pytest.raises(RemoteProtocolError) as caught:
        read(*chunks, cap=cap)
    return caught.value.code


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[begin:end] for begin, end in pairwise(places)]


@given(st.lists(st.binary(max_size=60), max_size=6), st.lists(st.integers(0, 400), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_bodies(bodies: list[bytes], cuts: list[int]) -> None:
    assert read(*pieces(b"".join(map(frame, bodies)), cuts)) == bodies


def test_a_stream_in_single_bytes_gives_the_same_bodies() -> None:
    stream = frame(b'{"a":1}') + frame(b"") + frame("ü\r\n\r\n".encode())
    assert read(*(bytes([byte]) for byte in stream)) == [b'{"a":1}', b"", "ü\r\n\r\n".encode()]


def test_a_frame_says_the_number_of_bytes_not_of_characters() -> None:
    assert frame("é".encode()) == b"Content-Length: 2\r\n\r\n\xc3\xa9"


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: 2",
        b"CONTENT-LENGTH:2",
        b"Content-Length: \t2 ",
        b"Content-Length: 0002",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2",
        b"Content-Length: 2\r\nX-Anything:",
    ],
)
def test_names_are_case_insensitive_and_other_fields_are_allowed(header: bytes) -> None:
    assert read(header + b"\r\n\r\n{}") == [b"{}"]


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (b"Content-Type: x", "missing_content_length"),
        (b"Content-Length: 2\r\ncontent-length: 2", "duplicate_content_length"),
        (b"Content-Length: -1", "bad_content_length"),
        (b"Content-Length: +2", "bad_content_length"),
        (b"Content-Length: 0x2", "bad_content_length"),
        (b"Content-Length: 2 2", "bad_content_length"),
        (b"Content-Length: 1_0", "bad_content_length"),
        (b"Content-Length: 2.0", "bad_content_length"),
        (b"Content-Length:", "bad_content_length"),
        (b"Content-Length: \xd9\xa2", "bad_content_length"),
        (b"Content-Length: 4294967296", "body_too_long"),
        (b"Content-Length: " + b"9" * 19, "body_too_long"),
        (b"Content-Length: " + b"9" * 5_000, "body_too_long"),
        (b"Content-Length 2", "bad_header"),
        (b" Content-Length: 2", "bad_header"),
        (b"hello\nContent-Length: 2", "bad_header"),
        (b"", "bad_header"),
    ],
)
def test_a_header_that_is_not_one_is_refused_with_its_code(header: bytes, code: str) -> None:
    assert code_of(header + b"\r\n\r\n{}") == code


def test_output_of_a_program_on_the_adapters_pipe_is_named_as_the_likely_cause() -> None:
    with pytest.raises(RemoteProtocolError, match=r"got 'hello'.*printing"):
        content_length(b"hello")


@pytest.mark.parametrize("over", [-1, 0])
def test_a_body_up_to_the_cap_is_taken(over: int) -> None:
    body = b"x" * (CAP + over)
    assert read(frame(body)) == [body]


@pytest.mark.parametrize("over", [1, 2])
def test_a_body_beyond_the_cap_is_refused(over: int) -> None:
    assert code_of(frame(b"x" * (CAP + over))) == "body_too_long"


def header_of(size: int) -> bytes:
    fixed = b"X: \r\nContent-Length: 0\r\n\r\n"
    return b"X: " + b"y" * (size - len(fixed)) + fixed[3:]


@pytest.mark.parametrize("over", [-1, 0])
@pytest.mark.parametrize("chunk", [1, 7, MAX_HEADER * 2])
def test_a_header_up_to_the_cap_is_taken(over: int, chunk: int) -> None:
    data = header_of(MAX_HEADER + over)
    assert read(*(data[at : at + chunk] for at in range(0, len(data), chunk))) == [b""]


@pytest.mark.parametrize("over", [1, 2])
@pytest.mark.parametrize("chunk", [1, 7, MAX_HEADER * 2])
def test_a_header_beyond_the_cap_is_refused(over: int, chunk: int) -> None:
    data = header_of(MAX_HEADER + over)
    assert code_of(*(data[at : at + chunk] for at in range(0, len(data), chunk))) == "header_too_long"


def test_a_header_without_an_end_is_refused_before_more_than_the_cap_is_held() -> None:
    assert code_of(*[b"x"] * MAX_HEADER) == "header_too_long"


def test_a_huge_length_is_refused_at_once_and_costs_no_memory() -> None:
    tracemalloc.start()
    try:
        assert code_of(b"Content-Length: 4294967296\r\n\r\n" + b"x" * 1_000, cap=64 * 1024 * 1024) == "body_too_long"
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_large_body_in_small_pieces_needs_at_most_twice_its_size() -> None:
    size, piece = 8 * 1024 * 1024, b"x" * 4096
    reader = FrameReader(size)
    tracemalloc.start()
    try:
        reader.feed(b"Content-Length: %d\r\n\r\n" % size)
        for _ in range(size // len(piece)):
            assert reader.next_body() is None
            reader.feed(piece)
        assert reader.next_body() == b"x" * size
        assert tracemalloc.get_traced_memory()[1] < 3.5 * size  # buffer, body, and the body it is compared with
    finally:
        tracemalloc.stop()


def test_bytes_of_an_unfinished_message_are_counted_and_can_be_forgotten() -> None:
    reader = FrameReader(CAP)
    reader.feed(b"Content-Length: 5\r\n\r\n")
    assert reader.next_body() is None
    assert reader.unread
    reader.discard()
    assert not reader.unread
