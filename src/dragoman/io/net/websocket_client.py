"""An outgoing WebSocket of text messages; opening, sending and closing each have a deadline."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.uri import parse_uri

from dragoman.io.net.streams import dial
from dragoman.io.net.trusted_servers import require_trusted_server

OPENED_WITHIN_S = 10.0
_CLOSED_WITHIN_S = 2.0
_SENT_WITHIN_S = 10.0
_PING_EVERY_S = 30.0
"""A gateway need not send ticks, but every WebSocket answers a ping."""
LARGEST_BYTES = 25 * 1024 * 1024


class WebSocketClosedError(Exception):
    """The peer or the network ended it."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}".strip())
        self.code = code
        self.reason = reason


class WebSocketRefusedError(Exception):
    """Nothing listens there, or it does not speak WebSocket."""


class TextWebSocket:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def receive(self) -> str:
        try:
            message = await self._socket.recv()
        except ConnectionClosed as ended:
            raise _closed(ended) from ended
        return message if isinstance(message, str) else message.decode(errors="replace")

    async def send(self, data: bytes) -> None:
        """A peer that accepts nothing for this long counts as gone."""
        try:
            with anyio.fail_after(_SENT_WITHIN_S):
                await self._socket.send(data, text=True)
        except ConnectionClosed as ended:
            raise _closed(ended) from ended
        except TimeoutError:
            raise WebSocketClosedError(1006, "the peer takes nothing") from None

    async def close(self, code: int, reason: str) -> None:
        """A peer that does not answer the close is dropped all the same: a cancelled `close` would keep the socket
        open."""
        with anyio.move_on_after(_CLOSED_WITHIN_S, shield=True):
            await self._socket.close(code, reason[:100])
        self._socket.transport.abort()


@asynccontextmanager
async def open_websocket(url: str, *, trusted: Callable[[], Sequence[str]] = list) -> AsyncIterator[TextWebSocket]:
    """Connect directly: two programs of one person need neither a proxy nor compression.

    A server of another user on this machine gets no data, unless `trusted` names it: see `trusted_servers`. The socket
    is ours, so a redirect is not followed: the checked server is the one we talk to.
    """
    try:
        with anyio.fail_after(OPENED_WITHIN_S):
            opened = await _opened(url, trusted)
    except (OSError, InvalidHandshake, InvalidURI, ValueError) as error:  # ValueError: an invalid port or name
        raise WebSocketRefusedError(str(error) or "no answer") from error
    link = TextWebSocket(opened)
    try:
        yield link
    finally:
        await link.close(1000, "")


async def _opened(url: str, trusted: Callable[[], Sequence[str]]) -> ClientConnection:
    place = parse_uri(url)
    sock = await dial(place.host, place.port)
    try:
        await require_trusted_server(sock, url, trusted)
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


def _closed(ended: ConnectionClosed) -> WebSocketClosedError:
    """A peer that broke a rule may leave without a reason: then our close frame has it."""
    frame = ended.rcvd or ended.sent
    return WebSocketClosedError(frame.code, frame.reason) if frame else WebSocketClosedError(1006, "")
