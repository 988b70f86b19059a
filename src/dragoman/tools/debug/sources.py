"""Files read for an agent: of the workspace, of folders that are allowed, and what a program's own stack names."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import anyio.to_thread

from dragoman.workspace.paths import PathRule, RefusedError


class SourceReader(Protocol):
    async def read(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str]:
        """All lines; `RefusedError` says why there are none to be had."""
        ...

    async def lines(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str] | None:
        """The same for who can do without them."""
        ...


@dataclass(frozen=True, slots=True)
class FileSources:
    rule: PathRule = field(default_factory=PathRule)

    async def read(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str]:
        data = await anyio.to_thread.run_sync(self.rule.read, path, workspace, named)
        return _lines(data.decode("utf-8", "replace"))

    async def lines(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str] | None:
        try:
            return await self.read(path, workspace, named)
        except RefusedError:
            return None


def _lines(text: str) -> list[str]:
    """As debuggers count them: a form feed or a Unicode separator within a line does not begin a new one."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines
