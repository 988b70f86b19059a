"""A scripted gateway, for orders and faults that a real one will not show on demand.

It runs beside the client under test, on loopback, over a real WebSocket.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

NONCE = "8b004dda-c9c1-4736-873f-42784b2e7240"
_NEXT_WITHIN_S = 10.0

Frame = dict[str, Any]
Script = Callable[["AcceptedConnection"], Awaitable[None]]


@dataclass(slots=True)
class AcceptedConnection:
    """One connection, seen from the gateway."""

    socket: ServerConnection
    number: int
    seq: int = 0

    async def send(self, frame: Frame) -> None:
        await self.socket.send(json.dumps(frame))

    async def next(self) -> Frame:
        with anyio.fail_after(_NEXT_WITHIN_S):
            return dict(json.loads(await self.socket.recv()))

    async def expect(self, method: str) -> Frame:
        request = await self.next()
        assert request.get("method") == method, request
        return request

    async def event(self, name: str, payload: Any, *, numbered: bool = True) -> None:
        self.seq += numbered
        await self.send({"type": "event", "event": name, "payload": payload} | ({"seq": self.seq} if numbered else {}))

    async def answer(self, request: Frame, payload: Any) -> None:
        await self.send({"type": "res", "id": request["id"], "ok": True, "payload": payload})

    async def refuse(self, request: Frame, code: str, message: str, /, **details: Any) -> None:
        error = {"code": code, "message": message, "details": details}
        await self.send({"type": "res", "id": request["id"], "ok": False, "error": error})

    async def challenge(self, ts: int = 1_794_724_324_867) -> Frame:
        await self.event("connect.challenge", {"nonce": NONCE, "ts": ts}, numbered=False)
        return await self.expect("connect")

    async def welcome(self, *, protocol: int = 4, tick_ms: int = 30_000, **grant: Any) -> Frame:
        """Challenge and hello; what is granted is what was asked for, unless said otherwise. Returns the connect."""
        connect = await self.challenge()
        auth = {"role": "operator", "scopes": connect["params"]["scopes"], **grant}
        policy = {"maxPayload": 26_214_400, "maxBufferedBytes": 52_428_800, "tickIntervalMs": tick_ms}
        await self.answer(connect, {"type": "hello-ok", "protocol": protocol, "auth": auth, "policy": policy})
        return connect

    async def close(self, code: int = 1000, reason: str = "") -> None:
        await self.socket.close(code, reason)

    async def stay(self) -> None:
        """Until the client leaves; what it says is not answered."""
        async for _ in self.socket:
            pass


@dataclass(slots=True)
class FakeGateway:
    url: str
    connections: int = 0
    errors: list[Exception] = field(default_factory=list)


@asynccontextmanager
async def fake_gateway(script: Script) -> AsyncIterator[FakeGateway]:
    """`script` is run for every connection; what it finds wrong is raised at the end of the block."""
    gateway = FakeGateway("")

    async def accepted(socket: ServerConnection) -> None:
        gateway.connections += 1
        try:
            await script(AcceptedConnection(socket, gateway.connections))
        except ConnectionClosed:
            pass
        except Exception as error:  # noqa: BLE001  raised where the test is
            gateway.errors.append(error)

    async with serve(accepted, "127.0.0.1", 0, compression=None, max_size=64 << 20) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        gateway.url = f"ws://127.0.0.1:{port}"
        yield gateway
    if gateway.errors:
        raise gateway.errors[0]
