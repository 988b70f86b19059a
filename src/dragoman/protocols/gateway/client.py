"""The client's end: challenge, connect, hello-ok; then requests and events."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.gateway.connection import (
    Challenged,
    ClientEvent,
    Closed,
    Connected,
    Connection,
    ConnectRefused,
    FrameNumbers,
    PendingRequests,
    RequestFailed,
    RequestSucceeded,
)
from dragoman.protocols.gateway.framing import (
    CLOSE_PROTOCOL,
    MAX_HANDSHAKE_BYTES,
    MAX_PAYLOAD_BYTES,
    GatewayProtocolError,
    decode_payload,
    encode_frame,
    raw,
)
from dragoman.protocols.gateway.messages import (
    PROTOCOLS,
    Challenge,
    ConnectParams,
    EventFrame,
    Frame,
    HelloOk,
    RequestFrame,
    ResponseFrame,
)

_CHALLENGE = msgspec.json.Decoder(Challenge)
_HELLO = msgspec.json.Decoder(HelloOk)
_ADMIN = "operator.admin"
_READ_AND_WRITE = {"operator.read", "operator.write"}


class ClientState(Enum):
    WAITING = "waiting for the challenge"
    CHALLENGED = "challenged"
    CONNECTING = "waiting for the hello"
    OPEN = "open"
    REFUSED = "refused"
    CLOSED = "closed"


class ClientConnection(Connection[ClientEvent]):
    def __init__(self) -> None:
        super().__init__()
        self.state = ClientState.WAITING
        self.hello: HelloOk | None = None
        self._offer: ConnectParams | None = None
        self._connect_id = ""
        self._max_outbound = MAX_HANDSHAKE_BYTES
        self._numbers = FrameNumbers()
        self._pending = PendingRequests()

    def send_connect(self, params: ConnectParams, *, deadline_s: float, id: str = "connect") -> bytes:
        """The response to the challenge; `device.sign_connect` adds the device block."""
        self._require(ClientState.CHALLENGED)
        data = self._request(RequestFrame(id, "connect", raw(params)), deadline_s)
        self.state, self._offer, self._connect_id = ClientState.CONNECTING, params, id
        # The hello lists every method and the health of every channel, so it is large.
        self._max_inbound = MAX_PAYLOAD_BYTES
        return data

    def send_request(
        self,
        id: str,
        method: str,
        params: Any = UNSET,
        *,
        deadline_s: float,
        traceparent: str | None = None,
        expected_profile_id: str | None = None,
    ) -> bytes:
        """`deadline_s` is a time of the caller's clock, the one that `expire` gets."""
        self._require(ClientState.OPEN)
        frame = RequestFrame(id, method, raw(params), traceparent, expected_profile_id)
        return self._request(frame, deadline_s)

    def expire(self, now_s: float) -> None:
        """Expire what is overdue; a late `hello-ok` is then ignored."""
        self._events.extend(self._pending.expire(now_s))

    @property
    def next_deadline_s(self) -> float | None:
        return self._pending.next_deadline_s()

    def receive_eof(self, close_code: int = 1006, reason: str = "") -> None:
        """The socket is closed: report everything that waited. Calling it again changes nothing."""
        if self.state is ClientState.CLOSED:
            return
        self.state, self._closed = ClientState.CLOSED, True
        self._events.extend(self._pending.abandon())
        self._events.append(Closed(close_code, reason))

    def _request(self, frame: RequestFrame, deadline_s: float) -> bytes:
        data = encode_frame(frame, max_bytes=self._max_outbound)
        self._pending.add(frame.id, frame.method, deadline_s)
        return data

    def _handle(self, frame: Frame) -> None:
        if isinstance(frame, EventFrame):
            self._handle_event(frame)
        elif isinstance(frame, ResponseFrame):
            self._handle_response(frame)
        else:
            raise GatewayProtocolError("unexpected_request", "a gateway sends no requests", CLOSE_PROTOCOL)

    def _handle_event(self, frame: EventFrame) -> None:
        if not self._numbers.is_expected(frame.seq):
            return
        if gap := self._numbers.advance(frame.seq):
            self._events.append(gap)
        if frame.event == "connect.challenge":
            self._handle_challenge(frame)
        else:
            self._events.append(frame)

    def _handle_challenge(self, frame: EventFrame) -> None:
        if self.state is not ClientState.WAITING:
            raise GatewayProtocolError("unexpected_challenge", "a second challenge", CLOSE_PROTOCOL)
        challenge = decode_payload(frame.payload, _CHALLENGE)
        self.state = ClientState.CHALLENGED
        self._events.append(Challenged(challenge))

    def _handle_response(self, frame: ResponseFrame) -> None:
        settled = self._pending.settle(frame)
        is_handshake = self.state is ClientState.CONNECTING and frame.id == self._connect_id
        if is_handshake and isinstance(settled, RequestSucceeded):
            self._open(settled)
        elif is_handshake and isinstance(settled, RequestFailed):
            self.state = ClientState.REFUSED
            self._events.append(ConnectRefused(settled.error))
        else:
            self._events.append(settled)

    def _open(self, settled: RequestSucceeded) -> None:
        hello = decode_payload(settled.payload, _HELLO)
        offer = self._offer
        assert offer is not None
        # A newer gateway admits a node of protocol 3 and answers 4, so what this client can speak counts, not what it
        # offered.
        if hello.protocol not in PROTOCOLS:
            raise GatewayProtocolError(
                "unknown_protocol", f"the gateway chose protocol {hello.protocol}", CLOSE_PROTOCOL
            )
        self.state, self.hello = ClientState.OPEN, hello
        self._max_outbound = hello.policy.max_payload
        self._events.append(Connected(hello, _missing_scopes(offer, hello)))

    def _require(self, state: ClientState) -> None:
        if self.state is not state:
            raise LocalProtocolError("wrong_state", f"the connection is {self.state.value}, not {state.value}")


def _missing_scopes(offer: ConnectParams, hello: HelloOk) -> tuple[str, ...]:
    """Admin includes reading and writing, and with both of those a chat needs no admin scope."""
    if isinstance(hello.auth, UnsetType):
        return ()
    granted = set(hello.auth.scopes)
    implied = _READ_AND_WRITE if _ADMIN in granted else {_ADMIN} if granted >= _READ_AND_WRITE else set()
    return tuple(scope for scope in offer.scopes or () if scope not in granted | implied)
