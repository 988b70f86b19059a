"""The hub behind real WebSockets, with an agent that a test scripts; and clients that say any frame."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from dragoman.access.tokens import AccessLinks, Tokens
from dragoman.chat.approvals import Approvals
from dragoman.chat.command_agent import CommandCompletion
from dragoman.chat.conversations import STORE, Conversations
from dragoman.chat.runs import AgentRequest, ChatRuns, RunOutput
from dragoman.core.clock import SystemClock
from dragoman.core.paths import Paths
from dragoman.journal import Journal
from dragoman.servers.gateway.methods import MethodTable, RelayRequest
from dragoman.servers.gateway.server import GatewayHub
from tests.daemons import PATIENCE
from tests.proving import as_editor

Json = dict[str, Any]
Script = Callable[[AgentRequest, RunOutput], Awaitable[None]]
EVERYTHING = [f"operator.{name}" for name in ("admin", "approvals", "pairing", "read", "write")]
PERSON = "/person"
"""The address of sockets that count as proved."""


class _Texts:
    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket

    async def receive(self) -> str | None:
        try:
            return str(await self._socket.recv())
        except ConnectionClosed:
            return None

    async def send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionClosed):
            await self._socket.send(data.decode())

    async def close(self, code: int, reason: str) -> None:
        await self._socket.close(code, reason)


@dataclass
class Scripted:
    script: Script

    async def answer(self, asked: AgentRequest, run_output: RunOutput) -> None:
        await self.script(asked, run_output)


@dataclass
class ManualClient:
    """Any client, by hand."""

    socket: ClientConnection
    number: int = 0

    async def next(self) -> Json:
        with anyio.fail_after(10 * PATIENCE):
            return dict(json.loads(await self.socket.recv()))

    async def until(self, condition: Callable[[Json], bool]) -> Json:
        while not condition(frame := await self.next()):
            pass
        return frame

    async def send(self, frame: Any) -> None:
        await self.socket.send(frame if isinstance(frame, str) else json.dumps(frame))

    async def ask(self, method: str, params: Any = None) -> Json:
        self.number += 1
        frame = {"type": "req", "id": f"cmd_{self.number}", "method": method}
        await self.send(frame | ({} if params is None else {"params": params}))
        return await self.until(lambda it: it.get("id") == f"cmd_{self.number}")

    async def connect(self, token: str = "", **changed: Any) -> Json:
        params: Json = {
            "minProtocol": 3,
            "maxProtocol": 4,
            "client": {"id": "cli", "version": "1", "platform": "linux", "mode": "cli"},
            "role": "operator",
            "scopes": EVERYTHING,
            **({"auth": {"token": token}} if token else {}),
            **changed,
        }
        assert (await self.next())["event"] == "connect.challenge"
        return await self.ask("connect", params)

    async def closed(self) -> int | None:
        with anyio.fail_after(10 * PATIENCE):
            await self.socket.wait_closed()
        return self.socket.close_code


@dataclass
class GatewayUnderTest:
    url: str
    hub: GatewayHub
    tokens: Tokens
    runs: ChatRuns
    approvals: Approvals
    conversations: Conversations
    journal: Journal

    @property
    def token(self) -> str:
        return self.tokens.of("gateway")

    @asynccontextmanager
    async def open_client(self, *, is_person: bool = False) -> AsyncIterator[ManualClient]:
        """`is_person`: as if the socket had been proved to be the page's."""
        url = f"{self.url}{PERSON if is_person else ''}"
        async with connect(url, compression=None, proxy=None, max_size=None, close_timeout=0.5) as socket:
            yield ManualClient(socket)

    @asynccontextmanager
    async def member(self, **changed: Any) -> AsyncIterator[ManualClient]:
        async with self.open_client() as peer:
            assert (await peer.connect(self.token, **changed))["ok"]
            yield peer


@asynccontextmanager
async def window(paths: Paths) -> AsyncIterator[ManualClient]:
    """An editor's, on a socket that it and the daemon have proved to each other: a person."""
    proof = await anyio.to_thread.run_sync(as_editor, paths)
    async with connect(f"ws://{proof.dialled}/link/chat", compression=None, proxy=None, close_timeout=0.5) as socket:
        opening = proof.opening("/link/chat")
        await socket.send(next(opening))
        await socket.send(opening.send(str(await socket.recv())))
        assert json.loads(await socket.recv()) == {"proved": True}
        yield ManualClient(socket)


async def echo(asked: AgentRequest, run_output: RunOutput) -> None:
    run_output.say(f"you said {asked.text}")


async def goes_on(text: str, language: str, folder: str) -> list[CommandCompletion]:
    return [CommandCompletion(f"{text}…", f"goes on, in {language}, {folder or 'nowhere'}")]


@asynccontextmanager
async def running_gateway(
    folder: Path, script: Script = echo, relay: RelayRequest | None = None
) -> AsyncIterator[GatewayUnderTest]:
    async with Journal.open(folder / "journal", stores=[STORE]) as journal, anyio.create_task_group() as group:
        clock = SystemClock()
        tokens = Tokens(folder / "tokens")
        hub = GatewayHub(tokens, AccessLinks(tokens), clock, largest_bytes=1 << 20)
        conversations = Conversations(journal, clock)
        approvals = Approvals(hub.approval_requested, hub.approval_resolved)
        runs = ChatRuns(group, conversations, Scripted(script), hub.publish)
        hub.methods = MethodTable(
            conversations,
            runs,
            approvals,
            clock,
            model="dragoman/commands",
            workspace=str(folder),
            health=dict,
            presence=hub.presence,
            complete=goes_on,
            nodes=hub.nodes,
            changed=hub.changed,
            relay=relay,
        )

        async def accepted(socket: ServerConnection) -> None:
            is_person = socket.request is not None and socket.request.path == PERSON
            await hub.serve(_Texts(socket), is_person=is_person)

        async with serve(accepted, "127.0.0.1", 0, compression=None, max_size=1 << 20, ping_interval=None) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            yield GatewayUnderTest(f"ws://127.0.0.1:{port}", hub, tokens, runs, approvals, conversations, journal)
            group.cancel_scope.cancel()
