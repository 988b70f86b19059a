"""A session's processes, which cannot outlive us: they hang on a supervisor that watches whether we live."""

from __future__ import annotations

import asyncio
import errno
import itertools
import logging
import os
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import anyio.to_thread

from dragoman.transport.child_stdio import Near, open_stdio
from dragoman.transport.command import Command, StartError
from dragoman.transport.control_socket import ControlSocket
from dragoman.transport.descendants import (
    Table,
    freeze_and_kill,
    glimpsed_descendants,
    living_descendants,
    process_table,
)
from dragoman.transport.supervisor import KILL_WITHIN_S, packed
from dragoman.transport.system import System

log = logging.getLogger(__name__)

START_WITHIN_S = 20.0
_MARGIN_S = 2.0  # after which a supervisor that should be done is taken for stuck
_KEPT_ORPHANS = 64


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended. Neither is known where its supervisor was killed first."""

    code: int | None = None
    signal: int | None = None

    @classmethod
    def of(cls, code: int) -> Exit:
        return cls(code=code) if code >= 0 else cls(signal=-code)


@dataclass(frozen=True, slots=True)
class OrphanExit:
    """The end of a descendant whose own parent was gone."""

    pid: int
    exit: Exit


class Child:
    """A program that was started. Its output must be read, or it waits; without a `stderr` of its own, that is None."""

    def __init__(self, pid: int, near: Near, signal: Callable[[int], object], ended: asyncio.Future[Exit]) -> None:
        self.pid = pid
        self.stdin, self.stdout, self.stderr = near
        self.signal = signal  # to this process alone, and never to another that got its pid; after its end, to nobody
        self._ended = ended

    @property
    def exit(self) -> Exit | None:
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> Exit:
        return await asyncio.shield(self._ended)  # one who stops waiting must not end the wait of the others


class _Program:
    """A program from the moment it is asked for."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.started: asyncio.Future[int] = loop.create_future()
        self.ended: asyncio.Future[Exit] = loop.create_future()


class Tree:
    """A supervisor, and all that descends from it. `Supervisors.tree` makes one and ends it."""

    def __init__(self, system: System, control: socket.socket) -> None:
        self.orphans: deque[OrphanExit] = deque(maxlen=_KEPT_ORPHANS)
        self.survivors: tuple[int, ...] = ()  # of SIGKILL; known once the tree has ended
        self._system = system
        self._supervisor_pid: int | None = None
        self._ids = itertools.count(1)
        self._programs: dict[int, _Program] = {}
        self._streams: list[Near] = []
        self._ready = anyio.Event()
        self._ended = anyio.Event()
        self._link = ControlSocket(system, control, self._is_told, self._is_over)
        self._told: dict[bytes, Callable[..., None]] = {
            b"ready": self._is_ready,
            b"started": self._has_started,
            b"failed": self._has_failed,
            b"exited": self._has_exited,
            b"orphan": lambda pid, code: self.orphans.append(OrphanExit(int(pid), Exit.of(int(code)))),
            b"untold": lambda count: log.warning("%d more ends of orphans were not told", int(count)),
            b"survivors": self._are_left,
            b"fault": lambda *text: log.error("the supervisor failed: %s", b"".join(text).decode("utf-8", "replace")),
        }

    @property
    def is_over(self) -> bool:
        return self._ended.is_set()

    async def wait_ready(self) -> bool:
        """Whether there is a supervisor at all, as soon as that is known."""
        await self._ready.wait()
        return not self.is_over

    async def wait_over(self) -> None:
        """Until nothing of the tree lives, whoever ended it."""
        await self._ended.wait()

    def pids(self) -> list[int]:
        """All living processes of the tree, without the supervisor. It reads all of /proc: not for the event loop."""
        return [] if self._supervisor_pid is None or self.is_over else [*living_descendants(self._supervisor_pid)]

    def glimpsed_pids(self) -> list[int]:
        """As `pids`, for who looks often; one that has just lost its parent may be missing."""
        return [] if self._supervisor_pid is None or self.is_over else glimpsed_descendants(self._supervisor_pid)

    def with_descendants(self, pid: int) -> Table:
        """One process of the tree and all below it, as far as they live; of any other, nothing. As costly as `pids`."""
        table = {} if self._supervisor_pid is None or self.is_over else living_descendants(self._supervisor_pid)
        return {pid: table[pid], **living_descendants(pid, table)} if pid in table else {}

    async def start(self, command: Command) -> Child:
        try:
            near, far = open_stdio(self._system, command)
        except OSError as error:
            raise StartError(b"start", error.errno or 0).explained(command) from error
        try:
            return await self._started(command, near, far)
        except BaseException as error:
            near.close()
            if isinstance(error, StartError):
                raise error.explained(command) from error
            raise

    async def end(self, grace_s: float) -> tuple[int, ...]:
        """SIGTERM to all, after the grace SIGKILL to who is left. Returns who survived even that: as a rule nobody."""
        self._link.send(packed(b"end", int(grace_s * 1000)))
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
        """Without waiting: the end of our side is the end of the tree."""
        self._link.close()

    async def _started(self, command: Command, near: Near, far: list[int]) -> Child:
        program, number = _Program(), next(self._ids)
        try:
            message = command.start_message(number)
            if self.is_over:
                raise StartError(b"ended", 0)
        except StartError:
            for fd in set(far):
                os.close(fd)
            raise
        self._programs[number] = program
        self._link.send(message, far)
        try:
            with anyio.fail_after(START_WITHIN_S):
                pid = await program.started
        except TimeoutError as error:
            raise StartError(b"start", errno.ETIMEDOUT) from error
        self._streams.append(near)
        return Child(pid, near, lambda which: self._signal(number, which), program.ended)

    def _signal(self, number: int, which: int) -> None:
        if number in self._programs:
            self._link.send(packed(b"signal", number, which))

    def _is_told(self, message: list[bytes]) -> None:
        if not self.is_over:  # a supervisor that was stuck may still have something to say
            self._told[message[0]](*message[1:])

    def _is_ready(self, pid: bytes) -> None:
        self._supervisor_pid = int(pid)
        self._ready.set()

    def _has_started(self, number: bytes, pid: bytes) -> None:
        started = self._programs[int(number)].started
        if not started.done():
            started.set_result(int(pid))

    def _has_failed(self, number: bytes, stage: bytes, code: bytes) -> None:
        started = self._programs.pop(int(number)).started
        if not started.done():
            started.set_exception(StartError(stage, int(code)))

    def _has_exited(self, number: bytes, code: bytes) -> None:
        self._programs.pop(int(number)).ended.set_result(Exit.of(int(code)))

    def _are_left(self, *pids: bytes) -> None:
        self.survivors = tuple(int(pid) for pid in pids)

    def _is_over(self) -> None:
        for program in self._programs.values():
            if not program.started.done():
                program.started.set_exception(StartError(b"ended", 0))
            program.ended.set_result(Exit())
        self._programs.clear()
        self._ended.set()
        self._ready.set()

    def _stuck(self) -> Table:
        """What to end where the supervisor does not, perhaps because somebody has stopped it; it included."""
        if self._supervisor_pid is None:
            return {}
        table = process_table()
        itself = {pid: one for pid, one in table.items() if pid == self._supervisor_pid and not one.is_dead}
        return itself | living_descendants(self._supervisor_pid, table)
