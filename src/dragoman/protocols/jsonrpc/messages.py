"""What a JSON-RPC line says about ids: which ones it opens, answers or loses. Nothing else is parsed."""

from __future__ import annotations

import json
import re
from typing import Any

from dragoman.protocols.jsonrpc.framing import OverlongLine

Id = int | str

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
# MCP leaves -32000 to -32019 to implementations; the first two stand for local conditions in its own libraries.
SERVER_ERROR = -32010

_ID = rb'(-?\d{1,400}|"(?:[^"\\]|\\.){0,1024}")'
_PLAIN = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_BEGINS = b'{"jsonrpc":"2.0",'
# Dragoman's daemon writes the id before the result, so that a large result need not be parsed to find it.
_REPLY = re.compile(rb'\{"jsonrpc":"2\.0","id":' + _ID + rb',"(?:result|error)":')
_ID_FIRST = re.compile(rb"\s*\{(?:\s*" + _PLAIN + rb'\s*,)*\s*"id"\s*:\s*' + _ID + rb"\s*,")
_ID_LAST = re.compile(rb'[,{]\s*"id"\s*:\s*' + _ID + rb"\s*(?:,\s*" + _PLAIN + rb"\s*)*\}\s*\Z")


def is_message(line: bytes) -> bool:
    """Whether a line of the daemon may be passed to a client."""
    return line.startswith(_BEGINS)


def replied_id(line: bytes) -> Id | None:
    return _read_id(_REPLY.match(line))


def lost_id(line: OverlongLine) -> Id | None:
    """The id of a message that was too long to keep, if it is at one of its ends."""
    return _read_id(_ID_FIRST.match(line.head) or _ID_LAST.search(line.tail))


def objects_in(line: bytes) -> list[dict[str, Any]]:
    """The message of a line, or the messages of a batch; none if it is not JSON-RPC."""
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
