"""The omnish face: the socket at which shell wrappers tell what happens in their terminals, and ask."""

from __future__ import annotations

import logging
import socket
from collections import Counter
from functools import partial

import anyio
from anyio.abc import TaskGroup

from dragoman.omnish.holders import Holders
from dragoman.omnish.visit import Services, Visit
from dragoman.transport.accepting import accept_for_ever
from dragoman.transport.streams import TcpStream
from dragoman.transport.unix_socket import is_own_peer
from dragoman.transport.waiting import Waiting, share_of_descriptors

log = logging.getLogger(__name__)

FIRST_FRAME_WITHIN_S = 5.0
_BACKLOG = 1024
_LOGGED_SKIPS = 5


class OmnishServer:
    """At most so many connections; one more is closed at once, and its wrapper tries again later."""

    def __init__(self, services: Services) -> None:
        self._skipped: Counter[str] = Counter()
        self._services = services
        self._holders = Holders()
        self.visits: set[Visit] = set()
        self._at_most = share_of_descriptors(4, at_most=512)
        self._waiting = Waiting(share_of_descriptors(16, at_most=128))

    def __len__(self) -> int:
        return len(self.visits)

    @property
    def skipped(self) -> Counter[str]:
        """Frames that could not be used, by their fault, since the daemon began."""
        return sum((visit.driver.skipped for visit in self.visits), self._skipped)

    async def serve(self, listener: socket.socket) -> None:
        listener.listen(_BACKLOG)
        async with anyio.create_task_group() as group:
            await accept_for_ever(listener, partial(self._take, group=group), self._waiting.drop_longest)

    def end_those_by_token(self) -> None:
        """Their token was changed."""
        for visit in self.visits:
            if visit.came_by_token:
                visit.end()

    def _take(self, connection: socket.socket, group: TaskGroup) -> None:
        if not is_own_peer(connection):
            log.warning("a process of another user was refused at the wrappers' socket")
            connection.close()
        elif len(self.visits) >= self._at_most:
            log.warning("a shell wrapper was turned away: %d are connected", len(self.visits))
            connection.close()
        else:
            visit = Visit(TcpStream(connection), self._services, self._holders)
            self.visits.add(visit)
            group.start_soon(self._hold, visit)

    async def _hold(self, visit: Visit) -> None:
        self._waiting.begin(visit, visit.end, FIRST_FRAME_WITHIN_S)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._until_it_spoke, visit)
                await visit.run()
                group.cancel_scope.cancel("the wrapper left")
        except Exception:
            log.exception("a shell wrapper's connection failed")
        finally:
            self._waiting.end(visit)
            self.visits.discard(visit)
            self._count(visit)

    async def _until_it_spoke(self, visit: Visit) -> None:
        await visit.driver.spoke.wait()
        self._waiting.end(visit)

    def _count(self, visit: Visit) -> None:
        self._skipped += visit.driver.skipped
        if visit.driver.skipped:
            log.info("frames that could not be used: %s", dict(visit.driver.skipped.most_common(_LOGGED_SKIPS)))
        if visit.driver.fault is not None:
            log.warning("a shell wrapper's connection was closed: %s", visit.driver.fault)
