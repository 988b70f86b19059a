"""Where an adapter is: its processes, what they write, and how another connection to it is made."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteStream

from dragoman.debug.adapters.links import (
    CallMeeting,
    Meeting,
    PortMeeting,
    StdioMeeting,
    UnixMeeting,
    connect_to,
)
from dragoman.debug.adapters.output_events import texts, without_noise
from dragoman.debug.adapters.run_in_terminal import Tell, Terminal, feed
from dragoman.debug.adapters.spec import AdapterSpec, Address, Situation
from dragoman.debug.faults import adapter_gone
from dragoman.debug.messages import output
from dragoman.errors import RemoteProtocolError
from dragoman.transport.peers import processes_at
from dragoman.transport.supervised import Child, Exit, Tree

_LAST_WORDS = 4000
_LONGEST_PORT = 5  # digits
_LAST_WORDS_WITHIN_S = 0.5  # a child of the adapter may hold its outputs open


class Foreign:
    """An adapter that somebody else started: we hold connections, and nothing ends with them."""

    terminal: Terminal | None = None
    last_words = ""

    def __init__(self, address: Address, users: frozenset[int]) -> None:
        self._address = address
        self._users = users
        self._pids: list[int] | None = None

    def pids(self) -> list[int]:
        """Those that may be cured where the system lets us: looked for once, the program is connected already."""
        if self._pids is None:
            self._pids = processes_at(self._address.port) if sys.platform == "linux" else []
        return self._pids

    def glimpsed_pids(self) -> list[int]:
        return self.pids()

    async def connect(self, configuration: Mapping[str, Any] | None = None) -> ByteStream:
        """A child's port is on the adapter's host, whatever it calls that: its loopback need not be ours, and an
        adapter elsewhere must not choose who of this machine is spoken to."""
        child = _address_in(configuration)
        address = self._address if child is None else Address(self._address.host, child.port)
        return await connect_to(address, users=self._users)

    async def hear(self, tell: Tell) -> None:
        """Its outputs are somebody else's."""

    async def hear_out(self) -> None:
        """See `hear`."""

    async def program_ended(self, _: float) -> Exit | None:
        """We are not its parent."""
        return None


class Own:
    """An adapter in a tree of ours."""

    def __init__(self, tree: Tree, child: Child, meeting: Meeting, spec: AdapterSpec, situation: Situation) -> None:
        self.last_words = ""
        self._said = ""
        self._tree = tree
        self._child = child
        self._meeting = meeting
        self._spec = spec
        self._situation = situation
        self._is_silent = anyio.Event()
        self.terminal: Terminal | None = None

    @classmethod
    async def start(cls, tree: Tree, spec: AdapterSpec, situation: Situation, stack: AsyncExitStack) -> Own:
        meeting = _MEETINGS[spec.transport](stack, tree, spec)
        command = spec.command(dataclasses.replace(situation, at=meeting.at))
        child = await tree.start(command)
        place = cls(tree, child, meeting, spec, situation)
        place.terminal = Terminal(tree, command.environment, situation.workspace, situation.stdin)
        return place

    @property
    def pid(self) -> int:
        return self._child.pid

    def pids(self) -> list[int]:
        return [*self._tree.pids(), *_attached_pid(self._situation)]

    def glimpsed_pids(self) -> list[int]:
        """See `Tree`."""
        return [*self._tree.glimpsed_pids(), *_attached_pid(self._situation)]

    async def connect(self, configuration: Mapping[str, Any] | None = None) -> ByteStream:
        """For a child session where its configuration says, otherwise as for the first."""
        address = _address_in(configuration)
        if address is not None:
            return await connect_to(address, of=self._likely_pids)
        async with anyio.create_task_group() as group:
            group.start_soon(self._raise_when_gone)
            stream = await self._meeting.connect(self._child)
            group.cancel_scope.cancel("connected")
        return stream

    def _likely_pids(self) -> Iterator[int]:
        """The adapter first: as a rule it is the one, and the others need not be looked for."""
        yield self._child.pid
        yield from self._tree.pids()

    async def hear(self, tell: Tell) -> None:
        """An adapter's outputs must be read, or it waits; their end is the reason when it dies at once."""
        outputs = {"stdout": self._child.stdout, "stderr": self._child.stderr}
        if self._spec.transport == "stdio":
            del outputs["stdout"]
        async with anyio.create_task_group() as group:
            if self._spec.program_output_is_adapters:
                group.start_soon(feed, self._child.stdin, self._situation.stdin)
            for category, stream in outputs.items():
                if stream is not None:
                    group.start_soon(self._hear, stream, category, tell)
        self._is_silent.set()

    async def program_ended(self, within_s: float) -> Exit | None:
        """How the program ended, where we started it ourselves: at the adapter's wish, or as the adapter."""
        if not self._spec.program_output_is_adapters:
            return await self.terminal.ended(within_s) if self.terminal else None
        with anyio.move_on_after(within_s):
            exit = await self._child.wait()
            await self.hear_out()
            return exit
        return None

    async def hear_out(self) -> None:
        with anyio.move_on_after(_LAST_WORDS_WITHIN_S):
            await self._is_silent.wait()

    async def _hear(self, stream: ByteReceiveStream, category: str, tell: Tell) -> None:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for text in texts(stream):
                rest = without_noise(self._meeting.heard(text), self._spec.noise)
                self._said = (self._said + rest)[-_LAST_WORDS:]
                if not self._spec.program_output_is_adapters:
                    self.last_words = (self.last_words + rest)[-_LAST_WORDS:]
                elif rest:
                    await tell(output(rest, category))

    async def _raise_when_gone(self) -> None:
        """Else a connection to one that died at once would be waited for until the deadline."""
        await self._child.wait()
        await self.hear_out()
        raise adapter_gone(self._said)


_MEETINGS: dict[str, Callable[[AsyncExitStack, Tree, AdapterSpec], Meeting]] = {
    "stdio": lambda *_: StdioMeeting(),
    "unix": lambda stack, _, spec: UnixMeeting(stack, spec.listening),
    "calls": lambda stack, tree, _: CallMeeting(stack, tree.pids),
    "tcp": lambda _, tree, spec: PortMeeting(tree.pids, spec.listening),
}


def _address_in(configuration: Mapping[str, Any] | None) -> Address | None:
    """Where debugpy wants a child's session opened."""
    where = (configuration or {}).get("connect")
    if not isinstance(where, dict):
        return None
    port = str(where.get("port"))
    if not (port.isdecimal() and len(port) <= _LONGEST_PORT and 0 < int(port) < 1 << 16):
        raise RemoteProtocolError("bad_port", f"A child session is asked for at port {port[:40]!a}.")
    return Address(str(where.get("host") or "127.0.0.1"), int(port))


def _attached_pid(situation: Situation) -> list[int]:
    named = situation.arguments.get("processId") if situation.request == "attach" else None
    return [int(named)] if isinstance(named, int | str) and str(named).isdigit() else []
