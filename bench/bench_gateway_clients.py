"""Our own gateway in the daemon: the handshake, and two hundred clients of which one takes nothing."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
from websockets.asyncio.client import ClientConnection, connect

from bench.bench_daemon import running
from bench.claims import Claim

_CLIENTS = 199
_ROUNDS = 40
_HANDSHAKES = 50
_NOTE = "a line of a note\n" * 1_000
_SCOPES = [f"operator.{name}" for name in ("admin", "read", "write")]


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory() as home, running(home) as state:
        return asyncio.run(_measured(home, state))


async def _measured(home: str, state: dict[str, int]) -> list[Claim]:
    house = _House(home, state["port"])
    async with house.client():  # the first makes the schemas of the tools
        await asyncio.sleep(2)
    handshake_ms = statistics.median([await _handshake_ms(house) for _ in range(_HANDSHAKES)])
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(house.client()) for _ in range(_CLIENTS)]
        alone_ms = await _round_ms(clients)
        before = psutil.Process(state["pid"]).memory_info().rss
        slow = await stack.enter_async_context(house.client())
        slow.transport.pause_reading()
        beside_ms = await _round_ms(clients)
        grown = psutil.Process(state["pid"]).memory_info().rss - before
    return [
        Claim("gateway: handshake, median", handshake_ms, "ms", 30, "lower"),
        Claim(
            "gateway: 199 readers beside one that takes nothing, of without", beside_ms / alone_ms, "x", 1.3, "lower"
        ),
        Claim("gateway: memory that one who takes nothing costs", max(0.0, grown / 1e6), "MB", 32, "lower"),
    ]


class _House:
    def __init__(self, home: str, port: int) -> None:
        self._url = f"ws://127.0.0.1:{port}/gateway"
        self._token = (Path(home) / "state" / "tokens" / "gateway").read_text().strip()

    @asynccontextmanager
    async def client(self) -> AsyncIterator[ClientConnection]:
        async with connect(self._url, compression=None, proxy=None, max_size=None, close_timeout=0.2) as socket:
            await socket.recv()
            client = {"id": "cli", "version": "1", "platform": "linux", "mode": "cli"}
            params = {"minProtocol": 3, "maxProtocol": 4, "client": client, "scopes": _SCOPES}
            await _ask(socket, "connect", {**params, "auth": {"token": self._token}})
            yield socket


async def _ask(socket: ClientConnection, method: str, params: dict[str, Any]) -> None:
    await socket.send(json.dumps({"type": "req", "id": method, "method": method, "params": params}))
    while json.loads(await socket.recv()).get("id") != method:
        pass


async def _handshake_ms(house: _House) -> float:
    begun = time.perf_counter()
    async with house.client():
        return (time.perf_counter() - begun) * 1000


async def _round_ms(clients: list[ClientConnection]) -> float:
    """From a note to the last reader that has seen its end; the median of many."""
    return statistics.median([await _one_round_ms(clients) for _ in range(_ROUNDS)])


async def _one_round_ms(clients: list[ClientConnection]) -> float:
    begun = time.perf_counter()
    note = {"sessionKey": "main", "message": _NOTE}
    await clients[0].send(json.dumps({"type": "req", "id": "n", "method": "chat.inject", "params": note}))
    await asyncio.gather(*(_until_end(client) for client in clients))
    return (time.perf_counter() - begun) * 1000


async def _until_end(client: ClientConnection) -> None:
    while '"state":"final"' not in str(await client.recv()):
        pass
