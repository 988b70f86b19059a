"""The omnish server: the Unix socket at which shell wrappers report what happens in their terminals, and ask."""

from __future__ import annotations

import logging
import socket
from collections import Counter
from functools import partial

import anyio
from anyio.abc import TaskGroup

from dragoman.io.net.accept_loop import PeerDeadlines, accept_forever, share_of_descriptors
from dragoman.io.net.streams import TcpStream
from dragoman.io.net.unix_socket import is_own_peer
from dragoman.servers.omnish.connection import OmnishServices, WrapperConnection
from dragoman.servers.omnish.recording import SessionOwners

log = logging.getLogger(__name__)

FIRST_FRAME_WITHIN_S = 5.0
_BACKLOG = 1024
_LOGGED_SKIPS = 5


class OmnishServer:
    """Accepts a bounded number of connections. One more is closed at once, and its wrapper tries again later."""

    def __init__(self, services: OmnishServices) -> None:
        self._skipped: Counter[str] = Counter()
        self._services = services
        self._owners = SessionOwners()
        self.connections: set[WrapperConnection] = set()
        self._at_most = share_of_descriptors(4, at_most=512)
        self._waiting = PeerDeadlines(share_of_descriptors(16, at_most=128))

    def __len__(self) -> int:
        return len(self.connections)

    @property
    def skipped(self) -> Counter[str]:
        """Unusable frames since the start of the daemon, by reason."""
        return sum((wrapper.driver.skipped for wrapper in self.connections), self._skipped)

    async def serve(self, listener: socket.socket) -> None:
        listener.listen(_BACKLOG)
        async with anyio.create_task_group() as group:
            await accept_forever(listener, partial(self._accept, group=group), self._waiting.drop_longest)

    def end_token_connections(self) -> None:
        """End the connections that used a token, because it has changed."""
        for wrapper in self.connections:
            if wrapper.has_token:
                wrapper.end()

    def _accept(self, connection: socket.socket, group: TaskGroup) -> None:
        if not is_own_peer(connection):
            log.warning("a process of another user was refused at the wrappers' socket")
            connection.close()
        elif len(self.connections) >= self._at_most:
            log.warning("a shell wrapper was turned away: %d are connected", len(self.connections))
            connection.close()
        else:
            wrapper = WrapperConnection(TcpStream(connection), self._services, self._owners)
            self.connections.add(wrapper)
            group.start_soon(self._serve_connection, wrapper)

    async def _serve_connection(self, wrapper: WrapperConnection) -> None:
        self._waiting.begin(wrapper, wrapper.end, FIRST_FRAME_WITHIN_S)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._wait_for_first_frame, wrapper)
                await wrapper.run()
                group.cancel_scope.cancel("the wrapper left")
        except Exception:
            log.exception("a shell wrapper's connection failed")
        finally:
            self._waiting.end(wrapper)
            self.connections.discard(wrapper)
            self._log_skipped(wrapper)

    async def _wait_for_first_frame(self, wrapper: WrapperConnection) -> None:
        await wrapper.driver.first_frame_received.wait()
        self._waiting.end(wrapper)

    def _log_skipped(self, wrapper: WrapperConnection) -> None:
        self._skipped += wrapper.driver.skipped
        if wrapper.driver.skipped:
            log.info("frames that could not be used: %s", dict(wrapper.driver.skipped.most_common(_LOGGED_SKIPS)))
        if wrapper.driver.fault is not None:
            log.warning("a shell wrapper's connection was closed: %s", wrapper.driver.fault)
