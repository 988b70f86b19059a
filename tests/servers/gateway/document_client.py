"""A client made from the protocol document alone: its frames, its translation, its router, its reconnecting.

Nothing of ours is imported but the tests' patience, and nothing that the document does not say is done: no device, no
scopes but the three it names, errors as text, and no repair of what was missed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.daemons import PATIENCE

Json = dict[str, Any]
BASE_S, MAX_S, ATTEMPTS, ANSWERED_WITHIN_S = 1.0, 30.0, 10, 30.0


class RequestError(Exception):
    """`{ok: false, error}`, with the error as the document has it: a text."""


class GaveUpError(Exception):
    """The attempts to connect are used up."""


@dataclass
class MessageRouter:
    """By `payload.kind`; an event whose `seq` is not above the last one is dropped."""

    chat: list[Json] = field(default_factory=list)
    canvas: list[Json] = field(default_factory=list)
    bridge: list[Json] = field(default_factory=list)
    dropped: int = 0
    last_seq: int = 0

    def route(self, event: Json) -> None:
        seq = event.get("seq")
        if seq is not None and seq <= self.last_seq:
            self.dropped += 1
            return
        self.last_seq = self.last_seq if seq is None else seq
        payload = event["payload"]
        match payload["kind"]:
            case "text_delta" | "tool_start" | "tool_result" | "done":
                self.chat.append(payload)
            case "a2ui":
                self.canvas.append(payload["payload"])
            case "diff":
                self.chat.append(payload)
                self.bridge.append(payload)

    def of(self, kind: str) -> list[Json]:
        return [it for it in self.chat if it["kind"] == kind]

    @property
    def text(self) -> str:
        return "".join(it["content"] for it in self.of("text_delta"))


@dataclass
class DocumentClient:
    url: str
    token: str = ""
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    state: str = "disconnected"
    states: list[str] = field(default_factory=list)
    frames: list[Json] = field(default_factory=list)
    router: MessageRouter = field(default_factory=MessageRouter)
    hello: Json = field(default_factory=dict)
    _socket: ClientConnection | None = None
    _pending: dict[str, list[Json]] = field(default_factory=dict)
    _number: int = 0
    _disconnected: bool = False
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> None:
        """Connected, and again after a connection that broke: 1 s, doubled up to 30 s, 10 times."""
        attempt = 0
        while not self._disconnected:
            self._become("connecting")
            try:
                async with connect(self.url, compression=None, proxy=None, max_size=None, close_timeout=0.5) as socket:
                    self._socket = socket
                    await self._live(socket)
            except OSError:
                self._become("disconnected")
            self._socket = None
            attempt = 0 if self.state == "connected" else attempt
            if self._disconnected:
                break
            if attempt >= ATTEMPTS:
                self._become("error")
                raise GaveUpError
            await self.sleep(min(BASE_S * 2**attempt, MAX_S))
            attempt += 1
        self._become("disconnected")

    async def disconnect(self) -> None:
        self._disconnected = True
        if self._socket is not None:
            await self._socket.close()

    async def drop(self) -> None:
        """The network's doing, not the user's."""
        assert self._socket is not None
        self._socket.transport.abort()

    async def chat_send(self, session: str, message: str, key: str = "") -> Json:
        params = {"sessionKey": session, "message": message, "idempotencyKey": key or str(uuid4())}
        return await self.command("chat.send", params)

    async def chat_abort(self, session: str, run: str) -> Json:
        return await self.command("chat.abort", {"sessionKey": session, "runId": run})

    async def chat_history(self, session: str) -> list[Json]:
        return list((await self.command("chat.history", {"sessionKey": session}))["messages"])

    async def session_list(self) -> list[Json]:
        return list((await self.command("session.list", {}))["sessions"])

    async def session_create(self, key: str, agent: str = "main") -> Json:
        return await self.command("session.create", {"key": key, "agent": agent})

    async def command(self, method: str, params: Json) -> Json:
        self._number += 1
        return await self._request(f"cmd_{self._number}", method, params)

    async def until(self, condition: Callable[[], Any]) -> Any:
        with anyio.fail_after(10 * PATIENCE):
            while not (found := condition()):
                await self._changed.wait()
            return found

    async def until_done(self, count: int = 1) -> Json:
        done: list[Json] = await self.until(lambda: len(self.router.of("done")) >= count and self.router.of("done"))
        return done[count - 1]

    async def _request(self, id: str, method: str, params: Json) -> Json:
        assert self._socket is not None
        self._pending[id] = []
        await self._socket.send(json.dumps({"type": "req", "id": id, "method": method, "params": params}))
        with anyio.fail_after(ANSWERED_WITHIN_S):
            while not self._pending[id]:
                await self._changed.wait()
        answer = self._pending.pop(id)[0]
        if not answer["ok"]:
            raise RequestError(answer["error"])
        return dict(answer["payload"])

    async def _live(self, socket: ClientConnection) -> None:
        async with anyio.create_task_group() as group:
            with contextlib.suppress(ConnectionClosed):
                async for text in socket:
                    self._receive(json.loads(text), group)
            group.cancel_scope.cancel()

    def _receive(self, frame: Json, group: TaskGroup) -> None:
        self.frames.append(frame)
        if frame["type"] == "res":
            if frame["id"] in self._pending:
                self._pending[frame["id"]].append(frame)
        elif frame["event"] == "connect.challenge":
            assert isinstance(frame["payload"]["nonce"], str)
            assert isinstance(frame["payload"]["ts"], int)
            group.start_soon(self._shake_hands)
        else:
            for event in translated(frame):
                self.router.route(event)
        self._ring()

    async def _shake_hands(self) -> None:
        params: Json = {
            "minProtocol": 3,
            "maxProtocol": 3,
            "client": {"id": "cli", "version": "0.1.0", "platform": "darwin", "mode": "cli"},
            "role": "operator",
            "scopes": ["operator.admin", "operator.approvals", "operator.pairing"],
            "caps": [],
            "commands": [],
            "permissions": {},
            **({"auth": {"token": self.token}} if self.token else {}),
        }
        try:
            self.hello = await self._request("connect", "connect", params)
        except RequestError as refused:
            self.hello = {"refused": refused.args[0]}
            self._become("error")
            return
        self._become("connected")

    def _become(self, state: str) -> None:
        self.state = state
        self.states.append(state)
        self._ring()

    def _ring(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def translated(frame: Json) -> list[Json]:
    """Both streams of an answer as one: pieces from `agent`, the end from `chat`; what has a kind passes through."""
    payload = frame.get("payload") or {}
    if frame["event"] == "agent" and "kind" in payload:
        return [frame]
    if frame["event"] == "agent" and payload.get("stream") == "assistant" and payload["data"].get("delta"):
        return [{**frame, "payload": {"kind": "text_delta", "content": payload["data"]["delta"]}}]
    if frame["event"] == "chat":
        reasons = {"final": "end_turn", "error": payload.get("errorMessage"), "aborted": "aborted"}
        if payload["state"] in reasons:
            return [{**frame, "payload": {"kind": "done", "stopReason": reasons[payload["state"]]}}]
    return []


@asynccontextmanager
async def document_client(url: str, token: str = "", **options: Any) -> AsyncIterator[DocumentClient]:
    """Connected, or refused."""
    client = DocumentClient(url, token, **options)
    async with anyio.create_task_group() as group:
        group.start_soon(client.run)
        await client.until(lambda: client.hello)
        try:
            yield client
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(5):
                await client.disconnect()
            group.cancel_scope.cancel()
