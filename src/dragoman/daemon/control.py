"""The control face: the daemon's own socket, for the command line and the stdio pump."""

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

from dragoman.daemon.shell_words import in_shell
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import Language, say
from dragoman.transport.accepting import accept_for_ever
from dragoman.transport.streams import TcpStream
from dragoman.transport.time_slice import TimeSlice
from dragoman.transport.unix_socket import is_own_peer, peer_pid
from dragoman.transport.waiting import Waiting, share_of_descriptors
from dragoman.wire.control import Answer, Call, Failure, Hello, Item, ServerConnection, Welcome

log = logging.getLogger(__name__)

HELLO_WITHIN_S = 5.0
NEXT_CALL_WITHIN_S = 3600.0
SENT_WITHIN_S = 10.0
CALLS_AHEAD = 16
_BACKLOG = 1024  # a full one refuses at once, and callers would take us for dead
_READ = 65536
_GONE = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)

Params = Mapping[str, Any]


class Part(NamedTuple):
    """What a method tells before its answer: on its way at once, also when nothing follows for hours."""

    value: Any


Method = Callable[[Params], AsyncIterator[Any]]
"""Yields any number of parts, then its answer."""

TakeOver = Callable[[Hello, ByteStream, bytes], Awaitable[None]]
"""A role that speaks its own protocol after the welcome; gets what arrived behind the hello."""

Admit = Callable[[Hello], None]
"""Refuses a hello by a DragomanError, which its sender gets in the welcome's place."""

_Next = Call | RemoteProtocolError

CALLING_PROCESS: ContextVar[int] = ContextVar("calling_process", default=0)
"""Whose call is answered, by the kernel's word: for the few methods that are a person's alone."""

CALLING_LANGUAGE: ContextVar[Language] = ContextVar("calling_language", default="en")
"""Of whoever calls, for methods whose answer is text: the daemon may have been started in another one."""


class ControlServer:
    def __init__(
        self,
        version: str,
        methods: Mapping[str, Method],
        roles: Mapping[str, TakeOver],
        admits: Mapping[str, Admit] | None = None,
        instance: str = "",
    ) -> None:
        self._version = version
        self._instance = instance
        self._methods = methods
        self._roles = roles
        self._admits = admits or {}
        self._waiting = Waiting(share_of_descriptors(16, at_most=128))
        self._processes: Counter[tuple[str, int]] = Counter()

    def processes(self, role: str) -> list[int]:
        """Those that hold a connection of a role, by the kernel's word."""
        return [pid for (of, pid), count in self._processes.items() if of == role and count]

    async def serve(self, listener: socket.socket) -> None:
        listener.listen(_BACKLOG)
        async with anyio.create_task_group() as group:
            await accept_for_ever(listener, lambda taken: self._take(taken, group), self._waiting.drop_longest)

    def _take(self, connection: socket.socket, group: TaskGroup) -> None:
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
                # Not anyio's own: where its reader is cancelled in the turn in which bytes arrive, its future is set
                # twice, and the event loop logs an InvalidStateError.
                connection.setblocking(False)
                async with TcpStream(connection) as stream:
                    await self._converse(stream, scope)
            except _GONE:
                connection.close()
            except Exception:
                log.exception("a control connection failed")
            finally:
                self._waiting.end(scope)

    async def _converse(self, stream: ByteStream, scope: anyio.CancelScope) -> None:
        connection = ServerConnection()
        try:
            hello, calls = await _first(stream, connection)
            CALLING_LANGUAGE.set("zh" if hello.language == "zh" else "en")
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
                    await self._roles[hello.role](hello, stream, connection.take_rest())
                finally:
                    self._processes -= Counter([key])
        except RemoteProtocolError as error:
            await _send(stream, connection.send(Failure(0, error.code, error.message)))

    def _refusal(self, hello: Hello) -> Failure | None:
        try:
            if hello.role in self._admits:
                self._admits[hello.role](hello)
        except DragomanError as error:
            return failure(Call(0, "", {}), error, CALLING_LANGUAGE.get())
        return None

    async def _serve_calls(
        self, stream: ByteStream, connection: ServerConnection, calls: list[Call], scope: anyio.CancelScope
    ) -> None:
        """Reads on while it answers: a caller who left in the middle of an endless answer is noticed."""
        put, take = anyio.create_memory_object_stream[_Next](CALLS_AHEAD)
        overflow = anyio.Event()
        async with anyio.create_task_group() as group, put, take:
            group.start_soon(_read_on, stream, connection, put, overflow, group.cancel_scope)
            with contextlib.suppress(*_GONE):
                await self._answer_all(stream, connection, calls)
                while True:
                    self._waiting.begin(scope, scope.cancel, NEXT_CALL_WITHIN_S)
                    following = await take.receive()
                    self._waiting.end(scope)
                    await self._answer_all(stream, connection, [following])
            group.cancel_scope.cancel("the conversation is over")
        if overflow.is_set():
            raise RemoteProtocolError("too_many_calls", f"more than {CALLS_AHEAD} calls wait for their turn")

    async def _answer_all(self, stream: ByteStream, connection: ServerConnection, what: Sequence[_Next]) -> None:
        language = CALLING_LANGUAGE.get()
        for call in what:
            if isinstance(call, RemoteProtocolError):
                await _send(stream, connection.send(Failure(0, call.code, call.message)))
                raise anyio.EndOfStream
            async for reply in self._answered(call, language):
                await _send(stream, connection.send(reply))

    async def _answered(self, call: Call, language: Language) -> AsyncIterator[Item | Answer | Failure]:
        try:
            async for told in self._method(call)(call.params):
                yield Item(call.id, told.value) if isinstance(told, Part) else Answer(call.id, told)
        except DragomanError as error:
            yield failure(call, error, language)
        except Exception:
            log.exception("the call %s failed", call.method[:60])
            yield failure(call, fault(), language)

    def _method(self, call: Call) -> Method:
        if call.method not in self._methods:
            raise DragomanError(
                "unknown_method",
                say(
                    "This daemon (version {version}) does not know `{method}`.",
                    version=self._version,
                    method=call.method[:60],
                ),
                hint=say("The command line may be newer than the daemon: `dragoman restart` puts them in step."),
            )
        return self._methods[call.method]


def failure(call: Call, error: DragomanError, language: Language) -> Failure:
    """Whoever calls here has a shell, and commands where agents have tools."""
    hint = in_shell(error.hint, language) if error.hint else ""
    return Failure(call.id, error.code, in_shell(error.message, language), hint)


def fault() -> DragomanError:
    return DragomanError(
        "internal_error", say("Something went wrong in the daemon."), hint=say("See `dragoman logs`, then try again.")
    )


async def _read_on(
    stream: ByteStream,
    connection: ServerConnection,
    put: MemoryObjectSendStream[_Next],
    overflow: anyio.Event,
    scope: anyio.CancelScope,
) -> None:
    """The caller's faults are told in their turn, behind the answers to what came before."""
    try:
        async for following in _calls(stream, connection):
            put.send_nowait(following)
    except anyio.WouldBlock:
        overflow.set()
        scope.cancel("too much at once")
    except _GONE:
        scope.cancel("the caller left")


async def _calls(stream: ByteStream, connection: ServerConnection) -> AsyncIterator[_Next]:
    turn = TimeSlice()
    try:
        while True:
            for message in connection.receive_data(await stream.receive(_READ)):
                if isinstance(message, Call):
                    yield message
                await turn.yield_if_spent()
    except RemoteProtocolError as error:
        yield error


async def _first(stream: ByteStream, connection: ServerConnection) -> tuple[Hello, list[Call]]:
    while True:
        messages = list(connection.receive_data(await stream.receive(_READ)))
        if messages:
            hello, *calls = messages
            assert isinstance(hello, Hello)
            return hello, [call for call in calls if isinstance(call, Call)]


async def _send(stream: ByteStream, data: bytes) -> None:
    with anyio.fail_after(SENT_WITHIN_S):
        await stream.send(data)
