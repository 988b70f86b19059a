"""The control server: it accepts connections on the daemon's socket, checks whose they are, and answers calls or
hands them to a role.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import anyio
from anyio.abc import ByteStream, TaskGroup
from anyio.streams.memory import MemoryObjectSendStream

from dragoman.core.errors import DragomanError, RemoteProtocolError, internal_error
from dragoman.core.localization import Language, localize
from dragoman.io.event_loop import TimeSlice
from dragoman.io.net.accept_loop import PeerDeadlines, accept_forever, share_of_descriptors
from dragoman.io.net.streams import TcpStream
from dragoman.io.net.unix_socket import is_own_peer, peer_pid
from dragoman.protocols.control import (
    ControlAnswer,
    ControlCall,
    ControlFailure,
    ControlItem,
    Hello,
    ServerConnection,
    Welcome,
)
from dragoman.servers.control.shell_text import shell_text

log = logging.getLogger(__name__)

HELLO_WITHIN_S = 5.0
NEXT_CALL_WITHIN_S = 3600.0
SENT_WITHIN_S = 10.0
MAX_QUEUED_CALLS = 16
_BACKLOG = 1024  # A full backlog refuses at once, and callers would think that the daemon is dead.
_READ = 65536
_DISCONNECTED = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)

Params = Mapping[str, Any]


class ResultPart(NamedTuple):
    """A value that a method yields before its result. It is sent at once, even if nothing follows for hours."""

    value: Any


ControlMethod = Callable[[Params], AsyncIterator[Any]]
"""Yields any number of parts, then its answer."""

RoleHandler = Callable[[Hello, ByteStream, bytes], Awaitable[None]]
"""A role that speaks its own protocol after the welcome. It gets the bytes that arrived after the hello."""

AccessCheck = Callable[[Hello], None]
"""Refuses a hello by raising a DragomanError, which is sent in place of the welcome."""

_Next = ControlCall | RemoteProtocolError

CALLING_PROCESS: ContextVar[int] = ContextVar("calling_process", default=0)
"""The process whose call is being answered, as the kernel reports it. A few methods are reserved for a person."""

CALLING_FROM_AFAR: ContextVar[bool] = ContextVar("calling_from_afar", default=False)
"""Whether the call comes from another machine, through `dragoman pipe`."""

CALLING_LANGUAGE: ContextVar[Language] = ContextVar("calling_language", default="en")
"""The caller's language, for methods that return text. The daemon may have been started in another one."""


class ControlServer:
    """Serves the daemon's socket.

    It owns the connections, their deadlines and the counts per role. It does not know what a method or a role does.
    Only processes of the daemon's own user are accepted.
    """

    def __init__(
        self,
        version: str,
        methods: Mapping[str, ControlMethod],
        roles: Mapping[str, RoleHandler],
        access_checks: Mapping[str, AccessCheck] | None = None,
        instance: str = "",
    ) -> None:
        self._version = version
        self._instance = instance
        self._methods = methods
        self._roles = roles
        self._access_checks = access_checks or {}
        self._waiting = PeerDeadlines(share_of_descriptors(16, at_most=128))
        self._processes: Counter[tuple[str, int]] = Counter()

    def processes(self, role: str) -> list[int]:
        """The processes that hold a connection of a role, as the kernel reports them."""
        return [pid for (of, pid), count in self._processes.items() if of == role and count]

    async def serve(self, listener: socket.socket) -> None:
        listener.listen(_BACKLOG)
        async with anyio.create_task_group() as group:
            await accept_forever(listener, lambda taken: self._accept(taken, group), self._waiting.drop_longest)

    def _accept(self, connection: socket.socket, group: TaskGroup) -> None:
        if is_own_peer(connection):
            group.start_soon(self._hold, connection)
        else:
            log.warning("a process of another user was refused at the socket")
            connection.close()

    async def _hold(self, connection: socket.socket) -> None:
        CALLING_PROCESS.set(peer_pid(connection))
        with anyio.CancelScope() as scope:
            self._waiting.begin(scope, scope.cancel, HELLO_WITHIN_S)
            try:
                # Not anyio's own stream: if its reader is cancelled in the turn in which bytes arrive, its future is
                # set twice, and the event loop logs an InvalidStateError.
                connection.setblocking(False)
                async with TcpStream(connection) as stream:
                    await self._serve_lines(stream, scope)
            except _DISCONNECTED:
                connection.close()
            except Exception:
                log.exception("a control connection failed")
            finally:
                self._waiting.end(scope)

    async def _serve_lines(self, stream: ByteStream, scope: anyio.CancelScope) -> None:
        connection = ServerConnection()
        try:
            hello, calls = await _read_hello(stream, connection)
            CALLING_LANGUAGE.set("zh" if hello.language == "zh" else "en")
            CALLING_FROM_AFAR.set(hello.about.get("remote") is True)
            self._waiting.end(scope)
            if hello.role != "control" and hello.role not in self._roles:
                raise RemoteProtocolError("unknown_role", f"there is no role {hello.role[:40]!r}")
            if (refusal := self._refusal(hello)) is not None:
                await _send(stream, connection.send(refusal))
                return
            await _send(stream, connection.send_welcome(Welcome(self._version, os.getpid(), self._instance)))
            if hello.role == "control":
                await self._serve_calls(stream, connection, calls, scope)
            else:
                key = (hello.role, CALLING_PROCESS.get())
                self._processes[key] += 1
                try:
                    await self._roles[hello.role](hello, stream, connection.pop_rest())
                finally:
                    self._processes -= Counter([key])
        except RemoteProtocolError as error:
            await _send(stream, connection.send(ControlFailure(0, error.code, error.message)))

    def _refusal(self, hello: Hello) -> ControlFailure | None:
        try:
            if hello.role in self._access_checks:
                self._access_checks[hello.role](hello)
        except DragomanError as error:
            return failure_reply(ControlCall(0, "", {}), error, CALLING_LANGUAGE.get())
        return None

    async def _serve_calls(
        self, stream: ByteStream, connection: ServerConnection, calls: list[ControlCall], scope: anyio.CancelScope
    ) -> None:
        """Answer calls while reading on, so that a caller that leaves during an endless answer is noticed."""
        put, take = anyio.create_memory_object_stream[_Next](MAX_QUEUED_CALLS)
        overflow = anyio.Event()
        async with anyio.create_task_group() as group, put, take:
            group.start_soon(_read_calls, stream, connection, put, overflow, group.cancel_scope)
            with contextlib.suppress(*_DISCONNECTED):
                await self._answer_all(stream, connection, calls)
                while True:
                    self._waiting.begin(scope, scope.cancel, NEXT_CALL_WITHIN_S)
                    following = await take.receive()
                    self._waiting.end(scope)
                    await self._answer_all(stream, connection, [following])
            group.cancel_scope.cancel("the conversation is over")
        if overflow.is_set():
            raise RemoteProtocolError("too_many_calls", f"more than {MAX_QUEUED_CALLS} calls wait for their turn")

    async def _answer_all(self, stream: ByteStream, connection: ServerConnection, what: Sequence[_Next]) -> None:
        language = CALLING_LANGUAGE.get()
        for call in what:
            if isinstance(call, RemoteProtocolError):
                await _send(stream, connection.send(ControlFailure(0, call.code, call.message)))
                raise anyio.EndOfStream
            async for reply in self._answered(call, language):
                await _send(stream, connection.send(reply))

    async def _answered(
        self, call: ControlCall, language: Language
    ) -> AsyncIterator[ControlItem | ControlAnswer | ControlFailure]:
        try:
            async for item in self._method(call)(call.params):
                yield ControlItem(call.id, item.value) if isinstance(item, ResultPart) else ControlAnswer(call.id, item)
        except DragomanError as error:
            yield failure_reply(call, error, language)
        except Exception:
            log.exception("the call %s failed", call.method[:60])
            yield failure_reply(call, internal_error(), language)

    def _method(self, call: ControlCall) -> ControlMethod:
        if call.method not in self._methods:
            raise DragomanError(
                "unknown_method",
                localize(
                    "This daemon (version {version}) does not support `{method}`.",
                    version=self._version,
                    method=call.method[:60],
                ),
                hint=localize("The CLI may be newer than the daemon. Run `dragoman restart` to update the daemon."),
            )
        return self._methods[call.method]


def failure_reply(call: ControlCall, error: DragomanError, language: Language) -> ControlFailure:
    """The failure for a caller at a shell: it names commands, not tools."""
    hint = shell_text(error.hint, language) if error.hint else ""
    return ControlFailure(call.id, error.code, shell_text(error.message, language), hint)


async def _read_calls(
    stream: ByteStream,
    connection: ServerConnection,
    put: MemoryObjectSendStream[_Next],
    overflow: anyio.Event,
    scope: anyio.CancelScope,
) -> None:
    """Read the calls. A malformed call is answered in its turn, after the calls before it."""
    try:
        async for following in _calls(stream, connection):
            put.send_nowait(following)
    except anyio.WouldBlock:
        overflow.set()
        scope.cancel("too much at once")
    except _DISCONNECTED:
        scope.cancel("the caller left")


async def _calls(stream: ByteStream, connection: ServerConnection) -> AsyncIterator[_Next]:
    turn = TimeSlice()
    try:
        while True:
            for message in connection.receive_data(await stream.receive(_READ)):
                if isinstance(message, ControlCall):
                    yield message
                await turn.yield_if_spent()
    except RemoteProtocolError as error:
        yield error


async def _read_hello(stream: ByteStream, connection: ServerConnection) -> tuple[Hello, list[ControlCall]]:
    while True:
        messages = list(connection.receive_data(await stream.receive(_READ)))
        if messages:
            hello, *calls = messages
            assert isinstance(hello, Hello)
            return hello, [call for call in calls if isinstance(call, ControlCall)]


async def _send(stream: ByteStream, data: bytes) -> None:
    with anyio.fail_after(SENT_WITHIN_S):
        await stream.send(data)
