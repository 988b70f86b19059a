"""Files read for an agent: of the workspace, of folders that are allowed, and what a program's own stack names."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio.to_thread

MOST_BYTES = 1 << 20


class SourceReader(Protocol):
    async def lines(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str] | None:
        """All lines; None where the file may not or cannot be read, or is too large to be source."""
        ...

    def may_read(self, path: str, workspace: Path, named: Collection[str] = ()) -> bool: ...


@dataclass(frozen=True, slots=True)
class FileSources:
    """Links are followed before the rule is applied: what counts is where a file really is."""

    allowed: tuple[Path, ...] = ()

    async def lines(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str] | None:
        return await anyio.to_thread.run_sync(self._lines, path, workspace, named)

    def may_read(self, path: str, workspace: Path, named: Collection[str] = ()) -> bool:
        if path in named:
            return True
        real = os.path.realpath(path)
        return any(Path(real).is_relative_to(os.path.realpath(folder)) for folder in (workspace, *self.allowed))

    def _lines(self, path: str, workspace: Path, named: Collection[str]) -> list[str] | None:
        try:
            data = _read(path) if self.may_read(path, workspace, named) else None
        except (OSError, ValueError):
            return None
        return None if data is None else data.decode("utf-8", "replace").splitlines()


def _read(path: str) -> bytes | None:
    """Opened without waiting: a pipe or a device in its place must not hold us up."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as stream:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        data = stream.read(MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else None
