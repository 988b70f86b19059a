"""Accept, authenticate and close the WebSockets of the page and of editors."""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread
from starlette.websockets import WebSocket, WebSocketDisconnect

from dragoman.access.proof import PROVED, Keyring, ProofHandshake, ProofKey, Transcript, UnprovedError
from dragoman.access.tokens import AccessLinks, Purpose
from dragoman.io.net.peers import is_caller_allowed
from dragoman.workspace.caller import PAGE_ON_OTHER_MACHINE, RemoteCaller

SUBPROTOCOL = "dragoman.v1"
CLOSE_FAULT = 1011
CLOSE_BAD_MESSAGE = 4400
CLOSE_ROTATED = 4401
CLOSE_UNKNOWN = 4404
_CLOSED_WITHIN_S = 1.0
log = logging.getLogger(__name__)
PROVED_WITHIN_S = 5.0
UNPROVED_AT_MOST = 64
CLOSE_UNPROVED = 4403
CLOSE_LATE = 4408


async def accept(socket: WebSocket) -> None:
    await socket.accept(subprotocol=SUBPROTOCOL if SUBPROTOCOL in socket.scope["subprotocols"] else None)


async def close(socket: WebSocket, code: int, reason: str) -> None:
    with anyio.move_on_after(_CLOSED_WITHIN_S, shield=True), contextlib.suppress(WebSocketDisconnect):
        await socket.close(code, reason)


SocketHandler = Callable[[WebSocket], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class SocketAuthenticator:
    """Authenticates the WebSockets of the page and of editors: both sides prove that they hold the key, and no secret
    travels.
    """

    keys: Keyring
    links: AccessLinks
    instance: str
    addresses: Container[str]
    """Where this daemon listens, as clients dial it."""
    remote_of: Callable[[Sequence[Any] | None], RemoteCaller | None] = lambda _: None
    """Who on another machine is behind an address that a socket comes from."""
    users: frozenset[int] = frozenset()
    """Other users that may be at the other end: port forwarders, by their uid."""
    _pending: dict[anyio.CancelScope, None] = field(default_factory=dict)

    def guard(self, handler: SocketHandler, *purposes: Purpose) -> SocketHandler:
        """Wrap a handler: its peer has proved that it holds a key of one of these purposes.

        The socket ends when that key is rotated.
        """

        async def serve(socket: WebSocket) -> None:
            await accept(socket)
            result = await self._authenticate(socket, purposes) if await self._is_own_user(socket) else CLOSE_UNPROVED
            if isinstance(result, int):
                await close(socket, result, "not proved")
                return
            key, transcript = result
            # No other task ran since the proof: a rotation came before it, or ends the socket that is registered here.
            with self.links.hold(key.purpose) as scope:
                if self._is_still_valid(key, transcript):
                    socket.state.purpose = key.purpose
                    PAGE_ON_OTHER_MACHINE.set(self.remote_of(socket.scope.get("client")))
                    await _start_handler(socket, handler)
                else:
                    await close(socket, CLOSE_UNPROVED, "not proved")
            if scope.cancel_called:
                await close(socket, CLOSE_ROTATED, "the token was rotated")

        return serve

    async def _is_own_user(self, socket: WebSocket) -> bool:
        """Whether this user dialled.

        A login link is in the command line of the program that opens it, which every user of the machine can read. So
        on Linux a peer over loopback must be this user, whatever it knows. Root is permitted: it can read every file
        anyway, and it forwards ports for containers.
        """
        client, server = socket.scope.get("client"), socket.scope.get("server")
        if client is None or server is None:
            return False
        return await anyio.to_thread.run_sync(is_caller_allowed, tuple(server), tuple(client), self.users | {0})

    async def _authenticate(
        self, socket: WebSocket, purposes: Collection[Purpose]
    ) -> tuple[ProofKey, Transcript] | int:
        """Authenticate within seconds.

        If too many are waiting, the longest waiting is closed. It gets a close code of its own: a page on a busy
        machine retries.
        """
        with anyio.move_on_after(PROVED_WITHIN_S) as scope:
            while len(self._pending) >= UNPROVED_AT_MOST:
                longest = next(iter(self._pending))
                del self._pending[longest]
                longest.cancel("too many have proved nothing")
            self._pending[scope] = None
            try:
                return await self._handshake(socket, purposes)
            except UnprovedError as reason:
                log.debug("a socket was not opened: %s", reason)
                return CLOSE_UNPROVED
            except WebSocketDisconnect:
                return CLOSE_UNPROVED
            finally:
                self._pending.pop(scope, None)
        return CLOSE_LATE

    async def _handshake(self, socket: WebSocket, purposes: Collection[Purpose]) -> tuple[ProofKey, Transcript]:
        handshake = ProofHandshake(
            lambda key_id: _key_for(self.keys.find(key_id), purposes),
            path=socket.url.path,
            instance=self.instance,
            addresses=self.addresses,
            nonce=secrets.token_hex(32),
        )
        await socket.send_text(handshake.open(await _receive_text(socket)))
        return handshake.close(await _receive_text(socket))

    def _is_still_valid(self, key: ProofKey, transcript: Transcript) -> bool:
        """Check again: a code may have been used, or a key rotated, while the peer computed its proof."""
        if not key.is_code:
            return self.keys.find(transcript.key_id) == key
        return self.keys.spend(transcript) is not None


async def _start_handler(socket: WebSocket, handler: SocketHandler) -> None:
    try:
        await socket.send_text(PROVED)
    except WebSocketDisconnect:
        return
    await handler(socket)


def _key_for(key: ProofKey | None, purposes: Collection[Purpose]) -> ProofKey | None:
    return key if key is not None and key.purpose in purposes else None


async def _receive_text(socket: WebSocket) -> str:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    return message.get("text") or ""
