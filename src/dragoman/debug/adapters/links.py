"""One DAP connection to an adapter, and the ways to come by one."""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import ByteStream
from msgspec import UNSET

from dragoman.debug.adapters.output_events import left_out
from dragoman.debug.adapters.spec import Address
from dragoman.debug.backend import AdapterRefusedError
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import say
from dragoman.transport.dap_driver import DapDriver, OnRequest
from dragoman.transport.dap_events import Delivered, OutputLeftOut
from dragoman.transport.streams import (
    HasStdio,
    Pids,
    accept_from,
    connect_stdio,
    connect_tcp,
    connect_unix,
    free_port,
    not_reached,
)
from dragoman.transport.tcp import bind_tcp
from dragoman.wire.dap import Event, Response, read_body

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
_MEET_WITHIN_S = 20.0
_HEARD_AT_MOST = 4000
_REACH_WITHIN_S = 5.0  # of somebody else's port: a person or an agent waits for the answer


class DapLink:
    """`run` belongs into a task group; the rest may be called once it runs."""

    def __init__(self, stream: ByteStream, on_request: OnRequest) -> None:
        self._told, self._taken = anyio.create_memory_object_stream[Sequence[Delivered]](0)
        self._stream = stream
        self._driver = DapDriver(stream, on_events=self._tell, on_request=on_request)

    async def run(self) -> None:
        try:
            await self._driver.run()
        finally:
            self._told.close()

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        answer = await self._driver.request(command, UNSET if arguments is None else arguments, timeout_s=timeout_s)
        if not answer.success:
            raise AdapterRefusedError(command, _reason_of(answer))
        return answer

    async def events(self) -> AsyncIterator[Event]:
        async for batch in self._taken:
            for one in batch:
                yield left_out(one) if isinstance(one, OutputLeftOut) else one

    async def end(self) -> None:
        self._told.close()
        self._taken.close()
        await self._stream.aclose()

    async def _tell(self, batch: Sequence[Delivered]) -> None:
        try:
            await self._told.send(batch)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("events of a session that has ended were passed over")


class Meeting:
    """Where an adapter that we start will be met: `at` for its command line, then connections, one or more."""

    at = ""

    async def connect(self, child: HasStdio, /) -> ByteStream:
        raise NotImplementedError

    def heard(self, text: str) -> str:
        """Of what the adapter writes: the part that is not meant for us."""
        return text


class StdioMeeting(Meeting):
    """There is one pair of streams: a child session that names no port cannot be met."""

    def __init__(self) -> None:
        self._is_met = False

    async def connect(self, child: HasStdio) -> ByteStream:
        if self._is_met:
            raise DragomanError("not_served", say("`{command}` is not served.", command="startDebugging"))
        self._is_met = True
        return connect_stdio(child)


class UnixMeeting(Meeting):
    """In a folder that nobody else can enter: the one who answers there is the one we started."""

    def __init__(self, stack: AsyncExitStack, listening: re.Pattern[str] | None) -> None:
        self._listening = listening
        self._text = ""
        self._told = anyio.Event()
        folder = Path(tempfile.mkdtemp(prefix="dragoman-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self.at = str(folder / "a.sock")

    async def connect(self, _: HasStdio) -> ByteStream:
        with anyio.move_on_after(_MEET_WITHIN_S if self._listening else 0):
            await self._told.wait()
        return await connect_unix(Path(self.at), deadline_s=_MEET_WITHIN_S)

    def heard(self, text: str) -> str:
        """Where it must not be spoken to before it says so."""
        if self._listening is not None and not self._told.is_set():
            self._text = (self._text + text)[-_HEARD_AT_MOST:]
            if self._listening.search(self._text):
                self._told.set()
        return text


class CallMeeting(Meeting):
    """We listen, and take the call of a process of our own tree alone."""

    def __init__(self, stack: AsyncExitStack, pids: Pids) -> None:
        self._listener = stack.enter_context(bind_tcp(LOOPBACK, 0))
        self._pids = pids
        self.at = str(self._listener.getsockname()[1])

    async def connect(self, _: HasStdio) -> ByteStream:
        return await accept_from(self._listener, self._pids, deadline_s=_MEET_WITHIN_S)


class PortMeeting(Meeting):
    """It listens on a port: one that it tells, or one that was free a moment ago."""

    def __init__(self, pids: Pids, listening: re.Pattern[str] | None) -> None:
        self._pids = pids
        self._listening = listening
        self._text = ""
        self._told = anyio.Event()
        self.at = "0" if listening else str(free_port())

    async def connect(self, _: HasStdio) -> ByteStream:
        """The adapter in our tree must be the one who answers: somebody else may have taken the port before it."""
        with anyio.move_on_after(_MEET_WITHIN_S if self._listening else 0):
            await self._told.wait()
        if self.at == "0":
            raise not_reached(_MEET_WITHIN_S)
        return await connect_tcp(LOOPBACK, int(self.at), deadline_s=_MEET_WITHIN_S, of=self._pids)

    def heard(self, text: str) -> str:
        """The line that tells the port is for us alone."""
        if self._listening is None or self._told.is_set():
            return text
        self._text = (self._text + text)[-_HEARD_AT_MOST:]
        whole = self._text[: self._text.rfind("\n") + 1]  # a port whose last digits have yet to come is another
        found = self._listening.search(whole)
        if found is None:
            return text
        self.at = found["port"]
        self._told.set()
        return self._text[self._text.index("\n", found.end("port")) + 1 :]


async def connect_to(address: Address, of: Pids | None = None, *, users: frozenset[int] = frozenset()) -> ByteStream:
    """An adapter that listens already: a port where nobody does is told at once, with the reason."""
    within_s = _REACH_WITHIN_S
    try:
        return await connect_tcp(address.host, address.port, deadline_s=within_s, retry=False, of=of, users=users)
    except DragomanError as error:
        if error.code == "no_answer":
            raise attach_timed_out(within_s) from error
        raise


def attach_timed_out(within_s: float) -> DragomanError:
    return DragomanError(
        "attach_timeout",
        say("Attaching to the process took too long."),
        hint=say(
            "Nothing answered within {seconds} seconds. Check that the program runs, and that no debugger has it yet.",
            seconds=f"{within_s:g}",
        ),
    )


def _reason_of(answer: Response) -> str:
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
