"""Runs a plan of tasks through a port. Processes belong to `io`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import anyio

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.launch.environment import environment_with
from dragoman.debug.launch.errors import LaunchError, quoted
from dragoman.debug.launch.task_commands import TaskCommand
from dragoman.debug.launch.tasks import TaskPlan

LAST_LINES = 20
_LONGEST_LINE = 500


class TaskOutcome(Protocol):
    @property
    def exit_code(self) -> int | None:
        """Negative for a signal; None for a background task that is ready and goes on."""

    @property
    def last_lines(self) -> Sequence[str]:
        """The end of what it wrote, both streams in the order of arrival."""


class TaskRunner(Protocol):
    """Runs one process in its own group and ends that group when cancelled.

    With `ready`, it returns when a line of output holds the pattern, or the process ends; one that goes on belongs to
    the runner, which ends it with the session. A program that cannot be started at all is a DragomanError.
    """

    async def run(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], ready: re.Pattern[str] | None, keep_lines: int
    ) -> TaskOutcome: ...


class TaskFailedError(LaunchError):
    """A task failed. What it ran and printed is data, never part of our sentences; the output comes last in the
    details.
    """

    def __init__(
        self,
        message: LocalizedText,
        hint: LocalizedText,
        *,
        task: str,
        command: TaskCommand,
        end: TaskOutcome | None = None,
    ) -> None:
        self.task = task
        self.exit_code = None if end is None else end.exit_code
        self.last_lines = [] if end is None else [line[:_LONGEST_LINE] for line in end.last_lines[-LAST_LINES:]]
        ran = {"task": task, "line": command.line, "cwd": command.cwd, "exit_code": self.exit_code}
        super().__init__("task_failed", message, hint=hint, **ran, last_lines=self.last_lines)


class TaskExecution:
    """One execution of task plans. A task that several plans wait for runs once, for the first of them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._runs: dict[int, _PendingTask] = {}

    async def run_once(self, plan: TaskPlan | None, runner: TaskRunner) -> None:
        """Everything it depends on, then itself. The first failure ends what still runs and is raised."""
        while plan is not None:
            ran = self._runs.get(id(plan))
            if ran is None:
                return await self._first(plan, runner)
            await ran.finished.wait()
            if ran.failure is not None:
                raise ran.failure
            if self._runs.get(id(plan)) is ran:
                return None
        return None

    async def _first(self, plan: TaskPlan, runner: TaskRunner) -> None:
        """If the first run was cancelled, the next caller runs the task again."""
        ran = self._runs[id(plan)] = _PendingTask()
        try:
            await self._all(plan, runner)
        except LaunchError as failure:
            ran.failure = failure
            raise
        except BaseException:
            del self._runs[id(plan)]
            raise
        finally:
            ran.finished.set()

    async def _all(self, plan: TaskPlan, runner: TaskRunner) -> None:
        if plan.in_sequence:
            for before in plan.depends_on:
                await self.run_once(before, runner)
        else:
            await self._together(plan.depends_on, runner)
        if plan.command is not None:
            await self._run(plan.label, plan.command, runner)

    async def _together(self, plans: Sequence[TaskPlan], runner: TaskRunner) -> None:
        try:
            async with anyio.create_task_group() as group:
                for plan in plans:
                    group.start_soon(self.run_once, plan, runner)
        except BaseExceptionGroup as errors:
            failed, others = errors.split(LaunchError)
            if failed is None or others is not None:
                raise
            raise _first_error(failed) from errors

    async def _run(self, label: str, command: TaskCommand, runner: TaskRunner) -> None:
        environment = environment_with(command.env, self._environment)
        try:
            end = await runner.run(
                command.argv, cwd=command.cwd, env=environment, ready=command.ready, keep_lines=LAST_LINES
            )
        except DragomanError as error:
            raise _not_started(label, command, error) from error
        if end.exit_code not in (0, None) or (command.ready is not None and end.exit_code is not None):
            raise _failed(label, command, end)


class _PendingTask:
    def __init__(self) -> None:
        self.finished = anyio.Event()
        self.failure: LaunchError | None = None


async def run_plan(plan: TaskPlan | None, runner: TaskRunner, environment: Mapping[str, str]) -> None:
    """A plan by itself: what follows a session."""
    await TaskExecution(environment).run_once(plan, runner)


def _first_error(group: BaseExceptionGroup[LaunchError]) -> LaunchError:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, LaunchError)
    return error


def _not_started(label: str, command: TaskCommand, error: DragomanError) -> TaskFailedError:
    message = localize("Cannot start the task {task}. {reason}", task=quoted(label), reason=error.message)
    return TaskFailedError(
        message, localize("See `line` for its command, and `cwd` for its folder."), task=label, command=command
    )


def _failed(label: str, command: TaskCommand, end: TaskOutcome) -> TaskFailedError:
    task, code = quoted(label), end.exit_code
    message = localize("The program cannot start: the task {task} exited with {code}.", task=task, code=code)
    if command.builds:
        message = localize("The program cannot start: the build {task} exited with {code}.", task=task, code=code)
    hint = localize("See `last_lines` for its last output, and `line` for its command.")
    return TaskFailedError(message, hint, task=label, command=command, end=end)
