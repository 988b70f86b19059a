"""The omnish protocol: terminal sessions between a shell wrapper and its daemon. Standard library alone."""

from __future__ import annotations

from dragoman.protocols.omnish.connection import (
    ClientConnection,
    ConnectionEvent,
    DaemonConnection,
    FrameSkipped,
    PushReceived,
    ReplyReceived,
    RequestReceived,
)
from dragoman.protocols.omnish.framing import (
    MAX_FRAME,
    OmnishFrame,
    decode_frame,
    decode_message,
    encode_frame,
    encode_message,
)
from dragoman.protocols.omnish.schema import BASE_REVISION, Schema, schema_named

__all__ = [
    "BASE_REVISION",
    "MAX_FRAME",
    "ClientConnection",
    "ConnectionEvent",
    "DaemonConnection",
    "FrameSkipped",
    "OmnishFrame",
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
