"""Terminals of agents: the daemon holds them, our own wrapper runs in them, and people watch them as any other.

They are recorded through the wrappers' socket, so that nothing about them is different for who reads the record.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.terminal.agent_terminal import HOLDER, AgentTerminal, Client, new_word
from dragoman.terminal.model import AGENT, VERIFIES, EndedBy
from dragoman.terminal.told import TerminalSeen
from dragoman.transport.pty import open_pty
from dragoman.transport.supervisors import Supervisors
from dragoman.workspace.code_folders import CodeFolders

COLUMNS, ROWS = 120, 40
MOST = 16
"""Of one client."""
MOST_IN_ALL = 64
IDLE_S = 1800.0
# A client that was only cut off comes back by then, and finds its terminal as it left it.
LEFT_S = 5.0
KNOWN_WITHIN_S = 30.0
_LOOK_EVERY_S = 0.02
_LEASE_LOOK_EVERY_S = 2.0
_HANGS_UP_WITHIN_S = 3.0
_TOLD_WITHIN_S = 3.0
_WITHOUT_MARKS_S = 0.3
_TOO_MANY = "too_many_terminals"
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

    def terminal(self, terminal_id: str) -> TerminalSeen: ...

    async def end_because(self, terminal_id: str, by: EndedBy) -> None: ...


class AgentTerminals:
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
        most_in_all: int = MOST_IN_ALL,
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
        self._most_in_all = most_in_all
        self._idle_s = idle_s
        self._left_s = left_s
        self._own: dict[str, AgentTerminal] = {}
        self._opening = Counter[str]()
        """How many each client waits for the start of: they count as if they were there."""
        self._freed = anyio.Event()

    def find(self, client: Client, terminal_id: str) -> AgentTerminal | None:
        """One of the client's own; those of others may be looked at, and not typed into."""
        return next((it for it in self.of(client) if it.id == terminal_id), None)

    def of(self, client: Client) -> list[AgentTerminal]:
        """Used last first."""
        for left in self._own.values() if client.reconnected else ():
            if left.left_at_s is not None and _is_same(left.client, client):
                left.client, left.left_at_s = client, None
        own = [it for it in self._living() if (it.client.link, it.client.workspace) == (client.link, client.workspace)]
        return sorted(own, key=lambda it: it.used_at_s, reverse=True)

    def use(self, own: AgentTerminal) -> None:
        own.used_at_s = self._clock.monotonic_s()

    def reserve(self, own: AgentTerminal) -> bool:
        """Whether it was free. Nothing is awaited here: of two calls at once, one gets it."""
        if own.reserved or not self._waits_for_a_command(own):
            return False
        own.reserved = True
        return True

    def left(self, link: str) -> None:
        """A client has gone; its terminals end soon, with what runs in them."""
        for own in self._own.values():
            if own.client.link == link:
                own.left_at_s = self._clock.monotonic_s()

    async def bury(self) -> None:
        """Those of an earlier life of ours that was killed: they died with it, and nobody said so."""
        for seen in self._record.terminals():
            if seen.terminal.owner == "agent" and seen.terminal.ended_ns is None and not seen.connected:
                await self._record.end_because(seen.terminal.id, "daemon_died")

    async def require_trust(self, client: Client, cwd: Path | None = None) -> None:
        """In the workspace, and in the folder where the shell begins: what runs there takes its files from it."""
        if not (client.trusts_workspace or await self._trust.trusts(client.workspace)):
            raise NeedsTrustError(client.workspace)
        if cwd is None:
            return
        folders = CodeFolders(client.workspace, client.environment)
        for place in await anyio.to_thread.run_sync(folders.strange, cwd):
            if not await self._trust.trusts(place):
                raise NeedsTrustError(place)

    async def take(self, client: Client, cwd: Path | None, within_s: float) -> AgentTerminal:
        """One of the client's that waits for a command, or a new one, which `cwd` asks for; where the client can have
        no more, the first to become free. It is reserved: whoever takes it releases it."""
        await self.require_trust(client)
        deadline = anyio.current_time() + within_s
        while True:
            freed = self._freed
            free = next(filter(self.reserve, self.of(client)), None) if cwd is None else None
            if free is not None:
                return free
            try:
                return await self.open(client, cwd or client.cwd, ends_another=cwd is not None)
            except DragomanError as error:
                if error.code != _TOO_MANY or anyio.current_time() >= deadline:
                    raise
            with anyio.CancelScope(deadline=deadline):
                await freed.wait()

    async def open(self, client: Client, cwd: Path, *, ends_another: bool = True) -> AgentTerminal:
        """A new one, reserved; where the client has as many as it can, one that it does not use makes room."""
        await self.require_trust(client, cwd)
        self._make_room(client, ends_another=ends_another)
        self._opening[client.link] += 1
        try:
            own: AgentTerminal = await self._group.start(self._live, client, cwd)
        finally:
            self._opening[client.link] -= 1
            self._free()
        try:
            await self._ready(own)
        except BaseException:
            own.release()
            raise
        if own.is_over:
            raise _not_known()
        return own

    async def _ready(self, own: AgentTerminal) -> None:
        """A shell without our hook says nothing of its prompt: what it prints first is taken for one."""
        if self._record.terminal(own.id).terminal.attributes.get(VERIFIES) == "1":
            await own.wait_ready()
        elif not await own.wait_ready(_WITHOUT_MARKS_S):
            await own.until(lambda: own.has_printed, KNOWN_WITHIN_S)

    def _living(self) -> list[AgentTerminal]:
        return [it for it in self._own.values() if not it.is_over and it.ended_by is None]

    def _waits_for_a_command(self, own: AgentTerminal) -> bool:
        if own.is_over or own.ended_by is not None:
            return False
        return own.is_at_prompt if own.has_marks else self._record.terminal(own.id).running is None

    def _make_room(self, client: Client, *, ends_another: bool) -> None:
        """For one more of this client's, and for one more in all."""
        own = [it for it in self._living() if it.client.link == client.link]
        if len(own) + self._opening[client.link] >= self._most:
            _end_unused(filter(self._is_free, own if ends_another else ()), self._most)
        if len(self._living()) + self._opening.total() >= self._most_in_all:
            _end_unused(filter(self._is_free, self._living()), self._most_in_all)

    def _is_free(self, own: AgentTerminal) -> bool:
        return not own.reserved and self._waits_for_a_command(own)

    def _free(self) -> None:
        """Whoever waits for a terminal looks again."""
        freed, self._freed = self._freed, anyio.Event()
        freed.set()

    async def _live(self, client: Client, cwd: Path, *, task_status: TaskStatus[AgentTerminal]) -> None:
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

    async def _lived(self, client: Client, cwd: Path, task_status: TaskStatus[AgentTerminal]) -> None:
        word = new_word()
        environment = {**self._environment(client), HOLDER: word}
        opened = partial(open_pty, self._supervisors, _argv(client), environment, cwd)
        own: AgentTerminal | None = None
        try:
            async with opened(rows=ROWS, columns=COLUMNS) as pty, anyio.create_task_group() as group:
                own = AgentTerminal(pty, client, word, self._clock.monotonic_s(), self._free)
                group.start_soon(self._heard, own, group.cancel_scope)
                own.id = await self._known(own)
                task_status.started(own)
                await self._used(own, group.cancel_scope)
        finally:
            self._free()
            if own is not None and own.ended_by:
                with anyio.move_on_after(_TOLD_WITHIN_S, shield=True):
                    await self._record.end_because(own.id, own.ended_by)

    async def _used(self, own: AgentTerminal, ends: anyio.CancelScope) -> None:
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

    async def _heard(self, own: AgentTerminal, scope: anyio.CancelScope) -> None:
        await own.hear()
        if own.id:
            scope.cancel("its shell has ended")

    async def _known(self, own: AgentTerminal) -> str:
        """Its wrapper tells the daemon its process, as all do."""
        with anyio.move_on_after(KNOWN_WITHIN_S):
            while not own.is_over:
                for seen in self._record.terminals():
                    told = seen.terminal.attributes
                    if seen.connected and AGENT in told and told.get("pid") == str(own.pid):
                        return seen.terminal.id
                await anyio.sleep(_LOOK_EVERY_S)
        raise _not_known()

    async def _unneeded(self, own: AgentTerminal) -> EndedBy:
        while True:
            await anyio.sleep(min(_LEASE_LOOK_EVERY_S, self._idle_s / 2, self._left_s / 2))
            now_s = self._clock.monotonic_s()
            if own.ended_by is not None:
                return own.ended_by
            if own.left_at_s is not None and now_s - own.left_at_s > self._left_s:
                return "client_left"
            if self._is_free(own) and now_s - own.used_at_s > self._idle_s:
                return "unused"

    def _environment(self, client: Client) -> dict[str, str]:
        given = {name: value for name, value in client.environment.items() if name not in _NOT_PASSED_ON}
        home = {"DRAGOMAN_HOME": os.environ["DRAGOMAN_HOME"]} if "DRAGOMAN_HOME" in os.environ else {}
        return {**given, **_OF_OURS, **home, "OMNISH_SOCKET": str(self._socket)}


def _argv(client: Client) -> list[str]:
    """Neither the folder nor a variable of the client may say which modules the wrapper is made of."""
    return [sys.executable, "-E", "-P", "-m", "dragoman.shell", "--agent", client.id]


def _is_same(before: Client, now: Client) -> bool:
    """A client that lost its connection and came back: what it is and where it stands are as they were."""
    return (before.id, before.workspace, before.cwd) == (now.id, now.workspace, now.cwd) and dict(
        before.environment
    ) == dict(now.environment)


def _end_unused(free: Iterable[AgentTerminal], most: int) -> None:
    """The one that was not used for longest goes, if one waits for a command."""
    oldest = min(free, key=lambda it: it.used_at_s, default=None)
    if oldest is None:
        raise _too_many(most)
    oldest.hang_up("made_room")


class NeedsTrustError(DragomanError):
    """`details` names the folder for whoever can ask a person about it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "needs_trust",
            say("Nothing runs for an agent in {folder} before a person has said that it may.", folder=folder),
            hint=say(
                "Whoever owns this machine allows it with: dragoman trust {folder}", folder=shlex.quote(str(folder))
            ),
        )
        self.details = {"folder": str(folder)}


def _too_many(most: int) -> DragomanError:
    return DragomanError(
        _TOO_MANY,
        say("All {count} terminals of agents are busy.", count=most),
        hint=say("Wait for one with wait_for_command, or interrupt what runs in it."),
    )


def _not_known() -> DragomanError:
    return DragomanError(
        "no_own_terminal",
        say("A terminal of its own could not be opened: its shell ended, or was not heard of in time."),
        hint=say("See `dragoman logs`. Does the shell of this client start by hand?"),
    )
