"""DAP: whatever comes, only a RemoteProtocolError; and the same for every split of the bytes."""

from __future__ import annotations

import json
from contextlib import suppress

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.dap import (
    Closed,
    Connection,
    ConnectionEvent,
    EventReceived,
    UnexpectedResponse,
    decode_message,
    frame,
    typed_body,
)

CAP = 4096
_BODIES: list[dict[str, object]] = [
    {"seq": 1, "type": "response", "request_seq": 1, "success": True, "command": "next", "body": {"x": [1.5, None]}},
    {"seq": 2, "type": "response", "request_seq": 1, "success": False, "message": "notStopped"},
    {"seq": 3, "type": "event", "event": "output", "body": {"output": "\ud83d é\u0000", "category": "stdout"}},
    {"seq": 4, "type": "event", "event": "stopped", "body": {"reason": "step", "hitBreakpointIds": [1]}},
    {"seq": 5, "type": "event", "event": "progressStart", "body": {"progressId": "p", "title": "t"}},
    {"seq": 6, "type": "event", "event": "breakpoint", "body": {"reason": "new", "breakpoint": {"verified": True}}},
    {"seq": 7, "type": "request", "command": "runInTerminal", "arguments": {"cwd": "/", "args": ["a"]}},
    {"seq": 8, "type": "telemetry", "vendor": {"seq": 9}},
]
_FRAMES = [frame(json.dumps(body).encode()) for body in _BODIES]
SEEDS: list[bytes] = [
    *_FRAMES,
    b"".join(_FRAMES),
    b"Content-Type: x\r\ncontent-length: 2\r\n\r\n{}",
    b"Content-Length: 4097\r\n\r\n",
]


def one_input(data: bytes) -> None:
    whole = _outcome([data])
    middle = len(data) // 2
    for chunks in ([data[:middle], data[middle:]], [data[at : at + 7] for at in range(0, len(data), 7)]):
        assert _outcome(chunks) == whole


def _outcome(chunks: list[bytes]) -> tuple[list[ConnectionEvent], str]:
    connection, other = Connection(max_body=CAP), Connection()
    connection.send_request("next")
    events: list[ConnectionEvent] = []
    fault = ""
    for chunk in chunks:
        connection.receive_data(chunk)
        try:
            events.extend(connection.events())
        except RemoteProtocolError as error:
            fault = error.code
    connection.receive_eof()
    (closed,) = connection.events()
    assert isinstance(closed, Closed)
    for event in events:
        _use(event, other)
    return [*events, Closed(closed.abandoned)], fault or (closed.error.code if closed.error else "")


def _use(event: ConnectionEvent, other: Connection) -> None:
    """What a session does with it: look into the body, and pass it on."""
    if isinstance(event, EventReceived):
        with suppress(RemoteProtocolError):
            typed_body(event.message)
    if not isinstance(event, Closed | UnexpectedResponse) and not hasattr(event, "request"):
        relayed = other.send_relayed(event).partition(b"\r\n\r\n")[2]
        assert type(decode_message(relayed)) is type(event.message)
