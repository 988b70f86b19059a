"""What both ends of a gateway connection share: reading, events, pending requests, frame numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

from msgspec import Raw, Struct, UnsetType

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.gateway.framing import MAX_HANDSHAKE_BYTES, GatewayProtocolError, decode_frame, utf8
from dragoman.protocols.gateway.messages import (
    Challenge,
    ConnectParams,
    EventFrame,
    Frame,
    GatewayError,
    HelloOk,
    RequestFrame,
    ResponseFrame,
)
from dragoman.protocols.gateway.refusals import HandshakeRefusal


class Challenged(Struct, frozen=True):
    """The gateway sent its challenge; respond with `send_connect`."""

    challenge: Challenge


class Connected(Struct, frozen=True):
    """`missing_scopes` were requested and not granted. Clients that look only at `ok` get this wrong most often."""

    hello: HelloOk
    missing_scopes: tuple[str, ...]


class ConnectRefused(Struct, frozen=True):
    """The handshake failed; `refusals.classify` says what to do."""

    error: GatewayError


class RequestSucceeded(Struct, frozen=True):
    id: str
    method: str
    payload: Raw | UnsetType


class RequestFailed(Struct, frozen=True):
    id: str
    method: str
    error: GatewayError


class RequestExpired(Struct, frozen=True):
    """The deadline passed; a later response is `Unmatched`."""

    id: str
    method: str


class RequestAbandoned(Struct, frozen=True):
    """The connection ended first. Nothing is repeated: whether it took effect is unknown."""

    id: str
    method: str


class UnmatchedResponse(Struct, frozen=True):
    """A response without a pending request: unknown, repeated or late."""

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


class HandshakeRejected(Struct, frozen=True):
    """The handshake failed by itself: send `reply` if there is one, then close."""

    refusal: HandshakeRefusal
    reply: bytes | None


class MalformedFrame(Struct, frozen=True):
    """A frame that is not a request: send the reply; the socket stays open."""

    reply: bytes


ClientEvent = (
    Challenged
    | Connected
    | ConnectRefused
    | RequestSucceeded
    | RequestFailed
    | RequestExpired
    | RequestAbandoned
    | UnmatchedResponse
    | SequenceGap
    | EventFrame
    | Closed
)
ServerEvent = ConnectRequested | HandshakeRejected | MalformedFrame | RequestFrame | Closed

_E = TypeVar("_E")


class Connection(Generic[_E]):
    """The state of one socket. Feed it whole text messages, then take the results from `events`."""

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
        """One text message. After a protocol error nothing more is read."""
        if self._closed:
            raise LocalProtocolError("closed", "a message was received after the end")
        if self._broken:
            return
        try:
            self._handle_data(data)
        except GatewayProtocolError as fault:
            self._break(fault)

    def events(self) -> Iterator[_E]:
        """The events so far, in order.

        A protocol error of the peer is raised in its place: close with its `close_code`.
        """
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

    def is_expected(self, seq: int | None) -> bool:
        return seq is None or seq > self._last

    def advance(self, seq: int | None) -> SequenceGap | None:
        if seq is None:
            return None
        expected, self._last = self._last + 1, seq
        return SequenceGap(expected, seq) if seq > expected else None


class PendingRequests:
    """Requests that wait for their response, each with its deadline."""

    def __init__(self) -> None:
        self._waiting: dict[str | int, tuple[str, float]] = {}

    def add(self, id: str, method: str, deadline_s: float) -> None:
        if id in self._waiting:
            raise LocalProtocolError("duplicate_id", f"a request with the id {id!r} is still waiting for its answer")
        self._waiting[id] = (method, deadline_s)

    def settle(self, response: ResponseFrame) -> RequestSucceeded | RequestFailed | UnmatchedResponse:
        method, _ = self._waiting.pop(response.id, (None, 0.0))
        if method is None:
            return UnmatchedResponse(response)
        if response.ok:
            return RequestSucceeded(str(response.id), method, response.payload)
        return RequestFailed(str(response.id), method, response.failure)

    def next_deadline_s(self) -> float | None:
        return min((deadline_s for _, deadline_s in self._waiting.values()), default=None)

    def expire(self, now_s: float) -> list[RequestExpired]:
        late = [key for key, (_, deadline_s) in self._waiting.items() if deadline_s <= now_s]
        return [RequestExpired(str(key), self._waiting.pop(key)[0]) for key in late]

    def abandon(self) -> list[RequestAbandoned]:
        waiting, self._waiting = self._waiting, {}
        return [RequestAbandoned(str(key), method) for key, (method, _) in waiting.items()]
