"""Both ends of a DAP connection: number what is sent, match responses to requests, and never wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.dap.framing import MAX_BODY, FrameReader, frame
from dragoman.protocols.dap.messages import (
    Event,
    Request,
    Response,
    Unknown,
    decode_message,
    encode_message,
    encode_value,
    renumbered,
)

# A peer that never waits for a response must not fill the memory: a limit on their number, and on the bytes of the
# largest.
MAX_OPEN_REQUESTS = 10_000
_OPEN_BODIES = 2
_REMEMBERED_ANSWERS = 1_024


class PendingRequest(msgspec.Struct, frozen=True):
    """A request that has no response yet, and the context that its waiter needs."""

    seq: int
    command: str
    context: Any = None


class RequestReceived(msgspec.Struct, frozen=True, gc=False):
    message: Request
    raw: bytes


class RequestRepeated(msgspec.Struct, frozen=True, gc=False):
    """A second request with a number that is still open. Its response could not be told from the first one's."""

    message: Request
    raw: bytes


class ResponseReceived(msgspec.Struct, frozen=True):
    message: Response
    raw: bytes
    request: PendingRequest


class UnexpectedResponse(msgspec.Struct, frozen=True, gc=False):
    """A response without an open request: it was never sent, or was answered before."""

    message: Response
    raw: bytes
    reason: Literal["unknown", "duplicate"]


class EventReceived(msgspec.Struct, frozen=True, gc=False):
    message: Event
    raw: bytes


class UnknownReceived(msgspec.Struct, frozen=True, gc=False):
    message: Unknown
    raw: bytes


class Closed(msgspec.Struct, frozen=True):
    """The last event: the requests that will never be answered, and the reason if the end was not clean."""

    abandoned: tuple[PendingRequest, ...]
    error: RemoteProtocolError | None = None


Received = RequestReceived | RequestRepeated | ResponseReceived | UnexpectedResponse | EventReceived | UnknownReceived
ConnectionEvent = Received | Closed


class Connection:
    """Symmetrical, as the protocol is: adapters send requests too (`runInTerminal`, `startDebugging`).

    `events()` gives what was received in order. Where the peer broke the protocol it raises RemoteProtocolError, after
    everything that came before; then nothing more is read, and `receive_eof` reports what is left unanswered.
    """

    def __init__(self, *, max_body: int = MAX_BODY) -> None:
        self._reader = FrameReader(max_body)
        self._max_open_bytes = _OPEN_BODIES * max_body
        self._queue: deque[ConnectionEvent | RemoteProtocolError] = deque()
        self._next_seq = 1
        self._pending: dict[int, PendingRequest] = {}
        self._answered: deque[int] = deque(maxlen=_REMEMBERED_ANSWERS)
        self._open: dict[int, RequestReceived] = {}
        self._open_bytes = 0
        self._fault: RemoteProtocolError | None = None
        self._closed = False
        self._sort: dict[type, Callable[[Any, bytes], ConnectionEvent]] = {
            Request: self._request,
            Response: self._response,
            Event: EventReceived,
            Unknown: UnknownReceived,
        }

    @property
    def next_seq(self) -> int:
        """The number that the next message we send will carry."""
        return self._next_seq

    @property
    def pending(self) -> Mapping[int, PendingRequest]:
        return MappingProxyType(self._pending)

    @property
    def open_requests(self) -> Mapping[int, Request]:
        """Requests of the peer that have no response yet, by its numbers."""
        return {seq: received.message for seq, received in self._open.items()}

    def receive_data(self, data: bytes) -> None:
        if self._closed:
            raise LocalProtocolError("closed", "Bytes were received after the end.")
        if self._fault is not None:
            return
        self._reader.feed(data)
        try:
            while (body := self._reader.next_body()) is not None:
                message = decode_message(body)
                self._queue.append(self._sort[type(message)](message, body))
        except RemoteProtocolError as fault:
            self._fail(fault)

    def receive_eof(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._fault is None and self._reader.unread:
            self._fault = RemoteProtocolError("truncated", "The connection ended in the middle of a message.")
        self._reader.discard()
        self._queue.append(Closed(tuple(self._pending.values()), self._fault))
        self._pending.clear()
        self._open.clear()

    def events(self) -> Iterator[ConnectionEvent]:
        while self._queue:
            event = self._queue.popleft()
            if isinstance(event, RemoteProtocolError):
                raise event
            yield event

    def send_request(self, command: str, arguments: Any = UNSET, *, context: Any = None) -> bytes:
        """Send a request. It is pending from now on; `context` is returned with its response, or at the end."""
        raw = encode_value(arguments) if arguments is not UNSET else UNSET
        body = _encoded(Request(seq=self._next_seq, command=command, arguments=raw))
        return self._send_asking(command, body, context)

    def send_cancel(
        self, *, request_id: int | None = None, progress_id: str | None = None, context: Any = None
    ) -> bytes:
        """Ask the peer to cancel a request, or an operation that reports progress."""
        if (request_id is None) == (progress_id is None):
            raise LocalProtocolError("bad_cancel", "Cancel either a request or a progress, not both and not neither.")
        if request_id is not None and request_id not in self._pending:
            raise LocalProtocolError("not_pending", f"Request {request_id} has been answered or was never sent.")
        target = {"requestId": request_id} if progress_id is None else {"progressId": progress_id}
        return self.send_request("cancel", target, context=context)

    def send_response(
        self, request: Request, body: Any = UNSET, *, success: bool = True, message: str | None = None
    ) -> bytes:
        raw = encode_value(body) if body is not UNSET else UNSET
        response = Response(
            seq=self._next_seq,
            request_seq=request.seq,
            success=success,
            command=request.command,
            message=message,
            body=raw,
        )
        return self._send_answer(request.seq, _encoded(response))

    def send_event(self, event: str, body: Any = UNSET) -> bytes:
        raw = encode_value(body) if body is not UNSET else UNSET
        return self._send_numbered(_encoded(Event(seq=self._next_seq, event=event, body=raw)))

    def send_relayed(self, received: Received, *, request_seq: int | None = None, context: Any = None) -> bytes:
        """Relay a message of another connection with this connection's numbers and otherwise unchanged.

        A response needs `request_seq`: the number of the peer's request. A request may carry it as `context`.
        """
        if isinstance(received.message, Response):
            if request_seq is None:
                raise LocalProtocolError("no_request_seq", "Whose request does the relayed response answer?")
            answer = renumbered(received.raw, seq=self._next_seq, request_seq=request_seq)
            return self._send_answer(request_seq, answer)
        body = renumbered(received.raw, seq=self._next_seq)
        if isinstance(received.message, Request):
            return self._send_asking(received.message.command, body, context)
        return self._send_numbered(body)

    def _send_asking(self, command: str, body: bytes, context: Any) -> bytes:
        request = PendingRequest(self._next_seq, command, context)
        data = self._send_numbered(body)
        self._pending[request.seq] = request
        return data

    def _send_answer(self, request_seq: int, body: bytes) -> bytes:
        if request_seq not in self._open:
            raise LocalProtocolError("not_open", f"Request {request_seq} was answered before or never received.")
        data = self._send_numbered(body)
        self._open_bytes -= len(self._open.pop(request_seq).raw)
        return data

    def _send_numbered(self, body: bytes) -> bytes:
        if self._closed or self._fault is not None:
            raise LocalProtocolError("closed", "The connection has ended.")
        self._next_seq += 1
        return frame(body)

    def _request(self, message: Request, raw: bytes) -> RequestReceived | RequestRepeated:
        if message.seq in self._open:
            return RequestRepeated(message, raw)
        if len(self._open) >= MAX_OPEN_REQUESTS or self._open_bytes + len(raw) > self._max_open_bytes:
            reason = (
                f"{len(self._open)} requests of {self._open_bytes} bytes are waiting for an answer: no more are taken."
            )
            raise RemoteProtocolError("too_many_requests", reason)
        received = self._open[message.seq] = RequestReceived(message, raw)
        self._open_bytes += len(raw)
        return received

    def _response(self, message: Response, raw: bytes) -> ResponseReceived | UnexpectedResponse:
        request = self._pending.pop(message.request_seq, None)
        if request is not None:
            self._answered.append(request.seq)
            return ResponseReceived(message, raw, request)
        known = message.request_seq in self._answered
        return UnexpectedResponse(message, raw, "duplicate" if known else "unknown")

    def _fail(self, fault: RemoteProtocolError) -> None:
        self._fault = fault
        self._reader.discard()
        self._queue.append(fault)


def _encoded(message: Request | Response | Event) -> bytes:
    try:
        return encode_message(message)
    except UnicodeEncodeError as error:
        raise LocalProtocolError("not_encodable", f"The message cannot be sent as JSON: {error}.") from error
