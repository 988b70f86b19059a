"""Between the socket's lines and the SDK's messages, with bounds that the SDK leaves to its transport."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import Any

import anyio
import mcp_types as types
import msgspec
from anyio.abc import ByteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from dragoman.transport.time_slice import TimeSlice
from dragoman.wire.jsonrpc import (
    ENDS_KEPT,
    INVALID_REQUEST,
    LARGE,
    MESSAGE_CAP,
    PARSE_ERROR,
    TOO_MANY_PARTS,
    CappedLines,
    Id,
    Overlong,
    as_id,
    error_line,
    has_too_many_parts,
    lost_id,
)

# Half of what the pump passes on: an answer beyond this is nothing an agent could use.
RESULT_CAP = 32 << 20
_READ = 1 << 16


class Refused(Exception):  # noqa: N818  not a failure of ours: what is said to the peer
    """A line that is no message, and the line that says so."""

    def __init__(self, answer: bytes) -> None:
        super().__init__()
        self.answer = answer


async def read_messages(stream: ByteStream, rest: bytes) -> AsyncGenerator[SessionMessage | Refused, None]:
    """Until the peer leaves."""
    lines = CappedLines(MESSAGE_CAP)
    turn = TimeSlice()
    data = rest
    while True:
        for line in lines.feed(data):
            for message in await _decoded(line):
                yield message
                await turn.yield_if_spent()
            await turn.yield_if_spent()
        try:
            data = await stream.receive(_READ)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return


async def _decoded(line: bytes | Overlong) -> Iterable[SessionMessage | Refused]:
    if isinstance(line, Overlong):
        return [_too_long(lost_id(line))]
    if len(line) > LARGE:
        return await anyio.to_thread.run_sync(_large, line)
    return _messages(line)


def _large(line: bytes) -> list[SessionMessage | Refused]:
    if has_too_many_parts(line):
        ends = Overlong(line[:ENDS_KEPT], line[-ENDS_KEPT:])
        return [_refused(lost_id(ends), INVALID_REQUEST, "the message has too many parts", TOO_MANY_PARTS)]
    return list(_messages(line))


def _too_long(request_id: Id | None) -> Refused:
    said = f"the message has more than the {MESSAGE_CAP} bytes that are taken"
    return _refused(request_id, INVALID_REQUEST, said, "line_too_long")


def _messages(line: bytes) -> Iterator[SessionMessage | Refused]:
    """A batch, which only the revision 2025-03-26 knows, is taken apart; its answers are lines of their own."""
    if not line.strip():
        return
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        yield _refused(None, PARSE_ERROR, "the line is not JSON")
        return
    if value == []:
        yield _refused(None, INVALID_REQUEST, "the batch is empty")
    yield from map(_message, value if isinstance(value, list) else [value])


def _message(value: Any) -> SessionMessage | Refused:
    """With an id of another kind a request would pass for a notification: its sender would wait for ever."""
    known = as_id(value.get("id")) if isinstance(value, dict) else None
    asks_in_vain = known is None and isinstance(value, dict) and "method" in value and "id" in value
    try:
        if not asks_in_vain:
            return SessionMessage(types.jsonrpc_message_adapter.validate_python(value, by_name=False))
    except (ValidationError, RecursionError):
        pass
    return _refused(known, INVALID_REQUEST, "this is no JSON-RPC 2.0 message")


def _refused(request_id: Id | None, code: int, message: str, ours: str = "") -> Refused:
    return Refused(error_line(request_id, code, message, {"code": ours} if ours else None) + b"\n")


def encode(message: types.JSONRPCMessage) -> bytes:
    """The id stands before the result, which is what the pump looks for."""
    line = _encoded(_fields(message))
    if len(line) > RESULT_CAP and isinstance(message, types.JSONRPCResponse):
        line = error_line(
            message.id,
            types.INTERNAL_ERROR,
            f"the result has {len(line)} bytes, more than the {RESULT_CAP} that are passed on; ask for less",
            {"code": "result_too_large"},
        )
    return line + b"\n"


def _fields(message: types.JSONRPCMessage) -> dict[str, Any]:
    if isinstance(message, types.JSONRPCResponse):  # its result is plain already; another walk over it would copy it
        return {"jsonrpc": "2.0", "id": message.id, "result": message.result}
    return message.model_dump(by_alias=True, mode="json", exclude_unset=True)


def _encoded(value: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # a lone surrogate: program output may hold any, and JSON can escape it
        return json.dumps(value, separators=(",", ":")).encode()
