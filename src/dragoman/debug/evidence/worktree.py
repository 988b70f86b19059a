"""The workspace as it was at a commit: a git worktree in a temporary folder that is always removed."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from dragoman.core.errors import DragomanError
from dragoman.debug.errors import no_commit
from dragoman.io.processes.command import CommandOutputError, command_output
from dragoman.workspace.git_commands import GIT, LIST_SETTINGS, git_environment, without_own_programs

log = logging.getLogger(__name__)

_GIT_TIMEOUT_S = 10.0
_CHECKOUT_TIMEOUT_S = 120.0
_MAX_OUTPUT = 1 << 20


@dataclass(frozen=True, slots=True)
class Worktree:
    root: Path
    path: Path
    """The workspace in it."""
    commit: str
    """By its hash, whatever name it was asked for by."""


@asynccontextmanager
async def workspace_at(commit: str, workspace: Path, environment: Mapping[str, str]) -> AsyncIterator[Worktree]:
    """The same folder of the repository, at that commit."""
    git = _Git(workspace, git_environment(environment))
    found = await git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    inside = await git.run("rev-parse", "--show-prefix")
    folder = await anyio.to_thread.run_sync(_create_folder)
    tree = folder / workspace.name
    try:
        await git.run("worktree", "add", "--detach", "--force", "--no-checkout", str(tree), found)
        # In the worktree, other files may belong to the repository's configuration than outside of it.
        await _Git(tree, git_environment(environment)).run(
            "reset", "--hard", "--quiet", found, within_s=_CHECKOUT_TIMEOUT_S
        )
        yield Worktree(tree, tree / inside, found)
    finally:
        with anyio.CancelScope(shield=True):
            await _remove_worktree(git, tree, folder)


def _create_folder() -> Path:
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="dragoman-")))


async def _remove_worktree(git: _Git, tree: Path, folder: Path) -> None:
    """By git, which then forgets it; else by hand, and git forgets what is not there."""
    try:
        await git.run("worktree", "remove", "--force", str(tree))
    except DragomanError as error:
        log.info("the worktree %s is removed by hand: %s", tree, error)
    await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))
    try:
        await git.run("worktree", "prune")
    except DragomanError as error:
        log.warning("git still lists the worktree %s: %s", tree, error)


class _Git:
    """Runs nothing that the repository configures: no hook, and no filter through which a checkout passes files."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._quiet: tuple[str, ...] | None = None

    async def run(self, *words: str, within_s: float = _GIT_TIMEOUT_S) -> str:
        try:
            if self._quiet is None:
                self._quiet = without_own_programs(await self._output(LIST_SETTINGS, _GIT_TIMEOUT_S))
            output = await self._output((*self._quiet, *words), within_s)
        except CommandOutputError as error:
            raise no_commit(command=" ".join(words[:2]), reason=error.reason) from error
        return output.decode("utf-8", "replace").strip()

    async def _output(self, words: tuple[str, ...], within_s: float) -> bytes:
        command = [*GIT, "-C", str(self._folder), *words]
        return await command_output(command, self._environment, within_s=within_s, max_bytes=_MAX_OUTPUT)
