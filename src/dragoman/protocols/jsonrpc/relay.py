"""The pump's state: what must be sent to the next daemon, and what the last one still owes the client.

When a daemon exits, the state of its connection is lost. The handshake is replayed to the next one, and its reply
dropped. A request that was sent completely may have had an effect, so its caller receives an error; one that was not
sent waits for the next daemon. The daemon makes no requests of its own, so a client's answer cannot be stale.

Of a line, only what it says about ids is parsed: which requests it opens, answers or loses.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dragoman.protocols.jsonrpc.framing import (
    ENDS_KEPT,
    LINE_CAP,
    MESSAGE_CAP,
    PARTS_AT_MOST,
    TOO_MANY_PARTS,
    CappedLines,
    OverlongLine,
    has_too_many_parts,
)

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


def refuse_parts(line: bytes) -> bytes:
    """The error for it. It reaches neither a peer nor a parser: a flood costs no more than its bytes."""
    ends = OverlongLine(line[:ENDS_KEPT], line[-ENDS_KEPT:])
    message = f"a message of more than {PARTS_AT_MOST} parts is not passed on"
    return error_line(lost_id(ends), INVALID_REQUEST, message, {"code": TOO_MANY_PARTS})


def refuse_overlong(line: OverlongLine, cap: int) -> bytes:
    message = f"a message of more than {cap} bytes is not passed on"
    return error_line(lost_id(line), INVALID_REQUEST, message, {"code": "line_too_long"})


def _read_id(found: re.Match[bytes] | None) -> Id | None:
    try:
        return as_id(json.loads(found[1])) if found else None
    except ValueError:
        return None


# The cost of keeping a line besides its bytes: a million empty lines are not free.
COST_A_LINE = 256
# With this much waiting in one direction, the pump stops reading from that side.
FULL = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class OutgoingLine:
    """A line with its end, and its effect on the open ids. A batch may have several effects."""

    data: bytes
    asks: tuple[Id, ...] = ()
    cancels: tuple[Id, ...] = ()
    initialize: Id | None = None
    is_initialized: bool = False


class LineOutbox:
    """`size` is the cost of keeping what was not sent yet."""

    def __init__(self) -> None:
        self._lines: deque[OutgoingLine] = deque()
        self._offset = 0
        self.size = 0

    def __bool__(self) -> bool:
        return bool(self._lines)

    def __iter__(self) -> Iterator[OutgoingLine]:
        return iter(self._lines)

    def put(self, line: OutgoingLine) -> None:
        self._lines.append(line)
        self.size += len(line.data) + COST_A_LINE

    def head(self) -> memoryview:
        return memoryview(self._lines[0].data)[self._offset :]

    def took(self, count: int) -> list[OutgoingLine]:
        """This many bytes were sent; returns the lines that are now complete."""
        self._offset += count
        self.size -= count
        whole = []
        while self._lines and self._offset >= len(self._lines[0].data):
            whole.append(self._lines.popleft())
            self._offset -= len(whole[-1].data)
            self.size -= COST_A_LINE
        return whole

    def pop_all(self) -> list[OutgoingLine]:
        """Everything that was not sent completely; a partly sent line counts as not sent."""
        lines = list(self._lines)
        self._lines.clear()
        self._offset = self.size = 0
        return lines

    def put_all(self, lines: Iterable[OutgoingLine]) -> None:
        for line in lines:
            self.put(line)


class FairOutbox:
    """Lines from several sources in turn: one that floods delays the others by at most a line each.

    One queue per source. A source whose queue is full is not read until the client has taken some of it.
    """

    def __init__(self, sources: int) -> None:
        self._queues = [LineOutbox() for _ in range(sources)]
        self._current = 0

    def __bool__(self) -> bool:
        return any(self._queues)

    @property
    def size(self) -> int:
        return sum(queue.size for queue in self._queues)

    def is_full(self, source: int) -> bool:
        return self._queues[source].size >= FULL

    def put(self, source: int, line: bytes) -> None:
        self._queues[source].put(OutgoingLine(line + b"\n"))

    def head(self) -> memoryview:
        """The rest of the current line, or the next one. There is one: the outbox is not empty."""
        while not self._queues[self._current]:
            self._next()
        return self._queues[self._current].head()

    def took(self, count: int) -> None:
        if self._queues[self._current].took(count):  # the line is complete
            self._next()

    def _next(self) -> None:
        self._current = (self._current + 1) % len(self._queues)


def read_line(data: bytes) -> OutgoingLine:
    messages = objects_in(data)
    requests = [(item["method"], as_id(item.get("id"))) for item in messages if isinstance(item.get("method"), str)]
    cancels = [_cancelled(item.get("params")) for item in messages if item.get("method") == "notifications/cancelled"]
    return OutgoingLine(
        data + b"\n",
        asks=tuple(request_id for _, request_id in requests if request_id is not None),
        cancels=tuple(request_id for request_id in cancels if request_id is not None),
        initialize=next((request_id for method, request_id in requests if method == "initialize"), None),
        is_initialized=any(method == "notifications/initialized" for method, _ in requests),
    )


def _cancelled(params: object) -> Id | None:
    return as_id(params.get("requestId")) if isinstance(params, dict) else None


class Relay:
    def __init__(self, cap: int = LINE_CAP) -> None:
        self._cap = cap
        self._from_client = CappedLines(min(cap, MESSAGE_CAP))  # the daemon accepts no more than that either
        self._from_daemon = CappedLines(cap)
        self._open: dict[Id, None] = {}
        self._initialize: OutgoingLine | None = None
        self._initialized: OutgoingLine | None = None
        self._dropped_response: Id | None = None
        self.to_client = LineOutbox()
        self.to_daemon = LineOutbox()

    @property
    def reads_client(self) -> bool:
        return self.to_daemon.size < FULL and self.to_client.size < FULL

    @property
    def reads_daemon(self) -> bool:
        return self.to_client.size < FULL

    @property
    def needs_daemon(self) -> bool:
        """The client waits for a daemon, or for the handshake's reply."""
        return bool(self.to_daemon or self._open)

    @property
    def is_only_handshake(self) -> bool:
        """Only a handshake waits: a client that leaves now has requested nothing."""
        request_ids = [*self._open, *(request_id for line in self.to_daemon for request_id in line.asks)]
        handshakes = {line.initialize for line in (self._initialize, *self.to_daemon) if line is not None}
        return all(request_id in handshakes for request_id in request_ids)

    def receive_from_client(self, data: bytes) -> None:
        for line in self._from_client.feed(data):
            if isinstance(line, OverlongLine):
                self._send_to_client(refuse_overlong(line, self._from_client.cap))
            elif has_too_many_parts(line):
                self._send_to_client(refuse_parts(line))
            elif line.strip():
                self.to_daemon.put(read_line(line))

    def receive_from_daemon(self, data: bytes) -> list[bytes]:
        """The lines that were passed on to the client."""
        passed = []
        for line in self._from_daemon.feed(data):
            request_id = lost_id(line) if isinstance(line, OverlongLine) else replied_id(line)
            if request_id is not None:
                self._open.pop(request_id, None)
            if isinstance(line, OverlongLine):
                self._send_to_client(refuse_overlong(line, self._cap))
            elif request_id is not None and request_id == self._dropped_response:
                self._dropped_response = None
            elif is_message(line):
                self._send_to_client(line)
                passed.append(line)
        return passed

    def sent_to_daemon(self, count: int) -> None:
        for line in self.to_daemon.took(count):
            self._hand_over(line)

    def daemon_found(self) -> None:
        """A client that has not begun needs no replay; the stateless revisions have no handshake."""
        again = [line for line in (self._initialize, self._initialized) if line is not None]
        if self._initialize is not None and self._initialize.initialize not in self._open:
            self._dropped_response = self._initialize.initialize
        self.to_daemon.put_all(again + self.to_daemon.pop_all())

    def daemon_lost(self, code: str, message: str) -> None:
        """An `initialize` without a reply is sent again instead: it changes nothing, and the client needs it."""
        asking = self._initialize.initialize if self._initialize else None
        for request_id in [request_id for request_id in self._open if request_id != asking]:
            del self._open[request_id]
            self._refuse(request_id, code, message)
        again = (self._initialize, self._initialized)
        self.to_daemon.put_all([line for line in self.to_daemon.pop_all() if line not in again])
        self._from_daemon = CappedLines(self._cap)
        self._dropped_response = None

    def daemon_not_found(self, code: str, message: str) -> None:
        """Every waiting request gets an error.

        Messages that need no reply are dropped, except the end of the handshake.
        """
        for line in self.to_daemon.pop_all():
            for request_id in line.asks:
                self._refuse(request_id, code, message)
            if line.is_initialized and self._initialize is not None:
                self._initialized = line
        for request_id in self._open:  # at most an `initialize`: the others got an error when the daemon was lost
            self._refuse(request_id, code, message)
            self._initialize = self._initialized = None
        self._open.clear()

    def _hand_over(self, line: OutgoingLine) -> None:
        self._open.update(dict.fromkeys(line.asks))
        for request_id in line.cancels:  # a cancelled request is never answered
            self._open.pop(request_id, None)
        if line.initialize is not None and line is not self._initialize:
            self._initialize, self._initialized = line, None
        if line.is_initialized:
            self._initialized = line
        if self._dropped_response is not None and line is self._initialize:
            del self._open[self._dropped_response]

    def _refuse(self, request_id: Id, code: str, message: str) -> None:
        self._send_to_client(error_line(request_id, SERVER_ERROR, message, {"code": code}))

    def _send_to_client(self, line: bytes) -> None:
        self.to_client.put(OutgoingLine(line + b"\n"))
