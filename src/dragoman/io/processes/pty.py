"""A program in a terminal that we hold: it has a size, accepts input, and ends with the daemon."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from dragoman.io.processes.command import ProcessCommand, Stdio
from dragoman.io.processes.process_tree import ChildProcess, ProcessExit
from dragoman.io.processes.supervisor_pool import SupervisorPool

TYPED_WITHIN_S = 10.0
_GRACE_S = 1.0
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


class Pty:
    """Its output must be read (`shown`), or the program blocks."""

    def __init__(self, child: ChildProcess) -> None:
        self._child = child
        self._typing = anyio.Lock()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def exit(self) -> ProcessExit | None:
        return self._child.exit

    async def shown(self) -> AsyncIterator[bytes]:
        """Yield output until no process has the terminal open."""
        with contextlib.suppress(*_GONE):
            while data := await self._child.stdout.receive():
                yield data

    async def type(self, data: bytes) -> bool:
        """Write the data whole, one call after the other; return whether it was accepted. A program that never reads
        fills its terminal."""
        with anyio.move_on_after(TYPED_WITHIN_S):
            async with self._typing:
                with contextlib.suppress(*_GONE):
                    await self._child.stdin.send(data)
                    return True
        return False

    def hang_up(self) -> None:
        self._child.signal(signal.SIGHUP)

    async def wait(self) -> ProcessExit:
        return await self._child.wait()


@asynccontextmanager
async def open_pty(
    supervisors: SupervisorPool,
    argv: Sequence[str],
    environment: Mapping[str, str],
    cwd: Path,
    *,
    rows: int,
    columns: int,
) -> AsyncIterator[Pty]:
    """At the end of the block, nothing that was started in it is running, even after a double fork."""
    async with supervisors.tree(grace_s=_GRACE_S) as tree:
        command = ProcessCommand(argv, environment, cwd, Stdio.TERMINAL, (rows, columns))
        yield Pty(await tree.start(command))
