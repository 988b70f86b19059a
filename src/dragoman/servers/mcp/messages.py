"""Encode and decode MCP messages within the size limits that the SDK leaves to its transport."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import Any

import anyio
import mcp_types as types
import msgspec
from anyio.abc import ByteStream
from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from dragoman.io.event_loop import TimeSlice
from dragoman.protocols.jsonrpc import (
    ENDS_KEPT,
    INVALID_REQUEST,
    LARGE,
    MESSAGE_CAP,
    PARSE_ERROR,
    TOO_MANY_PARTS,
    CappedLines,
    Id,
    OverlongLine,
    as_id,
    error_line,
    has_too_many_parts,
    lost_id,
)

# Half of what the pump passes on. An agent could not use a larger result.
RESULT_CAP = 32 << 20
_READ = 1 << 16


class RejectedLine(Exception):  # noqa: N818  not a failure of ours: what is said to the peer
    """A line that is not a message, with the error line that answers it."""

    def __init__(self, answer: bytes) -> None:
        super().__init__()
        self.answer = answer


async def read_messages(stream: ByteStream, rest: bytes) -> AsyncGenerator[SessionMessage | RejectedLine, None]:
    """Read messages until the peer disconnects."""
    lines = CappedLines(MESSAGE_CAP)
    turn = TimeSlice()
    data = rest
    while True:
        for line in lines.feed(data):
            for message in await _decode_line(line):
                yield message
                await turn.yield_if_spent()
            await turn.yield_if_spent()
        try:
            data = await stream.receive(_READ)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return


async def _decode_line(line: bytes | OverlongLine) -> Iterable[SessionMessage | RejectedLine]:
    if isinstance(line, OverlongLine):
        return [_too_long(lost_id(line))]
    if len(line) > LARGE:
        return await anyio.to_thread.run_sync(_decode_large, line)
    return _messages(line)


def _decode_large(line: bytes) -> list[SessionMessage | RejectedLine]:
    if has_too_many_parts(line):
        ends = OverlongLine(line[:ENDS_KEPT], line[-ENDS_KEPT:])
        return [_rejected(lost_id(ends), INVALID_REQUEST, "the message has too many parts", TOO_MANY_PARTS)]
    return list(_messages(line))


def _too_long(request_id: Id | None) -> RejectedLine:
    text = f"the message has more than the {MESSAGE_CAP} bytes that are taken"
    return _rejected(request_id, INVALID_REQUEST, text, "line_too_long")


def _messages(line: bytes) -> Iterator[SessionMessage | RejectedLine]:
    """The messages of a line. Only revision 2025-03-26 has batches; their answers are separate lines."""
    if not line.strip():
        return
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        yield _rejected(None, PARSE_ERROR, "the line is not JSON")
        return
    if value == []:
        yield _rejected(None, INVALID_REQUEST, "the batch is empty")
    yield from map(_message, value if isinstance(value, list) else [value])


def _message(value: Any) -> SessionMessage | RejectedLine:
    """Decode one message.

    A request with an id of the wrong type would pass for a notification, and its sender would wait forever.
    """
    known = as_id(value.get("id")) if isinstance(value, dict) else None
    has_invalid_id = known is None and isinstance(value, dict) and "method" in value and "id" in value
    try:
        if not has_invalid_id:
            return SessionMessage(types.jsonrpc_message_adapter.validate_python(value, by_name=False))
    except (ValidationError, RecursionError):
        pass
    return _rejected(known, INVALID_REQUEST, "this is no JSON-RPC 2.0 message")


def _rejected(request_id: Id | None, code: int, message: str, ours: str = "") -> RejectedLine:
    return RejectedLine(error_line(request_id, code, message, {"code": ours} if ours else None) + b"\n")


def encode(message: types.JSONRPCMessage) -> bytes:
    """Encode a message. The id comes before the result, because the pump looks for it there."""
    line = _encode_json(_fields(message))
    if len(line) > RESULT_CAP and isinstance(message, types.JSONRPCResponse):
        line = error_line(
            message.id,
            types.INTERNAL_ERROR,
            f"the result has {len(line)} bytes, more than the {RESULT_CAP} that are passed on; ask for less",
            {"code": "result_too_large"},
        )
    return line + b"\n"


def _fields(message: types.JSONRPCMessage) -> dict[str, Any]:
    if isinstance(message, types.JSONRPCResponse):  # The result is plain already; converting it again would copy it.
        return {"jsonrpc": "2.0", "id": message.id, "result": message.result}
    return message.model_dump(by_alias=True, mode="json", exclude_unset=True)


def _encode_json(value: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # a lone surrogate: program output may contain one, and JSON can escape it
        return json.dumps(value, separators=(",", ":")).encode()


def encodable_result(result: HandlerResult) -> HandlerResult:
    """The result as middleware sees it is plain already."""
    try:
        size = len(msgspec.json.encode(result)) if isinstance(result, dict) else 0
    except UnicodeEncodeError:  # a lone surrogate: program output may contain one
        whole: dict[str, Any] = _escaped(result)
        return encodable_result(whole)
    if size > RESULT_CAP:
        message = f"the result has {size} bytes, more than the {RESULT_CAP} that are passed on; ask for less"
        raise MCPError(types.INTERNAL_ERROR, message, {"code": "result_too_large"})
    return result


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list) else value
