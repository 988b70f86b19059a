"""The gateway at an address of the web server: clients of the protocol connect there, with no OpenClaw installed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import anyio
import anyio.to_thread
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from dragoman.gateway.hub import Hub


class GatewayFace:
    def __init__(self, hub: Hub, prepare: Callable[[], None]) -> None:
        """`prepare` takes long the first time: it is called once, in a worker thread, when somebody comes."""
        self._hub = hub
        self._prepare = prepare
        self._is_prepared = False

    async def serve(self, socket: WebSocket) -> None:
        """Who may what is decided by the protocol's own handshake; Host and Origin were judged before the upgrade."""
        await socket.accept()
        await self._visit(socket, is_person=False)

    async def serve_person(self, socket: WebSocket) -> None:
        """A socket that was accepted and has proved to be the page's or an editor's: no token travels on it."""
        await self._visit(socket, is_person=True)

    async def _visit(self, socket: WebSocket, *, is_person: bool) -> None:
        async with anyio.create_task_group() as group:
            if not self._is_prepared:
                self._is_prepared = True
                group.start_soon(anyio.to_thread.run_sync, self._prepare)
            await self._hub.serve(_Texts(socket), is_person=is_person)

    def end(self) -> None:
        self._hub.end()


class _Texts:
    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def receive(self) -> str | None:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        text = message.get("text")
        return text if text is not None else bytes(message.get("bytes") or b"").decode(errors="replace")

    async def send(self, data: bytes) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.send_text(data.decode())

    async def close(self, code: int, reason: str) -> None:
        if self._socket.client_state is WebSocketState.CONNECTED:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await self._socket.close(code, reason)
