"""launch.json: what a workspace offers to debug, and what starting it means. Reading runs nothing; `prepare` does."""

from dragoman.debug.launch.environment import environment_with
from dragoman.debug.launch.errors import LaunchError, LaunchNote
from dragoman.debug.launch.preconditions import (
    prepare,
    require_debugging,
    require_program,
    require_target,
    with_core_dump,
    with_zipapp_note,
)
from dragoman.debug.launch.programs import TypeFor, debugger_type_for
from dragoman.debug.launch.resolution import LaunchEnvironment, LaunchPlan, ResolvedConfiguration, resolve
from dragoman.debug.launch.task_execution import TaskExecution, TaskFailedError, TaskOutcome, TaskRunner, run_plan
from dragoman.debug.launch.tasks import TaskPlan
from dragoman.debug.launch.trust import PlannedCommand, code_paths, launch_digest, needs_trust, planned_commands
from dragoman.debug.launch.variables import VariableInputs
from dragoman.debug.launch.workspace_files import LaunchConfigurations, list_configurations

__all__ = [
    "LaunchConfigurations",
    "LaunchEnvironment",
    "LaunchError",
    "LaunchNote",
    "LaunchPlan",
    "PlannedCommand",
    "ResolvedConfiguration",
    "TaskExecution",
    "TaskFailedError",
    "TaskOutcome",
    "TaskPlan",
    "TaskRunner",
    "TypeFor",
    "VariableInputs",
    "code_paths",
    "debugger_type_for",
    "environment_with",
    "launch_digest",
    "list_configurations",
    "needs_trust",
    "planned_commands",
    "prepare",
    "require_debugging",
    "require_program",
    "require_target",
    "resolve",
    "run_plan",
    "with_core_dump",
    "with_zipapp_note",
]
