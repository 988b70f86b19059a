"""HTTP and WebSocket on a socket we opened: uvicorn as a child of our task group, with an accept loop of ours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager
from socket import IPPROTO_TCP, TCP_NODELAY, socket
from typing import Any

import anyio
import uvicorn
from anyio.abc import TaskGroup

from dragoman.transport.accepting import accept_for_ever
from dragoman.transport.http_protocols import BoundedConfig, BoundedHttp
from dragoman.transport.waiting import Waiting, share_of_descriptors

GRACE_S = 2
CLOSED_WITHIN_S = 5.0
WEBSOCKET_MESSAGE_CAP = 1 << 20
_BACKLOG = 1024


class HttpServer(uvicorn.Server):
    """`serve_on(…)` runs until `should_exit`; signals stay with the daemon."""

    config: BoundedConfig

    def __init__(self, app: Any) -> None:
        self.waiting = Waiting(share_of_descriptors(8, at_most=256))
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
                ws_per_message_deflate=False,  # costs memory and invites bombs, for nothing on loopback
            )
        )
        # What it warns of is what strangers send; they could fill the log with it.
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
        """Without uvicorn's listeners: `serve_on` has ours."""
        self.servers = []
        await self.lifespan.startup()
        self.started = True

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        for accepting in self._accepting:
            accepting.cancel("no more requests")
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:
            self._abort_undead()
        return await super().on_tick(counter)

    async def _accept(self, listener: socket, group: TaskGroup) -> None:
        with listener, anyio.CancelScope() as accepting:
            self._accepting.append(accepting)
            await accept_for_ever(
                listener, lambda taken: group.start_soon(self._adopt, taken), self.waiting.drop_longest
            )

    async def _adopt(self, connection: socket) -> None:
        try:
            # asyncio sets it only where the socket says it is TCP, and an accepted one says 0: 40 ms an answer.
            connection.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)
        except OSError:
            connection.close()

    def _protocol(self) -> BoundedHttp:
        return BoundedHttp(self.config, self.server_state, self.lifespan.state)

    def _abort_undead(self) -> None:
        """A transport that closes first delivers what it holds, to a peer that may never read it."""
        now = asyncio.get_running_loop().time()
        closing = {it.transport for it in self.server_state.connections if it.transport.is_closing()}
        self._closing_since = {transport: self._closing_since.get(transport, now) for transport in closing}
        for transport, since in self._closing_since.items():
            if now - since >= CLOSED_WITHIN_S:
                transport.abort()
