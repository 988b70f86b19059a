"""What a line says about itself: which ids it opens, answers or loses. Nothing else of a message is looked at."""

from __future__ import annotations

import json
import re
from typing import Any

from dragoman.wire.jsonrpc.framing import Overlong

Id = int | str

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
# MCP leaves -32000 to -32019 to implementations; the first two stand for local conditions in its own libraries.
SERVER_ERROR = -32010

_ID = rb'(-?\d{1,400}|"(?:[^"\\]|\\.){0,1024}")'
_PLAIN = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_BEGINS = b'{"jsonrpc":"2.0",'
# Our daemon writes the id before the result, so that a large one need not be parsed to know whose it is.
_REPLY = re.compile(rb'\{"jsonrpc":"2\.0","id":' + _ID + rb',"(?:result|error)":')
_ID_FIRST = re.compile(rb"\s*\{(?:\s*" + _PLAIN + rb'\s*,)*\s*"id"\s*:\s*' + _ID + rb"\s*,")
_ID_LAST = re.compile(rb'[,{]\s*"id"\s*:\s*' + _ID + rb"\s*(?:,\s*" + _PLAIN + rb"\s*)*\}\s*\Z")


def is_message(line: bytes) -> bool:
    """Whether a line of the daemon's may go to a client at all."""
    return line.startswith(_BEGINS)


def replied_id(line: bytes) -> Id | None:
    return _read_id(_REPLY.match(line))


def lost_id(line: Overlong) -> Id | None:
    """The id of a message that was too long to keep, where it stands at one of its ends."""
    return _read_id(_ID_FIRST.match(line.head) or _ID_LAST.search(line.tail))


def objects_in(line: bytes) -> list[dict[str, Any]]:
    """The message of a line, or the messages of a batch; nothing where it is no JSON-RPC."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def as_id(value: object) -> Id | None:
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def error_line(request_id: Id | None, code: int, message: str, data: dict[str, Any] | None = None) -> bytes:
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}, separators=(",", ":")).encode()


def _read_id(found: re.Match[bytes] | None) -> Id | None:
    try:
        return as_id(json.loads(found[1])) if found else None
    except ValueError:
        return None
