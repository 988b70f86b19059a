"""HTTP and WebSocket on a socket we opened: uvicorn as a child of our task group, with deadlines it does not have.

uvicorn waits for ever for the end of a request's head. Here a connection that has not sent one is closed after five
seconds, and when too many wait, the one that waited longest goes: a flood of half-open sockets cannot starve a real
request of file descriptors.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Generator
from contextlib import contextmanager
from socket import socket
from typing import Any

import uvicorn
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

HEAD_WITHIN_S = 5.0
GRACE_S = 2
WEBSOCKET_MESSAGE_CAP = 1 << 20
_BACKLOG = 128


class HalfOpen:
    """Connections whose next request has no complete head yet, oldest first."""

    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        self._deadline_by_transport: dict[asyncio.Transport, asyncio.TimerHandle] = {}

    def begin(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self.end(transport)
        while len(self._deadline_by_transport) >= self._at_most:
            oldest = next(iter(self._deadline_by_transport))
            self.end(oldest)
            oldest.abort()
        self._deadline_by_transport[transport] = loop.call_later(HEAD_WITHIN_S, self._expire, transport)

    def end(self, transport: asyncio.Transport) -> None:
        deadline = self._deadline_by_transport.pop(transport, None)
        if deadline is not None:
            deadline.cancel()

    def __len__(self) -> int:
        return len(self._deadline_by_transport)

    def _expire(self, transport: asyncio.Transport) -> None:
        self.end(transport)
        transport.abort()


class HttpServer(uvicorn.Server):
    """`serve(sockets=[…])` runs until `should_exit`; signals stay with the daemon."""

    def __init__(self, app: Any) -> None:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.half_open = HalfOpen(at_most=max(16, min(256, limit // 4)))
        super().__init__(
            Config(
                app,
                http=_protocol_with_deadlines(self.half_open),
                ws="websockets-sansio",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                backlog=_BACKLOG,
                limit_concurrency=max(32, min(1024, limit // 2)),
                timeout_graceful_shutdown=GRACE_S,
                ws_max_size=WEBSOCKET_MESSAGE_CAP,
                ws_per_message_deflate=False,  # costs memory and invites bombs, for nothing on loopback
            )
        )

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def serve_on(self, listener: socket) -> None:
        await self.serve(sockets=[listener])


def _protocol_with_deadlines(half_open: HalfOpen) -> type[HttpToolsProtocol]:
    class ProtocolWithDeadlines(HttpToolsProtocol):
        def __init__(
            self,
            config: Config,
            server_state: ServerState,
            app_state: dict[str, Any],
            _loop: asyncio.AbstractEventLoop | None = None,
        ) -> None:
            super().__init__(config, server_state, app_state, _loop)

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            half_open.begin(transport, self.loop)

        def connection_lost(self, exc: Exception | None) -> None:
            half_open.end(self.transport)
            super().connection_lost(exc)

        def on_message_begin(self) -> None:
            half_open.begin(self.transport, self.loop)
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            half_open.end(self.transport)
            super().on_headers_complete()

    return ProtocolWithDeadlines
