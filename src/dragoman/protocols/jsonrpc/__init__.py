"""JSON-RPC 2.0 as lines, as far as the stdio pump has to understand it: ids, the handshake, and open requests.

Standard library alone: the pump must start within milliseconds.
"""

from dragoman.protocols.jsonrpc.framing import (
    ENDS_KEPT,
    LARGE,
    LINE_CAP,
    MESSAGE_CAP,
    PARTS_AT_MOST,
    TOO_MANY_PARTS,
    CappedLines,
    OverlongLine,
    has_too_many_parts,
    is_too_deep,
)
from dragoman.protocols.jsonrpc.relay import (
    INVALID_REQUEST,
    PARSE_ERROR,
    SERVER_ERROR,
    Id,
    Relay,
    as_id,
    error_line,
    is_message,
    lost_id,
    objects_in,
    refuse_overlong,
    refuse_parts,
    replied_id,
)

__all__ = [
    "ENDS_KEPT",
    "INVALID_REQUEST",
    "LARGE",
    "LINE_CAP",
    "MESSAGE_CAP",
    "PARSE_ERROR",
    "PARTS_AT_MOST",
    "SERVER_ERROR",
    "TOO_MANY_PARTS",
    "CappedLines",
    "Id",
    "OverlongLine",
    "Relay",
    "as_id",
    "error_line",
    "has_too_many_parts",
    "is_message",
    "is_too_deep",
    "lost_id",
    "objects_in",
    "refuse_overlong",
    "refuse_parts",
    "replied_id",
]
