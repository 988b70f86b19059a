"""tasks.json: a task and all that it depends on, as a plan. Planning runs nothing."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.debug.launch.faults import LaunchError, choice, listed, quoted
from dragoman.debug.launch.files import WorkspaceFiles, entries
from dragoman.debug.launch.nodes import Node, Origin
from dragoman.debug.launch.packages import script_task
from dragoman.debug.launch.task_commands import TaskCommand, read_command
from dragoman.debug.launch.variables import Expander, Scope
from dragoman.jsonc import Step
from dragoman.phrases import say

# Longer chains are written by programs, not by people, and each link costs levels of recursion.
MOST_LINKS = 64
_DEFAULT_BUILD = {"kind": "build", "isDefault": True}
_ORDERS = ("parallel", "sequence")


@dataclass(frozen=True, slots=True)
class TaskPlan:
    label: str
    command: TaskCommand | None
    depends_on: tuple[TaskPlan, ...] = ()
    in_sequence: bool = False


class TaskPlanner:
    """Plans the tasks of one workspace; each is planned once, however many depend on it."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._file = scope.files.tasks
        self._tasks = _tasks(scope.files)
        self._expander = Expander(scope, [] if self._file is None else entries(self._file, "inputs"))
        self._plans: dict[tuple[Step, ...], TaskPlan] = {}

    def plan(self, wanted: Node, chain: tuple[Node, ...] = ()) -> TaskPlan:
        """`wanted` is a label, or an object whose every member the task has too."""
        task = self._find(wanted)
        if any(task.path == earlier.path for earlier in chain):
            raise _cycle(wanted, [*chain, task])
        if len(chain) >= MOST_LINKS:
            raise wanted.fault(say("more than {limit} tasks wait for one another", limit=MOST_LINKS), code="task_cycle")
        if task.path not in self._plans:
            self._plans[task.path] = self._planned(task, (*chain, task))
        return self._plans[task.path]

    def _planned(self, task: Node, chain: tuple[Node, ...]) -> TaskPlan:
        order = task.text("dependsOrder", "parallel")
        if order not in _ORDERS:
            raise task.child("dependsOrder", order).wrong(say("one of {choices}", choices=listed(_ORDERS)))
        depends = task.get("dependsOn")
        before = [] if depends is None else [self.plan(other, chain) for other in depends.one_or_more()]
        file = self._file or Node({}, (), task.origin)
        command = read_command(task, file, self._scope, self._expander)
        return TaskPlan(label_of(task), command, tuple(before), order == "sequence")

    def _find(self, wanted: Node) -> Node:
        matches = _has_members if isinstance(wanted.value, dict) else _is_labelled
        for task in self._tasks:
            if matches(task, wanted):
                return task
        script = script_task(wanted.value, self._scope.files.folder)
        if script is not None:
            return Node(script, tuple(script.values()), Origin("package.json", "bad_package_json"))
        raise _unknown(wanted, self._tasks)


def default_build_task(files: WorkspaceFiles) -> str:
    """The label that `${defaultBuildTask}` stands for."""
    for task in _tasks(files):
        group = task.get("group")
        if group is not None and isinstance(group.value, dict) and group.value.items() >= _DEFAULT_BUILD.items():
            return label_of(task)
    raise LaunchError(
        "unknown_task",
        say("No task of this workspace is the default build task."),
        hint=say("Give one of them {group}.", group=quoted({"group": _DEFAULT_BUILD})),
    )


def label_of(task: Node) -> str:
    """`taskName` is what older files say; an npm task without a label is known by its script."""
    script = task.text("script") if task.text("type") == "npm" else ""
    return task.text("label") or task.text("taskName") or (f"npm: {script}" if script else "")


def _tasks(files: WorkspaceFiles) -> list[Node]:
    return [] if files.tasks is None else entries(files.tasks, "tasks")


def _is_labelled(task: Node, wanted: Node) -> bool:
    return label_of(task) == wanted.string() != ""


def _has_members(task: Node, wanted: Node) -> bool:
    members = wanted.object()
    return bool(members) and all(task.object().get(key) == value for key, value in members.items())


def _unknown(wanted: Node, tasks: list[Node]) -> LaunchError:
    known = [label for task in tasks if (label := label_of(task))]
    name = wanted.value if isinstance(wanted.value, str) else quoted(wanted.value)
    return wanted.fault(
        say("tasks.json has no task {name}", name=quoted(wanted.value)),
        code="unknown_task",
        hint=choice(name, known),
        known=known,
    )


def _cycle(wanted: Node, chain: list[Node]) -> LaunchError:
    labels = [label_of(task) for task in chain]
    round_trip = labels[labels.index(labels[-1]) :]
    return wanted.fault(
        say("the tasks in `tasks` wait for each other"),
        code="task_cycle",
        hint=say("Take one of them out of a dependsOn."),
        tasks=round_trip,
    )
