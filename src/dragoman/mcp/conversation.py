"""One client's conversation: reads, answers, and the record of who was here."""

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

from dragoman.mcp.door import Door
from dragoman.mcp.lines import Refused, encode, read_messages
from dragoman.mcp.server import build_server
from dragoman.mcp.visit import Visit
from dragoman.tools import Caller, Toolbox

# A client that asks and never reads the answers is read no further than this many of them.
OPEN_AT_MOST = 128
_LOOK_EVERY_S = 0.5

_Read = SessionMessage | Exception


async def converse(door: Door, toolbox: Toolbox, caller: Caller, stream: ByteStream, rest: bytes) -> None:
    conversation = Conversation(door, toolbox, caller)
    try:
        await conversation.run(stream, rest)
    finally:
        await conversation.end()


class Conversation:
    def __init__(self, door: Door, toolbox: Toolbox, caller: Caller) -> None:
        self._visit = Visit(caller, door.tell)
        self._tasks: TaskGroup
        self._open = 0
        self._settled = anyio.Event()
        self._server = build_server(toolbox, caller, door.version, door.readings)
        self._server.middleware = [self._around]

    async def run(self, stream: ByteStream, rest: bytes) -> None:
        heard, hear = anyio.create_memory_object_stream[_Read]()
        say, said = anyio.create_memory_object_stream[SessionMessage | bytes]()
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._read, stream, rest, heard, say.clone())
            self._tasks.start_soon(self._write, stream, said)
            await self._server.run(hear, say, self._server.create_initialization_options())
            self._tasks.cancel_scope.cancel("the conversation is over")

    async def end(self) -> None:
        await self._visit.end()

    async def _read(
        self,
        stream: ByteStream,
        rest: bytes,
        heard: MemoryObjectSendStream[_Read],
        say: MemoryObjectSendStream[SessionMessage | bytes],
    ) -> None:
        async with heard, say, aclosing(read_messages(stream, rest)) as messages:
            async for message in messages:
                if isinstance(message, Refused):
                    await say.send(message.answer)
                else:
                    await heard.send(message)
                if not await self._has_room(stream, say):
                    return

    async def _has_room(self, stream: ByteStream, say: MemoryObjectSendStream[SessionMessage | bytes]) -> bool:
        """Waits for it; False when the client has left meanwhile, which nobody would see who does not read."""
        while self._open + say.statistics().tasks_waiting_send >= OPEN_AT_MOST:
            with anyio.move_on_after(_LOOK_EVERY_S):
                await self._settled.wait()
            if _has_left(stream):
                return False
        return True

    async def _write(self, stream: ByteStream, said: MemoryObjectReceiveStream[SessionMessage | bytes]) -> None:
        """A task of its own: a call that is cancelled while its answer is under way must not cut the line."""
        async with said:
            async for message in said:
                try:
                    await stream.send(message if isinstance(message, bytes) else _line(message.message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return
                self._settle()

    async def _around(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        self._open += 1
        try:
            result = await call_next(ctx)
        finally:
            self._open -= 1
            self._settle()
        if ctx.request_id is not None:
            self._visit.introduce(ctx.params, self._tasks)
        return result

    def _settle(self) -> None:
        settled, self._settled = self._settled, anyio.Event()
        settled.set()


def _has_left(stream: ByteStream) -> bool:
    raw = stream.extra(SocketAttribute.raw_socket, None)  # noqa: S610  not Django's
    if raw is None:
        return False
    poll = select.poll()
    poll.register(raw.fileno(), 0)
    return bool(poll.poll(0))


def _line(message: types.JSONRPCMessage) -> bytes:
    """What the SDK says to open calls when a connection ends, the pump says better once it knows what became of us."""
    if isinstance(message, types.JSONRPCError) and message.error.code == types.CONNECTION_CLOSED:
        return b""
    return encode(message)
