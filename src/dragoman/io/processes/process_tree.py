"""A session's processes, which cannot outlive the daemon: a supervisor ends them when the daemon dies."""

from __future__ import annotations

import asyncio
import errno
import itertools
import logging
import os
import socket
import termios
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import anyio
import anyio.to_thread

from dragoman.io.files.system_calls import SystemCalls
from dragoman.io.net.streams import PipeReader, PipeWriter
from dragoman.io.processes.command import ProcessCommand, ProcessStartError, Stdio
from dragoman.io.processes.descendants import (
    ProcessTable,
    freeze_and_kill,
    living_descendants,
    process_table,
    quick_descendants,
)
from dragoman.io.processes.supervisor import KILL_WITHIN_S, pack_message
from dragoman.io.processes.supervisor_channel import SupervisorChannel

log = logging.getLogger(__name__)
START_WITHIN_S = 20.0
_MARGIN_S = 2.0  # after this, a supervisor that should be done counts as stuck
_KEPT_ORPHANS = 64


class ChildStdio(NamedTuple):
    stdin: PipeWriter
    stdout: PipeReader
    stderr: PipeReader | None

    def close(self) -> None:
        for stream in self:
            if stream is not None:
                stream.close()


StdioEnds = tuple[ChildStdio, list[int]]


def open_stdio(system: SystemCalls, command: ProcessCommand) -> StdioEnds:
    """Our ends, and the program's three descriptors, which we close once they are handed over."""
    return _OPENERS[command.stdio](system, command)


def _open_pipes(system: SystemCalls, _: ProcessCommand) -> StdioEnds:
    (stdin, to), (out, stdout), (err, stderr) = _pipes(system, 3)
    return ChildStdio(PipeWriter(to), PipeReader(out), PipeReader(err)), [stdin, stdout, stderr]


def _open_merged(system: SystemCalls, _: ProcessCommand) -> StdioEnds:
    (stdin, to), (out, stdout) = _pipes(system, 2)
    return ChildStdio(PipeWriter(to), PipeReader(out), None), [stdin, stdout, stdout]


def _open_terminal(system: SystemCalls, command: ProcessCommand) -> StdioEnds:
    near, far = system.terminal()
    try:
        termios.tcsetwinsize(near, command.size)
        writer = PipeWriter(os.dup(near))
    except BaseException:
        os.close(near)
        os.close(far)
        raise
    return ChildStdio(writer, PipeReader(near), None), [far, far, far]


def _pipes(system: SystemCalls, count: int) -> list[tuple[int, int]]:
    opened: list[tuple[int, int]] = []
    try:
        while len(opened) < count:
            opened.append(system.pipe())
    except OSError:
        for fd in itertools.chain.from_iterable(opened):
            os.close(fd)
        raise
    return opened


_OPENERS: dict[Stdio, Callable[[SystemCalls, ProcessCommand], StdioEnds]] = {
    Stdio.PIPES: _open_pipes,
    Stdio.MERGED: _open_merged,
    Stdio.TERMINAL: _open_terminal,
}


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a process ended. Both fields are None if its supervisor was killed first."""

    code: int | None = None
    signal: int | None = None

    @classmethod
    def of(cls, code: int) -> ProcessExit:
        return cls(code=code) if code >= 0 else cls(signal=-code)


@dataclass(frozen=True, slots=True)
class OrphanExit:
    """The exit of a descendant whose own parent had ended."""

    pid: int
    exit: ProcessExit


class ChildProcess:
    """A started program. Its output must be read, or it blocks. With merged output, `stderr` is None."""

    def __init__(
        self, pid: int, near: ChildStdio, signal: Callable[[int], object], ended: asyncio.Future[ProcessExit]
    ) -> None:
        self.pid = pid
        self.stdin, self.stdout, self.stderr = near
        self.signal = signal  # to this process alone, never to another that got its pid; does nothing after its end
        self._ended = ended

    @property
    def exit(self) -> ProcessExit | None:
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> ProcessExit:
        return await asyncio.shield(self._ended)  # a caller that stops waiting must not end the wait of others


class _StartingProgram:
    """A program from the moment its start is requested."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.started: asyncio.Future[int] = loop.create_future()
        self.ended: asyncio.Future[ProcessExit] = loop.create_future()


class ProcessTree:
    """A supervisor and all its descendants. `SupervisorPool.tree` makes one and ends it.

    It owns the channel to the supervisor and the programs that were started in it. When it is closed, for whatever
    reason, everything below the supervisor is ended. It never signals a process outside the tree.
    """

    def __init__(self, system: SystemCalls, control: socket.socket) -> None:
        self.orphans: deque[OrphanExit] = deque(maxlen=_KEPT_ORPHANS)
        self.survivors: tuple[int, ...] = ()  # pids that survived SIGKILL; known once the tree has ended
        self._system = system
        self._supervisor_pid: int | None = None
        self._ids = itertools.count(1)
        self._programs: dict[int, _StartingProgram] = {}
        self._streams: list[ChildStdio] = []
        self._ready = anyio.Event()
        self._ended = anyio.Event()
        self._link = SupervisorChannel(system, control, self._handle_message, self._is_over)
        self._handlers: dict[bytes, Callable[..., None]] = {
            b"ready": self._on_ready,
            b"started": self._on_started,
            b"failed": self._on_failed,
            b"exited": self._on_exited,
            b"orphan": lambda pid, code: self.orphans.append(OrphanExit(int(pid), ProcessExit.of(int(code)))),
            b"omitted": lambda count: log.warning("%d more exits of orphans were not reported", int(count)),
            b"survivors": self._on_survivors,
            b"fault": lambda *text: log.error("the supervisor failed: %s", b"".join(text).decode("utf-8", "replace")),
        }

    @property
    def is_over(self) -> bool:
        return self._ended.is_set()

    async def wait_ready(self) -> bool:
        """Wait until the supervisor is ready; return whether there is one."""
        await self._ready.wait()
        return not self.is_over

    async def wait_over(self) -> None:
        """Wait until nothing of the tree runs, whatever ended it."""
        await self._ended.wait()

    def pids(self) -> list[int]:
        """All running processes of the tree, without the supervisor. It reads all of /proc: not for the event loop."""
        return [] if self._supervisor_pid is None or self.is_over else [*living_descendants(self._supervisor_pid)]

    def quick_pids(self) -> list[int]:
        """Like `pids`, for frequent polling; a process that has just lost its parent may be missing."""
        return [] if self._supervisor_pid is None or self.is_over else quick_descendants(self._supervisor_pid)

    def with_descendants(self, pid: int) -> ProcessTable:
        """A process of the tree and all its running descendants; empty for any other process. As costly as `pids`."""
        table = {} if self._supervisor_pid is None or self.is_over else living_descendants(self._supervisor_pid)
        return {pid: table[pid], **living_descendants(pid, table)} if pid in table else {}

    async def start(self, command: ProcessCommand) -> ChildProcess:
        try:
            near, far = open_stdio(self._system, command)
        except OSError as error:
            raise ProcessStartError(b"start", error.errno or 0).explained(command) from error
        try:
            return await self._started(command, near, far)
        except BaseException as error:
            near.close()
            if isinstance(error, ProcessStartError):
                raise error.explained(command) from error
            raise

    async def end(self, grace_s: float) -> tuple[int, ...]:
        """Send SIGTERM to all, and after the grace period SIGKILL to the rest. Return the pids that survived even
        that: normally none."""
        self._link.send(pack_message(b"end", int(grace_s * 1000)))
        with anyio.move_on_after(grace_s + KILL_WITHIN_S + _MARGIN_S):
            await self._ended.wait()
        if not self.is_over:
            await anyio.to_thread.run_sync(freeze_and_kill, self._stuck)
            self._is_over()
        return self.survivors

    async def close(self, grace_s: float) -> None:
        await self.end(grace_s)
        for near in self._streams:
            near.close()
        self._link.close()

    def abandon(self) -> None:
        """Close without waiting: closing our side ends the tree."""
        self._link.close()

    async def _started(self, command: ProcessCommand, near: ChildStdio, far: list[int]) -> ChildProcess:
        program, number = _StartingProgram(), next(self._ids)
        try:
            message = command.start_message(number)
            if self.is_over:
                raise ProcessStartError(b"ended", 0)
        except ProcessStartError:
            for fd in set(far):
                os.close(fd)
            raise
        self._programs[number] = program
        self._link.send(message, far)
        try:
            with anyio.fail_after(START_WITHIN_S):
                pid = await program.started
        except TimeoutError as error:
            raise ProcessStartError(b"start", errno.ETIMEDOUT) from error
        self._streams.append(near)
        return ChildProcess(pid, near, lambda which: self._signal(number, which), program.ended)

    def _signal(self, number: int, which: int) -> None:
        if number in self._programs:
            self._link.send(pack_message(b"signal", number, which))

    def _handle_message(self, message: list[bytes]) -> None:
        if not self.is_over:  # a supervisor that was stuck may still send something
            self._handlers[message[0]](*message[1:])

    def _on_ready(self, pid: bytes) -> None:
        self._supervisor_pid = int(pid)
        self._ready.set()

    def _on_started(self, number: bytes, pid: bytes) -> None:
        started = self._programs[int(number)].started
        if not started.done():
            started.set_result(int(pid))

    def _on_failed(self, number: bytes, stage: bytes, code: bytes) -> None:
        started = self._programs.pop(int(number)).started
        if not started.done():
            started.set_exception(ProcessStartError(stage, int(code)))

    def _on_exited(self, number: bytes, code: bytes) -> None:
        self._programs.pop(int(number)).ended.set_result(ProcessExit.of(int(code)))

    def _on_survivors(self, *pids: bytes) -> None:
        self.survivors = tuple(int(pid) for pid in pids)

    def _is_over(self) -> None:
        for program in self._programs.values():
            if not program.started.done():
                program.started.set_exception(ProcessStartError(b"ended", 0))
            program.ended.set_result(ProcessExit())
        self._programs.clear()
        self._ended.set()
        self._ready.set()

    def _stuck(self) -> ProcessTable:
        """The pids to end if the supervisor does not end them, perhaps because it was stopped; includes the
        supervisor."""
        if self._supervisor_pid is None:
            return {}
        table = process_table()
        itself = {pid: one for pid, one in table.items() if pid == self._supervisor_pid and not one.is_dead}
        return itself | living_descendants(self._supervisor_pid, table)
