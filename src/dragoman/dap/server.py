"""The dap face: where editors connect, by the daemon's socket for them or through `dragoman dap --stdio`."""

from __future__ import annotations

import logging
import socket
from functools import partial

import anyio
from anyio.abc import ByteStream, TaskGroup

from dragoman.dap.guests import Guest
from dragoman.dap.visit import Visit
from dragoman.debug.service import DebugService
from dragoman.transport.accepting import accept_for_ever
from dragoman.transport.streams import TcpStream
from dragoman.transport.unix_socket import is_own_peer
from dragoman.transport.waiting import Waiting, share_of_descriptors
from dragoman.wire.control import Hello

log = logging.getLogger(__name__)

FIRST_REQUEST_WITHIN_S = 30.0


class DapServer:
    """At most so many editors; one more is closed at once."""

    def __init__(self, service: DebugService, unknown: Guest) -> None:
        """`unknown` is whoever connects to the socket and says nothing of itself."""
        self._service = service
        self._unknown = unknown
        self.visits: set[Visit] = set()
        self._at_most = share_of_descriptors(8, at_most=128)
        self._waiting = Waiting(share_of_descriptors(16, at_most=64))

    def admit(self, hello: Hello) -> None:
        """Before the welcome, so that the pump can say it both to its editor and to a person."""
        guest = Guest.of(hello)
        if guest.session:
            self._service.known(guest.session)

    async def __call__(self, hello: Hello, stream: ByteStream, rest: bytes) -> None:
        """Role `dap` of the control socket: what follows the welcome is the protocol, as on a socket of its own."""
        await self._hold(Visit(stream, self._service, Guest.of(hello)), rest)

    async def serve(self, listener: socket.socket) -> None:
        async with anyio.create_task_group() as group:
            await accept_for_ever(listener, partial(self._take, group=group), self._waiting.drop_longest)

    def _take(self, connection: socket.socket, group: TaskGroup) -> None:
        if not is_own_peer(connection):
            log.warning("a process of another user was refused at the editors' socket")
            connection.close()
        elif len(self.visits) >= self._at_most:
            log.warning("an editor was turned away: %d are connected", len(self.visits))
            connection.close()
        else:
            group.start_soon(self._hold, Visit(TcpStream(connection), self._service, self._unknown))

    async def _hold(self, visit: Visit, rest: bytes = b"") -> None:
        self.visits.add(visit)
        self._waiting.begin(visit, visit.end, FIRST_REQUEST_WITHIN_S)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._until_it_spoke, visit)
                await visit.run(rest)
                group.cancel_scope.cancel("the editor left")
        except Exception:
            log.exception("an editor's connection failed")
        finally:
            self._waiting.end(visit)
            self.visits.discard(visit)
            if visit.fault is not None:
                log.warning("an editor's connection was closed: %s", visit.fault)

    async def _until_it_spoke(self, visit: Visit) -> None:
        await visit.spoke.wait()
        self._waiting.end(visit)
