"""A backend that opens once its pre-launch tasks have run, and the supervised processes of those tasks.

Until then the session is starting, and can be ended. Task output is output of the session; a failed task is the
reason why it did not start.
"""

from __future__ import annotations

import codecs
import logging
import re
import signal
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.debug.backends.port import Backend, BackendOwnership, make_output_event
from dragoman.debug.errors import no_debugger_yet
from dragoman.io.event_loop import wait_for_first
from dragoman.io.processes.command import ProcessCommand, Stdio
from dragoman.io.processes.process_tree import ChildProcess, ProcessExit
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.protocols.dap import Response
from dragoman.protocols.dap.bodies import EventBody

if TYPE_CHECKING:
    from dragoman.debug.session.session import DebugSession

log = logging.getLogger(__name__)
_GRACE_S = 2.0
# Also limits one line: a task that never prints a newline must not fill the memory.
_MAX_LINE_CHARACTERS = 4000
_READ_TO_END_TIMEOUT_S = 0.5  # a child of the task may keep its output open

OnTaskOutput = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TaskExit:
    exit_code: int | None
    last_lines: Sequence[str]


class TaskProcesses:
    """The process trees of a start's tasks. What a task leaves running, such as a server, lives until the last session
    ends."""

    def __init__(self, supervisors: SupervisorPool, group: TaskGroup, *, sessions: int = 1) -> None:
        self._supervisors = supervisors
        self._group = group
        self._sessions = sessions
        self._kept: list[AsyncExitStack] = []

    def runner(self, on_output: OnTaskOutput) -> SupervisedTaskRunner:
        return SupervisedTaskRunner(self, on_output)

    async def leave(self) -> None:
        """Said once for each session."""
        self._sessions -= 1
        if self._sessions <= 0:
            async with anyio.create_task_group() as group:
                for tree in self._kept:
                    group.start_soon(tree.aclose)

    async def run(self, command: ProcessCommand, reading: _TaskOutput) -> int | None:
        """A cancelled one ends with everything that it started."""
        async with AsyncExitStack() as stack:
            tree = await stack.enter_async_context(self._supervisors.tree(grace_s=_GRACE_S))
            child = await tree.start(command)
            await child.stdin.aclose()
            self._group.start_soon(reading.read, child)
            code = await reading.ready_or_ended(child)
            if code is None or len(await anyio.to_thread.run_sync(tree.pids)) > 0:
                self._kept.append(stack.pop_all())
            return code
        raise AssertionError("unreachable")


@dataclass(frozen=True, slots=True)
class SupervisedTaskRunner:
    """A `TaskRunner` whose tasks' output goes to one session."""

    task_processes: TaskProcesses
    on_output: OnTaskOutput

    async def run(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], ready: re.Pattern[str] | None, keep_lines: int
    ) -> TaskExit:
        reading = _TaskOutput(self.on_output, ready, keep_lines)
        code = await self.task_processes.run(ProcessCommand(argv, env, Path(cwd), Stdio.MERGED), reading)
        return TaskExit(code, reading.last_lines)


class _TaskOutput:
    """The output of one task: forwarded, its last lines kept, and searched for the line that says that it is ready."""

    def __init__(self, on_output: OnTaskOutput, pattern: re.Pattern[str] | None, keep_lines: int) -> None:
        self._on_output = on_output
        self._pattern = pattern
        self._lines: deque[str] = deque(maxlen=keep_lines)
        self._partial_line = ""
        self._ready = anyio.Event()
        self._read_to_end = anyio.Event()
        self._ended = anyio.Event()
        self._code = 0

    @property
    def last_lines(self) -> list[str]:
        kept = [*self._lines, _rendered_line(self._partial_line)] if self._partial_line else [*self._lines]
        return kept[-(self._lines.maxlen or 0) :]

    async def read(self, child: ChildProcess) -> None:
        """In the daemon's own group: a background task is read for as long as it lives, or it would stand still."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            async for piece in child.stdout:
                await self._handle_output(decoder.decode(piece))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            log.debug("a task was ended while it was read")
        finally:
            self._read_to_end.set()

    async def ready_or_ended(self, child: ChildProcess) -> int | None:
        """None: it is ready and goes on. Else its code, negative for a signal."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._wait_for_end, child)
            await wait_for_first(self._ready, self._ended)
            group.cancel_scope.cancel("known")
        return None if self._ready.is_set() else self._code

    async def _wait_for_end(self, child: ChildProcess) -> None:
        self._code = _exit_code(await child.wait())
        with anyio.move_on_after(_READ_TO_END_TIMEOUT_S):
            await self._read_to_end.wait()
        self._ended.set()

    async def _handle_output(self, text: str) -> None:
        *lines, begun = (self._partial_line + text).split("\n")
        for line in lines:
            self._line(_rendered_line(line))
        self._partial_line = begun[-_MAX_LINE_CHARACTERS:]
        await self._on_output(text)

    def _line(self, line: str) -> None:
        self._lines.append(line)
        if self._pattern is not None and self._pattern.search(line):
            self._ready.set()


# Colours and cursor movements, which problem matchers do not expect.
_TERMINAL_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


def _rendered_line(line: str) -> str:
    """The final state that a terminal would show: the last state of a progress bar."""
    return _TERMINAL_CONTROL.sub("", line[-_MAX_LINE_CHARACTERS:]).rstrip("\r").rpartition("\r")[2]


def _exit_code(exit: ProcessExit) -> int:
    """A process that ended before its exit could be read counts as killed."""
    return exit.code if exit.code is not None else -(exit.signal or signal.SIGKILL)


RunTasks = Callable[[SupervisedTaskRunner], Awaitable[None]]
OpenBackend = Callable[[], Awaitable[Backend]]


class PrelaunchTaskBackend:
    may_start_late = True

    def __init__(
        self,
        group: TaskGroup,
        task_processes: TaskProcesses,
        prepare: RunTasks,
        open: OpenBackend,
        ownership: BackendOwnership | None = None,
    ) -> None:
        """`ownership`: of the backend that is to come."""
        self.ownership = ownership or BackendOwnership()
        self._group = group
        self._task_processes = task_processes
        self._prepare = prepare
        self._open = open
        self._backend: Backend | None = None
        self._session: DebugSession | None = None
        self.events = AdapterEventQueue()
        self._has_ended = False
        self._settled = anyio.Event()
        self.later_backends = self._further_backends()
        """Further programs that come to the same port, where the backend opens one."""

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        """The first request waits for the tasks, without a deadline of its own. Any other request before it is
        refused."""
        if command == "initialize" and self._backend is None:
            await self._open_backend()
        if self._backend is None:
            raise no_debugger_yet()
        return await self._backend.request(command, arguments, timeout_s=timeout_s)

    async def end(self) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self._settled.set()
        self.events.close()
        try:
            if self._backend is not None:
                await self._backend.end()
        finally:
            with anyio.CancelScope(shield=True):
                await self._task_processes.leave()

    def made(self, session: DebugSession) -> None:
        self._session = session

    def memory_bytes(self) -> int | None:
        """The debugger's and the program's; a server that a task left running is not theirs."""
        weigh: Callable[[], int | None] | None = getattr(self._backend, "memory_bytes", None)
        return weigh() if weigh else None

    async def _open_backend(self) -> None:
        await self._prepare(self._task_processes.runner(self._on_output))
        backend = await self._open()
        if self._has_ended:
            await backend.end()
            raise no_debugger_yet()
        made: Callable[[DebugSession | None], None] | None = getattr(backend, "made", None)
        if made is not None:
            made(self._session)
        self._backend = backend
        self._settled.set()
        self._group.start_soon(self._forward_events, backend)

    async def _further_backends(self) -> AsyncIterator[Backend]:
        await self._settled.wait()
        others: AsyncIterator[Backend] | None = getattr(self._backend, "later_backends", None)
        if others is not None:
            async for other in others:
                yield other

    async def _forward_events(self, backend: Backend) -> None:
        """In the daemon's own group: the end of the backend's events is the end of ours."""

        def enqueue(body: EventBody) -> bool:
            self.events.put(body)
            return True

        backend.events.attach(enqueue, into=self.events)
        await backend.events.closed.wait()
        self.events.close(backend.events.error)

    async def _on_output(self, text: str) -> None:
        await self.events.send(make_output_event(text, "console"))
