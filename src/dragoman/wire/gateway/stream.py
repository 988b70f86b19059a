"""`dragoman wire decode gateway`: frames from a byte stream, one after the other or one a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from dragoman.wire.gateway.framing import (
    CLOSE_NOT_TEXT,
    MAX_DEPTH,
    MAX_PAYLOAD_BYTES,
    GatewayProtocolError,
    decode_frame,
    decode_payload,
)

_OBJECT: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])

# A whole string, a bracket, or anything else that is not white space; possessive, so that nothing is ever tried twice.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]|[^\s{}\[\]"]++|"', re.DOTALL)
_STEPS = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


def decode_stream(data: bytes, *, max_bytes: int = MAX_PAYLOAD_BYTES) -> Iterator[dict[str, Any]]:
    """Each frame as a JSON object. Ends with a `RemoteProtocolError` at the first byte that belongs to none."""
    for text in split_frames(data, max_bytes=max_bytes):
        decode_frame(text, max_bytes=max_bytes)
        yield decode_payload(Raw(text), _OBJECT)


def split_frames(data: bytes, *, max_bytes: int = MAX_PAYLOAD_BYTES) -> Iterator[bytes]:
    """Cut at the end of every outermost object."""
    start, depth = 0, 0
    for token in _TOKEN.finditer(data):
        if depth == 0:
            start = token.start()
        depth += _STEPS.get(token[0], 0)
        if depth > MAX_DEPTH or token.end() - start > max_bytes:
            decode_frame(data[start : token.end()], max_bytes=max_bytes)
        if depth <= 0:
            yield data[start : token.end()]
            depth = 0
    if depth:
        raise GatewayProtocolError("truncated_stream", "the stream ends inside a frame", CLOSE_NOT_TEXT)
