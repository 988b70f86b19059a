"""Terminals of agents: the daemon holds them, our own wrapper runs in them, and people watch them as any other.

They are recorded through the wrappers' socket, so that nothing about them is different for who reads the record.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.terminal.model import AGENT, EndedBy
from dragoman.terminal.told import TerminalSeen
from dragoman.transport.pty import Pty, open_pty
from dragoman.transport.supervisors import Supervisors
from dragoman.wire.osc import CommandFinished, InputStarted, MarkScanner, OutputStarted
from dragoman.workspace.code_folders import CodeFolders

COLUMNS, ROWS = 120, 40
MOST = 8
IDLE_S = 1800.0
# A client that was only cut off comes back by then, and finds its terminal as it left it.
LEFT_S = 5.0
KNOWN_WITHIN_S = 15.0
READY_WITHIN_S = 10.0
_LOOK_EVERY_S = 0.02
_LEASE_LOOK_EVERY_S = 2.0
_HANGS_UP_WITHIN_S = 3.0
_TOLD_WITHIN_S = 3.0
_INTERRUPT = b"\x03"
# Shells that take a paste as text, whatever is in it: a tab completes nothing, and several lines are one command.
_PASTES = frozenset({"bash", "zsh", "fish"})
# Nobody presses a key in front of a pager; and what an agent runs is not what a person's shell remembers.
_OF_OURS = {
    "TERM": "xterm-256color",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "HISTFILE": "/dev/null",
    "fish_history": "",
    "DRAGOMAN_SUGGEST_COMMANDS": "false",
}
# Of the client's own terminal, if it has one; in the new one they would be wrong.
_NOT_PASSED_ON = frozenset(
    {
        "OMNISH_SESSION_ID",
        "DRAGOMAN_SESSION_ID",
        "DRAGOMAN_INSIDE",
        "COLUMNS",
        "LINES",
        "TMUX",
        "TMUX_PANE",
        "STY",
        "TERM_PROGRAM",
    }
)


class Trust(Protocol):
    async def trusts(self, workspace: Path) -> bool: ...


class Record(Protocol):
    """What is asked of the record of terminals."""

    def terminals(self) -> Sequence[TerminalSeen]: ...

    async def end_because(self, terminal_id: str, by: EndedBy) -> None: ...


@dataclass(frozen=True, slots=True)
class Client:
    """On whose behalf a terminal runs."""

    id: str
    workspace: Path
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusts_workspace: bool = False
    link: str = ""
    """Its connection: whose end is the end of its terminals."""


class OwnTerminal:
    """One of them, from the moment the record knows it."""

    def __init__(self, pty: Pty, client: Client, now_s: float) -> None:
        self.id = ""
        self.workspace = client.workspace
        self.used_at_s = now_s
        self.links = {client.link}
        """Of those who used it and are still there."""
        self.left_at_s: float | None = None
        self.ended_by: EndedBy | None = None
        self.is_at_prompt = False
        self._pty = pty
        self._shell = Path(client.environment.get("SHELL", "bash")).name
        self._marks = MarkScanner()

    @property
    def pid(self) -> int:
        return self._pty.pid

    @property
    def is_over(self) -> bool:
        return self._pty.exit is not None

    async def hear(self) -> None:
        """All that it shows is read and let go: the record gets it from the wrapper."""
        async for data in self._pty.shown():
            for piece in self._marks.feed(data):
                if isinstance(piece, InputStarted):
                    self.is_at_prompt = True
                elif isinstance(piece, OutputStarted | CommandFinished):
                    self.is_at_prompt = False

    async def wait_ready(self, within_s: float = READY_WITHIN_S) -> bool:
        """Whether the shell waits for a command. One without marks never says so, and is typed into all the same."""
        with anyio.move_on_after(within_s):
            while not self.is_at_prompt and not self.is_over:  # noqa: ASYNC110  told by bytes, not by events
                await anyio.sleep(_LOOK_EVERY_S)
        return self.is_at_prompt

    async def run(self, command: str) -> None:
        self.is_at_prompt = False
        text = command.strip("\n").encode()
        await self._type(b"\x1b[200~" + text + b"\x1b[201~\r" if self._shell in _PASTES else text + b"\r")

    async def type(self, text: str) -> None:
        await self._type(text.replace("\r\n", "\n").replace("\n", "\r").encode())

    async def interrupt(self) -> None:
        await self._type(_INTERRUPT)

    def hang_up(self, by: EndedBy) -> None:
        """As when a person closes the window."""
        self.ended_by = by
        self._pty.hang_up()

    async def _type(self, data: bytes) -> None:
        if not await self._pty.type(data):
            raise DragomanError(
                "cannot_type",
                say("The terminal {id} takes no more input.", id=self.id),
                hint=say("What runs there does not read. Interrupt it, or use another terminal."),
            )


class OwnTerminals:
    """All of the daemon's; a bounded number, and those that nobody uses end."""

    def __init__(
        self,
        supervisors: Supervisors,
        group: TaskGroup,
        record: Record,
        trust: Trust,
        clock: Clock,
        socket: Path,
        *,
        most: int = MOST,
        idle_s: float = IDLE_S,
        left_s: float = LEFT_S,
    ) -> None:
        self._supervisors = supervisors
        self._group = group
        self._record = record
        self._trust = trust
        self._clock = clock
        self._socket = socket
        self._most = most
        self._idle_s = idle_s
        self._left_s = left_s
        self._own: dict[str, OwnTerminal] = {}
        self._opening = anyio.Lock()

    def find(self, client: Client, terminal_id: str) -> OwnTerminal | None:
        """One of the client's workspace; those of others may be looked at, and not typed into."""
        own = self._own.get(terminal_id)
        return own if own is not None and own.workspace == client.workspace and not own.is_over else None

    def of(self, client: Client) -> list[OwnTerminal]:
        """Used last first."""
        own = self.of_workspace(client.workspace)
        return sorted(own, key=lambda it: it.used_at_s, reverse=True)

    def of_workspace(self, workspace: Path) -> list[OwnTerminal]:
        return [it for it in self._own.values() if it.workspace == workspace and not it.is_over]

    def use(self, own: OwnTerminal, client: Client) -> OwnTerminal:
        own.used_at_s, own.left_at_s = self._clock.monotonic_s(), None
        own.links.add(client.link)
        return own

    def left(self, link: str) -> None:
        """A client has gone; a terminal that nobody else used ends soon, with what runs in it."""
        for own in self._own.values():
            if link in own.links:
                own.links.remove(link)
                own.left_at_s = None if own.links else self._clock.monotonic_s()

    async def bury(self) -> None:
        """Those of an earlier life of ours that was killed: they died with it, and nobody said so."""
        for seen in self._record.terminals():
            if seen.terminal.owner == "agent" and seen.terminal.ended_ns is None and not seen.connected:
                await self._record.end_because(seen.terminal.id, "daemon_died")

    async def require_trust(self, client: Client, cwd: Path | None = None) -> None:
        """In the workspace, and in the folder where the shell begins: what runs there takes its files from it."""
        if not (client.trusts_workspace or await self._trust.trusts(client.workspace)):
            raise _needs_trust(client.workspace)
        if cwd is None:
            return
        folders = CodeFolders(client.workspace, client.environment)
        for place in await anyio.to_thread.run_sync(folders.strange, cwd):
            if not await self._trust.trusts(place):
                raise _needs_trust(place)

    async def open(self, client: Client, cwd: Path) -> OwnTerminal:
        await self.require_trust(client, cwd)
        async with self._opening:
            await self._make_room()
            own: OwnTerminal = await self._group.start(self._live, client, cwd)
        await own.wait_ready()
        if own.is_over:
            raise _not_known()
        return own

    async def _make_room(self) -> None:
        """The one that waits for a command and was not used for longest goes."""
        if len(self._own) < self._most:
            return
        idle = [it for it in self._own.values() if it.is_at_prompt]
        if not idle:
            raise _too_many(self._most)
        oldest = min(idle, key=lambda it: it.used_at_s)
        oldest.hang_up("made_room")
        with anyio.move_on_after(KNOWN_WITHIN_S):
            while oldest.id in self._own:  # noqa: ASYNC110  its task takes it out
                await anyio.sleep(_LOOK_EVERY_S)

    async def _live(self, client: Client, cwd: Path, *, task_status: TaskStatus[OwnTerminal]) -> None:
        """From its start to its end; who waits for the start is told why there is none."""
        failure: DragomanError | None = None
        try:
            await self._lived(client, cwd, task_status)
        except DragomanError as error:
            failure = error
        except BaseExceptionGroup as errors:
            failure = next((it for it in errors.exceptions if isinstance(it, DragomanError)), None)
            if failure is None:
                raise
        if failure is not None:
            raise failure

    async def _lived(self, client: Client, cwd: Path, task_status: TaskStatus[OwnTerminal]) -> None:
        opened = partial(open_pty, self._supervisors, _argv(client), self._environment(client), cwd)
        own: OwnTerminal | None = None
        try:
            async with opened(rows=ROWS, columns=COLUMNS) as pty, anyio.create_task_group() as group:
                own = OwnTerminal(pty, client, self._clock.monotonic_s())
                group.start_soon(self._heard, own, group.cancel_scope)
                own.id = await self._known(own)
                task_status.started(own)
                await self._used(own, group.cancel_scope)
        finally:
            if own is not None and own.ended_by:
                with anyio.move_on_after(_TOLD_WITHIN_S, shield=True):
                    await self._record.end_because(own.id, own.ended_by)

    async def _used(self, own: OwnTerminal, ends: anyio.CancelScope) -> None:
        """Until its shell ends, nobody needs it, or we end ourselves."""
        self._own[own.id] = own
        try:
            own.hang_up(await self._unneeded(own))
            await anyio.sleep(_HANGS_UP_WITHIN_S)
        finally:
            del self._own[own.id]
            if not ends.cancel_called and own.ended_by is None:
                own.hang_up("daemon_ended")
        ends.cancel("it did not hang up")

    async def _heard(self, own: OwnTerminal, scope: anyio.CancelScope) -> None:
        await own.hear()
        if own.id:
            scope.cancel("its shell has ended")

    async def _known(self, own: OwnTerminal) -> str:
        """Its wrapper tells the daemon its process, as all do."""
        with anyio.move_on_after(KNOWN_WITHIN_S):
            while not own.is_over:
                for seen in self._record.terminals():
                    told = seen.terminal.attributes
                    if seen.connected and AGENT in told and told.get("pid") == str(own.pid):
                        return seen.terminal.id
                await anyio.sleep(_LOOK_EVERY_S)
        raise _not_known()

    async def _unneeded(self, own: OwnTerminal) -> EndedBy:
        while True:
            await anyio.sleep(min(_LEASE_LOOK_EVERY_S, self._idle_s / 2, self._left_s / 2))
            now_s = self._clock.monotonic_s()
            if own.left_at_s is not None and now_s - own.left_at_s > self._left_s:
                return "client_left"
            if own.is_at_prompt and now_s - own.used_at_s > self._idle_s:
                return "unused"

    def _environment(self, client: Client) -> dict[str, str]:
        given = {name: value for name, value in client.environment.items() if name not in _NOT_PASSED_ON}
        home = {"DRAGOMAN_HOME": os.environ["DRAGOMAN_HOME"]} if "DRAGOMAN_HOME" in os.environ else {}
        return {**given, **_OF_OURS, **home, "OMNISH_SOCKET": str(self._socket)}


def _argv(client: Client) -> list[str]:
    """Neither the folder nor a variable of the client may say which modules the wrapper is made of."""
    return [sys.executable, "-E", "-P", "-m", "dragoman.shell", "--agent", client.id]


def _needs_trust(workspace: Path) -> DragomanError:
    return DragomanError(
        "needs_trust",
        say("Nothing runs for an agent in {folder} before a person has said that it may.", folder=workspace),
        hint=say("Whoever owns this machine allows it with: dragoman trust {folder}", folder=workspace),
    )


def _too_many(most: int) -> DragomanError:
    return DragomanError(
        "too_many_terminals",
        say("All {count} terminals of agents are busy.", count=most),
        hint=say("Wait for one with wait_for_command, or interrupt what runs in it."),
    )


def _not_known() -> DragomanError:
    return DragomanError(
        "no_own_terminal",
        say("A terminal of its own could not be opened: its shell ended, or was not heard of in time."),
        hint=say("See `dragoman logs`. Does the shell of this client start by hand?"),
    )
