"""An outgoing WebSocket as a link of texts: opened, read, written and closed, each within a deadline."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.uri import parse_uri

from dragoman.transport.server_owner import require_own_server
from dragoman.transport.streams import dial

OPENED_WITHIN_S = 10.0
_CLOSED_WITHIN_S = 2.0
_SENT_WITHIN_S = 10.0
_PING_EVERY_S = 30.0
"""A gateway need not tick; every WebSocket answers a ping."""
LARGEST_BYTES = 25 * 1024 * 1024


class LinkClosedError(Exception):
    """The peer or the network ended it."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}".strip())
        self.code = code
        self.reason = reason


class LinkRefusedError(Exception):
    """There is nobody, or nobody who speaks WebSocket."""


class TextLink:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def receive(self) -> str:
        try:
            message = await self._socket.recv()
        except ConnectionClosed as ended:
            raise _closed(ended) from ended
        return message if isinstance(message, str) else message.decode(errors="replace")

    async def send(self, data: bytes) -> None:
        """A peer that takes nothing for so long is as good as gone."""
        try:
            with anyio.fail_after(_SENT_WITHIN_S):
                await self._socket.send(data, text=True)
        except ConnectionClosed as ended:
            raise _closed(ended) from ended
        except TimeoutError:
            raise LinkClosedError(1006, "the peer takes nothing") from None

    async def close(self, code: int, reason: str) -> None:
        """A peer that does not answer is left all the same: a `close` that is cancelled keeps the socket open."""
        with anyio.move_on_after(_CLOSED_WITHIN_S, shield=True):
            await self._socket.close(code, reason[:100])
        self._socket.transport.abort()


@asynccontextmanager
async def open_link(url: str, *, trusted: Callable[[], Sequence[str]] = list) -> AsyncIterator[TextLink]:
    """Straight to the address: neither a proxy nor compression has a place between two programs of one person.

    A server of another user of this machine is sent nothing, unless `trusted` names it: see `server_owner`. The socket
    is ours, so a redirect is not followed: what is judged is what is spoken to.
    """
    try:
        with anyio.fail_after(OPENED_WITHIN_S):
            opened = await _opened(url, trusted)
    except (OSError, InvalidHandshake, InvalidURI, ValueError) as error:  # ValueError: a port or a name that cannot be
        raise LinkRefusedError(str(error) or "no answer") from error
    link = TextLink(opened)
    try:
        yield link
    finally:
        await link.close(1000, "")


async def _opened(url: str, trusted: Callable[[], Sequence[str]]) -> ClientConnection:
    place = parse_uri(url)
    sock = await dial(place.host, place.port)
    try:
        await require_own_server(sock, url, trusted)
        return await connect(
            url,
            sock=sock,
            proxy=None,
            compression=None,
            max_size=LARGEST_BYTES,
            open_timeout=None,
            close_timeout=_CLOSED_WITHIN_S,
            ping_interval=_PING_EVERY_S,
            ping_timeout=2 * _PING_EVERY_S,
        )
    except BaseException:
        sock.close()
        raise


def _closed(ended: ConnectionClosed) -> LinkClosedError:
    """Who broke a rule may go without a word: then ours says which one."""
    told = ended.rcvd or ended.sent
    return LinkClosedError(told.code, told.reason) if told else LinkClosedError(1006, "")
