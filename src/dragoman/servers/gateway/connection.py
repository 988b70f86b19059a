"""One client's connection to the gateway: the handshake, its calls, and its bounded send queue."""

from __future__ import annotations

import logging
import secrets
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import anyio
import anyio.lowlevel
import anyio.to_thread
from anyio.abc import TaskGroup
from msgspec import Raw

from dragoman import __version__
from dragoman.access.tokens import AccessLinks, TokenHolder, Tokens
from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.ids import new_id
from dragoman.core.localization import Language, language_of_locale
from dragoman.protocols.gateway import (
    ConnectParams,
    ConnectRequested,
    Features,
    GatewayError,
    GatewayProtocolError,
    GatewaySnapshot,
    Grant,
    HandshakeRefusal,
    HandshakeRejected,
    HelloOk,
    MalformedFrame,
    Policy,
    RequestFrame,
    ServerConnection,
    ServerEvent,
    ServerInfo,
)
from dragoman.servers.gateway.calls import (
    CallLimiter,
    MethodError,
    authorize,
    grants_scope,
    requested_grant,
    safe_client_name,
    unavailable,
)
from dragoman.servers.gateway.methods import MethodTable
from dragoman.servers.gateway.run_events import OutgoingEvent

ROOM_BYTES = 1 << 20
"""Above this size, only events that must not be dropped are queued."""
MOST_BYTES = 8 << 20
STILL_S = 2.0
log = logging.getLogger(__name__)
HANDSHAKE_WITHIN_S = 10.0
TICK_MS = 30_000
SUBSCRIBED_AT_MOST = 500
"""Sessions per connection, as many as there can be conversations."""
_CLOSED_WITHIN_S = 1.0
_SLOW = (1008, "slow consumer")
_ROTATED = (4401, "the token was rotated")
EVENTS = ("connect.challenge", "agent", "chat", "sessions.changed", "node.invoke.request", "tick", "health", "shutdown",
          "dragoman.approval.requested", "dragoman.approval.resolved", "dragoman.gateway")  # fmt: skip


class SlowConsumerError(Exception):
    """The client reads nothing, and what waits for it must not be dropped."""


class GatewaySendQueue:
    """What waits to be sent to one client, bounded by bytes and by the time in which nothing was read."""

    def __init__(self) -> None:
        self._queued_bytes = 0
        self._queue: deque[bytes] = deque()
        self._ready = anyio.Event()
        self._sent_at_s = anyio.current_time()

    @property
    def has_room(self) -> bool:
        return self._queued_bytes < ROOM_BYTES

    @property
    def is_empty(self) -> bool:
        return not self._queue

    def put(self, data: bytes) -> None:
        """Queue a frame.

        A burst is not slowness: above the limit, a client is given up only if it reads nothing, or if far too much
        waits.
        """
        now_s = anyio.current_time()
        if self.is_empty:
            self._sent_at_s = now_s
        if not self.has_room and (now_s - self._sent_at_s > STILL_S or self._queued_bytes > MOST_BYTES):
            raise SlowConsumerError
        self._queue.append(data)
        self._queued_bytes += len(data)
        self._ready.set()

    async def pop(self) -> bytes:
        while not self._queue:
            self._ready = anyio.Event()
            await self._ready.wait()
        data = self._queue.popleft()
        self._queued_bytes -= len(data)
        return data

    def mark_sent(self) -> None:
        self._sent_at_s = anyio.current_time()


class TextSocket(Protocol):
    async def receive(self) -> str | None:
        """None when the client has disconnected."""
        ...

    async def send(self, data: bytes) -> None: ...

    async def close(self, code: int, reason: str) -> None: ...


class GatewayConnection:
    """One client's connection.

    It owns the handshake, the grant, the send queue and the open calls. It never waits for a call while it reads, so
    that an abort always arrives.
    """

    def __init__(
        self,
        socket: TextSocket,
        methods: MethodTable,
        tokens: Tokens,
        links: AccessLinks,
        clock: Clock,
        *,
        connected: Callable[[GatewayConnection], None],
        largest_bytes: int,
        snapshot: Callable[[], GatewaySnapshot],
        is_person: bool = False,
    ) -> None:
        """`is_person`: the socket is authenticated as the page's or an editor's, so no token is needed."""
        self.id = new_id("conn")
        self.name = "gateway"
        self.is_person = is_person
        self.subscribes_sessions = False
        self.messages_of: set[str] = set()
        self.known_surfaces: set[str] = set()
        self.caps: frozenset[str] = frozenset()
        self.since_ms = clock.wall_ns() // 1_000_000
        self.params: ConnectParams | None = None
        self._socket = socket
        self._methods = methods
        self._tokens = tokens
        self._links = links
        self._clock = clock
        self._connected = connected
        self._largest_bytes = largest_bytes
        self._snapshot = snapshot
        self._connection = ServerConnection()
        self._send_queue = GatewaySendQueue()
        self._grant: Grant | None = None
        self._protocol = 0
        self._call_limiter = CallLimiter()
        self._closing = anyio.Event()
        self._close: tuple[int, str] = (1000, "")

    # What a method may know about the connection.

    @property
    def language(self) -> Language:
        return language_of_locale(self.params.locale if self.params else None)

    def subscribe_sessions(self) -> None:
        self.subscribes_sessions = True

    def subscribe_messages(self, key: str) -> None:
        if key not in self.messages_of and len(self.messages_of) >= SUBSCRIBED_AT_MOST:
            raise unavailable(
                f"this connection listens to {SUBSCRIBED_AT_MOST} sessions already; connect anew for others"
            )
        self.messages_of.add(key)

    # Events from the hub.

    @property
    def is_node(self) -> bool:
        return self._grant is not None and self._grant.role == "node"

    @property
    def reads_kinds(self) -> bool:
        return self.params is not None and self.params.reads_kinds

    @property
    def follows_document(self) -> bool:
        return self.params is not None and self.params.follows_document

    def may(self, scope: str) -> bool:
        return self._grant is not None and grants_scope(self._grant.scopes, scope)

    def broadcast(self, frame: OutgoingEvent, written: Raw, *, is_droppable: bool) -> None:
        """Send a numbered event.

        A dropped event still uses up its number, so that the client sees the gap. A client of the protocol document
        cannot repair a gap: it gets everything, or is closed.
        """
        if self._grant is None or (frame.needs and frame.needs not in self.caps):
            return
        if is_droppable and not (self._send_queue.has_room or self.follows_document):
            self._connection.skip_event()
            return
        self._enqueue(self._connection.send_event(frame.event, written))

    def skip(self) -> None:
        """Use up a number: the client sees that something is missing, and reloads."""
        if self._grant is not None:
            self._connection.skip_event()

    def publish(self, event: str, payload: Any) -> None:
        """Send an event without a number to this client alone."""
        if self._grant is not None:
            self._enqueue(self._connection.send_event(event, payload, numbered=False))

    def end(self, code: int, reason: str) -> None:
        if not self._closing.is_set():
            self._close = (code, reason)
            self._closing.set()

    async def run(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._write)
            group.start_soon(self._read, group)
            group.start_soon(self._require_handshake)
            now_ms = self._clock.wall_ns() // 1_000_000
            self._enqueue(self._connection.send_challenge(secrets.token_hex(16), now_ms))
            await self._closing.wait()
            await self._flush()
            group.cancel_scope.cancel("the connection has ended")
        with anyio.move_on_after(_CLOSED_WITHIN_S, shield=True):
            await self._socket.close(*self._close)

    async def _require_handshake(self) -> None:
        await anyio.sleep(HANDSHAKE_WITHIN_S)
        if self._grant is None:
            self.end(1008, "handshake timeout")

    async def _flush(self) -> None:
        with anyio.move_on_after(_CLOSED_WITHIN_S):
            while not self._send_queue.is_empty:  # noqa: ASYNC110  the writer rings no bell when it is done
                await anyio.sleep(0.005)

    async def _write(self) -> None:
        while True:
            await self._socket.send(await self._send_queue.pop())
            self._send_queue.mark_sent()

    async def _read(self, group: TaskGroup) -> None:
        while (text := await self._socket.receive()) is not None:
            self._connection.receive_text(text)
            try:
                for event in self._connection.events():
                    await self._handle_event(event, group)
            except GatewayProtocolError as fault:
                self.end(fault.close_code, fault.code)
                return
        self.end(1000, "")

    async def _handle_event(self, event: ServerEvent, group: TaskGroup) -> None:
        match event:
            case ConnectRequested():
                await self._handle_connect(event, group)
            case HandshakeRejected():
                if event.reply:
                    self._enqueue(event.reply)
                self.end(event.refusal.close_code, event.refusal.close_reason)
            case MalformedFrame():
                self._enqueue(event.reply)
            case RequestFrame():
                await self._start_call(event, group)

    async def _handle_connect(self, requested: ConnectRequested, group: TaskGroup) -> None:
        now_ms = self._clock.wall_ns() // 1_000_000
        refusal = await anyio.to_thread.run_sync(self._connection.judge, now_ms)
        decided = refusal or self._authorize(requested.params, now_ms)
        if isinstance(decided, HandshakeRefusal):
            self._enqueue(self._connection.refuse(decided))
            self.end(decided.close_code, decided.close_reason)
            return
        grant, holder = decided
        self._enqueue(self._connection.accept(self._hello(requested.protocol, grant)))
        self._grant, self._protocol, self.params = grant, requested.protocol, requested.params
        if requested.params.follows_document:
            # The router of such a client drops every number that is not above the last one it saw, and does not reset
            # when it reconnects. Microseconds rise over reconnects and restarts; JavaScript counts them exactly until
            # 2255.
            self._connection.number_after(now_ms * 1000)
        self.caps = frozenset(requested.params.caps or ())
        self.name = (
            "the page"
            if self.is_person
            else safe_client_name(requested.params.client.display_name or requested.params.client.id)
        )
        if holder is not None:
            group.start_soon(self._end_with_token, holder)
        self._connected(self)

    def _authorize(self, params: ConnectParams, now_ms: int) -> tuple[Grant, TokenHolder | None] | HandshakeRefusal:
        return (requested_grant(params), None) if self.is_person else authorize(params, self._tokens, now_ms)

    async def _end_with_token(self, holder: TokenHolder) -> None:
        """End the connection when its token changes or is revoked."""
        with self._links.hold(*holder) as scope:
            await anyio.sleep_forever()
        if scope.cancel_called:
            self.end(*_ROTATED)

    def _hello(self, protocol: int, grant: Grant) -> HelloOk:
        return HelloOk(
            protocol=protocol,
            server=ServerInfo(version=__version__, conn_id=self.id),
            features=Features(methods=tuple(self._methods.table), events=EVENTS),
            snapshot=self._snapshot(),
            auth=grant,
            policy=Policy(max_payload=self._largest_bytes, max_buffered_bytes=1 << 20, tick_interval_ms=TICK_MS),
        )

    async def _start_call(self, request: RequestFrame, group: TaskGroup) -> None:
        """Start a call without waiting for it: a connection that stops reading notices neither an abort nor a
        disconnect."""
        try:
            self._call_limiter.begin(request.method)
        except MethodError as refused:
            self._enqueue(self._connection.send_error(request.id, refused.error))
        else:
            group.start_soon(self._answer, request)
        await anyio.lowlevel.checkpoint()

    async def _answer(self, request: RequestFrame) -> None:
        assert self._grant is not None
        try:
            async with self._call_limiter.turn(request.method):
                payload = await self._methods.call(self, self._grant, self._protocol, request.method, request.params)
            self._enqueue(self._connection.send_response(request.id, payload))
        except MethodError as refused:
            self._enqueue(self._connection.send_error(request.id, refused.error))
        except DragomanError as error:
            self._enqueue(self._connection.send_error(request.id, self._failure(error)))
        except Exception:
            log.exception("the method %s failed", request.method[:100])
            failed = GatewayError(code="UNAVAILABLE", message="internal error")
            self._enqueue(self._connection.send_error(request.id, failed))

    def _failure(self, error: DragomanError) -> GatewayError:
        return GatewayError(code="UNAVAILABLE", message=error.in_language(self.language))

    def _enqueue(self, data: bytes) -> None:
        try:
            self._send_queue.put(data)
        except SlowConsumerError:
            self.end(*_SLOW)
