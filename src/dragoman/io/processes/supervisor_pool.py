"""The daemon's supply of supervisors: one fork server forks them, and is restarted if it is killed.

Use it as `async with pool.tree() as tree`: `tree.start(command)` starts a program, `tree.end(grace_s=5)` ends them
all.
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
from dragoman.io.errors import no_supervisor
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls
from dragoman.io.processes.process_tree import ProcessTree

_READY_WITHIN_S = 20.0
_END_WITHIN_S = 5.0
_SEEN_WITHIN_S = 0.2
# With -I and -S neither variables, nor the user's site, nor start-up hooks reach the fork server; our path is passed
# in.
_ENTRY = "import sys; sys.path.append(sys.argv.pop()); from dragoman.io.processes.fork_server import main; main()"


class SupervisorPool:
    """An async context manager that starts the fork server before the first session needs it."""

    def __init__(self, system: SystemCalls = REAL_SYSTEM) -> None:
        self._system = system
        self._starting = anyio.Lock()
        self._fork_server: _ForkServerProcess | None = None

    async def __aenter__(self) -> Self:
        self._fork_server = await _start_fork_server(self._system)
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await self._end_fork_server()

    @asynccontextmanager
    async def tree(self, *, grace_s: float = 1.0) -> AsyncIterator[ProcessTree]:
        """A new, empty tree; at the end of the block, nothing of it is running."""
        tree = await self._open() or await self._open_with_new_fork_server()
        try:
            yield tree
        finally:
            with anyio.CancelScope(shield=True):
                await tree.close(grace_s)

    async def _open(self) -> ProcessTree | None:
        """None if the fork server does not answer."""
        try:
            near, far = self._system.socketpair()
        except OSError as error:
            raise no_supervisor(reason=error.strerror) from error
        tree = ProcessTree(self._system, near)
        try:
            with anyio.fail_after(_READY_WITHIN_S):
                if self._hand_over(far) and await tree.wait_ready():
                    return tree
        except BaseException as error:
            tree.abandon()
            if isinstance(error, TimeoutError):
                raise no_supervisor(reason=os.strerror(errno.ETIMEDOUT)) from error
            raise
        tree.abandon()
        return None

    def _hand_over(self, far: socket.socket) -> bool:
        """Our copy is closed in any case; otherwise the end of a supervisor that could not be forked would never be
        read."""
        with far:
            if self._fork_server is None:
                return False
            try:
                self._system.send(self._fork_server.link, b"+", [far.fileno()])
            except OSError:
                return False
        return True

    async def _open_with_new_fork_server(self) -> ProcessTree:
        """The fork server may have been killed, which its supervisors survive."""
        async with self._starting:
            if self._fork_server is None or await anyio.to_thread.run_sync(_has_died, self._fork_server.process):
                await self._end_fork_server()
                self._fork_server = await _start_fork_server(self._system)
        tree = await self._open()
        if tree is None:
            raise no_supervisor(reason=os.strerror(errno.EAGAIN))
        return tree

    async def _end_fork_server(self) -> None:
        """The fork server ends by itself once no supervisor is left."""
        fork_server, self._fork_server = self._fork_server, None
        if fork_server is None:
            return
        fork_server.link.close()
        try:
            await anyio.to_thread.run_sync(fork_server.process.wait, _END_WITHIN_S)
        except subprocess.TimeoutExpired:
            fork_server.process.kill()
            await anyio.to_thread.run_sync(fork_server.process.wait)


class _ForkServerProcess(NamedTuple):
    process: subprocess.Popen[bytes]
    link: socket.socket


def _has_died(process: subprocess.Popen[bytes]) -> bool:
    """Its sockets close a moment before its exit is visible."""
    try:
        process.wait(_SEEN_WITHIN_S)
    except subprocess.TimeoutExpired:
        return False
    return True


async def _start_fork_server(system: SystemCalls) -> _ForkServerProcess:
    """Runs in a thread, since forking a large process takes milliseconds."""
    try:
        return await anyio.to_thread.run_sync(_spawn_fork_server, system)
    except OSError as error:
        raise no_supervisor(reason=error.strerror) from error


def _spawn_fork_server(system: SystemCalls) -> _ForkServerProcess:
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
    return _ForkServerProcess(process, link)
