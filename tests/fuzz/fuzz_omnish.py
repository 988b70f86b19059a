"""Any bytes as frames, messages and streams of both revisions: a message, a skip or a remote error, never more."""

from __future__ import annotations

import json
from pathlib import Path

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.omnish import (
    ConnectionEvent,
    DaemonConnection,
    FrameSkipped,
    Schema,
    decode_frame,
    encode_frame,
    schema_named,
)
from dragoman.protocols.omnish.json_form import frame_from_json, frame_to_json

VECTORS = Path(__file__).parents[1] / "vectors" / "omnish"
SCHEMAS = [schema_named("seed"), schema_named("v25")]


def _frames(name: str) -> list[bytes]:
    valid = json.loads((VECTORS / name).read_text(encoding="utf-8"))["valid"]
    return [bytes.fromhex(vector["frame_hex"]) for vector in valid if "frame_hex" in vector]


FRAMES = [*_frames("vectors.json"), *_frames("vectors_v25.json")]
SEEDS = [*FRAMES, *(len(frame).to_bytes(4, "big") + frame for frame in FRAMES)]


def one_input(data: bytes) -> None:
    for schema in SCHEMAS:
        _one_frame(data, schema)
    size = 1 + sum(data[:8]) % 61
    assert _stream([data]) == _stream([data[at : at + size] for at in range(0, len(data), size)])


def _one_frame(data: bytes, schema: Schema) -> None:
    """What is accepted can be written again, also by way of JSON, and is then read as the same bytes."""
    try:
        frame = decode_frame(data, schema)
    except RemoteProtocolError:
        return
    again = encode_frame(frame, schema)
    assert len(again) <= len(data), "more was read than there is"
    assert encode_frame(decode_frame(again, schema), schema) == again
    assert encode_frame(frame_from_json(frame_to_json(frame, schema), schema), schema) == again


def _stream(chunks: list[bytes]) -> list[str]:
    daemon = DaemonConnection(max_frame=1 << 20)
    seen: list[str] = []
    try:
        for chunk in chunks:
            daemon.receive_data(chunk)
            seen.extend(map(_described, daemon.events()))
        daemon.receive_eof()
        seen.extend(map(_described, daemon.events()))
    except RemoteProtocolError as error:
        seen.append(error.code)
    return seen


def _described(event: ConnectionEvent) -> str:
    return f"{event.request_id} {event.error}" if isinstance(event, FrameSkipped) else repr(event)
