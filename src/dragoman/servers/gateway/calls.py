"""Calls on the gateway: the caller, the method, the scopes that its token grants, and the limit on concurrent calls."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Set
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import msgspec

from dragoman.access.tokens import TokenHolder, Tokens
from dragoman.core.localization import Language
from dragoman.protocols.gateway import ConnectParams, GatewayError, Grant
from dragoman.protocols.gateway.refusals import (
    DEVICE_IDENTITY_REQUIRED,
    DEVICE_TOKEN_MISMATCH,
    TOKEN_MISMATCH,
    HandshakeRefusal,
    token_missing,
)

NODE_SCOPE = ""
"""In place of a scope: only for connections with the role `node`."""
CALLS_AT_ONCE = 32
WAITING_AT_MOST = 96
"""Calls that wait behind those that run. More are refused."""

Json = Any


class GatewayCaller(Protocol):
    """What a method may know about the connection that called it."""

    id: str

    @property
    def name(self) -> str: ...

    @property
    def is_person(self) -> bool:
        """By its token: the page and the editor hold the page's token."""
        ...

    @property
    def known_surfaces(self) -> Set[str]:
        """Names of the surfaces that were published to it as a client of the protocol document."""
        ...

    @property
    def follows_document(self) -> bool:
        """It knows the protocol by its document alone: sessions keep the keys that it chose."""
        ...

    @property
    def language(self) -> Language:
        """The language of the answers."""
        ...

    def subscribe_sessions(self) -> None: ...

    def subscribe_messages(self, key: str) -> None: ...


class MethodError(Exception):
    def __init__(self, error: GatewayError) -> None:
        super().__init__(error.message)
        self.error = error


def invalid_request(message: str) -> MethodError:
    return MethodError(GatewayError(code="INVALID_REQUEST", message=message))


def unavailable(message: str, *, retryable: bool | None = None) -> MethodError:
    return MethodError(GatewayError(code="UNAVAILABLE", message=message, retryable=retryable))


@dataclass(frozen=True, slots=True)
class GatewayMethod:
    scope: str
    takes: type[msgspec.Struct]
    run: Callable[[GatewayCaller, Any], Awaitable[Json]]


URGENT = frozenset({"chat.abort", "dragoman.approval.resolve", "node.invoke.result"})
"""Calls that end a wait. They do not queue behind other calls, and have a limit of their own."""


class CallLimiter:
    """Limits the concurrent calls of one connection, so that it is always read: an abort never waits behind other
    calls.
    """

    def __init__(self) -> None:
        self._running = anyio.Semaphore(CALLS_AT_ONCE)
        self._open = {True: 0, False: 0}

    def begin(self, method: str) -> None:
        """Reserve a place. Raises if too many calls are open; otherwise `turn` must follow."""
        is_urgent = method in URGENT
        if self._open[is_urgent] >= CALLS_AT_ONCE + (0 if is_urgent else WAITING_AT_MOST):
            raise _too_many_calls(self._open[is_urgent])
        self._open[is_urgent] += 1

    @asynccontextmanager
    async def turn(self, method: str) -> AsyncIterator[None]:
        """Wait for a turn, in the order of the calls."""
        is_urgent = method in URGENT
        try:
            async with nullcontext() if is_urgent else self._running:
                yield
        finally:
            self._open[is_urgent] -= 1


def _too_many_calls(open_calls: int) -> MethodError:
    message = f"too many calls at once: {open_calls} are not answered yet; wait for an answer, then ask again"
    return unavailable(message, retryable=True)


READ, WRITE, APPROVE, PAIR, ADMIN = (f"operator.{name}" for name in ("read", "write", "approvals", "pairing", "admin"))
SCOPES = frozenset({READ, WRITE, APPROVE, PAIR, ADMIN})
_IMPLIED_BY_ADMIN = frozenset({READ, WRITE})
_RESERVED_NAMES = re.compile(
    r"(the )?page|you|shell|chat|dragoman|terminal|gateway(-canvas)?|(person|evidence|run|mcp)-.*",
    re.IGNORECASE | re.DOTALL,
)
"""Names that Dragoman gives to a person, to its own parts, or to agents of other servers. A client may not take one."""


def safe_client_name(name: str) -> str:
    """The name that a client gives itself, unless it is a reserved one."""
    return f"client {name}" if _RESERVED_NAMES.fullmatch(name.strip()) else name


def grants_scope(granted: Container[str], wanted: str) -> bool:
    """An administrator may read and write without those scopes: clients of the protocol document never request them."""
    return wanted in granted or (wanted in _IMPLIED_BY_ADMIN and ADMIN in granted)


def requested_grant(params: ConnectParams) -> Grant:
    """The requested scopes that exist."""
    is_node = params.asked_role == "node"
    scopes = () if is_node else tuple(scope for scope in params.scopes or () if scope in SCOPES)
    return Grant(role=params.asked_role, scopes=scopes)


def authorize(params: ConnectParams, tokens: Tokens, now_ms: int) -> tuple[Grant, TokenHolder] | HandshakeRefusal:
    """Authorize a connection.

    A device token is a session of the token that it was issued for: it survives a restart, and ends when that token is
    revoked.
    """
    auth = params.auth
    presented = auth.signed if auth else ""
    if not presented:
        return token_missing("dragoman token show gateway") if params.follows_document else DEVICE_IDENTITY_REQUIRED
    holder = tokens.holder("gateway", presented)
    if holder is None:
        return DEVICE_TOKEN_MISMATCH if auth and auth.device_token and not auth.token else TOKEN_MISMATCH
    granted = requested_grant(params)
    if params.device is None:
        return granted, holder
    token = tokens.new_session(*holder)
    return msgspec.structs.replace(granted, device_token=token, issued_at_ms=now_ms), holder
