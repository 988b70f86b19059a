"""The Debug Adapter Protocol: Content-Length frames, numbered requests both ways, bodies left as they came."""

from __future__ import annotations

from dragoman.protocols.dap.bodies import Capabilities, read_arguments, read_body, typed_body
from dragoman.protocols.dap.connection import (
    Closed,
    Connection,
    ConnectionEvent,
    EventReceived,
    PendingRequest,
    RequestReceived,
    RequestRepeated,
    ResponseReceived,
    UnexpectedResponse,
    UnknownReceived,
)
from dragoman.protocols.dap.framing import MAX_BODY, MAX_HEADER, FrameReader, frame
from dragoman.protocols.dap.messages import (
    REVERSE_COMMANDS,
    Event,
    Message,
    Request,
    Response,
    Unknown,
    decode_message,
    renumbered,
)

__all__ = [
    "MAX_BODY",
    "MAX_HEADER",
    "REVERSE_COMMANDS",
    "Capabilities",
    "Closed",
    "Connection",
    "ConnectionEvent",
    "Event",
    "EventReceived",
    "FrameReader",
    "Message",
    "PendingRequest",
    "Request",
    "RequestReceived",
    "RequestRepeated",
    "Response",
    "ResponseReceived",
    "UnexpectedResponse",
    "Unknown",
    "UnknownReceived",
    "decode_message",
    "frame",
    "read_arguments",
    "read_body",
    "renumbered",
    "typed_body",
]
