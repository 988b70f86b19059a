"""A gateway built from the protocol document alone: its frames, its five methods, its errors as plain text.

Nothing here knows a real gateway. The hello names a protocol and nothing else, events name neither run nor session, and
the id of a run is the gateway's own. How a run is told (`Manner`) is what the document leaves open.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
from anyio.abc import TaskGroup
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

Json = dict[str, Any]
Form = Literal["stream", "kind", "both"]
MEMBERS = {"minProtocol", "maxProtocol", "client", "role", "scopes", "caps", "commands", "permissions", "auth"}
SCOPES = ["operator.admin", "operator.approvals", "operator.pairing"]


@dataclass(frozen=True)
class Manner:
    """`text` and `end` say in which of the document's two ways they are told: its streams, its kinds, or both."""

    text: Form = "stream"
    end: Form = "stream"
    names_runs: bool = False
    events_first: bool = False
    is_numbered: bool = True
    challenges: bool = True
    is_strict: bool = False
    unknown: Any = "unknown method: {method}"
    token: str = ""
    hello: Json = field(default_factory=dict)


@dataclass
class Run:
    """One answer, as a script makes it."""

    gateway: DocumentGateway
    id: str
    session_key: str
    message: str
    text_sent: str = ""
    stopped: anyio.Event = field(default_factory=anyio.Event)

    async def text(self, piece: str) -> None:
        self.text_sent += piece
        form = self.gateway.manner.text
        if form in ("stream", "both"):
            await self.event("agent", {"stream": "assistant", "data": {"delta": piece}})
            await self.event("chat", {"state": "delta"})
        if form in ("kind", "both"):
            await self.event("agent", {"kind": "text_delta", "content": piece})

    async def tool(self, id: str, tool: str, title: str, input: Json, output: str, error: str | None = None) -> None:
        await self.event("agent", {"kind": "tool_start", "tool": tool, "id": id, "title": title, "input": input})
        await self.event("agent", {"kind": "tool_result", "id": id, "output": output, "error": error})

    async def diff(self, path: str, original: str | None, modified: str) -> None:
        await self.event("agent", {"kind": "diff", "path": path, "original": original, "modified": modified})

    async def draw(self, payload: Json) -> None:
        await self.event("agent", {"kind": "a2ui", "payload": payload})

    async def end(self, state: str = "final", words: str = "") -> None:
        """`final`, `aborted`, or `error` with the gateway's words."""
        self.gateway.remember(self)
        self.gateway.runs.pop(self.id, None)
        reasons = {"final": "end_turn", "aborted": "aborted", "error": words}
        form = self.gateway.manner.end
        if form in ("kind", "both"):
            await self.event("agent", {"kind": "done", "stopReason": reasons[state]})
        if form in ("stream", "both"):
            await self.event("chat", {"state": state} | ({"errorMessage": words} if state == "error" else {}))

    async def event(self, name: str, payload: Json) -> None:
        names = {"runId": self.id} if self.gateway.manner.names_runs else {}
        await self.gateway.event(name, payload | names)


Script = Callable[[Run], Coroutine[Any, Any, None]]


async def echo(run: Run) -> None:
    await run.text("you said ")
    await run.text(run.message)
    await run.end()


@dataclass
class DocumentGateway:
    script: Script
    group: TaskGroup
    manner: Manner = Manner()
    url: str = ""
    connects: list[Json] = field(default_factory=list)
    asked: list[tuple[str, Json]] = field(default_factory=list)
    sessions: dict[str, list[Json]] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    socket: ServerConnection | None = None
    seq: int = 0

    def params(self, method: str) -> list[Json]:
        return [params for name, params in self.asked if name == method]

    def remember(self, run: Run) -> None:
        past = self.sessions.setdefault(run.session_key, [])
        past += [{"role": "user", "content": run.message}, {"role": "assistant", "content": run.text_sent}]

    async def event(self, name: str, payload: Json) -> None:
        number = {}
        if self.manner.is_numbered and name != "connect.challenge":
            self.seq += 1
            number = {"seq": self.seq}
        await self.send({"type": "event", "event": name, "payload": payload} | number)

    async def send(self, frame: Json) -> None:
        with suppress(ConnectionClosed):
            if self.socket is not None:
                await self.socket.send(json.dumps(frame))

    async def cut(self) -> None:
        """The connection goes without a word; runs go on."""
        socket, self.socket = self.socket, None
        if socket is not None:
            socket.transport.abort()

    async def serve(self, socket: ServerConnection) -> None:
        self.socket, self.seq = socket, 0
        if self.manner.challenges:
            await self.event("connect.challenge", {"nonce": "n-1", "ts": 1234567890})
        with suppress(ConnectionClosed):
            request = json.loads(await socket.recv())
            self.connects.append(request)
            if refusal := self._refusal(request):
                await self.send({"type": "res", "id": request["id"], "ok": False, "error": refusal})
                return
            hello = {"type": "hello-ok", "protocol": 3, **self.manner.hello}
            await self.send({"type": "res", "id": "connect", "ok": True, "payload": hello})
            async for text in socket:
                await self._answer(json.loads(text))

    def _refusal(self, request: Json) -> str:
        params, client = request["params"], request["params"]["client"]
        lists = [params.get(name) for name in ("scopes", "caps", "commands")]
        rules = {
            "first request must be connect": (request["type"], request["id"], request["method"])
            == ("req", "connect", "connect"),
            "protocol 3 is spoken here": params["minProtocol"] <= 3 <= params["maxProtocol"],
            "no client": all(isinstance(client.get(it), str) for it in ("id", "version", "platform", "mode")),
            "no operator": params.get("role") == "operator" and set(SCOPES) <= set(params.get("scopes", ())),
            "scopes, caps, commands and permissions belong to a connect": all(isinstance(it, list) for it in lists)
            and isinstance(params.get("permissions"), dict),
            "wrong token": params.get("auth") == ({"token": self.manner.token} if self.manner.token else None),
            "unknown members": not self.manner.is_strict or set(params) <= MEMBERS,
        }
        return next((words for words, holds in rules.items() if not holds), "")

    async def _answer(self, request: Json) -> None:
        method, params = request["method"], request["params"]
        self.asked.append((method, params))
        methods = {
            "chat.send": self._send,
            "chat.abort": self._abort,
            "chat.history": self._history,
            "session.list": self._list,
            "session.create": self._create,
        }
        if method not in methods:
            words = self.manner.unknown
            error = words.format(method=method) if isinstance(words, str) else words
            await self.send({"type": "res", "id": request["id"], "ok": False, "error": error})
            return
        await methods[method](request["id"], params)

    async def _ok(self, id: str, payload: Json) -> None:
        await self.send({"type": "res", "id": id, "ok": True, "payload": payload})

    async def _send(self, id: str, params: Json) -> None:
        key = params["idempotencyKey"]
        if key in self.seen:
            await self._ok(id, {"runId": self.seen[key]})
            return
        run = Run(self, f"run-{len(self.seen) + 1}", params["sessionKey"], params["message"])
        self.seen[key] = run.id
        self.runs[run.id] = run
        self.sessions.setdefault(run.session_key, [])
        if self.manner.events_first:
            await self.script(run)
        await self._ok(id, {"runId": run.id})
        if not self.manner.events_first:
            self.group.start_soon(self.script, run)

    async def _abort(self, id: str, params: Json) -> None:
        run = self.runs.get(params.get("runId", ""))
        if run is None:
            await self.send({"type": "res", "id": id, "ok": False, "error": "no such run"})
            return
        run.stopped.set()
        await self._ok(id, {})

    async def _history(self, id: str, params: Json) -> None:
        await self._ok(id, {"messages": self.sessions.get(params["sessionKey"], [])})

    async def _list(self, id: str, params: Json) -> None:
        assert params == {}
        await self._ok(id, {"sessions": [{"key": key} for key in self.sessions]})

    async def _create(self, id: str, params: Json) -> None:
        assert set(params) == {"key", "agent"}
        self.sessions.setdefault(params["key"], [])
        await self._ok(id, {})


@asynccontextmanager
async def document_gateway(
    script: Script = echo, manner: Manner | None = None, *, port: int = 0
) -> AsyncIterator[DocumentGateway]:
    async with anyio.create_task_group() as group:
        gateway = DocumentGateway(script, group, manner or Manner())
        async with serve(gateway.serve, "127.0.0.1", port, compression=None, ping_interval=None) as server:
            gateway.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
            yield gateway
            group.cancel_scope.cancel()
