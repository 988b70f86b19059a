"""`dragoman mcp`: how soon a client has its first answer, and what the way through pump, socket and daemon costs."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import ClientSession
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.memory import create_client_server_memory_streams

from bench.claims import Claim
from dragoman.servers.mcp.server import build_server
from dragoman.tools import ToolRegistry
from dragoman.workspace.caller import Caller

STARTS = 15
CALLS = 1000
COMMAND = [sys.executable, "-P", "-m", "dragoman.cli.main"]
INITIALIZE = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}  # fmt: skip


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory() as home, _daemon(Path(home)) as environment:
        _ready_s(environment)  # the first client of a daemon waits for the SDK, once
        ready_s = statistics.median(_ready_s(environment) for _ in range(STARTS))
        piped_s = anyio.run(_piped, environment)
        posted_s = [anyio.run(_posted, *_endpoint(environment), mode) for mode in ("legacy", "2026-07-28")]
    direct_s = anyio.run(_direct)
    return [
        Claim("first answer of `dragoman mcp`, from its start", ready_s * 1e3, "ms", 150, "lower"),
        Claim("a call that does nothing, over stdio", piped_s * 1e3, "ms", 3, "lower"),
        Claim("a call over HTTP, in a session", posted_s[0] * 1e3, "ms", 6, "lower"),
        Claim("a call over HTTP that stands by itself", posted_s[1] * 1e3, "ms", 6, "lower"),
        Claim("the same against the SDK alone in one process", piped_s / direct_s, "times", 5, "lower"),
    ]


@contextmanager
def _daemon(home: Path) -> Iterator[dict[str, str]]:
    environment = {**os.environ, "DRAGOMAN_HOME": str(home), "DRAGOMAN_PORT": "0"}
    subprocess.run([*COMMAND, "up"], env=environment, check=True, capture_output=True)
    try:
        yield environment
    finally:
        subprocess.run([*COMMAND, "down", "--yes"], env=environment, check=True, capture_output=True)


def _ready_s(environment: dict[str, str]) -> float:
    began = time.perf_counter()
    with subprocess.Popen(
        [*COMMAND, "mcp"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as pump:
        assert pump.stdin is not None
        assert pump.stdout is not None
        pump.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        answer = pump.stdout.readline()
        took = time.perf_counter() - began
        pump.stdin.close()
    assert b'"result"' in answer
    return took


async def _piped(environment: dict[str, str]) -> float:
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp"], env=environment)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        return await _call_s(session)


def _endpoint(environment: dict[str, str]) -> tuple[str, str]:
    asked = ([*COMMAND, "status", "--json"], [*COMMAND, "token", "show", "mcp"])
    status, token = (subprocess.run(it, env=environment, capture_output=True, check=True).stdout for it in asked)
    return f"{json.loads(status)['address']}/mcp", token.decode().strip()


async def _posted(url: str, token: str, mode: Any) -> float:
    """A tool that does next to nothing: the newest revision has no ping."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as web,
        Client(streamable_http_client(url, http_client=web), mode=mode) as client,
    ):
        return await _median_s(lambda: client.call_tool("dragoman_status", {}), CALLS // 4)


async def _direct() -> float:
    server = build_server(ToolRegistry([]), Caller("bench", Path("/"), Path("/")), "1")
    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:
        group.start_soon(_serve, server, theirs)
        async with ClientSession(*ours) as session:
            took = await _call_s(session)
        group.cancel_scope.cancel()
    return took


async def _serve(server: Any, streams: Any) -> None:
    await server.run(*streams, server.create_initialization_options())


async def _call_s(session: ClientSession) -> float:
    await session.initialize()
    return await _median_s(session.send_ping, CALLS)


async def _median_s(call: Callable[[], Awaitable[object]], times: int) -> float:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        await call()
        took.append(time.perf_counter() - began)
    return statistics.median(took[times // 10 :])
