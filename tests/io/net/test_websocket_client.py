"""The outgoing WebSocket: it is closed whatever the peer does."""

from __future__ import annotations

import anyio
import pytest
from websockets.asyncio.server import ServerConnection, serve

from dragoman.io.net import websocket_client
from dragoman.io.net.websocket_client import open_websocket

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("answers", [True, False])
async def test_no_socket_is_left_open_at_a_peer_that_does_not_answer_the_close(
    monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    monkeypatch.setattr(websocket_client, "_CLOSED_WITHIN_S", 0.1)
    left = anyio.Event()

    async def peer(socket: ServerConnection) -> None:
        if not answers:
            socket.transport.pause_reading()
        await left.wait()

    async with serve(peer, "127.0.0.1", 0, compression=None, close_timeout=0.1) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with anyio.fail_after(5):
            async with open_websocket(f"ws://127.0.0.1:{port}") as link:
                socket = link._socket
        assert socket.transport.is_closing()
        left.set()
        for connection in server.connections:
            connection.transport.abort()
