"""The client of a gateway: connects, proves who it is, stays connected, and carries requests.

`run` belongs to a task group of the owner; `connect` and `disconnect` say what is wanted. Nothing is sent twice by
itself: whether a request took effect before a connection was lost, only its sender can judge.
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

from dragoman.chat import faults, standing
from dragoman.chat.attribution import Attribution, run_id_of
from dragoman.chat.identity import Identity
from dragoman.chat.reconnecting import Reconnecting, back_in_s
from dragoman.chat.roles import OPERATOR, Role
from dragoman.chat.session_methods import SessionMethods
from dragoman.chat.standing import Standing
from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.transport.websocket_link import LinkClosedError, LinkRefusedError
from dragoman.wire.gateway import (
    Abandoned,
    Challenged,
    ClientConnection,
    ClientEvent,
    ClientState,
    Closed,
    Connected,
    Credentials,
    EventFrame,
    Expired,
    Failed,
    GatewayProtocolError,
    HelloOk,
    Refused,
    SequenceGap,
    Succeeded,
    classify,
    sign_connect,
)

REQUEST_WITHIN_S = 30.0
_HANDSHAKE_WITHIN_S = 15.0
_ASKED_AGAIN_AFTER_S = 0.25
_SILENT_TICKS = 2
_TICK_TIMEOUT = 4000  # the reference's own close code for it


class Link(Protocol):
    async def receive(self) -> str: ...

    async def send(self, data: bytes) -> None: ...

    async def close(self, code: int, reason: str) -> None: ...


Opener = Callable[[str], AbstractAsyncContextManager[Link]]


@dataclass(frozen=True, slots=True)
class Gateway:
    url: str
    token: str = field(default="", repr=False)


@dataclass(slots=True, eq=False)
class _Waiting:
    sent_key: str = ""
    """Of a message: its events may come before its answer."""
    settled: anyio.Event = field(default_factory=anyio.Event)
    outcome: Succeeded | Failed | Expired | Abandoned | None = None


@dataclass(frozen=True, slots=True)
class _Left:
    """How one connection ended, and what that means for the next."""

    standing: Callable[[float], Standing]
    was_open: bool = False
    pauses: Standing | None = None
    after_s: float | None = None


class GatewayClient:
    def __init__(
        self,
        gateway: Gateway,
        identity: Identity,
        clock: Clock,
        open_link: Opener,
        *,
        told: Callable[[Standing], None],
        heard: Callable[[EventFrame | SequenceGap], None],
        reconnecting: Reconnecting | None = None,
        role: Role = OPERATOR,
    ) -> None:
        self.gateway = gateway
        self.role = self._offered = role
        self.standing = standing.DISCONNECTED
        self.hello: HelloOk | None = None
        self._identity = identity
        self._clock = clock
        self.open_link = open_link
        self._told = told
        self._heard = heard
        self.reconnecting = reconnecting or Reconnecting()
        self._is_wanted = False
        self._changed = anyio.Event()
        self._scope: anyio.CancelScope | None = None
        self._link: Link | None = None
        self._connection = ClientConnection()
        self._waiting: dict[str, _Waiting] = {}
        self._with_device_token = False
        self._methods = SessionMethods()
        self._attribution = Attribution()
        self._back_in_s: float | None = None
        self._heard_at_s = 0.0
        self._asked = 0

    def connect(self) -> None:
        """Also ends a pause: whoever asks again has put something right."""
        if self._is_wanted and self.standing.state in ("connected", "degraded"):
            return
        self._is_wanted = True
        self._tell(standing.CONNECTING)
        self._wake()

    def disconnect(self) -> None:
        self._is_wanted = False
        self._tell(standing.DISCONNECTED)
        self._wake()

    async def run(self) -> None:
        while True:
            changed = self._changed
            if not self._is_wanted:
                self._tell(standing.DISCONNECTED)
                await changed.wait()
                continue
            with anyio.CancelScope() as self._scope:
                await self._stay_connected()

    async def request(
        self, method: str, params: Any = UNSET, *, timeout_s: float = REQUEST_WITHIN_S
    ) -> Raw | UnsetType:
        """In the protocol document's words where the gateway knows no others."""
        if self.hello is not None and method in self.hello.features.methods:
            return await self._request(method, params, timeout_s)
        return await self._methods.request(self._request, method, params, timeout_s)

    def leave(self, session_key: str, run_id: str) -> None:
        """Nobody waits for this run any more."""
        self._attribution.leave(session_key, run_id)

    async def _request(self, method: str, params: Any, timeout_s: float) -> Raw | UnsetType:
        link = self._link
        if link is None or self._connection.state is not ClientState.OPEN:
            raise faults.not_connected(self.standing)
        self._asked += 1
        id, waiting = f"cmd_{self._asked}", _Waiting(self._attribution.requested(method, params))
        deadline_s = self._clock.monotonic_s() + timeout_s
        data = self._connection.send_request(id, method, params, deadline_s=deadline_s)
        self._waiting[id] = waiting
        try:
            with anyio.move_on_after(timeout_s):
                await link.send(data)
                await waiting.settled.wait()
        except LinkClosedError:
            raise faults.connection_lost(method) from None
        finally:
            self._waiting.pop(id, None)
            self._connection.expire(self._clock.monotonic_s())
            self._note_outcome(waiting)
        return _result(method, waiting.outcome, timeout_s)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
        if self._scope is not None:
            self._scope.cancel("what is wanted has changed")

    async def _stay_connected(self) -> None:
        failed, self._offered = 0, self.role
        while True:
            self._tell(standing.CONNECTING)
            left = await self._one_connection()
            if left.pauses is not None:
                self._tell(left.pauses)
                await anyio.sleep_forever()
            # Who names the time to come back is there: that is no failure to be counted.
            failed = 1 if left.was_open else failed + (left.after_s is None)
            delay_s = left.after_s if left.after_s is not None else self.reconnecting.delay_s(failed)
            if delay_s is None:
                self._tell(standing.given_up(failed - 1))
                await anyio.sleep_forever()
                return
            self._tell(left.standing(delay_s))
            await anyio.sleep(delay_s)

    async def _one_connection(self) -> _Left:
        self._connection, self.hello, self._back_in_s = ClientConnection(), None, None
        self._methods = SessionMethods()
        self._attribution.reset()
        try:
            async with self.open_link(self.gateway.url) as self._link:
                return await self._converse(self._link)
        except LinkRefusedError as refused:
            words = str(refused)[:200]
            return _Left(lambda delay_s: standing.unreachable(self.gateway.url, words, delay_s))
        except DragomanError as error:
            return _left_paused(error)
        finally:
            self._link = None
            self._settle_all()

    async def _converse(self, link: Link) -> _Left:
        self._heard_at_s = self._clock.monotonic_s()
        try:
            while True:
                left = await self._turn(link)
                if left is not None:
                    return left
        except LinkClosedError as ended:
            self._connection.receive_eof(ended.code, ended.reason)
            for event in self._connection.events():
                await self._happened(link, event)
            return self._lost(ended.code, ended.reason)
        except GatewayProtocolError as fault:
            await link.close(fault.close_code, fault.code)
            return _Left(lambda _: standing.CONNECTING, pauses=standing.speaks_otherwise(str(fault)))
        except DragomanError as error:
            return _left_paused(error)

    async def _turn(self, link: Link) -> _Left | None:
        """One message, or the time at which something is overdue."""
        text = None
        with anyio.move_on_after(max(0.0, self._overdue_at_s() - self._clock.monotonic_s())):
            text = await link.receive()
        if text is None:
            return await self._overdue(link)
        self._heard_at_s = self._clock.monotonic_s()
        self._connection.receive_text(text)
        for event in self._connection.events():
            left = await self._happened(link, event)
            if left is not None:
                return left
        return None

    def _overdue_at_s(self) -> float:
        if self.hello is None:
            return self._heard_at_s + _HANDSHAKE_WITHIN_S
        if not self.hello.promises_ticks:
            return math.inf  # whether it is there, the socket's own pings say
        return self._heard_at_s + _SILENT_TICKS * self.hello.policy.tick_interval_ms / 1000

    async def _overdue(self, link: Link) -> _Left:
        words = "tick timeout" if self.hello else "no handshake"
        await link.close(_TICK_TIMEOUT, words)
        self._connection.receive_eof(_TICK_TIMEOUT, words)
        for event in self._connection.events():
            await self._happened(link, event)
        if self.hello is None:
            return _Left(lambda delay_s: standing.no_handshake(_HANDSHAKE_WITHIN_S, delay_s))
        return self._lost(_TICK_TIMEOUT, words)

    def _lost(self, code: int, words: str) -> _Left:
        return _Left(
            lambda delay_s: standing.lost(code, words[:100], delay_s),
            was_open=self.hello is not None,
            after_s=self._back_in_s,
        )

    async def _happened(self, link: Link, event: ClientEvent) -> _Left | None:
        match event:
            case Challenged():
                await link.send(await self._answer(event))
            case Connected():
                await self._opened(event)
            case Refused():
                return await self._refused(event)
            case Succeeded() | Failed() | Expired() | Abandoned():
                self._settle(event)
            case EventFrame() | SequenceGap():
                self._note_shutdown(event)
                self._tell_events([event] if isinstance(event, SequenceGap) else self._attribution.heard(event))
            case Closed():
                pass
        return None

    def _tell_events(self, events: list[EventFrame | SequenceGap]) -> None:
        for event in events:
            self._heard(event)

    def _note_outcome(self, waiting: _Waiting) -> None:
        """As soon as the answer is read: the events behind it are of the run that it names."""
        key, waiting.sent_key = waiting.sent_key, ""
        if not key:
            return
        if isinstance(waiting.outcome, Failed):
            self._tell_events(self._attribution.refused(key))
        else:
            answer = waiting.outcome.payload if isinstance(waiting.outcome, Succeeded) else UNSET
            self._tell_events(self._attribution.answered(key, run_id_of(answer)))

    def _note_shutdown(self, event: EventFrame | SequenceGap) -> None:
        """A gateway that stops may say when it will be back."""
        if isinstance(event, EventFrame) and event.event == "shutdown":
            self._back_in_s = back_in_s(event.payload)

    async def _answer(self, challenged: Challenged) -> bytes:
        params = self._offered.offer(await anyio.to_thread.run_sync(self._credentials))
        deadline_s = self._clock.monotonic_s() + _HANDSHAKE_WITHIN_S
        if self._offered.is_plain:
            return self._connection.send_connect(params, deadline_s=deadline_s)
        seed = await anyio.to_thread.run_sync(self._identity.seed)
        signed = await anyio.to_thread.run_sync(sign_connect, params, seed, challenged.challenge)
        return self._connection.send_connect(signed, deadline_s=deadline_s)

    def _credentials(self) -> Credentials | None:
        """Without one there is no `auth` at all."""
        kept = self._identity.token(self.gateway.url, self.role.name)
        if self.gateway.token and not (self._with_device_token and kept):
            return Credentials(token=self.gateway.token)
        return Credentials(device_token=kept) if kept else None

    async def _opened(self, connected: Connected) -> None:
        self.hello = connected.hello
        self._with_device_token = False
        granted = connected.hello.auth
        if not isinstance(granted, UnsetType) and isinstance(granted.device_token, str):
            await anyio.to_thread.run_sync(self._identity.keep, self.gateway.url, self.role.name, granted.device_token)
        missing = connected.missing_scopes
        self._tell(standing.degraded(missing) if missing else standing.CONNECTED)

    async def _refused(self, refused: Refused) -> _Left:
        kept = await anyio.to_thread.run_sync(self._identity.token, self.gateway.url, self.role.name)
        untried = bool(kept) and bool(self.gateway.token) and not self._with_device_token
        verdict = classify(refused.error, device_token_untried=untried)
        if verdict.action == "retry_with_device_token":
            self._with_device_token = True
            return _Left(lambda _: standing.CONNECTING, after_s=(verdict.retry_after_ms or 250) / 1000)
        if (other := self._offered.less(refused.error)) is not None:
            self._offered = other
            return _Left(lambda _: standing.CONNECTING, after_s=_ASKED_AGAIN_AFTER_S)
        if verdict.action == "pause" or self._offered.is_plain:
            if verdict.reason == "AUTH_DEVICE_TOKEN_MISMATCH":
                await anyio.to_thread.run_sync(self._identity.drop, self.gateway.url, self.role.name)
            return _Left(lambda _: standing.CONNECTING, pauses=standing.refused(refused.error, verdict))
        after_s = None if verdict.retry_after_ms is None else verdict.retry_after_ms / 1000
        words = refused.error.message[:100]
        return _Left(lambda delay_s: standing.lost(1008, words, delay_s), after_s=after_s)

    def _settle(self, outcome: Succeeded | Failed | Expired | Abandoned) -> None:
        waiting = self._waiting.get(outcome.id)
        if waiting is not None:
            waiting.outcome = outcome
            self._note_outcome(waiting)
            waiting.settled.set()

    def _settle_all(self) -> None:
        for id, waiting in self._waiting.items():
            waiting.outcome = waiting.outcome or Abandoned(id, "")
            waiting.settled.set()

    def _tell(self, now: Standing) -> None:
        if now != self.standing:
            self.standing = now
            self._told(now)


def _left_paused(error: DragomanError) -> _Left:
    """What a person has to put right first."""
    return _Left(lambda _: standing.CONNECTING, pauses=Standing("paused", error.code, error.message, hint=error.hint))


def _result(method: str, outcome: Succeeded | Failed | Expired | Abandoned | None, timeout_s: float) -> Raw | UnsetType:
    match outcome:
        case Succeeded():
            return outcome.payload
        case Failed():
            raise faults.request_failed(method, outcome.error)
        case Abandoned():
            raise faults.connection_lost(method)
        case _:
            raise faults.no_answer(method, timeout_s)
