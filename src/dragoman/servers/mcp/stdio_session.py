"""One MCP client over stdio: reads requests, writes answers, and stops reading while too many are open.

It imports the SDK, so `stdio_endpoint` loads this module only when the first client connects.
"""

from __future__ import annotations

import select
from contextlib import aclosing
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import ByteStream, SocketAttribute, TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.message import SessionMessage

from dragoman.servers.mcp.client_options import ClientOptions
from dragoman.servers.mcp.messages import RejectedLine, encode, read_messages
from dragoman.servers.mcp.server import ClientRecorder, build_server
from dragoman.servers.mcp.stdio_endpoint import McpEndpoint
from dragoman.workspace.caller import Caller

# A client that sends requests and never reads is not read beyond this many open requests.
OPEN_AT_MOST = 128
_POLL_INTERVAL_S = 0.5

_Incoming = SessionMessage | Exception


async def serve_stdio(
    endpoint: McpEndpoint, options: ClientOptions, caller: Caller, stream: ByteStream, rest: bytes
) -> None:
    conversation = StdioSession(endpoint, options, caller)
    try:
        await conversation.run(stream, rest)
    finally:
        await conversation.end()


class StdioSession:
    """One MCP session over the pump's socket. It owns the two message streams and the count of open requests."""

    def __init__(self, endpoint: McpEndpoint, options: ClientOptions, caller: Caller) -> None:
        usage = endpoint.usage_of(caller)
        self._recorder = ClientRecorder(caller, endpoint.record_event, usage)
        self._tasks: TaskGroup
        self._open = 0
        self._settled = anyio.Event()
        self._server = build_server(
            endpoint.toolbox, caller, endpoint.version, endpoint.resource_provider, options, usage
        )
        self._server.middleware = [self._middleware]

    async def run(self, stream: ByteStream, rest: bytes) -> None:
        incoming_sender, incoming = anyio.create_memory_object_stream[_Incoming]()
        outgoing, outgoing_receiver = anyio.create_memory_object_stream[SessionMessage | bytes]()
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._read, stream, rest, incoming_sender, outgoing.clone())
            self._tasks.start_soon(self._write, stream, outgoing_receiver)
            await self._server.run(incoming, outgoing, self._server.create_initialization_options())
            self._tasks.cancel_scope.cancel("the conversation is over")

    async def end(self) -> None:
        await self._recorder.end()

    async def _read(
        self,
        stream: ByteStream,
        rest: bytes,
        incoming_sender: MemoryObjectSendStream[_Incoming],
        outgoing: MemoryObjectSendStream[SessionMessage | bytes],
    ) -> None:
        async with incoming_sender, outgoing, aclosing(read_messages(stream, rest)) as messages:
            async for message in messages:
                if isinstance(message, RejectedLine):
                    await outgoing.send(message.answer)
                else:
                    await incoming_sender.send(message)
                if not await self._has_room(stream, outgoing):
                    return

    async def _has_room(self, stream: ByteStream, outgoing: MemoryObjectSendStream[SessionMessage | bytes]) -> bool:
        """Wait for room. False if the client has disconnected meanwhile, which cannot be noticed without reading."""
        while self._open + outgoing.statistics().tasks_waiting_send >= OPEN_AT_MOST:
            with anyio.move_on_after(_POLL_INTERVAL_S):
                await self._settled.wait()
            if _is_disconnected(stream):
                return False
        return True

    async def _write(
        self, stream: ByteStream, outgoing_receiver: MemoryObjectReceiveStream[SessionMessage | bytes]
    ) -> None:
        """Writes in a task of its own, so that a cancelled call cannot cut a line."""
        async with outgoing_receiver:
            async for message in outgoing_receiver:
                try:
                    await stream.send(message if isinstance(message, bytes) else _encoded_line(message.message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return
                self._notify_settled()

    async def _middleware(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        self._open += 1
        try:
            result = await call_next(ctx)
        finally:
            self._open -= 1
            self._notify_settled()
        if ctx.request_id is not None:
            self._recorder.record_client(ctx.params, self._tasks)
        return result

    def _notify_settled(self) -> None:
        settled, self._settled = self._settled, anyio.Event()
        settled.set()


def _is_disconnected(stream: ByteStream) -> bool:
    raw = stream.extra(SocketAttribute.raw_socket, None)  # noqa: S610  not Django's
    if raw is None:
        return False
    poll = select.poll()
    poll.register(raw.fileno(), 0)
    return bool(poll.poll(0))


def _encoded_line(message: types.JSONRPCMessage) -> bytes:
    """Encode a message.

    The SDK's errors for open calls at the end of a connection are dropped: the pump sends better ones, because it knows
    why the daemon ended.
    """
    if isinstance(message, types.JSONRPCError) and message.error.code == types.CONNECTION_CLOSED:
        return b""
    return encode(message)
