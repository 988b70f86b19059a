"""Plans a task of tasks.json, or an npm script, with everything that it depends on. Planning runs nothing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.core.jsonc import PathStep
from dragoman.core.localization import localize
from dragoman.debug.launch.config_node import ConfigNode, ConfigOrigin
from dragoman.debug.launch.errors import LaunchError, listed, quoted, suggestion
from dragoman.debug.launch.task_commands import TaskCommand, read_task_command
from dragoman.debug.launch.variables import Expander, VariableScope
from dragoman.debug.launch.workspace_files import WorkspaceFiles, entries

_MOST_BYTES = 1 << 20
# Longer chains are written by programs, not by people, and each link costs levels of recursion.
MAX_CHAIN = 64
_ORDERS = ("parallel", "sequence")

_NPM_LABEL = re.compile(r"npm: (?P<script>.+?)(?: - (?P<path>.+))?")


def read_package_json(folder: Path) -> dict[str, Any]:
    """Its package.json; of one that cannot be read, nothing."""
    try:
        with (folder / "package.json").open("rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def npm_scripts(folder: Path) -> dict[str, str]:
    scripts = read_package_json(folder).get("scripts")
    return {str(key): it for key, it in scripts.items() if isinstance(it, str)} if isinstance(scripts, dict) else {}


def script_task(wanted: object, folder: Path) -> dict[str, str] | None:
    """The task `npm: build`, or `npm: build - web`, if tasks.json does not define it: found like in VS Code."""
    found = _NPM_LABEL.fullmatch(wanted) if isinstance(wanted, str) else None
    given: dict[str, Any] = {"type": "npm", **found.groupdict()} if found else {}
    given = wanted if isinstance(wanted, dict) else given
    if given.get("type") != "npm" or given.keys() - {"type", "script", "path"}:
        return None
    script, path = str(given.get("script") or ""), str(given.get("path") or "")
    return {"type": "npm", "script": script, "path": path} if script in npm_scripts(folder / path) else None


_DEFAULT_BUILD = {"kind": "build", "isDefault": True}


@dataclass(frozen=True, slots=True)
class TaskPlan:
    label: str
    command: TaskCommand | None
    depends_on: tuple[TaskPlan, ...] = ()
    in_sequence: bool = False


class TaskPlanner:
    """Plans the tasks of one workspace; each is planned once, however many depend on it."""

    def __init__(self, scope: VariableScope) -> None:
        self._scope = scope
        self._file = scope.files.tasks
        self._tasks = _tasks(scope.files)
        self._expander = Expander(scope, [] if self._file is None else entries(self._file, "inputs"))
        self._plans: dict[tuple[PathStep, ...], TaskPlan] = {}

    def plan(self, wanted: ConfigNode, chain: tuple[ConfigNode, ...] = ()) -> TaskPlan:
        """`wanted` is a label, or an object whose members the task has too."""
        task = self._find(wanted)
        if any(task.path == earlier.path for earlier in chain):
            raise _cycle(wanted, [*chain, task])
        if len(chain) >= MAX_CHAIN:
            raise wanted.fault(
                localize("more than {limit} tasks depend on one another", limit=MAX_CHAIN), code="task_cycle"
            )
        if task.path not in self._plans:
            self._plans[task.path] = self._planned(task, (*chain, task))
        return self._plans[task.path]

    def _planned(self, task: ConfigNode, chain: tuple[ConfigNode, ...]) -> TaskPlan:
        order = task.text("dependsOrder", "parallel")
        if order not in _ORDERS:
            raise task.child("dependsOrder", order).wrong_type(localize("one of {choices}", choices=listed(_ORDERS)))
        depends = task.get("dependsOn")
        before = [] if depends is None else [self.plan(other, chain) for other in depends.one_or_more()]
        file = self._file or ConfigNode({}, (), task.origin)
        command = read_task_command(task, file, self._scope, self._expander)
        return TaskPlan(label_of(task), command, tuple(before), order == "sequence")

    def _find(self, wanted: ConfigNode) -> ConfigNode:
        matches = _has_members if isinstance(wanted.value, dict) else _has_label
        for task in self._tasks:
            if matches(task, wanted):
                return task
        script = script_task(wanted.value, self._scope.files.folder)
        if script is not None:
            return ConfigNode(script, tuple(script.values()), ConfigOrigin("package.json", "bad_package_json"))
        raise _unknown(wanted, self._tasks)


def default_build_task(files: WorkspaceFiles) -> str:
    """The label that `${defaultBuildTask}` stands for."""
    for task in _tasks(files):
        group = task.get("group")
        if group is not None and isinstance(group.value, dict) and group.value.items() >= _DEFAULT_BUILD.items():
            return label_of(task)
    raise LaunchError(
        "unknown_task",
        localize("This workspace has no default build task."),
        hint=localize("Add {group} to one of them.", group=quoted({"group": _DEFAULT_BUILD})),
    )


def label_of(task: ConfigNode) -> str:
    """`taskName` is what older files say; an npm task without a label is known by its script."""
    script = task.text("script") if task.text("type") == "npm" else ""
    return task.text("label") or task.text("taskName") or (f"npm: {script}" if script else "")


def _tasks(files: WorkspaceFiles) -> list[ConfigNode]:
    return [] if files.tasks is None else entries(files.tasks, "tasks")


def _has_label(task: ConfigNode, wanted: ConfigNode) -> bool:
    return label_of(task) == wanted.string() != ""


def _has_members(task: ConfigNode, wanted: ConfigNode) -> bool:
    members = wanted.object()
    return bool(members) and all(task.object().get(key) == value for key, value in members.items())


def _unknown(wanted: ConfigNode, tasks: list[ConfigNode]) -> LaunchError:
    known = [label for task in tasks if (label := label_of(task))]
    name = wanted.value if isinstance(wanted.value, str) else quoted(wanted.value)
    return wanted.fault(
        localize("tasks.json has no task {name}", name=quoted(wanted.value)),
        code="unknown_task",
        hint=suggestion(name, known),
        known=known,
    )


def _cycle(wanted: ConfigNode, chain: list[ConfigNode]) -> LaunchError:
    labels = [label_of(task) for task in chain]
    round_trip = labels[labels.index(labels[-1]) :]
    return wanted.fault(
        localize("the tasks in `tasks` depend on each other"),
        code="task_cycle",
        hint=localize("Remove one of them from a dependsOn."),
        tasks=round_trip,
    )
