"""Throw-away checkouts of a commit, in which a shared session's program runs again where the user's files differ."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from dragoman.debug.evidence.worktree import Worktree, workspace_at

MAX_WORKTREES = 4


@dataclass(frozen=True, slots=True)
class HeldWorktree:
    tree: Worktree
    released: anyio.Event = field(default_factory=anyio.Event)


class RerunWorktrees:
    """Owns the checkouts: each is removed when its run has ended or was not started, and with the daemon.

    Their names stand in a folder of the daemon, so that the next one removes what a killed daemon left behind.
    """

    def __init__(self, group: TaskGroup, folder: Path, trusts: Callable[[Path], Awaitable[bool]]) -> None:
        self.trusts = trusts
        """Whether a person trusts a folder by name: its copy is trusted no more than it."""
        self._group = group
        self._folder = folder
        self._open = 0

    @property
    def has_room(self) -> bool:
        return self._open < MAX_WORKTREES

    async def create(self, commit: str, workspace: Path, environment: Mapping[str, str]) -> HeldWorktree:
        held: HeldWorktree = await self._group.start(self._hold, commit, workspace, environment)
        return held

    async def remove_stale(self) -> None:
        await anyio.to_thread.run_sync(_remove_stale, self._folder)

    async def _hold(
        self,
        commit: str,
        workspace: Path,
        environment: Mapping[str, str],
        *,
        task_status: TaskStatus[HeldWorktree] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        self._open += 1
        try:
            async with workspace_at(commit, workspace, environment) as tree:
                name = self._folder / tree.root.parent.name
                await anyio.to_thread.run_sync(_write_name, name)
                held = HeldWorktree(tree)
                task_status.started(held)
                await held.released.wait()
            await anyio.to_thread.run_sync(name.unlink)
        finally:
            self._open -= 1


def _write_name(name: Path) -> None:
    name.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    name.touch(mode=0o600)


def _remove_stale(names: Path) -> None:
    """Only folders of this user, and no link that somebody else put in the place of one."""
    for name in names.iterdir() if names.is_dir() else ():
        folder = Path(tempfile.gettempdir(), name.name)
        if folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)
        name.unlink(missing_ok=True)
