"""The daemon's supply of supervisors: one guard process forks them, and is started again should it be gone.

async with supervisors.tree() as tree:
    adapter = await tree.start(Command(argv, environment, cwd))
    ...
    await tree.end(grace_s=5)
"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Self

import anyio
import anyio.to_thread

import dragoman
from dragoman.transport.command import no_supervisor
from dragoman.transport.supervised import Tree
from dragoman.transport.system import REAL_SYSTEM, System

_READY_WITHIN_S = 20.0
_END_WITHIN_S = 5.0
_SEEN_WITHIN_S = 0.2
# With -I and -S neither variables, nor the user's site, nor start-up hooks reach the guard; it is told our path.
_ENTRY = "import sys; sys.path.append(sys.argv.pop()); from dragoman.transport.guard import main; main()"


class Supervisors:
    """An async context manager: the guard is warm before the first session needs it."""

    def __init__(self, system: System = REAL_SYSTEM) -> None:
        self._system = system
        self._starting = anyio.Lock()
        self._guard: _GuardProcess | None = None

    async def __aenter__(self) -> Self:
        self._guard = await _start_guard(self._system)
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await self._end_guard()

    @asynccontextmanager
    async def tree(self, *, grace_s: float = 1.0) -> AsyncIterator[Tree]:
        """A new tree, empty at first; at the end of the block nothing of it lives."""
        tree = await self._open() or await self._open_with_new_guard()
        try:
            yield tree
        finally:
            with anyio.CancelScope(shield=True):
                await tree.close(grace_s)

    async def _open(self) -> Tree | None:
        """None where the guard does not answer for it."""
        try:
            near, far = self._system.socketpair()
        except OSError as error:
            raise no_supervisor(error.strerror) from error
        tree = Tree(self._system, near)
        try:
            with anyio.fail_after(_READY_WITHIN_S):
                if self._hand_over(far) and await tree.wait_ready():
                    return tree
        except BaseException as error:
            tree.abandon()
            if isinstance(error, TimeoutError):
                raise no_supervisor(os.strerror(errno.ETIMEDOUT)) from error
            raise
        tree.abandon()
        return None

    def _hand_over(self, far: socket.socket) -> bool:
        """Ours is closed in any case, or the end of a supervisor that could not be forked would never be read."""
        with far:
            if self._guard is None:
                return False
            try:
                self._system.send(self._guard.link, b"+", [far.fileno()])
            except OSError:
                return False
        return True

    async def _open_with_new_guard(self) -> Tree:
        """Somebody may have killed the guard, which its supervisors survive."""
        async with self._starting:
            if self._guard is None or await anyio.to_thread.run_sync(_has_died, self._guard.process):
                await self._end_guard()
                self._guard = await _start_guard(self._system)
        tree = await self._open()
        if tree is None:
            raise no_supervisor(os.strerror(errno.EAGAIN))
        return tree

    async def _end_guard(self) -> None:
        """It ends by itself once no supervisor is left."""
        guard, self._guard = self._guard, None
        if guard is None:
            return
        guard.link.close()
        try:
            await anyio.to_thread.run_sync(guard.process.wait, _END_WITHIN_S)
        except subprocess.TimeoutExpired:
            guard.process.kill()
            await anyio.to_thread.run_sync(guard.process.wait)


class _GuardProcess(NamedTuple):
    process: subprocess.Popen[bytes]
    link: socket.socket


def _has_died(process: subprocess.Popen[bytes]) -> bool:
    """Its sockets close a moment before its end can be seen."""
    try:
        process.wait(_SEEN_WITHIN_S)
    except subprocess.TimeoutExpired:
        return False
    return True


async def _start_guard(system: System) -> _GuardProcess:
    """In a thread, since the fork of a large process takes milliseconds."""
    try:
        return await anyio.to_thread.run_sync(_spawn_guard, system)
    except OSError as error:
        raise no_supervisor(error.strerror) from error


def _spawn_guard(system: System) -> _GuardProcess:
    link, far = system.socketpair()
    link.setblocking(False)
    root = Path(dragoman.__file__).parent.parent
    try:
        with far:
            process = system.spawn(
                [sys.executable, "-I", "-S", "-c", _ENTRY, str(far.fileno()), str(root)],
                environment=os.environ,
                cwd=Path("/"),
                output=subprocess.DEVNULL,
                descriptors=[far.fileno()],
            )
    except BaseException:
        link.close()
        raise
    return _GuardProcess(process, link)
