"""The pump's memory: what a client has said that the next daemon must hear, and what the last one still owes it.

A daemon that goes takes its connection's state along. The handshake is said again to the next one, and its reply
swallowed. A request that was handed over whole may have had an effect, so its caller is told; one that was not has had
none, and waits for the next daemon. The daemon makes no requests of its own, so no answer of a client's can be stale.
"""

from __future__ import annotations

from dragoman.wire.jsonrpc.framing import (
    ENDS_KEPT,
    LINE_CAP,
    MESSAGE_CAP,
    PARTS_AT_MOST,
    TOO_MANY_PARTS,
    CappedLines,
    Overlong,
    has_too_many_parts,
)
from dragoman.wire.jsonrpc.messages import (
    INVALID_REQUEST,
    SERVER_ERROR,
    Id,
    error_line,
    is_message,
    lost_id,
    replied_id,
)
from dragoman.wire.jsonrpc.outbox import Line, Outbox, read_line

# With this much waiting in one direction, the pump reads no more from where it comes.
FULL = 1 << 20


class Relay:
    def __init__(self, cap: int = LINE_CAP) -> None:
        self._cap = cap
        self._from_client = CappedLines(min(cap, MESSAGE_CAP))  # the daemon takes no more than that either
        self._from_daemon = CappedLines(cap)
        self._open: dict[Id, None] = {}
        self._initialize: Line | None = None
        self._initialized: Line | None = None
        self._swallowed: Id | None = None
        self.to_client = Outbox()
        self.to_daemon = Outbox()

    @property
    def reads_client(self) -> bool:
        return self.to_daemon.size < FULL and self.to_client.size < FULL

    @property
    def reads_daemon(self) -> bool:
        return self.to_client.size < FULL

    @property
    def needs_daemon(self) -> bool:
        """The client waits for somebody to hear it, or for the handshake's answer."""
        return bool(self.to_daemon or self._open)

    @property
    def only_greets(self) -> bool:
        """Nothing waits but a handshake: whoever leaves now has asked for nothing."""
        asked = [*self._open, *(request_id for line in self.to_daemon for request_id in line.asks)]
        greetings = {line.initialize for line in (self._initialize, *self.to_daemon) if line is not None}
        return all(request_id in greetings for request_id in asked)

    def receive_from_client(self, data: bytes) -> None:
        for line in self._from_client.feed(data):
            if isinstance(line, Overlong):
                self._refuse_overlong(line, self._from_client.cap)
            elif has_too_many_parts(line):
                self._refuse_parts(line)
            elif line.strip():
                self.to_daemon.put(read_line(line))

    def receive_from_daemon(self, data: bytes) -> None:
        for line in self._from_daemon.feed(data):
            request_id = lost_id(line) if isinstance(line, Overlong) else replied_id(line)
            if request_id is not None:
                self._open.pop(request_id, None)
            if isinstance(line, Overlong):
                self._refuse_overlong(line, self._cap)
            elif request_id is not None and request_id == self._swallowed:
                self._swallowed = None
            elif is_message(line):
                self._tell(line)

    def sent_to_daemon(self, count: int) -> None:
        for line in self.to_daemon.took(count):
            self._hand_over(line)

    def daemon_found(self) -> None:
        """A client that has not begun needs nothing said for it; in the stateless revisions there is no handshake."""
        again = [line for line in (self._initialize, self._initialized) if line is not None]
        if self._initialize is not None and self._initialize.initialize not in self._open:
            self._swallowed = self._initialize.initialize
        self.to_daemon.put_all(again + self.to_daemon.take_all())

    def daemon_lost(self, code: str, message: str) -> None:
        """An `initialize` without an answer is asked again instead: it changes nothing, and a client needs it."""
        asking = self._initialize.initialize if self._initialize else None
        for request_id in [request_id for request_id in self._open if request_id != asking]:
            del self._open[request_id]
            self._refuse(request_id, code, message)
        again = (self._initialize, self._initialized)
        self.to_daemon.put_all([line for line in self.to_daemon.take_all() if line not in again])
        self._from_daemon = CappedLines(self._cap)
        self._swallowed = None

    def daemon_not_found(self, code: str, message: str) -> None:
        """Whoever waits is told; what needs no answer is dropped, but for the end of the handshake."""
        for line in self.to_daemon.take_all():
            for request_id in line.asks:
                self._refuse(request_id, code, message)
            if line.is_initialized and self._initialize is not None:
                self._initialized = line
        for request_id in self._open:  # at most an `initialize`: the rest was told when the daemon was lost
            self._refuse(request_id, code, message)
            self._initialize = self._initialized = None
        self._open.clear()

    def _hand_over(self, line: Line) -> None:
        self._open.update(dict.fromkeys(line.asks))
        for request_id in line.cancels:  # a cancelled request is never answered
            self._open.pop(request_id, None)
        if line.initialize is not None and line is not self._initialize:
            self._initialize, self._initialized = line, None
        if line.is_initialized:
            self._initialized = line
        if self._swallowed is not None and line is self._initialize:
            del self._open[self._swallowed]

    def _refuse_parts(self, line: bytes) -> None:
        """It never reaches the daemon, nor a parser here: a client that floods us costs no more than its bytes."""
        ends = Overlong(line[:ENDS_KEPT], line[-ENDS_KEPT:])
        message = f"a message of more than {PARTS_AT_MOST} parts is not passed on"
        self._tell(error_line(lost_id(ends), INVALID_REQUEST, message, {"code": TOO_MANY_PARTS}))

    def _refuse_overlong(self, line: Overlong, cap: int) -> None:
        message = f"a message of more than {cap} bytes is not passed on"
        self._tell(error_line(lost_id(line), INVALID_REQUEST, message, {"code": "line_too_long"}))

    def _refuse(self, request_id: Id, code: str, message: str) -> None:
        self._tell(error_line(request_id, SERVER_ERROR, message, {"code": code}))

    def _tell(self, line: bytes) -> None:
        self.to_client.put(Line(line + b"\n"))
