"""What a start would run, told to the person who is asked whether to trust a workspace. Nothing runs for it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from dragoman.debug.launch.faults import LaunchError
from dragoman.debug.launch.resolving import Launch, Resolved
from dragoman.debug.launch.tasks import TaskPlan
from dragoman.phrases import say

# Keys that decide nothing of what runs, or that are told elsewhere in the question. Every other key is told, also one
# that nobody here knows: debuggers have ever new ones that name commands, scripts and files to write.
_TOLD_OTHERWISE = frozenset(
    {"name", "type", "request", "program", "module", "args", "cwd", "env", "envFile", "environment"}
    | {"preLaunchTask", "postDebugTask"}  # as tasks
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
    | {"processId", "pid", "host", "port", "connect", "listen", "address", "coreFile"}  # as what is attached to
)


@dataclass(frozen=True, slots=True)
class WouldRun:
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

    def told(self) -> dict[str, Any]:
        """Without what it does not say."""
        return {key: value for key, value in asdict(self).items() if value}


def needs_trust(launch: Launch, workspace: Path, runs_with: Sequence[Mapping[str, str]] = ()) -> LaunchError:
    """What would run is data: names and lines of a workspace that nobody has vouched for."""
    return LaunchError(
        "needs_trust",
        say("Nothing was started: nobody has said yet that what {workspace} holds may run.", workspace=workspace),
        hint=say(
            "Look at what would run; whoever owns this machine allows it with: dragoman trust {folder}",
            folder=shlex.quote(str(workspace)),
        ),
        folder=str(workspace),
        would_run=[one.told() for one in what_would_run(launch, runs_with)],
    )


def what_would_run(launch: Launch, runs_with: Sequence[Mapping[str, str]] = ()) -> list[WouldRun]:
    """In the order in which it would happen; a task that several depend on once. `runs_with` is of each session."""
    told: dict[int, TaskPlan] = {}
    found = list(_tasks(launch.before, told))
    for session, facts in zip_longest(launch.sessions, runs_with):
        found += [*_tasks(session.before, told), replace(_program(session), runs_with=facts)]
    for session in launch.sessions:
        found += _tasks(session.after, told)
    return found


def digest_of(
    launch: Launch, runs_with: Sequence[Mapping[str, str]], stdin: str | None, moved: Mapping[str, str]
) -> str:
    """Of everything that decides what runs, values of variables included: what was approved is what has this digest.
    `moved` are folders that are made for one call, and what they stand for in every call."""
    whole = [
        _content(launch.before),
        [
            [it.type, it.request, it.arguments, it.env, str(it.folder), _content(it.before), _content(it.after)]
            for it in launch.sessions
        ],
        [dict(it) for it in runs_with],
        stdin,
    ]
    text = json.dumps(whole, sort_keys=True, default=str, ensure_ascii=False)
    for folder, name in moved.items():
        text = text.replace(json.dumps(folder, ensure_ascii=False)[1:-1], name)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _content(plan: TaskPlan | None) -> Any:
    if plan is None:
        return None
    command = plan.command
    runs = None if command is None else [command.argv, command.cwd, command.env]
    return [plan.label, runs, plan.in_sequence, [_content(it) for it in plan.depends_on]]


def _tasks(plan: TaskPlan | None, told: dict[int, TaskPlan]) -> Iterator[WouldRun]:
    if plan is None or id(plan) in told:
        return
    told[id(plan)] = plan
    for before in plan.depends_on:
        yield from _tasks(before, told)
    if plan.command is not None:
        command = plan.command
        yield WouldRun("task", plan.label, command.line, command.cwd, tuple(sorted(command.env)))


def _program(session: Resolved) -> WouldRun:
    arguments = session.arguments
    settings = {key: arguments[key] for key in arguments if key not in _TOLD_OTHERWISE | _RUNS_NOTHING}
    line = _command_line(arguments) if session.request == "launch" else _target(arguments)
    cwd = str(session.folder / (arguments.get("cwd") or ""))
    what: Literal["program", "attach"] = "program" if session.request == "launch" else "attach"
    return WouldRun(what, session.name, line, cwd, tuple(sorted(session.env)), settings or None, session.env_files)


def _command_line(arguments: Mapping[str, Any]) -> str:
    start = ["-m", str(arguments["module"])] if arguments.get("module") else [str(arguments.get("program") or "")]
    args = arguments.get("args") or []
    if isinstance(args, str):
        return f"{shlex.join(start)} {args}"
    return shlex.join([part for part in start if part] + args)


def _target(arguments: Mapping[str, Any]) -> str:
    keys = ("processId", "pid", "host", "port", "connect", "listen", "address", "program", "coreFile")
    return ", ".join(f"{key} {arguments[key]}" for key in keys if key in arguments)
