"""`wire decode gateway`: frames from a byte stream."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.gateway import GatewayProtocolError, decode_stream
from tests.protocols.gateway.transcripts import NAMES, sockets

FRAMES: list[dict[str, Any]] = [
    {"type": "req", "id": "1", "method": "m", "params": {"text": 'a"}{\\"\n'}},
    {"type": "res", "id": "1", "ok": True, "payload": [1, {"a": "]"}]},
    {"type": "event", "event": "事件", "payload": {"deep": [[[{}]]]}},
]


@given(st.lists(st.sampled_from(FRAMES), max_size=8), st.sampled_from(["", "\n", "\r\n", " \t\n\n"]))
def test_frames_are_found_one_after_the_other_or_one_a_line(frames: list[dict[str, Any]], between: str) -> None:
    data = between.join(json.dumps(frame, ensure_ascii=False) for frame in frames).encode()
    assert list(decode_stream(data)) == frames


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_conversation_comes_out_as_it_went_in(name: str) -> None:
    lines = [line for socket in sockets(name) for line in socket.lines if line.direction != "close"]
    assert list(decode_stream(b"".join(line.data for line in lines))) == [line.frame for line in lines]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'{"type":"event","event":"x"}{"type":', "truncated_stream"),
        (b'{"type":"event","event":"x"} "open', "invalid_json"),
        (b"}", "invalid_json"),
        (b"nonsense", "invalid_json"),
        (b'{"type":"other"}', "invalid_frame"),
        (b"[1]", "invalid_frame"),
        (b"[" * 100_000, "frame_too_deep"),
        (b'{"type":"event","event":"' + b"x" * 200 + b'"}', "frame_too_large"),
        (b'{"type":"event","event":"\xff"}', "invalid_utf8"),
    ],
)
def test_the_first_thing_that_is_not_a_frame_is_named(data: bytes, code: str) -> None:
    with pytest.raises(GatewayProtocolError) as caught:
        list(decode_stream(data, max_bytes=200 if code == "frame_too_large" else 10_000_000))
    assert caught.value.code == code


def test_the_frames_before_a_fault_are_given_out() -> None:
    stream = decode_stream(b'{"type":"event","event":"x"}oops')
    assert next(stream) == {"type": "event", "event": "x"}
    with pytest.raises(GatewayProtocolError):
        next(stream)
