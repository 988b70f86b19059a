"""Nodes at Dragoman's own gateway: canvases that connect to it, the commands that operators send them, and their
results.

A node that shows the gateway's token is admitted, so no pairing ever waits. A node only gets commands for its canvas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import msgspec

from dragoman.chat.runs import ChatRuns
from dragoman.core.clock import Clock
from dragoman.core.ids import new_id
from dragoman.protocols.gateway import ConnectParams, GatewayError, canonical_session_key
from dragoman.servers.gateway import params as s
from dragoman.servers.gateway.calls import (
    PAIR,
    READ,
    WRITE,
    GatewayCaller,
    GatewayMethod,
    Json,
    MethodError,
    invalid_request,
)

INVOKED_AT_ONCE = 64
_COMMAND_PREFIX = "canvas."
"""Nothing else is passed on: a debugger's gateway has no use for nodes that run programs."""
_MESSAGE_CHARACTERS = 20_000


class NodeConnection(GatewayCaller, Protocol):
    params: ConnectParams | None
    since_ms: int

    def publish(self, event: str, payload: Any) -> None: ...


@dataclass(slots=True, eq=False)
class _Invocation:
    connection: NodeConnection
    settled: anyio.Event = field(default_factory=anyio.Event)
    result: s.NodeInvokeResult | None = None


class NodeRegistry:
    """Owns the connected nodes, and the commands that each was sent and has not answered."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._connected_nodes: dict[str, NodeConnection] = {}
        self._invoked: dict[str, _Invocation] = {}

    def connected(self, connection: NodeConnection) -> None:
        self._connected_nodes[_id_of(connection)] = connection

    def disconnected(self, connection: NodeConnection) -> None:
        if self._connected_nodes.get(_id_of(connection)) is connection:
            del self._connected_nodes[_id_of(connection)]
        for invoked in self._invoked.values():
            if invoked.connection is connection:
                invoked.settled.set()

    def table(self, runs: ChatRuns) -> Mapping[str, GatewayMethod]:
        async def event(caller: GatewayCaller, wanted: s.NodeEventParams) -> Json:
            return await _handle_node_event(caller, wanted, runs)

        return {
            "node.list": GatewayMethod(READ, s.NoParams, self._list),
            "node.describe": GatewayMethod(READ, s.NodeParams, self._describe),
            "node.pair.list": GatewayMethod(PAIR, s.NoParams, self._pairings),
            "node.pair.approve": GatewayMethod(PAIR, s.PairingRequestParams, _no_pending_request),
            "node.pair.reject": GatewayMethod(PAIR, s.PairingRequestParams, _no_pending_request),
            "device.pair.list": GatewayMethod(PAIR, s.NoParams, self._devices),
            "device.pair.approve": GatewayMethod(PAIR, s.PairingRequestParams, _no_pending_request),
            "device.pair.reject": GatewayMethod(PAIR, s.PairingRequestParams, _no_pending_request),
            "node.invoke": GatewayMethod(WRITE, s.NodeInvokeParams, self._invoke),
            "node.invoke.result": GatewayMethod("", s.NodeInvokeResult, self._record_result),
            "node.event": GatewayMethod("", s.NodeEventParams, event),
        }

    async def _list(self, _: GatewayCaller, __: s.NoParams) -> Json:
        return {"ts": self._now_ms(), "nodes": [_row(it) for it in self._connected_nodes.values()]}

    async def _describe(self, _: GatewayCaller, wanted: s.NodeParams) -> Json:
        node = self._connected_nodes.get(wanted.node_id)
        if node is None:
            raise invalid_request("unknown nodeId")
        return {"ts": self._now_ms(), **_row(node)}

    async def _pairings(self, _: GatewayCaller, __: s.NoParams) -> Json:
        return {"pending": [], "paired": [_row(it) for it in self._connected_nodes.values()]}

    async def _devices(self, _: GatewayCaller, __: s.NoParams) -> Json:
        return {"pending": [], "paired": []}

    async def _invoke(self, _: GatewayCaller, wanted: s.NodeInvokeParams) -> Json:
        node = self._connected_nodes.get(wanted.node_id)
        if node is None:
            raise _unavailable("node not connected", {"code": "NOT_CONNECTED"})
        _require_allowed(node, wanted.command)
        if len(self._invoked) >= INVOKED_AT_ONCE:
            raise _unavailable("too many commands wait for their nodes", {"code": "BUSY"})
        result = await self._invoke_node(node, wanted)
        if not result.ok:
            error = result.error or {"code": "UNAVAILABLE", "message": "the node gave no reason"}
            raise _unavailable(f"{error.get('code')}: {error.get('message')}"[:1000], {"nodeError": error})
        payload = _parsed(result.payload_json) if result.payload_json else result.payload
        about = {"nodeId": wanted.node_id, "command": wanted.command}
        return {"ok": True, **about, "payload": payload, "payloadJSON": result.payload_json}

    async def _invoke_node(self, node: NodeConnection, wanted: s.NodeInvokeParams) -> s.NodeInvokeResult:
        id, invoked = new_id("invoke"), _Invocation(node)
        self._invoked[id] = invoked
        request = {"id": id, "nodeId": wanted.node_id, "command": wanted.command, "timeoutMs": wanted.timeout_ms}
        params = msgspec.json.encode(wanted.params).decode()
        try:
            node.publish(
                "node.invoke.request", {**request, "paramsJSON": params, "idempotencyKey": wanted.idempotency_key}
            )
            with anyio.move_on_after(wanted.timeout_ms / 1000):
                await invoked.settled.wait()
        finally:
            del self._invoked[id]
        if invoked.result is not None:
            return invoked.result
        gone = {"code": "NOT_CONNECTED", "message": "node disconnected"}
        late = {"code": "TIMEOUT", "message": "node invoke timed out"}
        return s.NodeInvokeResult(id=id, ok=False, error=gone if invoked.settled.is_set() else late)

    async def _record_result(self, caller: GatewayCaller, wanted: s.NodeInvokeResult) -> Json:
        """Record the result once, and only from the node that got the command.

        A late result is not an error, as in real gateways.
        """
        invoked = self._invoked.get(wanted.id)
        if invoked is None or invoked.connection is not caller or invoked.settled.is_set():
            return {"ok": True, "ignored": True}
        invoked.result = wanted
        invoked.settled.set()
        return {"ok": True}

    def _now_ms(self) -> int:
        return self._clock.wall_ns() // 1_000_000


async def _handle_node_event(caller: GatewayCaller, wanted: s.NodeEventParams, runs: ChatRuns) -> Json:
    """Handle an event of a node. Events that no chat is about are accepted and ignored."""
    try:
        message = msgspec.json.decode(wanted.payload_json or "{}", type=s.NodeMessage)
    except msgspec.DecodeError:
        return {"ok": True}
    session = canonical_session_key(message.session_key or "main")
    if wanted.event == "agent.request" and 0 < len(message.message) <= _MESSAGE_CHARACTERS:
        await runs.send(session, message.message, run_id=new_id("request"), by=caller.name, language=caller.language)
    elif wanted.event == "chat.subscribe":
        caller.subscribe_messages(session)
    return {"ok": True}


async def _no_pending_request(_: GatewayCaller, __: s.PairingRequestParams) -> Json:
    raise invalid_request("unknown requestId")


def _require_allowed(node: NodeConnection, command: str) -> None:
    client = node.params.client if node.params else None
    declared = (node.params.commands if node.params else None) or ()
    if command in declared and command.startswith(_COMMAND_PREFIX):
        return
    platform = client.platform if client else ""
    message = f'node command not allowed: "{command[:80]}" is not in the allowlist for platform "{platform[:80]}"'
    details = {"reason": "command not allowlisted", "command": command}
    raise MethodError(GatewayError("INVALID_REQUEST", message, msgspec.Raw(msgspec.json.encode(details))))


def _parsed(text: str) -> Any:
    """A node's own JSON, or None if it is invalid. The text itself is passed on beside it."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _row(connection: NodeConnection) -> dict[str, Any]:
    params = connection.params
    assert params is not None
    return {
        "nodeId": _id_of(connection),
        "displayName": params.client.display_name or params.client.id,
        "platform": params.client.platform,
        "version": params.client.version,
        "clientId": params.client.id,
        "clientMode": params.client.mode,
        "caps": list(params.caps or ()),
        "commands": sorted(it for it in params.commands or () if it.startswith(_COMMAND_PREFIX)),
        "permissions": params.permissions or {},
        "connectedAtMs": connection.since_ms,
        "lastSeenAtMs": connection.since_ms,
        "lastSeenReason": "connect",
        "approvedAtMs": connection.since_ms,
        "paired": True,
        "connected": True,
    }


def _id_of(connection: NodeConnection) -> str:
    device = connection.params.device if connection.params else None
    return device.id if device else connection.id


def _unavailable(message: str, details: Mapping[str, Any]) -> MethodError:
    return MethodError(GatewayError("UNAVAILABLE", message, msgspec.Raw(msgspec.json.encode(details))))
