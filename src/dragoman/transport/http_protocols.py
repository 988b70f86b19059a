"""uvicorn's HTTP and WebSocket protocols with the limits that they lack: on time, on the head, and on what is unread.

A connection is in one of two states. It waits for its peer (for a head, a body, the next request): then it stands in
`Waiting`. Or its peer waits for us: then only what we send has a deadline, by which it must be taken.
"""

from __future__ import annotations

import asyncio
import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from dragoman.transport.waiting import Waiting

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
    from websockets.frames import Frame
    from websockets.http11 import Request

HEAD_WITHIN_S = 5.0
REQUEST_WITHIN_S = 15.0
TAKEN_WITHIN_S = 10.0
HEAD_CAP = 64 << 10
PIPELINE_AT_MOST = 16
FRAGMENTS_AT_MOST = 1024
# A read of frames of six bytes each takes a millisecond for every 100: small reads give others their turn.
_WEBSOCKET_READ = 16 << 10

CLOSE_TOO_BIG = 1009
CLOSE_TOO_SLOW = 1013


class BoundedConfig(Config):
    """uvicorn hands its configuration to every protocol; so it carries what they share."""

    def __init__(self, app: Any, *, waiting: Waiting, websockets_at_most: int, **options: Any) -> None:
        super().__init__(app, http=BoundedHttp, ws=BoundedWebSocket, **options)
        self.waiting = waiting
        self.websockets_at_most = websockets_at_most


class _RefusedError(Exception):
    """Ends the parsing of a connection; `send_400_response` says why."""


class BoundedHttp(HttpToolsProtocol):
    config: BoundedConfig
    _stalled: asyncio.TimerHandle | None = None
    _fruitless_bytes = 0
    _has_progressed = False
    _refusal_sent = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait(HEAD_WITHIN_S)

    def connection_lost(self, exc: Exception | None) -> None:
        self.config.waiting.end(self.transport)
        self._cancel_stalled()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The parser keeps an unfinished line for ever: bytes that finish nothing and bring no body are counted."""
        self._has_progressed = False
        super().data_received(data)
        self._fruitless_bytes = 0 if self._has_progressed else self._fruitless_bytes + len(data)
        if self._fruitless_bytes > HEAD_CAP and not self.transport.is_closing():
            self._refusal_sent = _HEAD_REFUSED
            self.send_400_response("")

    def handle_websocket_upgrade(self) -> None:
        """They stay: room must be left for requests, which come and go."""
        held = sum(1 for connection in self.connections if isinstance(connection, BoundedWebSocket))
        if held >= self.config.websockets_at_most:
            self.transport.write(_TOO_MANY)
            self.transport.close()
        else:
            super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= PIPELINE_AT_MOST:
            raise _RefusedError
        super().on_message_begin()
        self._wait(HEAD_WITHIN_S)

    def on_headers_complete(self) -> None:
        self._has_progressed = True
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD_CAP:
            self._refusal_sent = _HEAD_REFUSED
            raise _RefusedError
        if not _is_for(self.url, self.headers):
            self._refusal_sent = _MISDIRECTED
            raise _RefusedError
        super().on_headers_complete()
        self._wait(REQUEST_WITHIN_S)

    def on_body(self, body: bytes) -> None:
        self._has_progressed = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._has_progressed = True
        super().on_message_complete()
        if self._is_answered():
            self._wait(HEAD_WITHIN_S)  # answered before its body had come: from here it is idle
        else:
            self.config.waiting.end(self.transport)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and self._is_answered():
            self._wait(HEAD_WITHIN_S)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(TAKEN_WITHIN_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_stalled()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  uvicorn's words
        self.transport.write(self._refusal_sent or _NOT_HTTP)
        self.transport.close()

    def _is_answered(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request, whatever uvicorn's types say
        return cycle is not None and cycle.response_complete

    def _wait(self, within_s: float) -> None:
        self.config.waiting.begin(self.transport, self.transport.abort, within_s)

    def _cancel_stalled(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()


class BoundedWebSocket(WebSocketsSansIOProtocol):
    config: BoundedConfig
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        transport.max_size = _WEBSOCKET_READ  # type: ignore[attr-defined]  # asyncio's size of a read
        self.config.waiting.begin(self.transport, self.transport.abort, HEAD_WITHIN_S)

    def connection_lost(self, exc: Exception | None) -> None:
        self.config.waiting.end(self.transport)
        self._cancel_stalled()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.transport.write(b"".join(self.conn.data_to_send()) or _NOT_HTTP)
            self.transport.close()

    def handle_connect(self, event: Request) -> None:
        self.config.waiting.end(self.transport)
        super().handle_connect(event)

    def handle_cont(self, event: Frame) -> None:
        """The cap on a message counts its bytes; fragments without any would be kept for ever."""
        super().handle_cont(event)
        if len(self.frames) > FRAGMENTS_AT_MOST:
            self._fail(CLOSE_TOO_BIG, "too many fragments")

    def pause_writing(self) -> None:
        """Who does not take our pongs may not send more pings."""
        super().pause_writing()
        self.transport.pause_reading()
        self._stalled = self.loop.call_later(TAKEN_WITHIN_S, self._fail, CLOSE_TOO_SLOW, "too slow")

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_stalled()
        if not self.read_paused:
            self.transport.resume_reading()

    async def receive(self) -> ASGIReceiveEvent:
        event = await super().receive()
        if not self.writable.is_set():
            self.transport.pause_reading()
        return event

    async def send(self, message: ASGISendEvent) -> None:
        await self.writable.wait()
        if self.close_sent:
            raise ClientDisconnected
        await super().send(message)

    def _fail(self, code: int, reason: str) -> None:
        """The close frame goes behind what is unread: who wakes up in time still learns why."""
        if self.close_sent or self.transport.is_closing():
            return
        self.conn.fail(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.writable.set()
        self.transport.close()

    def _cancel_stalled(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()


def _is_for(target: bytes, headers: list[tuple[bytes, bytes]]) -> bool:
    """A target may name its host too (`GET http://host/ HTTP/1.1`). Then that counts (RFC 9112, 3.2.2), and uvicorn
    does not see it: so it must be the one that the Host header names, which is judged later."""
    if target.startswith(b"/") or target == b"*":
        return True
    hosts = [value.lower() for name, value in headers if name == b"host"]
    scheme, _, rest = target.partition(b"://")
    return scheme.lower() == b"http" and hosts == [re.split(b"[/?#]", rest, maxsplit=1)[0].lower()]


def _refusal(status: HTTPStatus, code: str, message: str) -> bytes:
    body = json.dumps({"error": {"code": code, "message": message, "hint": ""}}).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


_NOT_HTTP = _refusal(HTTPStatus.BAD_REQUEST, "not_http", "This is not a request of HTTP/1.1.")
_HEAD_REFUSED = _refusal(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    "head_too_large",
    f"The head of a request may have {HEAD_CAP} bytes.",
)
_MISDIRECTED = _refusal(HTTPStatus.MISDIRECTED_REQUEST, "wrong_host", "This is not an address of this server.")
_TOO_MANY = _refusal(HTTPStatus.SERVICE_UNAVAILABLE, "too_many_connections", "Too many connections are open.")
