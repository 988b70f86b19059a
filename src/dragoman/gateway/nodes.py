"""Nodes at our own gateway: canvases that connect to it, the commands that operators send them, and their answers.

Who shows the gateway's token is let in, so nothing ever waits for a pairing; and a node is asked for its canvas alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import msgspec

from dragoman.chat.runs import Runs
from dragoman.clock import Clock
from dragoman.gateway import schemas as s
from dragoman.gateway.calls import Asker, Json, Method, MethodError, invalid
from dragoman.gateway.grants import PAIR, READ, WRITE
from dragoman.ids import new_id
from dragoman.wire.gateway import ConnectParams, GatewayError, canonical_session_key

INVOKED_AT_ONCE = 64
_FAMILY = "canvas."
"""Nothing else is passed on: a node that runs programs is no business of a debugger's gateway."""
_MESSAGE = 20_000


class NodeVisit(Asker, Protocol):
    params: ConnectParams | None
    since_ms: int

    def tell(self, event: str, payload: Any) -> None: ...


@dataclass(slots=True, eq=False)
class _Invoked:
    visit: NodeVisit
    settled: anyio.Event = field(default_factory=anyio.Event)
    result: s.InvokeResult | None = None


class Nodes:
    """Owns who is connected as a node, and what was asked of each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._nodes: dict[str, NodeVisit] = {}
        self._invoked: dict[str, _Invoked] = {}

    def came(self, visit: NodeVisit) -> None:
        self._nodes[_id_of(visit)] = visit

    def went(self, visit: NodeVisit) -> None:
        if self._nodes.get(_id_of(visit)) is visit:
            del self._nodes[_id_of(visit)]
        for invoked in self._invoked.values():
            if invoked.visit is visit:
                invoked.settled.set()

    def table(self, runs: Runs) -> Mapping[str, Method]:
        async def event(asker: Asker, wanted: s.NodeEvent) -> Json:
            return await _event(asker, wanted, runs)

        return {
            "node.list": Method(READ, s.Nothing, self._list),
            "node.describe": Method(READ, s.OneNode, self._describe),
            "node.pair.list": Method(PAIR, s.Nothing, self._pairings),
            "node.pair.approve": Method(PAIR, s.OneRequest, _nothing_waits),
            "node.pair.reject": Method(PAIR, s.OneRequest, _nothing_waits),
            "device.pair.list": Method(PAIR, s.Nothing, self._devices),
            "device.pair.approve": Method(PAIR, s.OneRequest, _nothing_waits),
            "device.pair.reject": Method(PAIR, s.OneRequest, _nothing_waits),
            "node.invoke": Method(WRITE, s.NodeInvoke, self._invoke),
            "node.invoke.result": Method("", s.InvokeResult, self._settle),
            "node.event": Method("", s.NodeEvent, event),
        }

    async def _list(self, _: Asker, __: s.Nothing) -> Json:
        return {"ts": self._now_ms(), "nodes": [_row(it) for it in self._nodes.values()]}

    async def _describe(self, _: Asker, wanted: s.OneNode) -> Json:
        node = self._nodes.get(wanted.node_id)
        if node is None:
            raise invalid("unknown nodeId")
        return {"ts": self._now_ms(), **_row(node)}

    async def _pairings(self, _: Asker, __: s.Nothing) -> Json:
        return {"pending": [], "paired": [_row(it) for it in self._nodes.values()]}

    async def _devices(self, _: Asker, __: s.Nothing) -> Json:
        return {"pending": [], "paired": []}

    async def _invoke(self, _: Asker, wanted: s.NodeInvoke) -> Json:
        node = self._nodes.get(wanted.node_id)
        if node is None:
            raise _unavailable("node not connected", {"code": "NOT_CONNECTED"})
        _require_allowed(node, wanted.command)
        if len(self._invoked) >= INVOKED_AT_ONCE:
            raise _unavailable("too many commands wait for their nodes", {"code": "BUSY"})
        result = await self._answer(node, wanted)
        if not result.ok:
            error = result.error or {"code": "UNAVAILABLE", "message": "the node gave no reason"}
            raise _unavailable(f"{error.get('code')}: {error.get('message')}"[:1000], {"nodeError": error})
        payload = _parsed(result.payload_json) if result.payload_json else result.payload
        about = {"nodeId": wanted.node_id, "command": wanted.command}
        return {"ok": True, **about, "payload": payload, "payloadJSON": result.payload_json}

    async def _answer(self, node: NodeVisit, wanted: s.NodeInvoke) -> s.InvokeResult:
        id, invoked = new_id("invoke"), _Invoked(node)
        self._invoked[id] = invoked
        asked = {"id": id, "nodeId": wanted.node_id, "command": wanted.command, "timeoutMs": wanted.timeout_ms}
        params = msgspec.json.encode(wanted.params).decode()
        try:
            node.tell("node.invoke.request", {**asked, "paramsJSON": params, "idempotencyKey": wanted.idempotency_key})
            with anyio.move_on_after(wanted.timeout_ms / 1000):
                await invoked.settled.wait()
        finally:
            del self._invoked[id]
        if invoked.result is not None:
            return invoked.result
        gone = {"code": "NOT_CONNECTED", "message": "node disconnected"}
        late = {"code": "TIMEOUT", "message": "node invoke timed out"}
        return s.InvokeResult(id=id, ok=False, error=gone if invoked.settled.is_set() else late)

    async def _settle(self, asker: Asker, wanted: s.InvokeResult) -> Json:
        """Only by the node that was asked, and once; a late one is no error, as real gateways have it."""
        invoked = self._invoked.get(wanted.id)
        if invoked is None or invoked.visit is not asker or invoked.settled.is_set():
            return {"ok": True, "ignored": True}
        invoked.result = wanted
        invoked.settled.set()
        return {"ok": True}

    def _now_ms(self) -> int:
        return self._clock.wall_ns() // 1_000_000


async def _event(asker: Asker, wanted: s.NodeEvent, runs: Runs) -> Json:
    """What the gateway has no ear for is taken and passed over: nodes tell much that no chat is about."""
    try:
        said = msgspec.json.decode(wanted.payload_json or "{}", type=s.NodeSaid)
    except msgspec.DecodeError:
        return {"ok": True}
    session = canonical_session_key(said.session_key or "main")
    if wanted.event == "agent.request" and 0 < len(said.message) <= _MESSAGE:
        await runs.send(session, said.message, run_id=new_id("request"), by=asker.name, language=asker.language)
    elif wanted.event == "chat.subscribe":
        asker.subscribe_messages(session)
    return {"ok": True}


async def _nothing_waits(_: Asker, __: s.OneRequest) -> Json:
    raise invalid("unknown requestId")


def _require_allowed(node: NodeVisit, command: str) -> None:
    client = node.params.client if node.params else None
    declared = (node.params.commands if node.params else None) or ()
    if command in declared and command.startswith(_FAMILY):
        return
    platform = client.platform if client else ""
    message = f'node command not allowed: "{command[:80]}" is not in the allowlist for platform "{platform[:80]}"'
    details = {"reason": "command not allowlisted", "command": command}
    raise MethodError(GatewayError("INVALID_REQUEST", message, msgspec.Raw(msgspec.json.encode(details))))


def _parsed(text: str) -> Any:
    """A node's own JSON, or nothing where it is none: the text itself is passed on beside it."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _row(visit: NodeVisit) -> dict[str, Any]:
    params = visit.params
    assert params is not None
    return {
        "nodeId": _id_of(visit),
        "displayName": params.client.display_name or params.client.id,
        "platform": params.client.platform,
        "version": params.client.version,
        "clientId": params.client.id,
        "clientMode": params.client.mode,
        "caps": list(params.caps or ()),
        "commands": sorted(it for it in params.commands or () if it.startswith(_FAMILY)),
        "permissions": params.permissions or {},
        "connectedAtMs": visit.since_ms,
        "lastSeenAtMs": visit.since_ms,
        "lastSeenReason": "connect",
        "approvedAtMs": visit.since_ms,
        "paired": True,
        "connected": True,
    }


def _id_of(visit: NodeVisit) -> str:
    device = visit.params.device if visit.params else None
    return device.id if device else visit.id


def _unavailable(message: str, details: Mapping[str, Any]) -> MethodError:
    return MethodError(GatewayError("UNAVAILABLE", message, msgspec.Raw(msgspec.json.encode(details))))
