"""A program in a terminal that we hold: it has a size, is typed into, and dies with us as every child does."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from dragoman.transport.command import Command, Stdio
from dragoman.transport.supervised import Child, Exit
from dragoman.transport.supervisors import Supervisors

TYPED_WITHIN_S = 10.0
_GRACE_S = 1.0
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


class Pty:
    """What it shows must be read (`shown`), or it waits."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._typing = anyio.Lock()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def exit(self) -> Exit | None:
        return self._child.exit

    async def shown(self) -> AsyncIterator[bytes]:
        """Until nobody has the terminal open any more."""
        with contextlib.suppress(*_GONE):
            while data := await self._child.stdout.receive():
                yield data

    async def type(self, data: bytes) -> bool:
        """Whole, one after the other; whether it was taken. A program that never reads fills its terminal."""
        with anyio.move_on_after(TYPED_WITHIN_S):
            async with self._typing:
                with contextlib.suppress(*_GONE):
                    await self._child.stdin.send(data)
                    return True
        return False

    def hang_up(self) -> None:
        self._child.signal(signal.SIGHUP)

    async def wait(self) -> Exit:
        return await self._child.wait()


@asynccontextmanager
async def open_pty(
    supervisors: Supervisors, argv: Sequence[str], environment: Mapping[str, str], cwd: Path, *, rows: int, columns: int
) -> AsyncIterator[Pty]:
    """At the end of the block nothing lives that was started in it, also by double fork."""
    async with supervisors.tree(grace_s=_GRACE_S) as tree:
        command = Command(argv, environment, cwd, Stdio.TERMINAL, (rows, columns))
        yield Pty(await tree.start(command))
