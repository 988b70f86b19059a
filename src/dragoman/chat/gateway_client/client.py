"""The client of a gateway: connects, authenticates, stays connected, and sends requests.

`run` belongs to a task group of the owner; `connect` and `disconnect` say what is wanted. Nothing is sent twice
automatically: whether a request took effect before a connection was lost, only its sender can judge.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import anyio.to_thread
from msgspec import UNSET, Raw, UnsetType

from dragoman.chat import errors as chat_errors
from dragoman.chat.gateway_client import connection_status
from dragoman.chat.gateway_client.connection_status import GatewayStatus, ReconnectPolicy, restart_delay_s
from dragoman.chat.gateway_client.identity import DeviceIdentity
from dragoman.chat.gateway_client.roles import OPERATOR, GatewayRole
from dragoman.chat.gateway_client.run_attribution import RunAttribution, run_id_of
from dragoman.chat.gateway_client.session_methods import SessionMethods
from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.io.net.websocket_client import WebSocketClosedError, WebSocketRefusedError
from dragoman.protocols.gateway import (
    Challenged,
    ClientConnection,
    ClientEvent,
    ClientState,
    Closed,
    Connected,
    ConnectRefused,
    Credentials,
    EventFrame,
    GatewayProtocolError,
    HelloOk,
    RequestAbandoned,
    RequestExpired,
    RequestFailed,
    RequestSucceeded,
    SequenceGap,
    classify,
    sign_connect,
)

REQUEST_WITHIN_S = 30.0
_HANDSHAKE_WITHIN_S = 15.0
_ASKED_AGAIN_AFTER_S = 0.25
_SILENT_TICKS = 2
_TICK_TIMEOUT = 4000  # the reference implementation's close code for it


class GatewayLink(Protocol):
    async def receive(self) -> str: ...

    async def send(self, data: bytes) -> None: ...

    async def close(self, code: int, reason: str) -> None: ...


LinkOpener = Callable[[str], AbstractAsyncContextManager[GatewayLink]]


@dataclass(frozen=True, slots=True)
class GatewayAddress:
    url: str
    token: str = field(default="", repr=False)


@dataclass(slots=True, eq=False)
class _PendingRequest:
    sent_key: str = ""
    """The key of a message: its events may come before its response."""
    settled: anyio.Event = field(default_factory=anyio.Event)
    outcome: RequestSucceeded | RequestFailed | RequestExpired | RequestAbandoned | None = None


@dataclass(frozen=True, slots=True)
class _ConnectionEnd:
    """How one connection ended, and what that means for the next."""

    gateway_status: Callable[[float], GatewayStatus]
    was_open: bool = False
    pauses: GatewayStatus | None = None
    after_s: float | None = None


class GatewayClient:
    """A connection to one gateway that is kept open while it is wanted.

    It owns the handshake, the pending requests and the reconnects. It never repeats a request.
    """

    def __init__(
        self,
        gateway: GatewayAddress,
        identity: DeviceIdentity,
        clock: Clock,
        open_link: LinkOpener,
        *,
        on_status: Callable[[GatewayStatus], None],
        on_event: Callable[[EventFrame | SequenceGap], None],
        reconnect_policy: ReconnectPolicy | None = None,
        role: GatewayRole = OPERATOR,
    ) -> None:
        self.gateway = gateway
        self.role = self._offered = role
        self.gateway_status = connection_status.DISCONNECTED
        self.hello: HelloOk | None = None
        self._identity = identity
        self._clock = clock
        self.open_link = open_link
        self._on_status = on_status
        self._on_event = on_event
        self.reconnect_policy = reconnect_policy or ReconnectPolicy()
        self._is_wanted = False
        self._changed = anyio.Event()
        self._scope: anyio.CancelScope | None = None
        self._link: GatewayLink | None = None
        self._connection = ClientConnection()
        self._pending: dict[str, _PendingRequest] = {}
        self._uses_device_token = False
        self._methods = SessionMethods()
        self._attribution = RunAttribution()
        self._restart_delay_s: float | None = None
        self._received_at_s = 0.0
        self._last_request = 0

    def connect(self) -> None:
        """Connect. This also ends a pause: a person who asks again has fixed something."""
        if self._is_wanted and self.gateway_status.state in ("connected", "degraded"):
            return
        self._is_wanted = True
        self._set_status(connection_status.CONNECTING)
        self._wake()

    def disconnect(self) -> None:
        self._is_wanted = False
        self._set_status(connection_status.DISCONNECTED)
        self._wake()

    async def run(self) -> None:
        while True:
            changed = self._changed
            if not self._is_wanted:
                self._set_status(connection_status.DISCONNECTED)
                await changed.wait()
                continue
            with anyio.CancelScope() as self._scope:
                await self._stay_connected()

    async def request(
        self, method: str, params: Any = UNSET, *, timeout_s: float = REQUEST_WITHIN_S
    ) -> Raw | UnsetType:
        """Send a request, in the protocol document's form if the gateway knows no other."""
        if self.hello is not None and method in self.hello.features.methods:
            return await self._request(method, params, timeout_s)
        return await self._methods.request(self._request, method, params, timeout_s)

    def leave(self, session_key: str, run_id: str) -> None:
        """Note that nobody waits for this run any more."""
        self._attribution.leave(session_key, run_id)

    async def _request(self, method: str, params: Any, timeout_s: float) -> Raw | UnsetType:
        link = self._link
        if link is None or self._connection.state is not ClientState.OPEN:
            raise chat_errors.not_connected(self.gateway_status)
        self._last_request += 1
        id, pending = f"cmd_{self._last_request}", _PendingRequest(self._attribution.requested(method, params))
        deadline_s = self._clock.monotonic_s() + timeout_s
        data = self._connection.send_request(id, method, params, deadline_s=deadline_s)
        self._pending[id] = pending
        try:
            with anyio.move_on_after(timeout_s):
                await link.send(data)
                await pending.settled.wait()
        except WebSocketClosedError:
            raise chat_errors.connection_lost(method=method) from None
        finally:
            self._pending.pop(id, None)
            self._connection.expire(self._clock.monotonic_s())
            self._note_outcome(pending)
        return _result(method, pending.outcome, timeout_s)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
        if self._scope is not None:
            self._scope.cancel("what is wanted has changed")

    async def _stay_connected(self) -> None:
        failed, self._offered = 0, self.role
        while True:
            self._set_status(connection_status.CONNECTING)
            left = await self._one_connection()
            if left.pauses is not None:
                self._set_status(left.pauses)
                await anyio.sleep_forever()
            # A gateway that names the time of its return is alive, so this is not counted as a failure.
            failed = 1 if left.was_open else failed + (left.after_s is None)
            delay_s = left.after_s if left.after_s is not None else self.reconnect_policy.delay_s(failed)
            if delay_s is None:
                self._set_status(connection_status.gave_up(failed - 1))
                await anyio.sleep_forever()
                return
            self._set_status(left.gateway_status(delay_s))
            await anyio.sleep(delay_s)

    async def _one_connection(self) -> _ConnectionEnd:
        self._connection, self.hello, self._restart_delay_s = ClientConnection(), None, None
        self._methods = SessionMethods()
        self._attribution.reset()
        try:
            async with self.open_link(self.gateway.url) as self._link:
                return await self._serve_link(self._link)
        except WebSocketRefusedError as refused:
            words = str(refused)[:200]
            return _ConnectionEnd(lambda delay_s: connection_status.unreachable(self.gateway.url, words, delay_s))
        except DragomanError as error:
            return _paused_by(error)
        finally:
            self._link = None
            self._settle_all()

    async def _serve_link(self, link: GatewayLink) -> _ConnectionEnd:
        self._received_at_s = self._clock.monotonic_s()
        try:
            while True:
                left = await self._next_message(link)
                if left is not None:
                    return left
        except WebSocketClosedError as ended:
            self._connection.receive_eof(ended.code, ended.reason)
            for event in self._connection.events():
                await self._handle_connection_event(link, event)
            return self._lost(ended.code, ended.reason)
        except GatewayProtocolError as fault:
            await link.close(fault.close_code, fault.code)
            return _ConnectionEnd(
                lambda _: connection_status.CONNECTING, pauses=connection_status.protocol_violated(str(fault))
            )
        except DragomanError as error:
            return _paused_by(error)

    async def _next_message(self, link: GatewayLink) -> _ConnectionEnd | None:
        """One message, or a timeout when something is overdue."""
        text = None
        with anyio.move_on_after(max(0.0, self._overdue_at_s() - self._clock.monotonic_s())):
            text = await link.receive()
        if text is None:
            return await self._on_overdue(link)
        self._received_at_s = self._clock.monotonic_s()
        self._connection.receive_text(text)
        for event in self._connection.events():
            left = await self._handle_connection_event(link, event)
            if left is not None:
                return left
        return None

    def _overdue_at_s(self) -> float:
        if self.hello is None:
            return self._received_at_s + _HANDSHAKE_WITHIN_S
        if not self.hello.promises_ticks:
            return math.inf  # the socket's own pings detect a dead peer
        return self._received_at_s + _SILENT_TICKS * self.hello.policy.tick_interval_ms / 1000

    async def _on_overdue(self, link: GatewayLink) -> _ConnectionEnd:
        words = "tick timeout" if self.hello else "no handshake"
        await link.close(_TICK_TIMEOUT, words)
        self._connection.receive_eof(_TICK_TIMEOUT, words)
        for event in self._connection.events():
            await self._handle_connection_event(link, event)
        if self.hello is None:
            return _ConnectionEnd(lambda delay_s: connection_status.no_handshake(_HANDSHAKE_WITHIN_S, delay_s))
        return self._lost(_TICK_TIMEOUT, words)

    def _lost(self, code: int, words: str) -> _ConnectionEnd:
        return _ConnectionEnd(
            lambda delay_s: connection_status.connection_lost(code, words[:100], delay_s),
            was_open=self.hello is not None,
            after_s=self._restart_delay_s,
        )

    async def _handle_connection_event(self, link: GatewayLink, event: ClientEvent) -> _ConnectionEnd | None:
        match event:
            case Challenged():
                await link.send(await self._connect_request(event))
            case Connected():
                await self._on_connected(event)
            case ConnectRefused():
                return await self._on_refused(event)
            case RequestSucceeded() | RequestFailed() | RequestExpired() | RequestAbandoned():
                self._settle(event)
            case EventFrame() | SequenceGap():
                self._note_shutdown(event)
                self._publish_events([event] if isinstance(event, SequenceGap) else self._attribution.on_event(event))
            case Closed():
                pass
        return None

    def _publish_events(self, events: list[EventFrame | SequenceGap]) -> None:
        for event in events:
            self._on_event(event)

    def _note_outcome(self, pending: _PendingRequest) -> None:
        """Note the response as soon as it is read: the events after it belong to the run that it names."""
        key, pending.sent_key = pending.sent_key, ""
        if not key:
            return
        if isinstance(pending.outcome, RequestFailed):
            self._publish_events(self._attribution.refused(key))
        else:
            answer = pending.outcome.payload if isinstance(pending.outcome, RequestSucceeded) else UNSET
            self._publish_events(self._attribution.answered(key, run_id_of(answer)))

    def _note_shutdown(self, event: EventFrame | SequenceGap) -> None:
        """Note when a gateway that shuts down will be back."""
        if isinstance(event, EventFrame) and event.event == "shutdown":
            self._restart_delay_s = restart_delay_s(event.payload)

    async def _connect_request(self, challenged: Challenged) -> bytes:
        params = self._offered.offer(await anyio.to_thread.run_sync(self._credentials))
        deadline_s = self._clock.monotonic_s() + _HANDSHAKE_WITHIN_S
        if self._offered.is_plain:
            return self._connection.send_connect(params, deadline_s=deadline_s)
        seed = await anyio.to_thread.run_sync(self._identity.seed)
        signed = await anyio.to_thread.run_sync(sign_connect, params, seed, challenged.challenge)
        return self._connection.send_connect(signed, deadline_s=deadline_s)

    def _credentials(self) -> Credentials | None:
        """Without a credential, `auth` is left out."""
        kept = self._identity.token(self.gateway.url, self.role.name)
        if self.gateway.token and not (self._uses_device_token and kept):
            return Credentials(token=self.gateway.token)
        return Credentials(device_token=kept) if kept else None

    async def _on_connected(self, connected: Connected) -> None:
        self.hello = connected.hello
        self._uses_device_token = False
        granted = connected.hello.auth
        if not isinstance(granted, UnsetType) and isinstance(granted.device_token, str):
            await anyio.to_thread.run_sync(self._identity.keep, self.gateway.url, self.role.name, granted.device_token)
        missing = connected.missing_scopes
        self._set_status(connection_status.degraded(missing) if missing else connection_status.CONNECTED)

    async def _on_refused(self, refused: ConnectRefused) -> _ConnectionEnd:
        kept = await anyio.to_thread.run_sync(self._identity.token, self.gateway.url, self.role.name)
        untried = bool(kept) and bool(self.gateway.token) and not self._uses_device_token
        verdict = classify(refused.error, device_token_untried=untried)
        if verdict.action == "retry_with_device_token":
            self._uses_device_token = True
            return _ConnectionEnd(
                lambda _: connection_status.CONNECTING, after_s=(verdict.retry_after_ms or 250) / 1000
            )
        if (other := self._offered.reduced(refused.error)) is not None:
            self._offered = other
            return _ConnectionEnd(lambda _: connection_status.CONNECTING, after_s=_ASKED_AGAIN_AFTER_S)
        if verdict.action == "pause" or self._offered.is_plain:
            if verdict.reason == "AUTH_DEVICE_TOKEN_MISMATCH":
                await anyio.to_thread.run_sync(self._identity.drop, self.gateway.url, self.role.name)
            return _ConnectionEnd(
                lambda _: connection_status.CONNECTING, pauses=connection_status.connect_refused(refused.error, verdict)
            )
        after_s = None if verdict.retry_after_ms is None else verdict.retry_after_ms / 1000
        words = refused.error.message[:100]
        return _ConnectionEnd(lambda delay_s: connection_status.connection_lost(1008, words, delay_s), after_s=after_s)

    def _settle(self, outcome: RequestSucceeded | RequestFailed | RequestExpired | RequestAbandoned) -> None:
        pending = self._pending.get(outcome.id)
        if pending is not None:
            pending.outcome = outcome
            self._note_outcome(pending)
            pending.settled.set()

    def _settle_all(self) -> None:
        for id, pending in self._pending.items():
            pending.outcome = pending.outcome or RequestAbandoned(id, "")
            pending.settled.set()

    def _set_status(self, now: GatewayStatus) -> None:
        if now != self.gateway_status:
            self.gateway_status = now
            self._on_status(now)


def _paused_by(error: DragomanError) -> _ConnectionEnd:
    """The status if a person has to fix something first."""
    return _ConnectionEnd(
        lambda _: connection_status.CONNECTING,
        pauses=GatewayStatus("paused", error.code, error.message, hint=error.hint),
    )


def _result(
    method: str, outcome: RequestSucceeded | RequestFailed | RequestExpired | RequestAbandoned | None, timeout_s: float
) -> Raw | UnsetType:
    match outcome:
        case RequestSucceeded():
            return outcome.payload
        case RequestFailed():
            raise chat_errors.GatewayRequestError(method, outcome.error)
        case RequestAbandoned():
            raise chat_errors.connection_lost(method=method)
        case _:
            raise chat_errors.no_answer(method=method, seconds=timeout_s)
