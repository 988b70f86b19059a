"""The control face: the daemon's own socket, for the command line and the stdio pump."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import anyio
from anyio.abc import SocketStream, UNIXSocketStream

from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import Language, say
from dragoman.transport.unix_socket import is_own_peer
from dragoman.wire.control import Answer, Call, Failure, Hello, Item, ServerConnection, Welcome

log = logging.getLogger(__name__)

HELLO_WITHIN_S = 5.0
SENT_WITHIN_S = 10.0
CONNECTIONS_AT_MOST = 256
_READ = 65536

Params = Mapping[str, Any]
Method = Callable[[Params], AsyncIterator[Any]]
"""Yields items; the last one yielded is the answer."""

TakeOver = Callable[[Hello, SocketStream, bytes], Awaitable[None]]
"""A role that speaks its own protocol after the welcome; gets what arrived behind the hello."""


class ControlServer:
    def __init__(self, version: str, methods: Mapping[str, Method], roles: Mapping[str, TakeOver]) -> None:
        self._version = version
        self._methods = methods
        self._roles = roles
        self._places = anyio.Semaphore(CONNECTIONS_AT_MOST)

    async def serve(self, listener: socket.socket) -> None:
        async with anyio.create_task_group() as group:
            while True:
                await self._places.acquire()
                group.start_soon(self._hold, await _accept(listener))

    async def _hold(self, connection: socket.socket) -> None:
        try:
            if is_own_peer(connection):
                async with await UNIXSocketStream.from_socket(connection) as stream:
                    await self._converse(stream)
            else:
                log.warning("a process of another user was refused at the socket")
                connection.close()
        except (OSError, anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
            connection.close()
        except Exception:
            log.exception("a control connection failed")
        finally:
            self._places.release()

    async def _converse(self, stream: SocketStream) -> None:
        connection = ServerConnection()
        try:
            with anyio.fail_after(HELLO_WITHIN_S):
                hello, calls = await _first(stream, connection)
            await _send(stream, connection.send_welcome(Welcome(self._version, os.getpid())))
            if hello.role == "control":
                await self._serve_calls(stream, connection, calls)
            elif hello.role in self._roles:
                await self._roles[hello.role](hello, stream, connection.take_rest())
            else:
                raise RemoteProtocolError("unknown_role", f"there is no role {hello.role[:40]!r}")
        except RemoteProtocolError as error:
            await _send(stream, connection.send(Failure(0, error.code, error.message)))
        except TimeoutError:
            log.info("a control connection said nothing and was closed")

    async def _serve_calls(self, stream: SocketStream, connection: ServerConnection, calls: list[Call]) -> None:
        assert connection.hello is not None
        language: Language = "zh" if connection.hello.language == "zh" else "en"
        while True:
            for call in calls:
                async for reply in self._answered(call, language):
                    await _send(stream, connection.send(reply))
            messages = connection.receive_data(await stream.receive(_READ))
            calls = [message for message in messages if isinstance(message, Call)]

    async def _answered(self, call: Call, language: Language) -> AsyncIterator[Item | Answer | Failure]:
        try:
            held: list[Any] = []
            async for value in self._method(call)(call.params):
                if held:
                    yield Item(call.id, held.pop())
                held.append(value)
            yield Answer(call.id, held.pop() if held else None)
        except DragomanError as error:
            hint = error.hint.in_language(language) if error.hint else ""
            yield Failure(call.id, error.code, error.message.in_language(language), hint)

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


async def _first(stream: SocketStream, connection: ServerConnection) -> tuple[Hello, list[Call]]:
    while True:
        messages = list(connection.receive_data(await stream.receive(_READ)))
        if messages:
            hello, *calls = messages
            assert isinstance(hello, Hello)
            return hello, [call for call in calls if isinstance(call, Call)]


async def _send(stream: SocketStream, data: bytes) -> None:
    with anyio.fail_after(SENT_WITHIN_S):
        await stream.send(data)


async def _accept(listener: socket.socket) -> socket.socket:
    """Out of file descriptors is a passing state, not the end: wait, and go on accepting."""
    while True:
        await anyio.wait_readable(listener)
        try:
            return listener.accept()[0]
        except BlockingIOError:
            continue
        except OSError as error:
            if error.errno not in {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED}:
                raise
            log.warning("a connection could not be accepted: %s", error.strerror)
            await anyio.sleep(0.1)
