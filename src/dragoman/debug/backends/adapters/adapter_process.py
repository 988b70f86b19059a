"""The processes of an adapter: their output, and the endpoints at which they are reached."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteStream

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.adapters.program_io import (
    PipedTerminal,
    PublishEvent,
    decode_stream,
    feed_stdin,
    strip_noise,
)
from dragoman.debug.backends.adapters.spec import AdapterSpec, Address, LaunchContext
from dragoman.debug.backends.port import make_output_event
from dragoman.debug.errors import adapter_gone, attach_timed_out, not_served
from dragoman.io.errors import not_reached
from dragoman.io.net.peers import processes_at
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
from dragoman.io.processes.process_tree import ChildProcess, ProcessExit, ProcessTree

LOOPBACK = "127.0.0.1"
_CONNECT_TIMEOUT_S = 20.0
_EXTERNAL_CONNECT_TIMEOUT_S = 5.0  # for a port of another program, because somebody waits for the answer
_LONGEST_OUTPUT = 4000
_LAST_OUTPUT_CHARACTERS = 4000
_LONGEST_PORT = 5  # digits of a number in the adapter's output
_LAST_OUTPUT_TIMEOUT_S = 0.5  # a child of the adapter may keep its outputs open


class AdapterEndpoint:
    """Where a started adapter is reached: `at` goes on its command line, then `connect` opens one or more
    connections."""

    at = ""

    async def connect(self, child: HasStdio, /) -> ByteStream:
        raise NotImplementedError

    def consume_output(self, text: str) -> str:
        """Returns the part of the adapter's output that is meant for the user."""
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
        self._is_listening = anyio.Event()
        folder = Path(tempfile.mkdtemp(prefix="dragoman-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self.at = str(folder / "a.sock")

    async def connect(self, _: HasStdio) -> ByteStream:
        with anyio.move_on_after(_CONNECT_TIMEOUT_S if self._listening else 0):
            await self._is_listening.wait()
        return await connect_unix(Path(self.at), deadline_s=_CONNECT_TIMEOUT_S)

    def consume_output(self, text: str) -> str:
        """The adapter must not be connected to before it prints that it listens."""
        if self._listening is not None and not self._is_listening.is_set():
            self._text = (self._text + text)[-_LONGEST_OUTPUT:]
            if self._listening.search(self._text):
                self._is_listening.set()
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
        self._is_listening = anyio.Event()
        self.at = "0" if listening else str(free_port())

    async def connect(self, _: HasStdio) -> ByteStream:
        """The peer must be the adapter in our own process tree: another program may have taken the port first."""
        with anyio.move_on_after(_CONNECT_TIMEOUT_S if self._listening else 0):
            await self._is_listening.wait()
        if self.at == "0":
            raise not_reached(seconds=_CONNECT_TIMEOUT_S)
        return await connect_tcp(LOOPBACK, int(self.at), deadline_s=_CONNECT_TIMEOUT_S, of=self._pids)

    def consume_output(self, text: str) -> str:
        """Hides the line that names the port: it is meant for us."""
        if self._listening is None or self._is_listening.is_set():
            return text
        self._text = (self._text + text)[-_LONGEST_OUTPUT:]
        whole = self._text[: self._text.rfind("\n") + 1]  # the last digits of the port may be missing
        found = self._listening.search(whole)
        if found is None:
            return text
        self.at = found["port"]
        self._is_listening.set()
        return self._text[self._text.index("\n", found.end("port")) + 1 :]


async def connect_to_adapter(
    address: Address, of: Pids | None = None, *, users: frozenset[int] = frozenset()
) -> ByteStream:
    """An adapter that already listens. If nothing listens on the port, the error says so at once."""
    within_s = _EXTERNAL_CONNECT_TIMEOUT_S
    try:
        return await connect_tcp(address.host, address.port, deadline_s=within_s, retry=False, of=of, users=users)
    except DragomanError as error:
        if error.code == "no_answer":
            raise attach_timed_out(seconds=within_s) from error
        raise


class ExternalAdapter:
    """An adapter that somebody else started. We hold connections to it and never end its processes."""

    terminal: PipedTerminal | None = None
    last_output = ""

    def __init__(self, address: Address, users: frozenset[int]) -> None:
        self._address = address
        self._users = users
        self._pids: list[int] | None = None

    def pids(self) -> list[int]:
        """Processes whose sockets may get TCP_NODELAY, looked up once: the program is already connected."""
        if self._pids is None:
            self._pids = processes_at(self._address.port) if sys.platform == "linux" else []
        return self._pids

    def quick_pids(self) -> list[int]:
        return self.pids()

    async def connect(self, configuration: Mapping[str, Any] | None = None) -> ByteStream:
        """A child's port is on the adapter's host, whatever name it uses: its loopback may not be ours, and a remote
        adapter must not choose an address on this machine to connect to."""
        child = _child_address(configuration)
        address = self._address if child is None else Address(self._address.host, child.port)
        return await connect_to_adapter(address, users=self._users)

    async def read_output(self, publish: PublishEvent) -> None:
        """Its outputs are somebody else's."""

    async def wait_for_output_end(self) -> None:
        """See `read_output`."""

    async def wait_for_program_exit(self, _: float) -> ProcessExit | None:
        """We are not its parent."""
        return None


class AdapterProcess:
    """An adapter that we started, in a supervised process tree."""

    def __init__(
        self,
        tree: ProcessTree,
        child: ChildProcess,
        endpoint: AdapterEndpoint,
        spec: AdapterSpec,
        context: LaunchContext,
    ) -> None:
        self.last_output = ""
        self._recent_output = ""
        self._tree = tree
        self._child = child
        self._endpoint = endpoint
        self._spec = spec
        self._context = context
        self._output_ended = anyio.Event()
        self.terminal: PipedTerminal | None = None

    @classmethod
    async def start(
        cls, tree: ProcessTree, spec: AdapterSpec, context: LaunchContext, stack: AsyncExitStack
    ) -> AdapterProcess:
        endpoint = _ENDPOINTS[spec.transport](stack, tree, spec)
        command = spec.command(dataclasses.replace(context, at=endpoint.at))
        child = await tree.start(command)
        process = cls(tree, child, endpoint, spec, context)
        process.terminal = PipedTerminal(tree, command.environment, context.workspace, context.stdin)
        return process

    @property
    def pid(self) -> int:
        return self._child.pid

    def pids(self) -> list[int]:
        return [*self._tree.pids(), *_attached_pid(self._context)]

    def quick_pids(self) -> list[int]:
        """See `ProcessTree.quick_pids`."""
        return [*self._tree.quick_pids(), *_attached_pid(self._context)]

    async def connect(self, configuration: Mapping[str, Any] | None = None) -> ByteStream:
        """For a child session where its configuration says, otherwise as for the first."""
        address = _child_address(configuration)
        if address is not None:
            return await connect_to_adapter(address, of=self._likely_pids)
        async with anyio.create_task_group() as group:
            group.start_soon(self._raise_when_gone)
            stream = await self._endpoint.connect(self._child)
            group.cancel_scope.cancel("connected")
        return stream

    def _likely_pids(self) -> Iterator[int]:
        """The adapter first: it is usually the one, and then the others need not be searched."""
        yield self._child.pid
        yield from self._tree.pids()

    async def read_output(self, publish: PublishEvent) -> None:
        """An adapter's outputs must be read, or it waits; their end is the reason when it dies at once."""
        outputs = {"stdout": self._child.stdout, "stderr": self._child.stderr}
        if self._spec.transport == "stdio":
            del outputs["stdout"]
        async with anyio.create_task_group() as group:
            if self._spec.quirks.program_output_is_adapters:
                group.start_soon(feed_stdin, self._child.stdin, self._context.stdin)
            for category, stream in outputs.items():
                if stream is not None:
                    group.start_soon(self._publish_output, stream, category, publish)
        self._output_ended.set()

    async def wait_for_program_exit(self, within_s: float) -> ProcessExit | None:
        """How the program ended if we started it: on the adapter's request, or as the adapter itself."""
        if not self._spec.quirks.program_output_is_adapters:
            return await self.terminal.wait_for_exit(within_s) if self.terminal else None
        with anyio.move_on_after(within_s):
            exit = await self._child.wait()
            await self.wait_for_output_end()
            return exit
        return None

    async def wait_for_output_end(self) -> None:
        with anyio.move_on_after(_LAST_OUTPUT_TIMEOUT_S):
            await self._output_ended.wait()

    async def _publish_output(self, stream: ByteReceiveStream, category: str, publish: PublishEvent) -> None:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for text in decode_stream(stream):
                rest = strip_noise(self._endpoint.consume_output(text), self._spec.quirks.adapter_lines)
                self._recent_output = (self._recent_output + rest)[-_LAST_OUTPUT_CHARACTERS:]
                if not self._spec.quirks.program_output_is_adapters:
                    self.last_output = (self.last_output + rest)[-_LAST_OUTPUT_CHARACTERS:]
                elif rest:
                    await publish(make_output_event(rest, category))

    async def _raise_when_gone(self) -> None:
        """Else a connection to one that died at once would be waited for until the deadline."""
        await self._child.wait()
        await self.wait_for_output_end()
        raise adapter_gone(words=self._recent_output)


_ENDPOINTS: dict[str, Callable[[AsyncExitStack, ProcessTree, AdapterSpec], AdapterEndpoint]] = {
    "stdio": lambda *_: StdioEndpoint(),
    "unix": lambda stack, _, spec: UnixSocketEndpoint(stack, spec.listening),
    "calls": lambda stack, tree, _: ReverseTcpEndpoint(stack, tree.pids),
    "tcp": lambda _, tree, spec: TcpEndpoint(tree.pids, spec.listening),
}


def _child_address(configuration: Mapping[str, Any] | None) -> Address | None:
    """The address at which debugpy wants a child session to be opened."""
    where = (configuration or {}).get("connect")
    if not isinstance(where, dict):
        return None
    port = str(where.get("port"))
    if not (port.isdecimal() and len(port) <= _LONGEST_PORT and 0 < int(port) < 1 << 16):
        raise RemoteProtocolError("bad_port", f"A child session is asked for at port {port[:40]!a}.")
    return Address(str(where.get("host") or "127.0.0.1"), int(port))


def _attached_pid(context: LaunchContext) -> list[int]:
    named = context.arguments.get("processId") if context.request == "attach" else None
    return [int(named)] if isinstance(named, int | str) and str(named).isdigit() else []
