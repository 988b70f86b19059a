"""Tasks as processes: each in a supervised tree, so that nothing of it outlives the session it was run for."""

from __future__ import annotations

import codecs
import logging
import re
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dragoman.debug.mailbox import first_of
from dragoman.transport.command import Command, Stdio
from dragoman.transport.supervised import Child, Exit
from dragoman.transport.supervisors import Supervisors

log = logging.getLogger(__name__)

Hear = Callable[[str], Awaitable[None]]

_GRACE_S = 2.0
# Also what one line may be: a task that never ends a line must not fill us.
_MOST_LINE = 4000
_READ_TO_THE_END_WITHIN_S = 0.5  # a child of the task may hold its output open


@dataclass(frozen=True, slots=True)
class Finished:
    exit_code: int | None
    last_lines: Sequence[str]


class TaskTrees:
    """The trees of a start's tasks. What a task left running, a server say, lives until the last session has gone."""

    def __init__(self, supervisors: Supervisors, group: TaskGroup, *, sessions: int = 1) -> None:
        self._supervisors = supervisors
        self._group = group
        self._sessions = sessions
        self._kept: list[AsyncExitStack] = []

    def runner(self, hear: Hear) -> SupervisedRunner:
        return SupervisedRunner(self, hear)

    async def leave(self) -> None:
        """Said once for each session."""
        self._sessions -= 1
        if self._sessions <= 0:
            async with anyio.create_task_group() as group:
                for tree in self._kept:
                    group.start_soon(tree.aclose)

    async def run(self, command: Command, reading: _Reading) -> int | None:
        """A cancelled one ends with everything that it started."""
        async with AsyncExitStack() as stack:
            tree = await stack.enter_async_context(self._supervisors.tree(grace_s=_GRACE_S))
            child = await tree.start(command)
            await child.stdin.aclose()
            self._group.start_soon(reading.read, child)
            code = await reading.ready_or_ended(child)
            if code is None or len(await anyio.to_thread.run_sync(tree.pids)) > 0:
                self._kept.append(stack.pop_all())
            return code
        raise AssertionError("unreachable")


@dataclass(frozen=True, slots=True)
class SupervisedRunner:
    """A `TaskRunner` whose tasks' output is heard by one session."""

    trees: TaskTrees
    hear: Hear

    async def run(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], ready: re.Pattern[str] | None, keep_lines: int
    ) -> Finished:
        reading = _Reading(self.hear, ready, keep_lines)
        code = await self.trees.run(Command(argv, env, Path(cwd), Stdio.MERGED), reading)
        return Finished(code, reading.last_lines)


class _Reading:
    """What one task writes: passed on, its last lines kept, and watched for the line that says that it is ready."""

    def __init__(self, hear: Hear, pattern: re.Pattern[str] | None, keep_lines: int) -> None:
        self._hear = hear
        self._pattern = pattern
        self._lines: deque[str] = deque(maxlen=keep_lines)
        self._begun = ""
        self._ready = anyio.Event()
        self._over = anyio.Event()
        self._ended = anyio.Event()
        self._code = 0

    @property
    def last_lines(self) -> list[str]:
        kept = [*self._lines, _plain(self._begun)] if self._begun else [*self._lines]
        return kept[-(self._lines.maxlen or 0) :]

    async def read(self, child: Child) -> None:
        """In the daemon's own group: a background task is read for as long as it lives, or it would stand still."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            async for piece in child.stdout:
                await self._take(decoder.decode(piece))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            log.debug("a task was ended while it was read")
        finally:
            self._over.set()

    async def ready_or_ended(self, child: Child) -> int | None:
        """None: it is ready and goes on. Else its code, negative for a signal."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._wait_for_end, child)
            await first_of(self._ready, self._ended)
            group.cancel_scope.cancel("known")
        return None if self._ready.is_set() else self._code

    async def _wait_for_end(self, child: Child) -> None:
        self._code = _code(await child.wait())
        with anyio.move_on_after(_READ_TO_THE_END_WITHIN_S):
            await self._over.wait()
        self._ended.set()

    async def _take(self, text: str) -> None:
        *lines, begun = (self._begun + text).split("\n")
        for line in lines:
            self._line(_plain(line))
        self._begun = begun[-_MOST_LINE:]
        await self._hear(text)

    def _line(self, line: str) -> None:
        self._lines.append(line)
        if self._pattern is not None and self._pattern.search(line):
            self._ready.set()


# Colours and cursor moves, which a pattern written by a person does not expect.
_TERMINAL_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


def _plain(line: str) -> str:
    """As a terminal would show it in the end: of a progress bar, its last state."""
    return _TERMINAL_CONTROL.sub("", line[-_MOST_LINE:]).rstrip("\r").rpartition("\r")[2]


def _code(exit: Exit) -> int:
    """Whoever was ended before anyone could learn how was killed."""
    return exit.code if exit.code is not None else -(exit.signal or signal.SIGKILL)
