"""launch.json: what a workspace offers to debug, and what starting it means. Reading runs nothing; `prepare` does."""

from dragoman.debug.launch.checks import prepare, require_program, require_target
from dragoman.debug.launch.code_paths import code_paths
from dragoman.debug.launch.cores import opening_core, require_debugging
from dragoman.debug.launch.disclosure import WouldRun, digest_of, needs_trust, what_would_run
from dragoman.debug.launch.environment import environment_with
from dragoman.debug.launch.faults import LaunchError
from dragoman.debug.launch.listing import Listing, configurations
from dragoman.debug.launch.notes import Note
from dragoman.debug.launch.program_types import TypeFor, type_for
from dragoman.debug.launch.resolving import Client, Launch, Resolved, Wish, resolve
from dragoman.debug.launch.running import TaskEnd, TaskFailedError, TaskRun, TaskRunner, run_plan
from dragoman.debug.launch.tasks import TaskPlan
from dragoman.debug.launch.variables import Caller
from dragoman.debug.launch.zipapps import saying_what_cannot_bind

__all__ = [
    "Caller",
    "Client",
    "Launch",
    "LaunchError",
    "Listing",
    "Note",
    "Resolved",
    "TaskEnd",
    "TaskFailedError",
    "TaskPlan",
    "TaskRun",
    "TaskRunner",
    "TypeFor",
    "Wish",
    "WouldRun",
    "code_paths",
    "configurations",
    "digest_of",
    "environment_with",
    "needs_trust",
    "opening_core",
    "prepare",
    "require_debugging",
    "require_program",
    "require_target",
    "resolve",
    "run_plan",
    "saying_what_cannot_bind",
    "type_for",
    "what_would_run",
]
