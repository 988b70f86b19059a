"""Sessions of MCP clients over HTTP. Each client has a server of its own; the SDK's transports do the protocol.

Protocol revisions with a handshake have a session id. The stateless revision identifies a client by what each request
says about it. A session stays until the client ends it, it is idle for long, or the token changes.
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

from dragoman.access.request_guard import AllowedNames
from dragoman.core.errors import DragomanError
from dragoman.core.ids import new_id
from dragoman.core.localization import localize
from dragoman.io.net.accept_loop import share_of_descriptors
from dragoman.protocols.jsonrpc import Id
from dragoman.servers.mcp.errors import id_in_use, session_needed, too_many_calls, unknown_session
from dragoman.servers.mcp.http_endpoint import Envelope, HttpClientContext
from dragoman.servers.mcp.messages import encodable_result
from dragoman.servers.mcp.server import ClientRecorder, McpClientInfo, build_server, client_info_of
from dragoman.servers.mcp.stdio_endpoint import McpEndpoint
from dragoman.workspace.caller import Caller

log = logging.getLogger(__name__)

SESSIONS_AT_MOST = 256
CALLS_AT_MOST = 128  # per client, as over stdio
IDLE_S = 30 * 60.0
_ENDED_WITHIN_S = 2.0
_REQUEST_SCOPE = "dragoman.request"


class HttpSession:
    """One HTTP client, from its first request to its end.

    It owns the client's server and its open requests. It ends after a long silence, or when the token changes.
    """

    def __init__(self, endpoint: McpEndpoint, context: HttpClientContext, caller: Caller, tasks: TaskGroup) -> None:
        self.context = context
        self.last_used_s = anyio.current_time()
        self.was_served = False
        self.is_over = False
        self._endpoint = endpoint
        self._tasks = tasks
        self._caller = caller
        usage = endpoint.usage_of(caller)
        self._recorder = ClientRecorder(caller, endpoint.record_event, usage)
        self._open: dict[str, anyio.CancelScope] = {}
        self._scope: anyio.CancelScope
        self._server = build_server(
            endpoint.toolbox,
            caller,
            endpoint.version,
            endpoint.resource_provider,
            endpoint.choose(context.tools, context.structured, context.schemas),
            usage,
        )
        self._server.middleware = [self._middleware]

    @property
    def calls(self) -> int:
        return len(self._open)

    async def run(self, on_end: Callable[[], object], *, task_status: TaskStatus[None]) -> None:
        """Run the session. A failure must end neither other sessions nor the daemon."""
        try:
            await self._serve(task_status.started)
        except Exception:
            log.exception("the stay of an MCP client failed")
        finally:
            self.is_over = True
            on_end()
            for request_scope in self._open.values():
                request_scope.cancel("the client's stay is over")
            self._endpoint.end_client(self._caller)
            await self._recorder.end()

    async def answer(self, request_id: Id | None, scope: Scope, receive: Receive, send: Send) -> None:
        with self._exchange(self._request_name(request_id), scope):
            await self._handle_request(scope, receive, send)

    def close(self) -> None:
        self._scope.cancel("the client's stay is over")

    def _request_name(self, request_id: Id | None) -> str:  # noqa: ARG002
        """The key of an exchange among the open ones. It is generated where request ids need not differ."""
        return new_id("exchange")

    async def _serve(self, started: Callable[[], None]) -> None:
        raise NotImplementedError

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError

    @contextmanager
    def _lifetime(self) -> Iterator[None]:
        """The lifetime ends by the idle deadline or when the token changes."""
        with self._endpoint.links.hold("mcp", self.context.token_name) as self._scope:
            self._scope.deadline = anyio.current_time() + IDLE_S
            yield

    @contextmanager
    def _exchange(self, name: str, scope: Scope) -> Iterator[None]:
        """One request.

        When it is over, its response cannot be delivered: Dragoman does not offer resumable streams in any revision.
        """
        if self.calls >= CALLS_AT_MOST:
            raise too_many_calls(limit=CALLS_AT_MOST)
        if name in self._open:  # the SDK would give one the other's answer
            raise id_in_use()
        request_scope = scope[_REQUEST_SCOPE] = self._open[name] = anyio.CancelScope()
        self._scope.deadline = math.inf
        try:
            yield
        finally:
            request_scope.cancel("nobody hears the answer")
            del self._open[name]
            self.last_used_s = anyio.current_time()
            self._scope.deadline = math.inf if self._open else self.last_used_s + IDLE_S

    async def _middleware(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None or ctx.request is None:
            return await call_next(ctx)
        with ctx.request.scope[_REQUEST_SCOPE]:
            result = encodable_result(await call_next(ctx))
            self.was_served = True
            self._recorder.record_client(ctx.params, self._tasks)
            return result
        raise MCPError(types.CONNECTION_CLOSED, "the client's stay is over", {"code": "interrupted"})


class StatefulHttpSession(HttpSession):
    """The session of a client that sent `initialize`."""

    def __init__(
        self,
        endpoint: McpEndpoint,
        context: HttpClientContext,
        caller: Caller,
        tasks: TaskGroup,
        security: TransportSecuritySettings,
    ) -> None:
        super().__init__(endpoint, context, caller, tasks)
        self.id = secrets.token_hex(16)
        self._transport = StreamableHTTPServerTransport(self.id, security_settings=security)

    def _request_name(self, request_id: Id | None) -> str:
        """A notification, a stream and a DELETE have no id."""
        return super()._request_name(request_id) if request_id is None else str(request_id)

    async def _serve(self, started: Callable[[], None]) -> None:
        async with self._transport.connect() as (read, write):
            try:
                with self._lifetime():
                    started()
                    await serve_loop(self._server, read, write, lifespan_state={}, session_id=self.id)
            finally:
                with anyio.move_on_after(_ENDED_WITHIN_S, shield=True):
                    await self._transport.terminate()

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._transport.handle_request(scope, receive, send)


class StatelessHttpSession(HttpSession):
    """A client of the stateless revision, in which every request stands alone."""

    def __init__(
        self,
        endpoint: McpEndpoint,
        context: HttpClientContext,
        caller: Caller,
        tasks: TaskGroup,
        security: TransportSecuritySettings,
    ) -> None:
        super().__init__(endpoint, context, caller, tasks)
        self._manager = StreamableHTTPSessionManager(self._server, stateless=True, security_settings=security)

    async def _serve(self, started: Callable[[], None]) -> None:
        async with self._manager.run():
            with self._lifetime():
                started()
                await anyio.sleep_forever()

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


@dataclass(frozen=True, slots=True)
class _StatelessKey:
    """Identifies a client without a session."""

    context: HttpClientContext
    client: McpClientInfo | None


class HttpSessions:
    """All HTTP sessions. Where there are too many, the longest idle one is ended: its client sends `initialize`
    again.
    """

    def __init__(self, endpoint: McpEndpoint, names: AllowedNames, workspace: Path, tasks: TaskGroup) -> None:
        self._endpoint = endpoint
        self._workspace = workspace
        self._tasks = tasks
        # The exact names of this server: the SDK's default accepts any port of this machine in Host and Origin.
        self._security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=sorted(names.hosts),
            allowed_origins=sorted(names.origins),
        )
        self._sessions: dict[str | _StatelessKey, HttpSession] = {}
        self._open_lock = anyio.Lock()
        self._calls_at_most = share_of_descriptors(2, at_most=512)

    async def serve(
        self, context: HttpClientContext, envelope: Envelope, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if sum(session.calls for session in self._sessions.values()) >= self._calls_at_most:
            raise too_many_calls(limit=self._calls_at_most)
        session = await self._session_for(context, envelope, scope)
        await session.answer(envelope.id, scope, receive, send)
        if not session.was_served and not session.calls:  # refused, so there is no session to keep
            session.close()

    async def _session_for(self, context: HttpClientContext, envelope: Envelope, scope: Scope) -> HttpSession:
        headers = Headers(scope=scope)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return await self._stateless_session(context, envelope, scope["method"])
        session_id = headers.get(MCP_SESSION_ID_HEADER)
        if session_id is not None:
            return self._existing_session(session_id, context)
        if envelope.method != "initialize":
            raise session_needed()
        return await self._open_session(context)

    def _existing_session(self, session_id: str, context: HttpClientContext) -> HttpSession:
        session = self._sessions.get(session_id)
        if session is None or session.context != context:
            raise unknown_session()
        return session

    async def _open_session(self, context: HttpClientContext) -> HttpSession:
        session = StatefulHttpSession(
            self._endpoint, context, await context.caller(self._workspace), self._tasks, self._security
        )
        await self._register(session.id, session)
        return session

    async def _stateless_session(self, context: HttpClientContext, envelope: Envelope, method: str) -> HttpSession:
        if method != "POST":
            raise DragomanError("wrong_method", localize("This URL does not support {method}.", method=method[:20]))
        known = _StatelessKey(context, client_info_of({"_meta": envelope.params.meta}))
        if known in self._sessions:
            return self._sessions[known]
        caller = await context.caller(self._workspace)
        async with self._open_lock:  # one of several concurrent first requests
            if known not in self._sessions:
                await self._register(
                    known, StatelessHttpSession(self._endpoint, context, caller, self._tasks, self._security)
                )
            return self._sessions[known]

    async def _register(self, key: str | _StatelessKey, session: HttpSession) -> None:
        while len(self._sessions) >= SESSIONS_AT_MOST:
            self._evict_longest_idle()
        await self._tasks.start(session.run, lambda: self._sessions.pop(key, None))
        if session.is_over:  # the token changed just now
            raise unknown_session()
        self._sessions[key] = session

    def _evict_longest_idle(self) -> None:
        """End the longest idle session.

        Many clients never disconnect properly, and one that comes back sends `initialize` again.
        """
        idle = [(session.last_used_s, key) for key, session in self._sessions.items() if not session.calls]
        if not idle:
            raise too_many_calls(limit=SESSIONS_AT_MOST)
        _, key = min(idle, key=lambda pair: pair[0])
        self._sessions.pop(key).close()
