"""The handshake on a WebSocket of the page or an editor, and what a proved socket is then allowed to open."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
from starlette.websockets import WebSocket, WebSocketDisconnect

from dragoman.access.keys import Keyring
from dragoman.access.links import Links
from dragoman.access.proof import PROVED, Handshake, Key, Transcript, UnprovedError
from dragoman.access.tokens import Purpose
from dragoman.transport.peers import is_caller_admitted
from dragoman.web.sockets import CLOSE_ROTATED, accept, close

log = logging.getLogger(__name__)

PROVED_WITHIN_S = 5.0
UNPROVED_AT_MOST = 64
CLOSE_UNPROVED = 4403
CLOSE_LATE = 4408

Handler = Callable[[WebSocket], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Prover:
    keys: Keyring
    links: Links
    instance: str
    addresses: Collection[str]
    """Where this daemon listens, as clients dial it."""
    users: frozenset[int] = frozenset()
    """Who besides this user may be at the other end: forwarders, by their uid."""
    _unproved: dict[anyio.CancelScope, None] = field(default_factory=dict)

    def guard(self, handler: Handler, *purposes: Purpose) -> Handler:
        """The handler gets a socket whose peer has proved that it holds a key of one of these purposes. It ends when
        that key is rotated."""

        async def serve(socket: WebSocket) -> None:
            await accept(socket)
            proved = await self._prove(socket, purposes) if await self._is_users_own(socket) else CLOSE_UNPROVED
            if isinstance(proved, int):
                await close(socket, proved, "not proved")
                return
            key, transcript = proved
            # From the proof to here nobody else had a turn: a rotation came before, or ends what is held now.
            with self.links.hold(key.purpose) as scope:
                if self._admits(key, transcript):
                    socket.state.purpose = key.purpose
                    await _begin(socket, handler)
                else:
                    await close(socket, CLOSE_UNPROVED, "not proved")
            if scope.cancel_called:
                await close(socket, CLOSE_ROTATED, "the token was rotated")

        return serve

    async def _is_users_own(self, socket: WebSocket) -> bool:
        """A login link stands in the command line of the program that opens it, where every user of the machine can
        read it: so on Linux whoever dials over loopback must be this user, whatever it knows. Root is one who reads
        any file of ours anyway, and who forwards ports for containers."""
        client, server = socket.scope.get("client"), socket.scope.get("server")
        if client is None or server is None:
            return False
        return await anyio.to_thread.run_sync(is_caller_admitted, tuple(server), tuple(client), self.users | {0})

    async def _prove(self, socket: WebSocket, purposes: Collection[Purpose]) -> tuple[Key, Transcript] | int:
        """Whoever says nothing holds a socket for seconds only; of too many, the one that has waited longest goes.
        Those are closed with a code of their own: a page whose machine is busy tries again."""
        with anyio.move_on_after(PROVED_WITHIN_S) as scope:
            while len(self._unproved) >= UNPROVED_AT_MOST:
                longest = next(iter(self._unproved))
                del self._unproved[longest]
                longest.cancel("too many have proved nothing")
            self._unproved[scope] = None
            try:
                return await self._converse(socket, purposes)
            except UnprovedError as reason:
                log.debug("a socket was not opened: %s", reason)
                return CLOSE_UNPROVED
            except WebSocketDisconnect:
                return CLOSE_UNPROVED
            finally:
                self._unproved.pop(scope, None)
        return CLOSE_LATE

    async def _converse(self, socket: WebSocket, purposes: Collection[Purpose]) -> tuple[Key, Transcript]:
        handshake = Handshake(
            lambda key_id: _fitting(self.keys.find(key_id), purposes),
            path=socket.url.path,
            instance=self.instance,
            addresses=self.addresses,
            nonce=secrets.token_hex(32),
        )
        await socket.send_text(handshake.open(await _text(socket)))
        return handshake.close(await _text(socket))

    def _admits(self, key: Key, transcript: Transcript) -> bool:
        """A code may have been spent, or a key rotated, while the peer computed."""
        if not key.is_code:
            return self.keys.find(transcript.key_id) == key
        return self.keys.spend(transcript) is not None


async def _begin(socket: WebSocket, handler: Handler) -> None:
    try:
        await socket.send_text(PROVED)
    except WebSocketDisconnect:
        return
    await handler(socket)


def _fitting(key: Key | None, purposes: Collection[Purpose]) -> Key | None:
    return key if key is not None and key.purpose in purposes else None


async def _text(socket: WebSocket) -> str:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    return message.get("text") or ""
