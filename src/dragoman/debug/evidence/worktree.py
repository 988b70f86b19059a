"""The workspace as it was at a commit: a worktree of git in a folder of its own, taken away again whatever happens."""

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

from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.transport.short_command import ShortCommandError, printed_by

log = logging.getLogger(__name__)

_ASKED_WITHIN_S = 10.0
_MADE_WITHIN_S = 120.0
# What a checkout would run besides: hooks are for who works in the tree, and nobody is there to answer a prompt.
_QUIET = ("-c", f"core.hooksPath={os.devnull}", "-c", "advice.detachedHead=false")


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
    git = _Git(workspace, {**environment, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"})
    found = await git.asked("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    inside = await git.asked("rev-parse", "--show-prefix")
    folder = await anyio.to_thread.run_sync(_folder)
    tree = folder / workspace.name
    try:
        await git.asked("worktree", "add", "--detach", "--force", str(tree), found, within_s=_MADE_WITHIN_S)
        yield Worktree(tree, tree / inside, found)
    finally:
        with anyio.CancelScope(shield=True):
            await _removed(git, tree, folder)


def _folder() -> Path:
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="dragoman-")))


async def _removed(git: _Git, tree: Path, folder: Path) -> None:
    """By git, which then forgets it; else by hand, and git forgets what is not there."""
    try:
        await git.asked("worktree", "remove", "--force", str(tree))
    except DragomanError as error:
        log.info("the worktree %s is removed by hand: %s", tree, error)
    await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))
    try:
        await git.asked("worktree", "prune")
    except DragomanError as error:
        log.warning("git still lists the worktree %s: %s", tree, error)


class _Git:
    def __init__(self, workspace: Path, environment: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._environment = environment

    async def asked(self, *words: str, within_s: float = _ASKED_WITHIN_S) -> str:
        command = ["git", "-C", str(self._workspace), *_QUIET, *words]
        try:
            told = await printed_by(command, self._environment, within_s=within_s)
        except ShortCommandError as error:
            raise _no_commit(" ".join(words[:2]), error.reason) from error
        return told.decode("utf-8", "replace").strip()


def _no_commit(command: str, reason: Phrase) -> DragomanError:
    return DragomanError(
        "no_such_commit",
        say(
            "The workspace could not be had at that commit: `git {command}`: {reason}.", command=command, reason=reason
        ),
        hint=say("Give a commit, branch or tag of the repository that the workspace lies in."),
    )
