"""Clients over HTTP. Each has a server of its own with its own caller; the SDK's transports do the protocol.

Revisions with a handshake have a session with an id; the one without has a client that is known by what it says of
itself with every request. Both stay until they say goodbye, are silent for long, or the token changes.
"""

from __future__ import annotations

import logging
import math
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.runner import serve_loop
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from dragoman.access.guard import OwnNames
from dragoman.errors import DragomanError
from dragoman.ids import new_id
from dragoman.mcp.asked import Asked
from dragoman.mcp.door import Door
from dragoman.mcp.http_door import Envelope
from dragoman.mcp.sayable import sayable
from dragoman.mcp.server import build_server
from dragoman.mcp.visit import Client, Visit, introduced
from dragoman.phrases import say
from dragoman.tools import Caller
from dragoman.transport.waiting import share_of_descriptors
from dragoman.wire.jsonrpc import Id

log = logging.getLogger(__name__)

GUESTS_AT_MOST = 256
CALLS_AT_MOST = 128  # of one client, as over stdio
IDLE_S = 30 * 60.0
_ENDED_WITHIN_S = 2.0
_HEARD = "dragoman.heard"


class Guest:
    """One client's stay."""

    def __init__(self, door: Door, asked: Asked, caller: Caller, tasks: TaskGroup) -> None:
        self.asked = asked
        self.last_used_s = anyio.current_time()
        self.was_served = False
        self.is_over = False
        self._door = door
        self._tasks = tasks
        self._caller = caller
        self._visit = Visit(caller, door.tell)
        self._open: dict[str, anyio.CancelScope] = {}
        self._life: anyio.CancelScope
        self._server = build_server(door.toolbox_of(asked.tools), caller, door.version, door.readings)
        self._server.middleware = [self._around]

    @property
    def calls(self) -> int:
        return len(self._open)

    async def live(self, gone: Callable[[], object], *, task_status: TaskStatus[None]) -> None:
        """What fails in one client's stay must not end the others', nor the daemon."""
        try:
            await self._stay(task_status.started)
        except Exception:
            log.exception("the stay of an MCP client failed")
        finally:
            self.is_over = True
            gone()
            for heard in self._open.values():
                heard.cancel("the client's stay is over")
            self._door.left(self._caller.id)
            await self._visit.end()

    async def answer(self, request_id: Id | None, scope: Scope, receive: Receive, send: Send) -> None:
        with self._exchange(self._name(request_id), scope):
            await self._pass_on(scope, receive, send)

    def leave(self) -> None:
        self._life.cancel("the client's stay is over")

    def _name(self, request_id: Id | None) -> str:  # noqa: ARG002
        """Of an exchange among those that are open; its own, where ids need not differ."""
        return new_id("exchange")

    async def _stay(self, started: Callable[[], None]) -> None:
        raise NotImplementedError

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError

    @contextmanager
    def _alive(self) -> Iterator[None]:
        """Ended from without by its deadline, which is silence, or by a change of the token."""
        with self._door.links.hold("mcp", self.asked.token_name) as self._life:
            self._life.deadline = anyio.current_time() + IDLE_S
            yield

    @contextmanager
    def _exchange(self, name: str, scope: Scope) -> Iterator[None]:
        """When it is over, nobody is left to hear an answer: in no revision do we offer to resume a stream."""
        if self.calls >= CALLS_AT_MOST:
            raise _too_many(CALLS_AT_MOST)
        if name in self._open:  # the SDK would give one the other's answer
            raise _open_already()
        heard = scope[_HEARD] = self._open[name] = anyio.CancelScope()
        self._life.deadline = math.inf
        try:
            yield
        finally:
            heard.cancel("nobody hears the answer")
            del self._open[name]
            self.last_used_s = anyio.current_time()
            self._life.deadline = math.inf if self._open else self.last_used_s + IDLE_S

    async def _around(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None or ctx.request is None:
            return await call_next(ctx)
        with ctx.request.scope[_HEARD]:
            result = sayable(await call_next(ctx))
            self.was_served = True
            self._visit.introduce(ctx.params, self._tasks)
            return result
        raise MCPError(types.CONNECTION_CLOSED, "the client's stay is over", {"code": "interrupted"})


class Session(Guest):
    """Of a client that said `initialize`."""

    def __init__(
        self, door: Door, asked: Asked, caller: Caller, tasks: TaskGroup, security: TransportSecuritySettings
    ) -> None:
        super().__init__(door, asked, caller, tasks)
        self.id = secrets.token_hex(16)
        self._transport = StreamableHTTPServerTransport(self.id, security_settings=security)

    def _name(self, request_id: Id | None) -> str:
        """A notification, a stream and a goodbye have no id."""
        return super()._name(request_id) if request_id is None else str(request_id)

    async def _stay(self, started: Callable[[], None]) -> None:
        async with self._transport.connect() as (read, write):
            try:
                with self._alive():
                    started()
                    await serve_loop(self._server, read, write, lifespan_state={}, session_id=self.id)
            finally:
                with anyio.move_on_after(_ENDED_WITHIN_S, shield=True):
                    await self._transport.terminate()

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._transport.handle_request(scope, receive, send)


class Asker(Guest):
    """A client of the revision in which every request stands by itself."""

    def __init__(
        self, door: Door, asked: Asked, caller: Caller, tasks: TaskGroup, security: TransportSecuritySettings
    ) -> None:
        super().__init__(door, asked, caller, tasks)
        self._manager = StreamableHTTPSessionManager(self._server, stateless=True, security_settings=security)

    async def _stay(self, started: Callable[[], None]) -> None:
        async with self._manager.run():
            with self._alive():
                started()
                await anyio.sleep_forever()

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


@dataclass(frozen=True, slots=True)
class _Known:
    """What tells one client without a session from another."""

    asked: Asked
    client: Client | None


class Guests:
    def __init__(self, door: Door, names: OwnNames, workspace: Path, tasks: TaskGroup) -> None:
        self._door = door
        self._workspace = workspace
        self._tasks = tasks
        # The exact own names: the SDK's own choice takes any port of this machine, in Host and in Origin.
        self._security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=sorted(names.hosts),
            allowed_origins=sorted(names.origins),
        )
        self._guests: dict[str | _Known, Guest] = {}
        self._one_enters = anyio.Lock()
        self._calls_at_most = share_of_descriptors(2, at_most=512)

    async def serve(self, asked: Asked, envelope: Envelope, scope: Scope, receive: Receive, send: Send) -> None:
        if sum(guest.calls for guest in self._guests.values()) >= self._calls_at_most:
            raise _too_many(self._calls_at_most)
        guest = await self._guest(asked, envelope, scope)
        await guest.answer(envelope.id, scope, receive, send)
        if not guest.was_served and not guest.calls:  # refused: there is nobody to keep
            guest.leave()

    async def _guest(self, asked: Asked, envelope: Envelope, scope: Scope) -> Guest:
        headers = Headers(scope=scope)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return await self._asker(asked, envelope, scope["method"])
        session_id = headers.get(MCP_SESSION_ID_HEADER)
        if session_id is not None:
            return self._session(session_id, asked)
        if envelope.method != "initialize":
            raise _session_needed()
        return await self._opened(asked)

    def _session(self, session_id: str, asked: Asked) -> Guest:
        guest = self._guests.get(session_id)
        if guest is None or guest.asked != asked:
            raise _unknown_session()
        return guest

    async def _opened(self, asked: Asked) -> Guest:
        session = Session(self._door, asked, await asked.caller(self._workspace), self._tasks, self._security)
        await self._enter(session.id, session)
        return session

    async def _asker(self, asked: Asked, envelope: Envelope, method: str) -> Guest:
        if method != "POST":
            raise DragomanError("wrong_method", say("This address does not take {method}.", method=method[:20]))
        known = _Known(asked, introduced({"_meta": envelope.params.meta}))
        if known in self._guests:
            return self._guests[known]
        caller = await asked.caller(self._workspace)
        async with self._one_enters:  # of several first requests at once
            if known not in self._guests:
                await self._enter(known, Asker(self._door, asked, caller, self._tasks, self._security))
            return self._guests[known]

    async def _enter(self, key: str | _Known, guest: Guest) -> None:
        while len(self._guests) >= GUESTS_AT_MOST:
            self._send_away_longest_silent()
        await self._tasks.start(guest.live, lambda: self._guests.pop(key, None))
        if guest.is_over:  # the token changed just now
            raise _unknown_session()
        self._guests[key] = guest

    def _send_away_longest_silent(self) -> None:
        """Many clients never say goodbye; one that was sent away and comes back just says `initialize` again."""
        silent = [(guest.last_used_s, key) for key, guest in self._guests.items() if not guest.calls]
        if not silent:
            raise _too_many(GUESTS_AT_MOST)
        _, key = min(silent, key=lambda pair: pair[0])
        self._guests.pop(key).leave()


def _session_needed() -> DragomanError:
    return DragomanError(
        "session_needed",
        say("This request names no MCP session and opens none."),
        hint=say("Send `initialize` first, then Mcp-Session-Id with every request."),
    )


def _unknown_session() -> DragomanError:
    return DragomanError(
        "unknown_mcp_session",
        say("There is no such MCP session: it ended, or the daemon was restarted."),
        hint=say("Send `initialize` again, without Mcp-Session-Id."),
    )


def _open_already() -> DragomanError:
    return DragomanError(
        "id_in_use",
        say("A request with this id is still open."),
        hint=say("Give every request an id of its own."),
    )


def _too_many(limit: int) -> DragomanError:
    return DragomanError(
        "too_many_calls",
        say("{limit} calls or clients are open, as many as there may be.", limit=limit),
        hint=say("Try again when one of them has ended."),
    )
