"""The gateway's end: challenge, judge, accept or refuse; then responses and numbered events."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.gateway.connection import (
    Closed,
    Connection,
    ConnectRequested,
    HandshakeRejected,
    MalformedFrame,
    ServerEvent,
)
from dragoman.protocols.gateway.framing import (
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
    GatewayError,
    HelloOk,
    RequestFrame,
    ResponseFrame,
    StateVersion,
)
from dragoman.protocols.gateway.refusals import (
    FIRST_REQUEST_MUST_BE_CONNECT,
    INVALID_ROLE,
    ROLES,
    HandshakeRefusal,
    device_refusal,
    invalid,
    invalid_params,
    negotiated,
    protocol_mismatch,
)

_PARAMS = msgspec.json.Decoder(ConnectParams)


class ServerState(Enum):
    FRESH = "fresh"
    CHALLENGED = "waiting for connect"
    REQUESTED = "to be judged"
    JUDGED = "judged"
    OPEN = "open"
    REFUSED = "refused"
    CLOSED = "closed"


class ServerConnection(Connection[ServerEvent]):
    def __init__(self, *, protocols: Sequence[int] = PROTOCOLS) -> None:
        super().__init__()
        self.state = ServerState.FRESH
        self._protocols = tuple(protocols)
        self._challenge: Challenge | None = None
        self._connect: ConnectRequested | None = None
        self._seq = 0
        self._errors_are_text = False

    def send_challenge(self, nonce: str, ts_ms: int) -> bytes:
        self._require(ServerState.FRESH)
        self.state, self._challenge = ServerState.CHALLENGED, Challenge(nonce, ts_ms)
        return encode_frame(EventFrame("connect.challenge", raw(self._challenge)))

    def judge(self, now_ms: int) -> HandshakeRefusal | None:
        """The checks that need only what was sent: the device's id, signature, nonce and age. `accept` demands it."""
        self._require(ServerState.REQUESTED)
        assert self._connect is not None
        assert self._challenge is not None
        self.state = ServerState.JUDGED
        return device_refusal(self._connect.params, self._challenge, now_ms)

    def accept(self, hello: HelloOk) -> bytes:
        self._require(ServerState.JUDGED)
        assert self._connect is not None
        data = encode_frame(ResponseFrame(self._connect.id, ok=True, payload=raw(hello)))
        self.state, self._max_inbound = ServerState.OPEN, MAX_PAYLOAD_BYTES
        return data

    def refuse(self, refusal: HandshakeRefusal) -> bytes:
        """The response; close with the refusal's `close_code` and `close_reason` afterwards."""
        if self.state not in {ServerState.REQUESTED, ServerState.JUDGED}:
            raise LocalProtocolError("wrong_state", f"nobody to refuse: the connection is {self.state.value}")
        assert self._connect is not None
        self.state = ServerState.REFUSED
        return self._failure(self._connect.id, refusal.error)

    def send_response(self, id: str, payload: Any = UNSET) -> bytes:
        self._require(ServerState.OPEN)
        return encode_frame(ResponseFrame(id, ok=True, payload=raw(payload)))

    def send_error(self, id: str, error: GatewayError) -> bytes:
        self._require(ServerState.OPEN)
        return self._failure(id, error)

    def send_event(
        self,
        event: str,
        payload: Any = UNSET,
        *,
        numbered: bool = True,
        state_version: StateVersion | None = None,
        recipient_profile_id: str | None = None,
    ) -> bytes:
        """A broadcast is numbered; a frame for this client alone is not."""
        self._require(ServerState.OPEN)
        seq = self._seq + 1 if numbered else None
        data = encode_frame(EventFrame(event, raw(payload), seq, state_version, recipient_profile_id))
        self._seq = seq or self._seq
        return data

    def number_after(self, seq: int) -> None:
        """The next broadcast has the number after this one. Real clients count each connection's from 1."""
        self._seq = seq

    def skip_event(self) -> None:
        """A broadcast was not sent to a slow client: its number is used up, so that the client sees the gap."""
        self._require(ServerState.OPEN)
        self._seq += 1

    def receive_eof(self, close_code: int = 1006, reason: str = "") -> None:
        if self.state is ServerState.CLOSED:
            return
        self.state, self._closed = ServerState.CLOSED, True
        self._events.append(Closed(close_code, reason))

    def _handle_data(self, data: bytes) -> None:
        """JSON that is not a request gets an error, as from real gateways.

        Anything else ends the connection (a real gateway ignores it, and its sender waits forever).
        """
        try:
            super()._handle_data(data)
        except GatewayProtocolError as error:
            if error.code != "invalid_frame":
                raise
            self._refuse_frame(_untyped_problem(data))

    def _handle(self, frame: Frame) -> None:
        if self.state is ServerState.REFUSED:
            return
        if not isinstance(frame, RequestFrame):
            self._refuse_frame(_untyped_problem(encode_frame(frame)))
        elif self.state is ServerState.OPEN:
            self._events.append(frame)
        elif self.state is ServerState.CHALLENGED:
            self._handle_first(frame)
        else:
            self._reject(FIRST_REQUEST_MUST_BE_CONNECT, frame.id)

    def _handle_first(self, frame: RequestFrame) -> None:
        if frame.method != "connect":
            return self._reject(FIRST_REQUEST_MUST_BE_CONNECT, frame.id)
        try:
            params = _PARAMS.decode(b"{}" if frame.params is UNSET else frame.params)
        except msgspec.DecodeError as error:
            return self._reject(invalid_params("connect", str(error)), frame.id)
        self._errors_are_text = params.follows_document
        protocol = negotiated(params, self._protocols)
        if protocol is None:
            return self._reject(protocol_mismatch(params, self._protocols), frame.id)
        if params.asked_role not in ROLES:
            return self._reject(INVALID_ROLE, frame.id)
        self.state = ServerState.REQUESTED
        self._connect = ConnectRequested(frame.id, params, protocol)
        self._events.append(self._connect)
        return None

    def _refuse_frame(self, problem: _FrameProblem) -> None:
        """Before the handshake, a client that sends an invalid request is closed; afterwards it gets an error."""
        if self.state is ServerState.OPEN:
            error = GatewayError(code="INVALID_REQUEST", message=problem.message)
            self._events.append(MalformedFrame(self._failure(problem.id, error)))
        elif self.state is not ServerState.REFUSED:
            self._reject(invalid("invalid request frame"), None)

    def _reject(self, refusal: HandshakeRefusal, id: str | None) -> None:
        self.state = ServerState.REFUSED
        self._events.append(HandshakeRejected(refusal, None if id is None else self._failure(id, refusal.error)))

    def _failure(self, id: str | int, error: GatewayError) -> bytes:
        """Real gateways send an object; the protocol document has a text."""
        return encode_frame(ResponseFrame(id, ok=False, error=error.message if self._errors_are_text else error))

    def _require(self, state: ServerState) -> None:
        if self.state is not state:
            raise LocalProtocolError("wrong_state", f"the connection is {self.state.value}, not {state.value}")


class _FrameProblem(Struct, frozen=True):
    id: str | int
    message: str


class _UntypedFrame(Struct, frozen=True):
    """The fields of a request, whatever they hold: raw, so that a hostile value is never built."""

    type: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET


_UNTYPED_FRAME = msgspec.json.Decoder(_UntypedFrame)
_MAX_ECHO_BYTES = 512
_ID: msgspec.json.Decoder[str | int] = msgspec.json.Decoder(str | int)


def _untyped_problem(data: bytes) -> _FrameProblem:
    """What is wrong with a frame; for text that is not JSON, the parser's error."""
    try:
        return _frame_problem(decode_payload(Raw(data), _UNTYPED_FRAME))
    except GatewayProtocolError as error:
        if error.code != "invalid_payload":
            raise
        return _FrameProblem("invalid", "invalid request frame: must be object")


def _frame_problem(frame: _UntypedFrame) -> _FrameProblem:
    """In the words of a real gateway, with the offending id if there is one."""
    wrong = [
        *(f"must have required property '{name}'" for name in ("id", "method") if _is_absent(frame, name)),
        *(["at /type: must be equal to constant"] if not _holds(frame.type, b'"req"') else []),
        *(f"at /{name}: must be string" for name in ("id", "method") if _is_not_text(frame, name)),
    ]
    return _FrameProblem(_readable_id(frame.id), f"invalid request frame: {'; '.join(wrong)}")


def _is_absent(frame: _UntypedFrame, name: str) -> bool:
    return getattr(frame, name) is UNSET


def _is_not_text(frame: _UntypedFrame, name: str) -> bool:
    value = getattr(frame, name)
    return value is not UNSET and not bytes(value).startswith(b'"')


def _holds(value: Raw | UnsetType, text: bytes) -> bool:
    return value is not UNSET and bytes(value) == text


def _readable_id(value: Raw | UnsetType) -> str | int:
    if value is UNSET:
        return "invalid"
    try:
        return _ID.decode(value) if len(bytes(value)) <= _MAX_ECHO_BYTES else "invalid"
    except msgspec.DecodeError:
        return "invalid"
