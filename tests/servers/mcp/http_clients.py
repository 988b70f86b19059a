"""Clients of `/mcp`: the SDK's own of both eras, and one that is nothing but requests."""

from __future__ import annotations

import http.client
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import anyio
import httpx2
from mcp import ClientSession
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.daemons import PATIENCE, Cli
from tests.servers.mcp.raw_client import introduction

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
BOTH = ("application/json", "text/event-stream")


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def messages(self) -> list[Any]:
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            lines = [line[5:] for line in self.body.splitlines() if line.startswith(b"data:")]
            return [json.loads(line) for line in lines if line.strip()]
        return [json.loads(self.body)] if self.body else []

    @property
    def message(self) -> Any:
        (message,) = self.messages
        return message

    @property
    def code(self) -> str:
        return str(self.message["error"]["data"]["code"])


@dataclass
class Wire:
    """Says exactly what it is told to."""

    port: int
    token: str
    query: Mapping[str, str] = field(default_factory=dict)
    session: str = ""

    @contextmanager
    def open(self, method: str, message: object = None, **headers: str) -> Iterator[http.client.HTTPResponse]:
        """The head of the answer; its body is still to be read. Header names are written with underscores."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30 * PATIENCE)
        body = message if isinstance(message, bytes) else json.dumps(message).encode() if message is not None else None
        with closing(connection):
            connection.request(method, f"/mcp?{urlencode(self.query)}", body, self._sent(headers))
            yield connection.getresponse()

    def ask(self, method: str, message: object = None, **headers: str) -> Reply:
        with self.open(method, message, **headers) as response:
            return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def post(self, method: str, params: Mapping[str, Any] | None = None, **headers: str) -> Reply:
        return self.ask("POST", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}, **headers)

    def send_and_leave(self, message: object, when: Callable[[], object], **headers: str) -> None:
        """Without waiting for so much as a head, which a quick answer would come with."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30 * PATIENCE)
        with closing(connection):
            connection.request(
                "POST", f"/mcp?{urlencode(self.query)}", json.dumps(message).encode(), self._sent(headers)
            )
            assert when()

    def _sent(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self.token}",
            "Accept": ", ".join(BOTH),
            "Content-Type": "application/json",
            **({"Mcp-Session-Id": self.session} if self.session else {}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }

    def initialize(self, name: str = "raw") -> Reply:
        reply = self.post("initialize", introduction(HANDSHAKE, name))
        self.session = reply.headers.get("mcp-session-id", "")
        if reply.status == 200:
            self.ask("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply

    def call(self, tool: str, **arguments: Any) -> Reply:
        return self.post("tools/call", {"name": tool, "arguments": arguments})

    def modern(self, method: str, name: str = "", client: str = "raw", **params: Any) -> Reply:
        """One request that stands by itself."""
        message, headers = modern_request(method, name, client, **params)
        return self.ask("POST", message, **headers)


def modern_request(
    method: str, name: str = "", client: str = "raw", **params: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    prefix = "io.modelcontextprotocol/"
    meta = {
        f"{prefix}protocolVersion": MODERN,
        **({f"{prefix}clientInfo": {"name": client, "version": "1.2"}} if client else {}),
        f"{prefix}clientCapabilities": {},
    }
    named = {"name": name} if name else {}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**named, **params, "_meta": meta}}
    headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method, **({"Mcp_Name": name} if name else {})}
    return message, headers


def wire_of(cli: Cli, **query: str) -> Wire:
    return Wire(cli.status()["port"], cli.token("mcp"), query)


@asynccontextmanager
async def _transport(cli: Cli, query: Mapping[str, str]) -> AsyncIterator[Any]:
    url = f"{cli.status()['address']}/mcp?{urlencode(query)}"
    headers = {"Authorization": f"Bearer {cli.token('mcp')}"}
    with anyio.fail_after(60 * PATIENCE):
        async with httpx2.AsyncClient(headers=headers, timeout=30) as web:
            yield streamable_http_client(url, http_client=web)


@asynccontextmanager
async def session_of(cli: Cli, **query: str) -> AsyncIterator[ClientSession]:
    """With a handshake."""
    async with (
        _transport(cli, query) as transport,
        transport as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def asker_of(cli: Cli, **query: str) -> AsyncIterator[Client]:
    """Without."""
    async with _transport(cli, query) as transport, Client(transport, mode=MODERN) as client:
        yield client


ERAS: dict[str, Callable[..., AbstractAsyncContextManager[Any]]] = {"handshake": session_of, "stateless": asker_of}
