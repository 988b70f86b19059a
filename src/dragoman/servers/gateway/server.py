"""The gateway server: every connected client, and the events that each of them may read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from msgspec import UNSET
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from dragoman import __version__
from dragoman.access.tokens import AccessLinks, Tokens
from dragoman.canvas.model import SurfaceChange
from dragoman.chat.approvals import PendingApproval
from dragoman.core.clock import Clock
from dragoman.protocols.gateway import EventFrame, GatewaySnapshot, Reducer, SequenceGap
from dragoman.protocols.gateway.chat_events import ChatEvent, Done
from dragoman.protocols.gateway.messages import TOOL_EVENTS
from dragoman.servers.gateway import documented_protocol
from dragoman.servers.gateway.calls import APPROVE, READ
from dragoman.servers.gateway.connection import TICK_MS, GatewayConnection, TextSocket
from dragoman.servers.gateway.documented_protocol import DocumentedCanvas
from dragoman.servers.gateway.methods import MethodTable, approval_payload
from dragoman.servers.gateway.nodes import NodeRegistry
from dragoman.servers.gateway.run_events import OutgoingEvent, RunEvents

CONNECTIONS_AT_MOST = 500
UNAUTHENTICATED_AT_MOST = 256
"""Connections that have not shown a token yet. More would take the room of those that have."""
RUNS_AT_MOST = 512
"""Runs in progress. The end of a run behind another gateway may never arrive."""
ENDS = ("final", "aborted", "error")
_FULL = (1013, "too many connections")

PASSED_ON = frozenset({"agent", "chat", "sessions.changed"})


class GatewayHub:
    """Publishes events to every connected client.

    It owns the connections and the event sequence of each running run. An event is encoded once; each connection
    numbers it for itself. It never runs an agent.
    """

    def __init__(self, tokens: Tokens, links: AccessLinks, clock: Clock, *, largest_bytes: int) -> None:
        self._tokens = tokens
        self._links = links
        self._clock = clock
        self._largest_bytes = largest_bytes
        self._connections: set[GatewayConnection] = set()
        self._unauthenticated: set[GatewayConnection] = set()
        self._run_events: dict[str, RunEvents] = {}
        self._relayed = Reducer()
        self._started_s = clock.monotonic_s()
        self.nodes = NodeRegistry(clock)
        self.methods: MethodTable
        self.canvas: DocumentedCanvas | None = None

    async def serve(self, socket: TextSocket, *, is_person: bool = False) -> None:
        if len(self._connections) >= CONNECTIONS_AT_MOST or len(self._unauthenticated) >= UNAUTHENTICATED_AT_MOST:
            await socket.close(*_FULL)
            return
        connection = GatewayConnection(
            socket,
            self.methods,
            self._tokens,
            self._links,
            self._clock,
            connected=self._connected,
            largest_bytes=self._largest_bytes,
            snapshot=self._snapshot,
            is_person=is_person,
        )
        self._unauthenticated.add(connection)
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)
            self._unauthenticated.discard(connection)
            self.nodes.disconnected(connection)

    async def tick(self) -> None:
        while True:
            await anyio.sleep(TICK_MS / 1000)
            self._publish_to_all(OutgoingEvent("tick", {"ts": self._now_ms()}))

    def publish(self, event: ChatEvent) -> None:
        """Publish an event of a run.

        If it is dropped for a slow reader, the next `chat` frame repeats the whole text.
        """
        now_ms = self._now_ms()
        run_events = self._run_events.get(event.run_id)
        frames: list[OutgoingEvent] = []
        if run_events is None:
            if len(self._run_events) >= RUNS_AT_MOST:
                del self._run_events[next(iter(self._run_events))]
            run_events = self._run_events[event.run_id] = RunEvents(event.run_id, event.session_key, now_ms)
            frames += run_events.begin()
            self.changed(event.session_key, {"phase": "start", "runId": event.run_id})
        frames += run_events.publish(event, now_ms)
        for frame in frames:
            _broadcast(frame, self._readers(), is_droppable=not _is_end(frame))
            self._publish_to_nodes(frame, event.session_key)
        self._publish_kind_event(event)
        if isinstance(event, Done):
            self._run_events.pop(event.run_id, None)
            self.changed(event.session_key, {"phase": "end", "runId": event.run_id})

    def relay_event(self, frame: EventFrame | SequenceGap) -> None:
        """Relay an event of another gateway to the clients that may read it. A gap there is a gap here too."""
        if isinstance(frame, SequenceGap):
            for connection in self._readers():
                connection.skip()
        elif frame.event in PASSED_ON and frame.payload is not UNSET:
            about = _payload_summary(frame.payload)
            needs = TOOL_EVENTS if about.stream == "tool" else ""
            is_rewritten = documented_protocol.is_rewritten(about.stream, about.kind)
            for connection in self._readers():
                if not (is_rewritten and connection.reads_kinds):
                    relayed = OutgoingEvent(frame.event, {}, needs)
                    connection.broadcast(relayed, frame.payload, is_droppable=about.state not in ENDS)
            if self._kind_readers():
                for event in self._relayed.feed(frame):
                    self._publish_kind_event(event)

    def surface_changed(self, change: SurfaceChange) -> None:
        """Publish a changed surface to clients of the protocol document.

        A client that does not know the surface yet gets all of it.
        """
        if self.canvas is None:
            return
        if readers := self._kind_readers():
            name = self.canvas.name_of(change.drawer, change.surface_id)
            known = [connection for connection in readers if name in connection.known_surfaces]
            others = [connection for connection in readers if name not in connection.known_surfaces]
            for connections, messages in zip((known, others), self.canvas.messages(change), strict=True):
                for message in messages:
                    _broadcast(
                        OutgoingEvent("agent", documented_protocol.surface_kind_event(message)),
                        connections,
                        is_droppable=False,
                    )
            for connection in readers:
                (connection.known_surfaces.discard if change.after is None else connection.known_surfaces.add)(name)
        if change.after is None:
            self.canvas.forget(change)

    def approval_requested(self, approval: PendingApproval) -> None:
        self._publish_approval(OutgoingEvent("dragoman.approval.requested", approval_payload(approval)))

    def approval_resolved(self, approval: PendingApproval, allowed: bool) -> None:
        decision = {"id": approval.id, "decision": "allow" if allowed else "deny"}
        self._publish_approval(OutgoingEvent("dragoman.approval.resolved", decision))

    def upstream_changed(self) -> None:
        """Publish a change of the upstream connection; `dragoman.gateway` returns its status as text."""
        people = [it for it in self._readers() if it.is_person]
        _broadcast(OutgoingEvent("dragoman.gateway", {"ts": self._now_ms()}), people, is_droppable=False)

    def changed(self, session_key: str, more: Mapping[str, Any]) -> None:
        """Notify the clients that subscribed to all sessions or to this one."""
        payload = {"sessionKey": session_key, "ts": self._now_ms(), **more}
        for connection in self._readers():
            if connection.subscribes_sessions or session_key in connection.messages_of:
                connection.publish("sessions.changed", payload)

    def publish_erased(self) -> None:
        """Part of a conversation was erased. Clients get a gap at once, because they reload after one."""
        for connection in self._readers():
            connection.skip()
        self._publish_to_all(OutgoingEvent("tick", {"ts": self._now_ms()}))

    def presence(self) -> list[Any]:
        own = {"host": "dragoman", "version": __version__, "mode": "gateway", "reason": "self", "ts": self._now_ms()}
        return [own, *(_presence(connection) for connection in self._connections)]

    def end(self) -> None:
        """Announce a shutdown, so that clients reconnect."""
        self._publish_to_all(OutgoingEvent("shutdown", {"reason": "gateway stopping", "restartExpectedMs": None}))
        for connection in self._connections:
            connection.end(1012, "service restart")

    def _publish_kind_event(self, event: ChatEvent) -> None:
        """Publish in the protocol document's form, to clients that read no other."""
        payload = documented_protocol.run_kind_event(event)
        if payload is not None:
            _broadcast(OutgoingEvent("agent", payload), self._kind_readers(), is_droppable=False)

    def _publish_to_nodes(self, frame: OutgoingEvent, session_key: str) -> None:
        """Publish to nodes, without numbers, the sessions that each subscribed to."""
        for connection in self._connections:
            if connection.is_node and session_key in connection.messages_of:
                connection.publish(frame.event, frame.payload)

    def _publish_to_all(self, frame: OutgoingEvent) -> None:
        _broadcast(frame, list(self._connections), is_droppable=False)

    def _publish_approval(self, frame: OutgoingEvent) -> None:
        """Publish an approval to every client that reads the conversation, because it shows the waiting call.

        Only people may answer.
        """
        _broadcast(frame, [it for it in self._connections if it.may(READ) or it.may(APPROVE)], is_droppable=False)

    def _connected(self, connection: GatewayConnection) -> None:
        self._unauthenticated.discard(connection)
        self._connections.add(connection)
        if connection.is_node:
            self.nodes.connected(connection)

    def _readers(self) -> list[GatewayConnection]:
        return [connection for connection in self._connections if connection.may(READ)]

    def _kind_readers(self) -> list[GatewayConnection]:
        return [connection for connection in self._readers() if connection.reads_kinds]

    def _snapshot(self) -> GatewaySnapshot:
        return GatewaySnapshot(uptime_ms=round((self._clock.monotonic_s() - self._started_s) * 1000))

    def _now_ms(self) -> int:
        return self._clock.wall_ns() // 1_000_000


class _PayloadSummary(msgspec.Struct):
    stream: str = ""
    state: str = ""
    kind: str = ""


def _payload_summary(payload: msgspec.Raw) -> _PayloadSummary:
    try:
        return msgspec.json.decode(payload, type=_PayloadSummary)
    except msgspec.DecodeError:
        return _PayloadSummary()


def _broadcast(frame: OutgoingEvent, connections: Iterable[GatewayConnection], *, is_droppable: bool) -> None:
    """Broadcast an event. The payload is encoded once; each connection has its own number."""
    written = msgspec.Raw(msgspec.json.encode(frame.payload))
    for connection in connections:
        connection.broadcast(frame, written, is_droppable=is_droppable)


def _is_end(frame: OutgoingEvent) -> bool:
    return frame.event == "chat" and frame.payload["state"] in ENDS


def _presence(connection: GatewayConnection) -> dict[str, Any]:
    client = connection.params.client if connection.params else None
    return {
        "host": connection.name,
        "version": client.version if client else "",
        "platform": client.platform if client else "",
        "mode": client.mode if client else "",
        "reason": "connect",
        "ts": connection.since_ms,
    }


class GatewayEndpoint:
    """The gateway at an address of the web server. Clients of the protocol connect here; no OpenClaw needs to be
    installed.
    """

    def __init__(self, hub: GatewayHub, prepare: Callable[[], None]) -> None:
        """`prepare` takes long the first time: it is called once, in a worker thread, for the first client."""
        self._hub = hub
        self._prepare = prepare
        self._is_prepared = False

    async def serve(self, socket: WebSocket) -> None:
        """The protocol's handshake authorizes the client; the guard checked Host and Origin before the upgrade."""
        await socket.accept()
        await self._serve_socket(socket, is_person=False)

    async def serve_person(self, socket: WebSocket) -> None:
        """Serve a socket that is authenticated as the page's or an editor's: no token is sent on it."""
        await self._serve_socket(socket, is_person=True)

    async def _serve_socket(self, socket: WebSocket, *, is_person: bool) -> None:
        async with anyio.create_task_group() as group:
            if not self._is_prepared:
                self._is_prepared = True
                group.start_soon(anyio.to_thread.run_sync, self._prepare)
            await self._hub.serve(_WebSocketText(socket), is_person=is_person)

    def end(self) -> None:
        self._hub.end()


class _WebSocketText:
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
