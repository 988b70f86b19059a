"""Frames survive any chunking, and a stream that lost or changed a byte never becomes another message."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import pytest

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.pipe import (
    MAX_NOISE,
    MAX_PAYLOAD,
    Greeting,
    PipeConnection,
    PipeFailure,
    PipeFrame,
    PipeFrameKind,
    PipeFrames,
    encode_frame,
)

FRAMES = [
    PipeFrame(PipeFrameKind.READY),
    PipeFrame(PipeFrameKind.DATA, b'{"jsonrpc":"2.0","id":1,"result":{}}\n{"half'),
    PipeFrame(PipeFrameKind.KEEP_ALIVE),
    PipeFrame(PipeFrameKind.DATA, bytes(range(256))),
    PipeFrame(PipeFrameKind.END),
]
STREAM = b"".join(encode_frame(number, frame) for number, frame in enumerate(FRAMES))


def frames_of(pieces: Sequence[bytes]) -> list[PipeFrame]:
    reader, found = PipeFrames(), []
    for piece in pieces:
        reader.feed(piece)
        found += list(reader.pop_frames())
    return found


def far_side(version: str = "0.1.0", **given: object) -> Greeting:
    return Greeting(version, **given)  # type: ignore[arg-type]


def test_a_frame_has_the_bytes_of_its_definition() -> None:
    assert encode_frame(7, PipeFrame(PipeFrameKind.DATA, b"ab")).hex() == "010000000700000002b370de5e6162"


@pytest.mark.parametrize("size", [1, 2, 7, 13, 64, len(STREAM)])
def test_frames_are_the_same_in_any_chunks(size: int) -> None:
    assert frames_of([STREAM[at : at + size] for at in range(0, len(STREAM), size)]) == FRAMES


@pytest.mark.parametrize("end", range(len(STREAM)))
def test_half_a_frame_is_never_a_frame(end: int) -> None:
    whole = frames_of([STREAM[:end]])
    assert whole == FRAMES[: len(whole)]
    assert len(whole) < len(FRAMES)


@pytest.mark.parametrize("at", range(len(STREAM)))
def test_a_lost_or_changed_byte_is_never_taken_for_data(at: int) -> None:
    for damaged in (STREAM[:at] + STREAM[at + 1 :], STREAM[:at] + bytes([STREAM[at] ^ 1]) + STREAM[at + 1 :]):
        reader = PipeFrames()
        reader.feed(damaged)
        frames: list[PipeFrame] = []
        with contextlib.suppress(RemoteProtocolError):
            frames.extend(reader.pop_frames())
        assert frames == FRAMES[: len(frames)]
        assert len(frames) < len(FRAMES)


def test_a_frame_that_is_repeated_or_missing_is_noticed() -> None:
    first, second = encode_frame(0, FRAMES[1]), encode_frame(1, FRAMES[1])
    for stream in (first + first, second):
        with pytest.raises(RemoteProtocolError, match="missing or damaged"):
            frames_of([stream])


def test_a_length_beyond_the_limit_is_refused_before_its_payload_arrives() -> None:
    with pytest.raises(RemoteProtocolError):
        frames_of([b"\x01" + bytes(4) + (MAX_PAYLOAD + 1).to_bytes(4, "big") + bytes(4)])
    with pytest.raises(LocalProtocolError):
        PipeConnection(skips_noise=False).send(PipeFrameKind.DATA, bytes(MAX_PAYLOAD + 1))


def test_long_data_is_sent_in_several_frames() -> None:
    sender, data = PipeConnection(skips_noise=False), bytes(3 * MAX_PAYLOAD + 5)
    found = frames_of([sender.send_data(data)])
    assert [len(it.payload) for it in found] == [MAX_PAYLOAD] * 3 + [5]
    assert b"".join(it.payload for it in found) == data


def test_what_a_login_script_prints_before_the_first_line_is_skipped() -> None:
    near = PipeConnection(skips_noise=True)
    line = b"Welcome!\nprompt> " + far_side().encode()
    assert list(near.receive_data(line + encode_frame(0, FRAMES[0]))) == [far_side(), FRAMES[0]]
    assert near.noise == b"Welcome!\n"


def test_a_caller_may_stop_after_a_message_and_go_on_later() -> None:
    near = PipeConnection(skips_noise=True)
    assert next(near.receive_data(far_side().encode() + STREAM)) == far_side()
    assert list(near.receive_data(b"")) == FRAMES


@pytest.mark.parametrize("stream", [b"x" * (MAX_NOISE + 1), b"spam\n" * MAX_NOISE], ids=["one line", "many lines"])
def test_endless_text_instead_of_the_first_line_is_refused(stream: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        list(PipeConnection(skips_noise=True).receive_data(stream))
    assert caught.value.code == "no_greeting"


def test_the_far_side_skips_nothing() -> None:
    for stream in (b"hello\n", b" " + far_side().encode(), b"x" * 5000):
        with pytest.raises(RemoteProtocolError):
            list(PipeConnection(skips_noise=False).receive_data(stream))


@pytest.mark.parametrize(
    "line",
    [
        b"dragoman-pipe {}\n",
        b"dragoman-pipe []\n",
        b'dragoman-pipe {"protocol":1,"version":"x","oldest":"0.1.0"}\n',
        b'dragoman-pipe {"protocol":"1","version":"0.1.0","oldest":"0.1.0"}\n',
        b"dragoman-pipe " + b"[" * 3000 + b"\n",
    ],
)
def test_a_first_line_without_versions_is_refused(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        list(PipeConnection(skips_noise=True).receive_data(line))


@pytest.mark.parametrize(
    ("ours", "theirs", "agreement"),
    [
        (far_side("0.1.0"), far_side("0.1.0"), "agreed"),
        (far_side("0.1.0"), far_side("0.9.2"), "agreed"),
        (far_side("0.9.0", oldest="0.8.0"), far_side("0.7.9"), "peer_too_old"),
        (far_side("0.7.9"), far_side("0.9.0", oldest="0.8.0"), "peer_too_new"),
        (far_side("0.10.0", oldest="0.9.0"), far_side("0.10.1"), "agreed"),
        (far_side(protocol=2), far_side(), "peer_too_old"),
        (far_side(), far_side("0.1.0", protocol=2), "peer_too_new"),
    ],
)
def test_both_sides_find_the_same_disagreement(ours: Greeting, theirs: Greeting, agreement: str) -> None:
    mirrored = {"agreed": "agreed", "peer_too_old": "peer_too_new", "peer_too_new": "peer_too_old"}
    assert ours.compare(theirs) == agreement
    assert theirs.compare(ours) == mirrored[agreement]


def test_a_failure_comes_back_as_it_was_sent_and_an_odd_code_does_not() -> None:
    failure = PipeFailure("disk_full", "The disk is full.", "Free some space.")
    assert PipeFailure.decode(failure.encode()) == failure
    assert PipeFailure.decode(b'{"code":"\\u001b[31m","message":7}') == PipeFailure("far_error", "7", "")
