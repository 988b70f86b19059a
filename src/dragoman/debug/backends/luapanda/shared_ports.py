"""TCP ports on which Lua programs connect to us. Several Lua states may connect to the same port.

The first connection belongs to the session that waits; each further one gets a session of its own. LuaPanda has no
token, and whoever speaks it on the port decides what the debugger believes, so a program of another user is cut off
before a byte of it is read.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from functools import partial

import anyio
from anyio.abc import ByteStream, TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream

from dragoman.io.net.accept_loop import accept_forever
from dragoman.io.net.peers import is_from_allowed_user, peer_of, user_name
from dragoman.io.net.streams import TcpStream
from dragoman.io.net.tcp_listener import bind_tcp

log = logging.getLogger(__name__)

_MOST_WAITING = 16
_MOST_REFUSED_REPORTED = 8  # users, per session and per port; more refused callers are not reported


class PortLease:
    """A session's claim on a port: the connection that is or will be its own, and those that came after it."""

    def __init__(self, shared_ports: SharedPorts, port: _SharedPort, users: frozenset[int]) -> None:
        self._shared_ports = shared_ports
        self._port = port
        self.users = users
        """Whose programs may come, besides this user's."""
        self.is_free = True
        self._own, self._taken = anyio.create_memory_object_stream[ByteStream](1)
        self._others, self.later_connections = anyio.create_memory_object_stream[ByteStream](_MOST_WAITING)
        self._refused, self.refused = anyio.create_memory_object_stream[str](_MOST_REFUSED_REPORTED)
        """Each other user whose program was disconnected, once, by name."""

    def assign(self, stream: ByteStream) -> None:
        self.is_free = False
        self._own.send_nowait(stream)

    def offer(self, stream: ByteStream) -> bool:
        try:
            self._others.send_nowait(stream)
        except (anyio.WouldBlock, anyio.BrokenResourceError):
            return False
        return True

    def report_refused(self, user: str) -> None:
        with contextlib.suppress(anyio.WouldBlock, anyio.BrokenResourceError):
            self._refused.send_nowait(user)

    async def wait_for_connection(self) -> ByteStream:
        """A second call waits for the next connection: the previous one was not the right program."""
        self.is_free = self._own.statistics().current_buffer_used == 0
        return await self._taken.receive()

    async def release(self) -> None:
        self._shared_ports.remove_lease(self._port, self)
        self._own.close()
        self._others.close()
        self._refused.close()
        self.refused.close()
        await _close_pending(self._taken)
        await _close_pending(self.later_connections)


class _SharedPort:
    def __init__(self, address: tuple[str, int], listener: socket.socket) -> None:
        self.address = address
        self.listener = listener
        self.leases: list[PortLease] = []
        self.refused: set[int | None] = set()
        self.scope = anyio.CancelScope()


class SharedPorts:
    """The ports of the whole daemon. A port stays open while a session has a lease on it."""

    def __init__(self) -> None:
        self._ports: dict[tuple[str, int], _SharedPort] = {}

    def lease(
        self,
        group: TaskGroup,
        host: str,
        port: int,
        *,
        users: frozenset[int] = frozenset(),
        stream: ByteStream | None = None,
    ) -> PortLease:
        address = (host, port)
        if address not in self._ports:
            opened = _SharedPort(address, bind_tcp(host, port))
            self._ports[address] = opened
            group.start_soon(self._listen, opened)
        place = self._ports[address]
        lease = PortLease(self, place, users)
        place.leases.append(lease)
        if stream is not None:
            lease.assign(stream)
        return lease

    def remove_lease(self, port: _SharedPort, lease: PortLease) -> None:
        with contextlib.suppress(ValueError):
            port.leases.remove(lease)
        if not port.leases and self._ports.get(port.address) is port:
            del self._ports[port.address]
            port.scope.cancel("nobody waits here any more")

    async def _listen(self, port: _SharedPort) -> None:
        with port.listener, port.scope:
            await accept_forever(port.listener, partial(self._admit_connection, port), lambda: False)

    def _admit_connection(self, port: _SharedPort, sock: socket.socket) -> None:
        if not is_from_allowed_user(sock, frozenset(uid for lease in port.leases for uid in lease.users)):
            self._refuse(port, sock)
            return
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        stream = TcpStream(sock)
        free = next((lease for lease in port.leases if lease.is_free), None)
        if free is not None:
            free.assign(stream)
        elif not any(lease.offer(stream) for lease in port.leases):
            stream.close()

    def _refuse(self, port: _SharedPort, sock: socket.socket) -> None:
        uid = peer_of(sock).uid
        sock.close()
        if uid in port.refused or len(port.refused) >= _MOST_REFUSED_REPORTED:
            return
        port.refused.add(uid)
        user = "-" if uid is None else user_name(uid)
        log.warning("a program of another user (%s) was refused at the Lua port %d", user, port.address[1])
        if uid is not None:
            for lease in port.leases:
                lease.report_refused(user)


async def _close_pending(streams: MemoryObjectReceiveStream[ByteStream]) -> None:
    """Who came for a session that has ended."""
    with contextlib.suppress(anyio.EndOfStream, anyio.WouldBlock, anyio.ClosedResourceError):
        while True:
            await streams.receive_nowait().aclose()
    streams.close()
