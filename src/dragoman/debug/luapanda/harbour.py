"""Ports on which Lua programs find us: several states of one or more programs may come to the same one.

The first who comes takes the berth of the session that waits; each further one gets a session of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable

import anyio
from anyio.abc import ByteStream, TaskGroup

from dragoman.transport.streams import TcpStream
from dragoman.transport.tcp import bind_tcp

log = logging.getLogger(__name__)

Newcomer = Callable[[ByteStream], None]


class Berth:
    """A session's place at a port: the connection that is, or will be, its own."""

    def __init__(self, harbour: Harbour, port: _Port) -> None:
        self._harbour = harbour
        self._port = port
        self._stream: ByteStream | None = None
        self._arrived = anyio.Event()
        self.on_newcomer: Newcomer | None = None

    @property
    def is_free(self) -> bool:
        return self._stream is None

    def give(self, stream: ByteStream) -> None:
        self._stream = stream
        self._arrived.set()

    async def taken(self) -> ByteStream:
        await self._arrived.wait()
        assert self._stream is not None
        return self._stream

    def leave(self) -> None:
        self._harbour.left(self._port, self)


class _Port:
    def __init__(self, address: tuple[str, int], listener: socket.socket) -> None:
        self.address = address
        self.listener = listener
        self.berths: list[Berth] = []
        self.scope = anyio.CancelScope()


class Harbour:
    """One for the daemon. A port is open as long as a session of it lives."""

    def __init__(self) -> None:
        self._ports: dict[tuple[str, int], _Port] = {}

    def berth(self, group: TaskGroup, host: str, port: int, *, stream: ByteStream | None = None) -> Berth:
        address = (host, port)
        if address not in self._ports:
            opened = _Port(address, bind_tcp(host, port))
            self._ports[address] = opened
            group.start_soon(self._accept, opened)
        place = self._ports[address]
        berth = Berth(self, place)
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
            port.listener.close()

    async def _accept(self, port: _Port) -> None:
        with port.scope:
            while True:
                try:
                    sock, _ = await asyncio.get_running_loop().sock_accept(port.listener)
                except OSError as error:
                    log.info("a Lua program could not be accepted: %s", error)
                    return
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                self._welcome(port, TcpStream(sock))

    def _welcome(self, port: _Port, stream: TcpStream) -> None:
        free = next((berth for berth in port.berths if berth.is_free), None)
        if free is not None:
            free.give(stream)
            return
        newcomer = next((berth.on_newcomer for berth in port.berths if berth.on_newcomer), None)
        if newcomer is None:
            stream.close()
            return
        newcomer(stream)
