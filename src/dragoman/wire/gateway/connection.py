"""What both ends of a gateway connection share: reading, the events it gives out, pending requests, frame numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

from msgspec import Raw, Struct, UnsetType

from dragoman.errors import LocalProtocolError
from dragoman.wire.gateway.framing import MAX_HANDSHAKE_BYTES, GatewayProtocolError, decode_frame, utf8
from dragoman.wire.gateway.messages import (
    Challenge,
    ConnectParams,
    EventFrame,
    Frame,
    GatewayError,
    HelloOk,
    RequestFrame,
    ResponseFrame,
)
from dragoman.wire.gateway.refusals import Refusal


class Challenged(Struct, frozen=True):
    """The gateway asked; the answer is `send_connect`."""

    challenge: Challenge


class Connected(Struct, frozen=True):
    """`missing_scopes` were asked for and not granted: the top complaint about clients that look at `ok` alone."""

    hello: HelloOk
    missing_scopes: tuple[str, ...]


class Refused(Struct, frozen=True):
    """The handshake failed; `refusals.classify` says what to do."""

    error: GatewayError


class Succeeded(Struct, frozen=True):
    id: str
    method: str
    payload: Raw | UnsetType


class Failed(Struct, frozen=True):
    id: str
    method: str
    error: GatewayError


class Expired(Struct, frozen=True):
    """Its deadline passed; an answer that comes later is `Unmatched`."""

    id: str
    method: str


class Abandoned(Struct, frozen=True):
    """The connection ended first. Nothing is replayed: whether it took effect is unknown."""

    id: str
    method: str


class Unmatched(Struct, frozen=True):
    """An answer to nothing that is pending: unknown, repeated or late."""

    response: ResponseFrame


class SequenceGap(Struct, frozen=True):
    """Broadcasts were lost; there is no replay. The frame that showed it follows."""

    expected: int
    received: int


class Closed(Struct, frozen=True):
    close_code: int
    reason: str


class ConnectRequested(Struct, frozen=True):
    """A well-formed `connect` of a known protocol and role; next comes `judge`."""

    id: str
    params: ConnectParams
    protocol: int


class Rejected(Struct, frozen=True):
    """A handshake that failed by itself: send `reply` if there is one, then close."""

    refusal: Refusal
    reply: bytes | None


class Malformed(Struct, frozen=True):
    """A frame that is no request: send the reply; the socket stays open."""

    reply: bytes


ClientEvent = (
    Challenged
    | Connected
    | Refused
    | Succeeded
    | Failed
    | Expired
    | Abandoned
    | Unmatched
    | SequenceGap
    | EventFrame
    | Closed
)
ServerEvent = ConnectRequested | Rejected | Malformed | RequestFrame | Closed

_E = TypeVar("_E")


class Connection(Generic[_E]):
    """One socket's life. Feed it whole text messages, then take what they meant from `events`."""

    def __init__(self) -> None:
        self._events: deque[_E | GatewayProtocolError] = deque()
        self._max_inbound = MAX_HANDSHAKE_BYTES
        self._closed = False
        self._broken = False

    def receive_text(self, text: str) -> None:
        try:
            data = utf8(text)
        except GatewayProtocolError as fault:
            self._break(fault)
        else:
            self.receive_data(data)

    def receive_data(self, data: bytes) -> None:
        """One text message. After one that broke the protocol nothing is read any more."""
        if self._closed:
            raise LocalProtocolError("closed", "a message was received after the end")
        if self._broken:
            return
        try:
            self._handle_data(data)
        except GatewayProtocolError as fault:
            self._break(fault)

    def events(self) -> Iterator[_E]:
        """What happened since, in order. A peer's fault is raised in its place: close with its `close_code`."""
        while self._events:
            event = self._events.popleft()
            if isinstance(event, GatewayProtocolError):
                raise event
            yield event

    def _handle_data(self, data: bytes) -> None:
        self._handle(decode_frame(data, max_bytes=self._max_inbound))

    def _handle(self, frame: Frame) -> None:
        raise NotImplementedError

    def _break(self, fault: GatewayProtocolError) -> None:
        self._broken = True
        self._events.append(fault)


class FrameNumbers:
    """The `seq` of one connection's broadcasts: a repeated or late frame is dropped, a jump is a gap."""

    def __init__(self) -> None:
        self._last = 0

    def admit(self, seq: int | None) -> bool:
        return seq is None or seq > self._last

    def advance(self, seq: int | None) -> SequenceGap | None:
        if seq is None:
            return None
        expected, self._last = self._last + 1, seq
        return SequenceGap(expected, seq) if seq > expected else None


class PendingRequests:
    """Requests that wait for their answer, each with the time after which nobody does."""

    def __init__(self) -> None:
        self._waiting: dict[str | int, tuple[str, float]] = {}

    def add(self, id: str, method: str, deadline_s: float) -> None:
        if id in self._waiting:
            raise LocalProtocolError("duplicate_id", f"a request with the id {id!r} is still waiting for its answer")
        self._waiting[id] = (method, deadline_s)

    def settle(self, response: ResponseFrame) -> Succeeded | Failed | Unmatched:
        method, _ = self._waiting.pop(response.id, (None, 0.0))
        if method is None:
            return Unmatched(response)
        if response.ok:
            return Succeeded(str(response.id), method, response.payload)
        return Failed(str(response.id), method, response.failure)

    def next_deadline_s(self) -> float | None:
        return min((deadline_s for _, deadline_s in self._waiting.values()), default=None)

    def expire(self, now_s: float) -> list[Expired]:
        late = [key for key, (_, deadline_s) in self._waiting.items() if deadline_s <= now_s]
        return [Expired(str(key), self._waiting.pop(key)[0]) for key in late]

    def abandon(self) -> list[Abandoned]:
        waiting, self._waiting = self._waiting, {}
        return [Abandoned(str(key), method) for key, (method, _) in waiting.items()]
