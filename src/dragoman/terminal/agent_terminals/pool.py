"""Opens, reserves and ends the terminals of agents.

Their wrappers record through the same socket as a person's, so readers of the record see no difference.
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

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import localize
from dragoman.io.processes.pty import open_pty
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.terminal.agent_terminals.terminal import HOLDER_VARIABLE, AgentClient, AgentTerminal, new_holder_token
from dragoman.terminal.errors import did_not_open
from dragoman.terminal.model import AGENT, VERIFIES, EndedBy, TerminalStatus
from dragoman.workspace.trust import CodeLocations

COLUMNS, ROWS = 120, 40
MOST = 16
"""Per client."""
MOST_IN_ALL = 64
IDLE_S = 1800.0
# A client that only lost its connection reconnects within this time, and finds its terminal unchanged.
RECONNECT_GRACE_S = 5.0
RECORDED_TIMEOUT_S = 30.0
_POLL_INTERVAL_S = 0.02
_LEASE_POLL_INTERVAL_S = 2.0
_HANG_UP_TIMEOUT_S = 3.0
_END_RECORD_TIMEOUT_S = 3.0
_WITHOUT_MARKS_S = 0.3
_TOO_MANY = "too_many_terminals"
# No person is there to leave a pager, and commands of an agent do not belong in a person's shell history.
_OWN_ENVIRONMENT = {
    "TERM": "xterm-256color",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "HISTFILE": "/dev/null",
    "fish_history": "",
    "DRAGOMAN_SUGGEST_COMMANDS": "false",
}
# These describe the client's own terminal. In the new terminal they would be wrong.
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


class FolderTrust(Protocol):
    async def trusts(self, workspace: Path) -> bool: ...


class AgentTerminalRecord(Protocol):
    """The parts of the terminal record that the pool uses."""

    def terminals(self) -> Sequence[TerminalStatus]: ...

    def terminal(self, terminal_id: str) -> TerminalStatus: ...

    async def end_with_reason(self, terminal_id: str, by: EndedBy) -> None: ...


class AgentTerminalPool:
    """The terminals that the daemon holds for agents.

    Their number is bounded, and unused ones are ended. It checks trust before it opens one, and never types into a
    terminal of a person.
    """

    def __init__(
        self,
        supervisors: SupervisorPool,
        group: TaskGroup,
        record: AgentTerminalRecord,
        trust: FolderTrust,
        clock: Clock,
        socket: Path,
        *,
        most: int = MOST,
        most_in_all: int = MOST_IN_ALL,
        idle_s: float = IDLE_S,
        left_s: float = RECONNECT_GRACE_S,
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
        """How many terminals are being opened per client. They count towards the limits."""
        self._freed = anyio.Event()

    def find(self, client: AgentClient, terminal_id: str) -> AgentTerminal | None:
        """Return one of the client's own terminals. A client may read the terminals of others, but not type into
        them."""
        return next((it for it in self.of(client) if it.id == terminal_id), None)

    def of(self, client: AgentClient) -> list[AgentTerminal]:
        """The client's terminals, most recently used first."""
        for left in self._own.values() if client.reconnected else ():
            if left.disconnected_at_s is not None and _is_same_client(left.client, client):
                left.client, left.disconnected_at_s = client, None
        own = [it for it in self._living() if (it.client.link, it.client.workspace) == (client.link, client.workspace)]
        return sorted(own, key=lambda it: it.used_at_s, reverse=True)

    def mark_used(self, own: AgentTerminal) -> None:
        own.used_at_s = self._clock.monotonic_s()

    def reserve(self, own: AgentTerminal) -> bool:
        """Reserve the terminal; return whether it was free. There is no await in here, so only one of two concurrent
        calls gets it."""
        if own.reserved or not self._waits_for_a_command(own):
            return False
        own.reserved = True
        return True

    def left(self, link: str) -> None:
        """A client disconnected. Its terminals end soon, with everything that runs in them."""
        for own in self._own.values():
            if own.client.link == link:
                own.disconnected_at_s = self._clock.monotonic_s()

    def end_all(self) -> int:
        """Hang up every terminal of every agent; return how many there were."""
        living = self._living()
        for own in living:
            own.hang_up("stopped_by_person")
        return len(living)

    async def end_orphans(self) -> None:
        """End the terminals of an earlier daemon that was killed: they died with it, and nothing recorded their end."""
        for seen in self._record.terminals():
            if seen.terminal.owner == "agent" and seen.terminal.ended_ns is None and not seen.connected:
                await self._record.end_with_reason(seen.terminal.id, "daemon_died")

    async def require_trust(self, client: AgentClient, cwd: Path | None = None) -> None:
        """Require trust in the workspace and in the folder where the shell starts: commands use the files of both."""
        if not (client.trusts_workspace or await self._trust.trusts(client.workspace)):
            raise NeedsTrustError(client.workspace)
        if cwd is None:
            return
        folders = CodeLocations(client.workspace, client.environment)
        for place in await anyio.to_thread.run_sync(folders.untrusted_places, cwd):
            if not await self._trust.trusts(place):
                raise NeedsTrustError(place)

    async def acquire(self, client: AgentClient, cwd: Path | None, within_s: float) -> AgentTerminal:
        """Return an idle terminal of the client, or open a new one; with `cwd`, always a new one. At the client's
        limit, wait for the first terminal to become free. The terminal is reserved; the caller must release it."""
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

    async def open(self, client: AgentClient, cwd: Path, *, ends_another: bool = True) -> AgentTerminal:
        """Open a new terminal, reserved for the caller. At the client's limit, an unused terminal is ended to make
        room."""
        await self.require_trust(client, cwd)
        self._make_room(client, ends_another=ends_another)
        self._opening[client.link] += 1
        try:
            own: AgentTerminal = await self._group.start(self._supervise, client, cwd)
        finally:
            self._opening[client.link] -= 1
            self._notify_freed()
        try:
            await self._ready(own)
        except BaseException:
            own.release()
            raise
        if own.is_over:
            raise did_not_open()
        return own

    async def _ready(self, own: AgentTerminal) -> None:
        """A shell without our hook does not mark its prompt, so its first output counts as the prompt."""
        if self._record.terminal(own.id).terminal.attributes.get(VERIFIES) == "1":
            await own.wait_ready()
        elif not await own.wait_ready(_WITHOUT_MARKS_S):
            await own.wait_until(lambda: own.has_printed, RECORDED_TIMEOUT_S)

    def _living(self) -> list[AgentTerminal]:
        return [it for it in self._own.values() if not it.is_over and it.ended_by is None]

    def _waits_for_a_command(self, own: AgentTerminal) -> bool:
        if own.is_over or own.ended_by is not None:
            return False
        return own.is_at_prompt if own.has_marks else self._record.terminal(own.id).running is None

    def _make_room(self, client: AgentClient, *, ends_another: bool) -> None:
        """Make room for one more terminal of this client, and for one more in total."""
        own = [it for it in self._living() if it.client.link == client.link]
        if len(own) + self._opening[client.link] >= self._most:
            _end_unused(filter(self._is_free, own if ends_another else ()), self._most)
        if len(self._living()) + self._opening.total() >= self._most_in_all:
            _end_unused(filter(self._is_free, self._living()), self._most_in_all)

    def _is_free(self, own: AgentTerminal) -> bool:
        return not own.reserved and self._waits_for_a_command(own)

    def _notify_freed(self) -> None:
        """Wake the calls that wait for a free terminal."""
        freed, self._freed = self._freed, anyio.Event()
        freed.set()

    async def _supervise(self, client: AgentClient, cwd: Path, *, task_status: TaskStatus[AgentTerminal]) -> None:
        """Run the terminal from start to end. If it cannot start, the caller that waits for it gets the reason."""
        failure: DragomanError | None = None
        try:
            await self._run_terminal(client, cwd, task_status)
        except DragomanError as error:
            failure = error
        except BaseExceptionGroup as errors:
            failure = next((it for it in errors.exceptions if isinstance(it, DragomanError)), None)
            if failure is None:
                raise
        if failure is not None:
            raise failure

    async def _run_terminal(self, client: AgentClient, cwd: Path, task_status: TaskStatus[AgentTerminal]) -> None:
        holder_token = new_holder_token()
        environment = {**self._environment(client), HOLDER_VARIABLE: holder_token}
        opened = partial(open_pty, self._supervisors, _argv(client), environment, cwd)
        own: AgentTerminal | None = None
        try:
            async with opened(rows=ROWS, columns=COLUMNS) as pty, anyio.create_task_group() as group:
                own = AgentTerminal(pty, client, holder_token, self._clock.monotonic_s(), self._notify_freed)
                group.start_soon(self._read_until_end, own, group.cancel_scope)
                own.id = await self._wait_until_recorded(own)
                task_status.started(own)
                await self._serve(own, group.cancel_scope)
        finally:
            self._notify_freed()
            if own is not None and own.ended_by:
                with anyio.move_on_after(_END_RECORD_TIMEOUT_S, shield=True):
                    await self._record.end_with_reason(own.id, own.ended_by)

    async def _serve(self, own: AgentTerminal, ends: anyio.CancelScope) -> None:
        """Serve the terminal until its shell ends, it is no longer needed, or the daemon shuts down."""
        self._own[own.id] = own
        try:
            own.hang_up(await self._wait_until_unused(own))
            await anyio.sleep(_HANG_UP_TIMEOUT_S)
        finally:
            del self._own[own.id]
            if not ends.cancel_called and own.ended_by is None:
                own.hang_up("daemon_ended")
        ends.cancel("it did not hang up")

    async def _read_until_end(self, own: AgentTerminal, scope: anyio.CancelScope) -> None:
        await own.read_output()
        if own.id:
            scope.cancel("its shell has ended")

    async def _wait_until_recorded(self, own: AgentTerminal) -> str:
        """Wait until the terminal's wrapper has registered with the daemon; it is recognised by its process id."""
        with anyio.move_on_after(RECORDED_TIMEOUT_S):
            while not own.is_over:
                for seen in self._record.terminals():
                    attributes = seen.terminal.attributes
                    if seen.connected and AGENT in attributes and attributes.get("pid") == str(own.pid):
                        return seen.terminal.id
                await anyio.sleep(_POLL_INTERVAL_S)
        raise did_not_open()

    async def _wait_until_unused(self, own: AgentTerminal) -> EndedBy:
        while True:
            await anyio.sleep(min(_LEASE_POLL_INTERVAL_S, self._idle_s / 2, self._left_s / 2))
            now_s = self._clock.monotonic_s()
            if own.ended_by is not None:
                return own.ended_by
            if own.disconnected_at_s is not None and now_s - own.disconnected_at_s > self._left_s:
                return "client_left"
            if self._is_free(own) and now_s - own.used_at_s > self._idle_s:
                return "unused"

    def _environment(self, client: AgentClient) -> dict[str, str]:
        given = {name: value for name, value in client.environment.items() if name not in _NOT_PASSED_ON}
        home = {"DRAGOMAN_HOME": os.environ["DRAGOMAN_HOME"]} if "DRAGOMAN_HOME" in os.environ else {}
        return {**given, **_OWN_ENVIRONMENT, **home, "OMNISH_SOCKET": str(self._socket)}


def _argv(client: AgentClient) -> list[str]:
    """With -E and -P, neither the folder nor a client variable can choose the modules that the wrapper loads."""
    return [sys.executable, "-E", "-P", "-m", "dragoman.shell", "--agent", client.id]


def _is_same_client(before: AgentClient, now: AgentClient) -> bool:
    """Whether a client is one that reconnected: same id, same folders, same environment."""
    return (before.id, before.workspace, before.cwd) == (now.id, now.workspace, now.cwd) and dict(
        before.environment
    ) == dict(now.environment)


def _end_unused(free: Iterable[AgentTerminal], most: int) -> None:
    """End the terminal that has been idle the longest; raise if none is idle."""
    oldest = min(free, key=lambda it: it.used_at_s, default=None)
    if oldest is None:
        raise _too_many(count=most)
    oldest.hang_up("made_room")


class NeedsTrustError(DragomanError):
    """`details` names the folder, so that a caller can ask a person to trust it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "needs_trust",
            localize("Agents cannot run anything in {folder} until a person trusts it.", folder=folder),
            hint=localize(
                "The owner of this machine can trust it with: dragoman trust {folder}", folder=shlex.quote(str(folder))
            ),
        )
        self.details = {"folder": str(folder)}


_too_many = ErrorSpec(
    _TOO_MANY,
    "All {count} agent terminals are busy.",
    "Wait for one with wait_for_command, or interrupt its command.",
)
