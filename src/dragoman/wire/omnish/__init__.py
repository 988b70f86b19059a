"""The omnish protocol: terminal sessions between a shell wrapper and its daemon. Standard library alone."""

from __future__ import annotations

from dragoman.wire.omnish.connection import (
    ClientConnection,
    ConnectionEvent,
    DaemonConnection,
    FrameSkipped,
    PushReceived,
    ReplyReceived,
    RequestReceived,
)
from dragoman.wire.omnish.framing import (
    MAX_FRAME,
    Frame,
    decode_frame,
    decode_message,
    encode_frame,
    encode_message,
)
from dragoman.wire.omnish.schema import SEED, Schema, schema_named

__all__ = [
    "MAX_FRAME",
    "SEED",
    "ClientConnection",
    "ConnectionEvent",
    "DaemonConnection",
    "Frame",
    "FrameSkipped",
    "PushReceived",
    "ReplyReceived",
    "RequestReceived",
    "Schema",
    "decode_frame",
    "decode_message",
    "encode_frame",
    "encode_message",
    "schema_named",
]
