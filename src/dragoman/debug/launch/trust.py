"""What a launch would run and where its code is, for the person who decides whether to trust a workspace. Nothing
runs for it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Literal

from dragoman.core.localization import localize
from dragoman.debug.launch.errors import LaunchError
from dragoman.debug.launch.resolution import LaunchPlan, ResolvedConfiguration
from dragoman.debug.launch.tasks import TaskPlan
from dragoman.debug.source_files import is_source_file
from dragoman.workspace.trust import CodeLocations

_MOST_ENTRIES = 200
"""Entries of a folder, to see whether there is code in it."""

# Keys that do not change what runs, or that the question shows elsewhere. Every other key is shown, even
# an unknown one: debuggers keep adding keys that name commands, scripts and files to write.
_SHOWN_ELSEWHERE = frozenset(
    {"name", "type", "request", "program", "module", "args", "cwd", "env", "envFile", "environment"}
    | {"preLaunchTask", "postDebugTask"}  # shown as tasks
)
_RUNS_NOTHING = frozenset(
    {"console", "internalConsoleOptions", "presentation", "suppressMultipleSessionWarning", "debugOptions", "noDebug"}
    | {"stopOnEntry", "stopAtEntry", "justMyCode", "django", "jinja", "flask", "pyramid", "gevent", "restart"}
    | {"redirectOutput", "showReturnValue", "subProcess", "autoReload", "logToFile", "verboseLogging", "timeout"}
    | {"pathMappings", "localRoot", "remoteRoot", "sourceMap", "sourceMaps", "sourceMapPathOverrides", "outFiles"}
    | {"resolveSourceMapLocations", "skipFiles", "smartStep", "outputCapture", "showAsyncStacks", "webRoot"}
    | {"autoAttachChildProcesses", "protocol", "MIMode", "externalConsole", "symbolSearchPath", "sourceLanguages"}
    | {"mode", "substitutePath", "showGlobalVariables", "showRegisters", "stackTraceDepth", "hideSystemGoroutines"}
    | {"showLog", "logOutput", "dlvLoadConfig", "tag", "description", "luaFileExtension", "connectionPort", "useCHook"}
    | {"autoPathMode", "logLevel", "pathCaseSensitivity", "isNeedB64EncodeStr", "truncatedOPath", "updateTips"}
    | {"distinguishSameNameFile", "dbCheckBreakpoint", "VSCodeAsClient", "connectionIP"}
    # Shown as the process to attach to.
    | {"processId", "pid", "host", "port", "connect", "listen", "address", "coreFile"}
)


@dataclass(frozen=True, slots=True)
class PlannedCommand:
    """One command that a launch would run, or one process that it would attach to."""

    what: Literal["task", "program", "attach"]
    name: str
    line: str
    """The command as a person would type it, or what is attached to."""
    cwd: str
    variables: tuple[str, ...] = ()
    """Names of the environment variables that it sets: LD_PRELOAD runs code too. Their values may be secrets."""
    settings: Mapping[str, Any] | None = None
    """Further keys of the configuration that may decide what runs, as they are after expansion."""
    env_files: tuple[str, ...] = ()
    """Files that set more variables. They are not read for this."""
    runs_with: Mapping[str, str] | None = None
    """Its interpreter and its debugger, which may be the workspace's own."""

    def as_dict(self) -> dict[str, Any]:
        """Without what it does not say."""
        return {key: value for key, value in asdict(self).items() if value}


def needs_trust(launch: LaunchPlan, workspace: Path, runs_with: Sequence[Mapping[str, str]] = ()) -> LaunchError:
    """What would run is data: names and lines from a workspace that is not trusted."""
    return LaunchError(
        "needs_trust",
        localize("Nothing was started: {workspace} is not trusted.", workspace=workspace),
        hint=localize(
            "Review what would run. The owner of this machine can allow it with: dragoman trust {folder}",
            folder=shlex.quote(str(workspace)),
        ),
        folder=str(workspace),
        would_run=[one.as_dict() for one in planned_commands(launch, runs_with)],
    )


def planned_commands(launch: LaunchPlan, runs_with: Sequence[Mapping[str, str]] = ()) -> list[PlannedCommand]:
    """In the order in which it would happen; a task that several depend on once. `runs_with` is of each session."""
    seen: dict[int, TaskPlan] = {}
    found = list(_planned_tasks(launch.before, seen))
    for session, facts in zip_longest(launch.sessions, runs_with):
        found += [*_planned_tasks(session.before, seen), replace(_planned_program(session), runs_with=facts)]
    for session in launch.sessions:
        found += _planned_tasks(session.after, seen)
    return found


def launch_digest(
    launch: LaunchPlan, runs_with: Sequence[Mapping[str, str]], stdin: str | None, moved: Mapping[str, str]
) -> str:
    """The digest of everything that decides what runs, including values of variables: an approval is for this digest.
    `moved` maps folders that are made for one call to what they stand for in every call."""
    whole = [
        _plan_content(launch.before),
        [
            [
                it.type,
                it.request,
                it.arguments,
                it.env,
                str(it.folder),
                _plan_content(it.before),
                _plan_content(it.after),
            ]
            for it in launch.sessions
        ],
        [dict(it) for it in runs_with],
        stdin,
    ]
    text = json.dumps(whole, sort_keys=True, default=str, ensure_ascii=False)
    for folder, name in moved.items():
        text = text.replace(json.dumps(folder, ensure_ascii=False)[1:-1], name)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _plan_content(plan: TaskPlan | None) -> Any:
    if plan is None:
        return None
    command = plan.command
    runs = None if command is None else [command.argv, command.cwd, command.env]
    return [plan.label, runs, plan.in_sequence, [_plan_content(it) for it in plan.depends_on]]


def _planned_tasks(plan: TaskPlan | None, seen: dict[int, TaskPlan]) -> Iterator[PlannedCommand]:
    if plan is None or id(plan) in seen:
        return
    seen[id(plan)] = plan
    for before in plan.depends_on:
        yield from _planned_tasks(before, seen)
    if plan.command is not None:
        command = plan.command
        yield PlannedCommand("task", plan.label, command.line, command.cwd, tuple(sorted(command.env)))


def _planned_program(session: ResolvedConfiguration) -> PlannedCommand:
    arguments = session.arguments
    settings = {key: arguments[key] for key in arguments if key not in _SHOWN_ELSEWHERE | _RUNS_NOTHING}
    line = _command_line(arguments) if session.request == "launch" else _attach_target(arguments)
    cwd = str(session.folder / (arguments.get("cwd") or ""))
    what: Literal["program", "attach"] = "program" if session.request == "launch" else "attach"
    return PlannedCommand(
        what, session.name, line, cwd, tuple(sorted(session.env)), settings or None, session.env_files
    )


def _command_line(arguments: Mapping[str, Any]) -> str:
    start = ["-m", str(arguments["module"])] if arguments.get("module") else [str(arguments.get("program") or "")]
    args = arguments.get("args") or []
    if isinstance(args, str):
        return f"{shlex.join(start)} {args}"
    return shlex.join([part for part in start if part] + args)


def _attach_target(arguments: Mapping[str, Any]) -> str:
    keys = ("processId", "pid", "host", "port", "connect", "listen", "address", "program", "coreFile")
    return ", ".join(f"{key} {arguments[key]}" for key in keys if key in arguments)


# Keys of the known debuggers with a value that is run, or with a list of words of which some are.
_CODE_KEYS = (
    *("python", "pythonPath", "pythonArgs", "runtimeExecutable", "runtimeArgs", "debugAdapterPath"),
    *("debugAdapterPython", "miDebuggerPath", "dlvToolPath", "rdbgPath", "command", "script", "luaPath"),
    *("debugLauncherPath", "debugLauncherPython", "bundlePath", "buildFlags"),
)
# Variables that name more code for a program to load.
_CODE_VARIABLES = (
    *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "NODE_PATH", "NODE_OPTIONS", "LD_PRELOAD", "LD_LIBRARY_PATH"),
    *("LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "RUBYLIB", "RUBYOPT", "PERL5LIB", "PERL5OPT"),
    *("LUA_PATH", "LUA_CPATH", "LUA_INIT", "GOFLAGS", "GOPATH", "CLASSPATH", "JAVA_TOOL_OPTIONS", "BASH_ENV", "ENV"),
    *("GCONV_PATH", "GIT_EXEC_PATH", "PATH"),
)
# What can precede or separate paths in an argument: `--import=file:///x.mjs`, `-r/x.js`, `-I../x`, `-ex=source /x`.
_PARTS = re.compile(r"[=,:;\s]+|(?<=^-[A-Za-z])")


def code_paths(launch: LaunchPlan, facts: Iterable[Mapping[str, str]], folders: CodeLocations) -> Iterator[Path]:
    yield from _task_paths(launch.before)
    for session, started_with in zip(launch.sessions, facts, strict=True):
        yield from _task_paths(session.before)
        yield from _task_paths(session.after)
        yield from map(Path, session.env_files)
        yield from _variable_paths(session.env, session.folder)
        if session.request == "launch":
            yield from _program_paths(session, started_with, folders)


def _program_paths(
    session: ResolvedConfiguration, started_with: Mapping[str, str], folders: CodeLocations
) -> Iterator[Path]:
    given = session.arguments
    cwd = session.folder / str(given.get("cwd") or "")
    yield cwd
    for key in _CODE_KEYS:
        yield from _paths_in(given.get(key), cwd)
    yield from _paths_in(started_with.get("interpreter", "").split(" "), cwd)
    program = cwd / str(given.get("program") or "")
    yield program
    if not folders.is_of_workspace(program) or not given.get("program"):
        # An installed program runs the files in its arguments: `node x.js`, `pytest tests`. Plain data needs no
        # approval.
        yield from (path for path in _paths_in(given.get("args"), cwd) if _is_code(path))


def _is_code(path: Path) -> bool:
    try:
        if path.is_dir():
            with os.scandir(path) as entries:
                return any(is_source_file(entry.name) for entry in islice(entries, _MOST_ENTRIES))
        return path.is_file() and (is_source_file(path.name) or os.access(path, os.X_OK))
    except OSError:
        return False


def _task_paths(plan: TaskPlan | None) -> Iterator[Path]:
    if plan is None:
        return
    for before in plan.depends_on:
        yield from _task_paths(before)
    if plan.command is not None:
        cwd = Path(plan.command.cwd)
        yield cwd
        yield from (path for path in _paths_in(list(plan.command.argv), cwd) if path.is_file())
        yield from _variable_paths(plan.command.env, cwd)


def _variable_paths(env: Mapping[str, str | None], folder: Path) -> Iterator[Path]:
    for name in _CODE_VARIABLES:
        words = (env.get(name) or "").replace(";", os.pathsep).replace(" ", os.pathsep).split(os.pathsep)
        yield from (path for path in _paths_in(words, folder) if path.exists())


def _paths_in(value: Any, folder: Path) -> Iterator[Path]:
    """Words that are paths; a bare name is looked for on PATH, which is the client's. An option may hold one too."""
    words = value if isinstance(value, list) else value.split() if isinstance(value, str) else ()
    for word in words:
        if not isinstance(word, str) or "\0" in word:
            continue
        if not word.startswith("-") and ("/" in word or (folder / word).is_file()):
            yield folder / word
        if word.startswith("-") or "=" in word:
            yield from (path for part in _PARTS.split(word) if "/" in part and (path := folder / part).exists())
