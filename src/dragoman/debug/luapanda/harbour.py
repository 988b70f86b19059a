"""Ports on which Lua programs find us: several states of one or more programs may come to the same one.

The first who comes takes the berth of the session that waits; each further one gets a session of its own. LuaPanda
has no token, and whoever speaks it on the port of a session shows the debugger what to believe: a program of another
user is cut off before a byte of it is read.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from functools import partial

import anyio
from anyio.abc import ByteStream, TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream

from dragoman.transport.accepting import accept_for_ever
from dragoman.transport.peers import is_admitted, peer_of, user_name
from dragoman.transport.streams import TcpStream
from dragoman.transport.tcp import bind_tcp

log = logging.getLogger(__name__)

_WAITING_AT_MOST = 16
_REFUSED_TOLD = 8  # users, by session and by port: a flood of callers makes neither lines nor notices


class Berth:
    """A session's place at a port: the connection that is, or will be, its own, and those that came after it."""

    def __init__(self, harbour: Harbour, port: _Port, users: frozenset[int]) -> None:
        self._harbour = harbour
        self._port = port
        self.users = users
        """Whose programs may come, besides this user's."""
        self.is_free = True
        self._own, self._taken = anyio.create_memory_object_stream[ByteStream](1)
        self._others, self.newcomers = anyio.create_memory_object_stream[ByteStream](_WAITING_AT_MOST)
        self._refused, self.refused = anyio.create_memory_object_stream[str](_REFUSED_TOLD)
        """Each other user whose program was cut off, once, by name."""

    def give(self, stream: ByteStream) -> None:
        self.is_free = False
        self._own.send_nowait(stream)

    def welcome(self, stream: ByteStream) -> bool:
        try:
            self._others.send_nowait(stream)
        except (anyio.WouldBlock, anyio.BrokenResourceError):
            return False
        return True

    def tell_refused(self, user: str) -> None:
        with contextlib.suppress(anyio.WouldBlock, anyio.BrokenResourceError):
            self._refused.send_nowait(user)

    async def taken(self) -> ByteStream:
        """Asked again, it waits for the next: the one before was not who is waited for."""
        self.is_free = self._own.statistics().current_buffer_used == 0
        return await self._taken.receive()

    async def leave(self) -> None:
        self._harbour.left(self._port, self)
        self._own.close()
        self._others.close()
        self._refused.close()
        self.refused.close()
        await _dismissed(self._taken)
        await _dismissed(self.newcomers)


class _Port:
    def __init__(self, address: tuple[str, int], listener: socket.socket) -> None:
        self.address = address
        self.listener = listener
        self.berths: list[Berth] = []
        self.refused: set[int | None] = set()
        self.scope = anyio.CancelScope()


class Harbour:
    """One for the daemon. A port is open as long as a session of it lives."""

    def __init__(self) -> None:
        self._ports: dict[tuple[str, int], _Port] = {}

    def berth(
        self,
        group: TaskGroup,
        host: str,
        port: int,
        *,
        users: frozenset[int] = frozenset(),
        stream: ByteStream | None = None,
    ) -> Berth:
        address = (host, port)
        if address not in self._ports:
            opened = _Port(address, bind_tcp(host, port))
            self._ports[address] = opened
            group.start_soon(self._accept, opened)
        place = self._ports[address]
        berth = Berth(self, place, users)
        place.berths.append(berth)
        if stream is not None:
            berth.give(stream)
        return berth

    def left(self, port: _Port, berth: Berth) -> None:
        with contextlib.suppress(ValueError):
            port.berths.remove(berth)
        if not port.berths and self._ports.get(port.address) is port:
            del self._ports[port.address]
            port.scope.cancel("nobody waits here any more")

    async def _accept(self, port: _Port) -> None:
        with port.listener, port.scope:
            await accept_for_ever(port.listener, partial(self._take, port), lambda: False)

    def _take(self, port: _Port, sock: socket.socket) -> None:
        if not is_admitted(sock, frozenset(uid for berth in port.berths for uid in berth.users)):
            self._refuse(port, sock)
            return
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        stream = TcpStream(sock)
        free = next((berth for berth in port.berths if berth.is_free), None)
        if free is not None:
            free.give(stream)
        elif not any(berth.welcome(stream) for berth in port.berths):
            stream.close()

    def _refuse(self, port: _Port, sock: socket.socket) -> None:
        uid = peer_of(sock).uid
        sock.close()
        if uid in port.refused or len(port.refused) >= _REFUSED_TOLD:
            return
        port.refused.add(uid)
        user = "-" if uid is None else user_name(uid)
        log.warning("a program of another user (%s) was refused at the Lua port %d", user, port.address[1])
        if uid is not None:
            for berth in port.berths:
                berth.tell_refused(user)


async def _dismissed(streams: MemoryObjectReceiveStream[ByteStream]) -> None:
    """Who came for a session that has ended."""
    with contextlib.suppress(anyio.EndOfStream, anyio.WouldBlock, anyio.ClosedResourceError):
        while True:
            await streams.receive_nowait().aclose()
    streams.close()
