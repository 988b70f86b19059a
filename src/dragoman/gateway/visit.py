"""One client's connection: the handshake, its calls, and the events that it may read."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import Any, Protocol

import anyio
import anyio.lowlevel
import anyio.to_thread
from anyio.abc import TaskGroup
from msgspec import Raw

from dragoman import __version__
from dragoman.access.links import Links
from dragoman.access.tokens import Holder, Tokens
from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.gateway.calls import MethodError, unavailable
from dragoman.gateway.grants import allows, called, granted_to, judge
from dragoman.gateway.methods import Methods
from dragoman.gateway.outbox import Outbox, SlowReaderError
from dragoman.gateway.speech import Frame
from dragoman.gateway.turns import Turns
from dragoman.ids import new_id
from dragoman.phrases import Language, language_of
from dragoman.wire.gateway import (
    ConnectParams,
    ConnectRequested,
    Features,
    GatewayError,
    GatewayProtocolError,
    Grant,
    HelloOk,
    Malformed,
    Policy,
    Refusal,
    Rejected,
    RequestFrame,
    ServerConnection,
    ServerEvent,
    ServerInfo,
    Snapshot,
)

log = logging.getLogger(__name__)

HANDSHAKE_WITHIN_S = 10.0
TICK_MS = 30_000
SUBSCRIBED_AT_MOST = 500
"""Sessions of one connection, as many as there are conversations."""
_CLOSED_WITHIN_S = 1.0
_SLOW = (1008, "slow consumer")
_ROTATED = (4401, "the token was rotated")
EVENTS = ("connect.challenge", "agent", "chat", "sessions.changed", "node.invoke.request", "tick", "health", "shutdown",
          "dragoman.approval.requested", "dragoman.approval.resolved", "dragoman.gateway")  # fmt: skip


class Socket(Protocol):
    async def receive(self) -> str | None:
        """None: it has gone."""
        ...

    async def send(self, data: bytes) -> None: ...

    async def close(self, code: int, reason: str) -> None: ...


class Visit:
    def __init__(
        self,
        socket: Socket,
        methods: Methods,
        tokens: Tokens,
        links: Links,
        clock: Clock,
        *,
        came: Callable[[Visit], None],
        largest_bytes: int,
        snapshot: Callable[[], Snapshot],
        is_person: bool = False,
    ) -> None:
        """`is_person`: the socket was proved to be the page's or an editor's, so no token is asked for."""
        self.id = new_id("conn")
        self.name = "gateway"
        self.is_person = is_person
        self.subscribes_sessions = False
        self.messages_of: set[str] = set()
        self.surfaces_told: set[str] = set()
        self.caps: frozenset[str] = frozenset()
        self.since_ms = clock.wall_ns() // 1_000_000
        self.params: ConnectParams | None = None
        self._socket = socket
        self._methods = methods
        self._tokens = tokens
        self._links = links
        self._clock = clock
        self._came = came
        self._largest_bytes = largest_bytes
        self._snapshot = snapshot
        self._connection = ServerConnection()
        self._outbox = Outbox()
        self._grant: Grant | None = None
        self._protocol = 0
        self._turns = Turns()
        self._ends = anyio.Event()
        self._close: tuple[int, str] = (1000, "")

    # What a method may know of it.

    @property
    def language(self) -> Language:
        return language_of(self.params.locale if self.params else None)

    def subscribe_sessions(self) -> None:
        self.subscribes_sessions = True

    def subscribe_messages(self, key: str) -> None:
        if key not in self.messages_of and len(self.messages_of) >= SUBSCRIBED_AT_MOST:
            raise unavailable(
                f"this connection listens to {SUBSCRIBED_AT_MOST} sessions already; connect anew for others"
            )
        self.messages_of.add(key)

    # What the hub tells it.

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
        return self._grant is not None and allows(self._grant.scopes, scope)

    def broadcast(self, frame: Frame, written: Raw, *, may_be_left_out: bool) -> None:
        """Numbered. What a slow one is not sent still uses its number up, so that it sees the gap. Who knows the
        protocol by its document repairs no gap: it is sent everything, or closed."""
        if self._grant is None or (frame.needs and frame.needs not in self.caps):
            return
        if may_be_left_out and not (self._outbox.has_room or self.follows_document):
            self._connection.skip_event()
            return
        self._put(self._connection.send_event(frame.event, written))

    def skip(self) -> None:
        """A number that is used up: the client sees that something is missing, and reloads."""
        if self._grant is not None:
            self._connection.skip_event()

    def tell(self, event: str, payload: Any) -> None:
        """To this one alone, without a number."""
        if self._grant is not None:
            self._put(self._connection.send_event(event, payload, numbered=False))

    def end(self, code: int, reason: str) -> None:
        if not self._ends.is_set():
            self._close = (code, reason)
            self._ends.set()

    async def live(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._write)
            group.start_soon(self._read, group)
            group.start_soon(self._require_handshake)
            now_ms = self._clock.wall_ns() // 1_000_000
            self._put(self._connection.send_challenge(secrets.token_hex(16), now_ms))
            await self._ends.wait()
            await self._flush()
            group.cancel_scope.cancel("the visit is over")
        with anyio.move_on_after(_CLOSED_WITHIN_S, shield=True):
            await self._socket.close(*self._close)

    async def _require_handshake(self) -> None:
        await anyio.sleep(HANDSHAKE_WITHIN_S)
        if self._grant is None:
            self.end(1008, "handshake timeout")

    async def _flush(self) -> None:
        with anyio.move_on_after(_CLOSED_WITHIN_S):
            while not self._outbox.is_empty:  # noqa: ASYNC110  the writer rings no bell when it is done
                await anyio.sleep(0.005)

    async def _write(self) -> None:
        while True:
            await self._socket.send(await self._outbox.take())
            self._outbox.taken()

    async def _read(self, group: TaskGroup) -> None:
        while (text := await self._socket.receive()) is not None:
            self._connection.receive_text(text)
            try:
                for event in self._connection.events():
                    await self._happened(event, group)
            except GatewayProtocolError as fault:
                self.end(fault.close_code, fault.code)
                return
        self.end(1000, "")

    async def _happened(self, event: ServerEvent, group: TaskGroup) -> None:
        match event:
            case ConnectRequested():
                await self._greet(event, group)
            case Rejected():
                if event.reply:
                    self._put(event.reply)
                self.end(event.refusal.close_code, event.refusal.close_reason)
            case Malformed():
                self._put(event.reply)
            case RequestFrame():
                await self._take(event, group)

    async def _greet(self, asked: ConnectRequested, group: TaskGroup) -> None:
        now_ms = self._clock.wall_ns() // 1_000_000
        refusal = await anyio.to_thread.run_sync(self._connection.judge, now_ms)
        decided = refusal or self._judge(asked.params, now_ms)
        if isinstance(decided, Refusal):
            self._put(self._connection.refuse(decided))
            self.end(decided.close_code, decided.close_reason)
            return
        grant, holder = decided
        self._put(self._connection.accept(self._hello(asked.protocol, grant)))
        self._grant, self._protocol, self.params = grant, asked.protocol, asked.params
        if asked.params.follows_document:
            # Its router drops what is not above the last number it saw, and is not told to forget that one with the
            # connection. Microseconds rise over reconnects and restarts; JavaScript counts them exactly until 2255.
            self._connection.number_after(now_ms * 1000)
        self.caps = frozenset(asked.params.caps or ())
        self.name = "the page" if self.is_person else called(asked.params.client.display_name or asked.params.client.id)
        if holder is not None:
            group.start_soon(self._hold, holder)
        self._came(self)

    def _judge(self, params: ConnectParams, now_ms: int) -> tuple[Grant, Holder | None] | Refusal:
        return (granted_to(params), None) if self.is_person else judge(params, self._tokens, now_ms)

    async def _hold(self, holder: Holder) -> None:
        """Whatever stands on a token ends when that token changes or is revoked."""
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

    async def _take(self, request: RequestFrame, group: TaskGroup) -> None:
        """Never waits for a call: who stops reading hears neither a stop nor that the client has gone."""
        try:
            self._turns.begin(request.method)
        except MethodError as refused:
            self._put(self._connection.send_error(request.id, refused.error))
        else:
            group.start_soon(self._answer, request)
        await anyio.lowlevel.checkpoint()

    async def _answer(self, request: RequestFrame) -> None:
        assert self._grant is not None
        try:
            async with self._turns.turn(request.method):
                payload = await self._methods.call(self, self._grant, self._protocol, request.method, request.params)
            self._put(self._connection.send_response(request.id, payload))
        except MethodError as refused:
            self._put(self._connection.send_error(request.id, refused.error))
        except DragomanError as error:
            self._put(self._connection.send_error(request.id, self._failure(error)))
        except Exception:
            log.exception("the method %s failed", request.method[:100])
            failed = GatewayError(code="UNAVAILABLE", message="internal error")
            self._put(self._connection.send_error(request.id, failed))

    def _failure(self, error: DragomanError) -> GatewayError:
        return GatewayError(code="UNAVAILABLE", message=error.in_language(self.language))

    def _put(self, data: bytes) -> None:
        try:
            self._outbox.put(data)
        except SlowReaderError:
            self.end(*_SLOW)
