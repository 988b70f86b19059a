"""Running a plan of tasks, through a port: processes belong to transport."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import anyio

from dragoman.debug.launch.environment import environment_with
from dragoman.debug.launch.faults import LaunchError, quoted, quoted_path
from dragoman.debug.launch.task_commands import TaskCommand
from dragoman.debug.launch.tasks import TaskPlan
from dragoman.phrases import Phrase, say

LAST_LINES = 20
_MOST_LINE = 500


class TaskEnd(Protocol):
    @property
    def exit_code(self) -> int | None:
        """Negative for a signal; None for a background task that is ready and goes on."""

    @property
    def last_lines(self) -> Sequence[str]:
        """The end of what it wrote, both streams in the order of arrival."""


class TaskRunner(Protocol):
    """Runs one process in its own group and ends that group when cancelled.

    With `ready`, it returns when a line of output holds the pattern, or the process ends; one that goes on belongs to
    the runner, which ends it with the session. A program that cannot be started at all is an OSError.
    """

    async def run(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], ready: re.Pattern[str] | None, keep_lines: int
    ) -> TaskEnd: ...


class TaskFailedError(LaunchError):
    """`last_lines` is what the task said: data, never part of our sentences."""

    def __init__(
        self, message: Phrase, *, hint: Phrase, task: str, exit_code: int | None, lines: Sequence[str]
    ) -> None:
        self.task = task
        self.exit_code = exit_code
        self.last_lines = [line[:_MOST_LINE] for line in lines[-LAST_LINES:]]
        super().__init__("task_failed", message, hint=hint, task=task, exit_code=exit_code, last_lines=self.last_lines)


class TaskRun:
    """One run of plans, in which a task that several wait for runs once."""

    def __init__(self, runner: TaskRunner, environment: Mapping[str, str]) -> None:
        self._runner = runner
        self._environment = environment
        self._done: dict[int, anyio.Event] = {}

    async def once(self, plan: TaskPlan | None) -> None:
        """Everything it depends on, then itself. The first failure ends what still runs and is raised."""
        if plan is None:
            return
        try:
            await self._once(plan)
        except BaseExceptionGroup as group:
            failed, others = group.split(LaunchError)
            if failed is None or others is not None:
                raise
            raise _first(failed) from group

    async def _once(self, plan: TaskPlan) -> None:
        done = self._done.get(id(plan))
        if done is not None:
            await done.wait()
            return
        done = self._done[id(plan)] = anyio.Event()
        await self._all(plan)
        done.set()

    async def _all(self, plan: TaskPlan) -> None:
        if plan.in_sequence:
            for before in plan.depends_on:
                await self._once(before)
        else:
            async with anyio.create_task_group() as group:
                for before in plan.depends_on:
                    group.start_soon(self._once, before)
        if plan.command is not None:
            await self._run(plan.label, plan.command)

    async def _run(self, label: str, command: TaskCommand) -> None:
        try:
            end = await self._runner.run(
                command.argv,
                cwd=command.cwd,
                env=environment_with(command.env, self._environment),
                ready=command.ready,
                keep_lines=LAST_LINES,
            )
        except OSError as error:
            raise _not_started(label, command, error) from error
        if end.exit_code not in (0, None) or (command.ready is not None and end.exit_code is not None):
            raise _failed(label, command, end)


async def run_plan(plan: TaskPlan | None, runner: TaskRunner, environment: Mapping[str, str]) -> None:
    """A plan by itself: what follows a session."""
    await TaskRun(runner, environment).once(plan)


def _first(group: BaseExceptionGroup[LaunchError]) -> LaunchError:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, LaunchError)
    return error


def _not_started(label: str, command: TaskCommand, error: OSError) -> TaskFailedError:
    return TaskFailedError(
        say("The task {task} could not be started: {reason}.", task=quoted(label), reason=error.strerror or error),
        hint=say("It runs {line} in {cwd}.", line=quoted(command.line, limit=200), cwd=quoted_path(command.cwd)),
        task=label,
        exit_code=None,
        lines=(),
    )


def _failed(label: str, command: TaskCommand, end: TaskEnd) -> TaskFailedError:
    return TaskFailedError(
        say("The program cannot start: the task {task} ended with {code}.", task=quoted(label), code=end.exit_code),
        hint=say("It runs {line} in {cwd}.", line=quoted(command.line, limit=200), cwd=quoted_path(command.cwd)),
        task=label,
        exit_code=end.exit_code,
        lines=end.last_lines,
    )
