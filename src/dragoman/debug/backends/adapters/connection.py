"""A DAP connection to an adapter, and the endpoints at which one is established."""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import ByteStream
from msgspec import UNSET

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.adapters.spec import Address
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.debug.backends.port import AdapterRefusedError, decode_event
from dragoman.debug.errors import attach_timed_out, not_served
from dragoman.io.drivers.dap_adapter_driver import DapAdapterDriver, OnRequest
from dragoman.io.errors import not_reached
from dragoman.io.net.streams import (
    HasStdio,
    Pids,
    accept_from,
    connect_stdio,
    connect_tcp,
    connect_unix,
    free_port,
)
from dragoman.io.net.tcp_listener import bind_tcp
from dragoman.protocols.dap import Event, Response, read_body

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
_CONNECT_TIMEOUT_S = 20.0
_LONGEST_OUTPUT = 4000
_EXTERNAL_CONNECT_TIMEOUT_S = 5.0  # of somebody else's port: a person or an agent waits for the answer


class AdapterConnection:
    """One DAP connection. `run` belongs in a task group; the other methods may be called while it runs.

    It decodes each event once, as it arrives, and puts it into `events`.
    """

    def __init__(self, stream: ByteStream, on_request: OnRequest) -> None:
        self.events = AdapterEventQueue()
        self._stream = stream
        self._driver = DapAdapterDriver(stream, events=self, on_request=on_request)

    async def run(self) -> None:
        try:
            await self._driver.run()
        finally:
            self.events.close()

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        answer = await self._driver.request(command, UNSET if arguments is None else arguments, timeout_s=timeout_s)
        if not answer.success:
            raise AdapterRefusedError(command, _error_text(answer))
        return answer

    async def end(self) -> None:
        self.events.close()
        await self._stream.aclose()

    # What its driver needs of a sink.

    @property
    def is_full(self) -> bool:
        return self.events.is_full

    def take(self, event: Event, size: int, *, may_omit: bool) -> None:
        if (body := decode_event(event)) is not None:
            self.events.put(body, size, may_omit=may_omit)

    async def wait_for_change(self) -> None:
        await self.events.wait_for_change()

    def wake(self) -> None:
        self.events.wake()


class AdapterEndpoint:
    """Where a started adapter is reached: `at` goes on its command line, then `connect` opens one or more
    connections.
    """

    at = ""

    async def connect(self, child: HasStdio, /) -> ByteStream:
        raise NotImplementedError

    def consume_output(self, text: str) -> str:
        """Of what the adapter writes: the part that is not meant for us."""
        return text


class StdioEndpoint(AdapterEndpoint):
    """The adapter's standard streams. There is one pair of them, so a child session must name a port."""

    def __init__(self) -> None:
        self._is_connected = False

    async def connect(self, child: HasStdio) -> ByteStream:
        if self._is_connected:
            raise not_served(command="startDebugging")
        self._is_connected = True
        return connect_stdio(child)


class UnixSocketEndpoint(AdapterEndpoint):
    """A Unix socket in a folder that only this user can enter, so only the adapter that we started can answer there."""

    def __init__(self, stack: AsyncExitStack, listening: re.Pattern[str] | None) -> None:
        self._listening = listening
        self._text = ""
        self._told = anyio.Event()
        folder = Path(tempfile.mkdtemp(prefix="dragoman-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self.at = str(folder / "a.sock")

    async def connect(self, _: HasStdio) -> ByteStream:
        with anyio.move_on_after(_CONNECT_TIMEOUT_S if self._listening else 0):
            await self._told.wait()
        return await connect_unix(Path(self.at), deadline_s=_CONNECT_TIMEOUT_S)

    def consume_output(self, text: str) -> str:
        """Where it must not be spoken to before it says so."""
        if self._listening is not None and not self._told.is_set():
            self._text = (self._text + text)[-_LONGEST_OUTPUT:]
            if self._listening.search(self._text):
                self._told.set()
        return text


class ReverseTcpEndpoint(AdapterEndpoint):
    """The adapter connects to us. Only a process of our own tree is accepted."""

    def __init__(self, stack: AsyncExitStack, pids: Pids) -> None:
        self._listener = stack.enter_context(bind_tcp(LOOPBACK, 0))
        self._pids = pids
        self.at = str(self._listener.getsockname()[1])

    async def connect(self, _: HasStdio) -> ByteStream:
        return await accept_from(self._listener, self._pids, deadline_s=_CONNECT_TIMEOUT_S)


class TcpEndpoint(AdapterEndpoint):
    """The adapter listens on a TCP port: one that it prints, or one that was free a moment ago."""

    def __init__(self, pids: Pids, listening: re.Pattern[str] | None) -> None:
        self._pids = pids
        self._listening = listening
        self._text = ""
        self._told = anyio.Event()
        self.at = "0" if listening else str(free_port())

    async def connect(self, _: HasStdio) -> ByteStream:
        """The adapter in our tree must be the one who answers: somebody else may have taken the port before it."""
        with anyio.move_on_after(_CONNECT_TIMEOUT_S if self._listening else 0):
            await self._told.wait()
        if self.at == "0":
            raise not_reached(seconds=_CONNECT_TIMEOUT_S)
        return await connect_tcp(LOOPBACK, int(self.at), deadline_s=_CONNECT_TIMEOUT_S, of=self._pids)

    def consume_output(self, text: str) -> str:
        """The line that tells the port is for us alone."""
        if self._listening is None or self._told.is_set():
            return text
        self._text = (self._text + text)[-_LONGEST_OUTPUT:]
        whole = self._text[: self._text.rfind("\n") + 1]  # a port whose last digits have yet to come is another
        found = self._listening.search(whole)
        if found is None:
            return text
        self.at = found["port"]
        self._told.set()
        return self._text[self._text.index("\n", found.end("port")) + 1 :]


async def connect_to_adapter(
    address: Address, of: Pids | None = None, *, users: frozenset[int] = frozenset()
) -> ByteStream:
    """An adapter that listens already: a port where nobody does is told at once, with the reason."""
    within_s = _EXTERNAL_CONNECT_TIMEOUT_S
    try:
        return await connect_tcp(address.host, address.port, deadline_s=within_s, retry=False, of=of, users=users)
    except DragomanError as error:
        if error.code == "no_answer":
            raise attach_timed_out(seconds=within_s) from error
        raise


def _error_text(answer: Response) -> str:
    """`message` is a short key in some adapters; the sentence for people stands in the body's `error`."""
    short = answer.message or ""
    with contextlib.suppress(RemoteProtocolError):
        said = read_body(answer, _ErrorBody).error
        return said.sentence() if said and said.format else short
    return short


class _ErrorMessage(msgspec.Struct):
    format: str = ""
    variables: dict[str, str] = msgspec.field(default_factory=dict)

    def sentence(self) -> str:
        return re.sub(r"\{(\w+)\}", lambda it: self.variables.get(it[1], it[0]), self.format)


class _ErrorBody(msgspec.Struct):
    error: _ErrorMessage | None = None
