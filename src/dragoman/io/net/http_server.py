"""HTTP and WebSocket on a socket that we opened: uvicorn in our task group, with the limits that it lacks.

The limits are on time, on the request head, and on unread data. A connection is in one of two states. It waits for
its peer (for a head, a body, the next request): then it has a deadline in `PeerDeadlines`. Or its peer waits for us:
then only what we send has a deadline, by which the peer must have taken it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from socket import IPPROTO_TCP, TCP_NODELAY, socket
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from anyio.abc import TaskGroup
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from dragoman.io.net.accept_loop import PeerDeadlines, accept_forever, share_of_descriptors

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
# A read full of 6-byte frames takes a millisecond per 100 frames: small reads give other tasks their turn.
_WEBSOCKET_READ = 16 << 10
CLOSE_TOO_BIG = 1009
CLOSE_TOO_SLOW = 1013
GRACE_S = 2
CLOSED_WITHIN_S = 5.0
WEBSOCKET_MESSAGE_CAP = 1 << 20
_BACKLOG = 1024


class BoundedConfig(Config):
    """uvicorn passes its configuration to every protocol, so it carries what they share."""

    def __init__(self, app: Any, *, waiting: PeerDeadlines, websockets_at_most: int, **options: Any) -> None:
        super().__init__(app, http=BoundedHttp, ws=BoundedWebSocket, **options)
        self.waiting = waiting
        self.websockets_at_most = websockets_at_most


class _RefusedError(Exception):
    """Ends the parsing of a connection; `send_400_response` says why."""


class BoundedHttp(HttpToolsProtocol):
    config: BoundedConfig
    _stalled: asyncio.TimerHandle | None = None
    _unfinished_head_bytes = 0
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
        """The parser keeps an unfinished line for ever, so bytes that neither finish a line nor belong to a body are
        counted."""
        self._has_progressed = False
        super().data_received(data)
        self._unfinished_head_bytes = 0 if self._has_progressed else self._unfinished_head_bytes + len(data)
        if self._unfinished_head_bytes > HEAD_CAP and not self.transport.is_closing():
            self._refusal_sent = _HEAD_REFUSED
            self.send_400_response("")

    def handle_websocket_upgrade(self) -> None:
        """WebSockets stay open: room must be left for requests, which come and go."""
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
            self._wait(HEAD_WITHIN_S)  # responded before the body arrived: from here it is idle
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

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  uvicorn's text
        self.transport.write(self._refusal_sent or _NOT_HTTP)
        self.transport.close()

    def _is_answered(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request, despite uvicorn's types
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
        """The cap on a message counts its bytes; empty fragments would be kept for ever."""
        super().handle_cont(event)
        if len(self.frames) > FRAGMENTS_AT_MOST:
            self._fail(CLOSE_TOO_BIG, "too many fragments")

    def pause_writing(self) -> None:
        """A peer that does not read our pongs may not send more pings."""
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
        """The close frame follows the unread data: a peer that reads again in time still learns why."""
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
    """A target may name its host too (`GET http://host/ HTTP/1.1`). Then that host counts (RFC 9112, 3.2.2), and
    uvicorn does not see it. So it must match the Host header, which is checked later."""
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


class HttpServer(uvicorn.Server):
    """`serve_on(…)` runs until `should_exit`. The daemon handles the signals."""

    config: BoundedConfig

    def __init__(self, app: Any) -> None:
        self.waiting = PeerDeadlines(share_of_descriptors(8, at_most=256))
        self._accepting: list[anyio.CancelScope] = []
        self._closing_since: dict[asyncio.Transport, float] = {}
        super().__init__(
            BoundedConfig(
                app,
                waiting=self.waiting,
                websockets_at_most=share_of_descriptors(2, at_most=512),
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE_S,
                ws_max_size=WEBSOCKET_MESSAGE_CAP,
                ws_per_message_deflate=False,  # costs memory and invites bombs, for no gain on loopback
            )
        )
        # Its warnings are about requests of strangers, who could fill the log with them.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def serve_on(self, *listeners: socket) -> None:
        async with anyio.create_task_group() as group:
            for listener in listeners:
                listener.listen(_BACKLOG)
                group.start_soon(self._accept, listener, group)
            await self.serve()

    async def startup(self, sockets: list[socket] | None = None) -> None:  # noqa: ARG002
        """Start without uvicorn's listeners: `serve_on` has ours."""
        self.servers = []
        await self.lifespan.startup()
        self.started = True

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        for accepting in self._accepting:
            accepting.cancel("no more requests")
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:
            self._abort_stuck()
        return await super().on_tick(counter)

    async def _accept(self, listener: socket, group: TaskGroup) -> None:
        with listener, anyio.CancelScope() as accepting:
            self._accepting.append(accepting)
            await accept_forever(
                listener, lambda taken: group.start_soon(self._adopt, taken), self.waiting.drop_longest
            )

    async def _adopt(self, connection: socket) -> None:
        try:
            # asyncio sets it only if the socket's protocol is TCP, but an accepted socket has 0: that costs 40 ms per
            # response.
            connection.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)
        except OSError:
            connection.close()

    def _protocol(self) -> BoundedHttp:
        return BoundedHttp(self.config, self.server_state, self.lifespan.state)

    def _abort_stuck(self) -> None:
        """A closing transport first sends its buffer, to a peer that may never read it."""
        now = asyncio.get_running_loop().time()
        closing = {it.transport for it in self.server_state.connections if it.transport.is_closing()}
        self._closing_since = {transport: self._closing_since.get(transport, now) for transport in closing}
        for transport, since in self._closing_since.items():
            if now - since >= CLOSED_WITHIN_S:
                transport.abort()
