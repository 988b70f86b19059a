"""Resolves what a caller asks for into what a debug adapter is given: one configuration, or the several of a
compound.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dragoman.core.localization import localize
from dragoman.debug.launch.commands.cargo import cargo_program
from dragoman.debug.launch.config_node import ConfigNode, ConfigOrigin, for_platform, require_usable
from dragoman.debug.launch.environment import (
    Additions,
    env_file_paths,
    read_env_files,
    read_environment,
    read_environment_list,
)
from dragoman.debug.launch.errors import LaunchError, LaunchNote, quoted, suggestion
from dragoman.debug.launch.programs import (
    TypeFor,
    UnwrapCommand,
    command_words,
    debugger_type_for,
    installed_script,
    is_launcher,
    no_program,
    unwrap_configuration,
)
from dragoman.debug.launch.tasks import TaskPlan, TaskPlanner, default_build_task
from dragoman.debug.launch.variables import Expander, Platform, VariableInputs, VariableScope, likely_variable
from dragoman.debug.launch.workspace_files import (
    WorkspaceFiles,
    compound_members,
    entries,
    file_kind,
    require_compound,
    require_configuration,
    require_workspace,
)
from dragoman.debug.model import LaunchRequest
from dragoman.workspace.file_access import FileAccessPolicy

_PLATFORMS: Mapping[str, Platform] = {"darwin": "osx", "win32": "windows"}
_THIS_PLATFORM: Platform = _PLATFORMS.get(sys.platform, "linux")
# Each one starts a debugger and a program; more would overload the machine.
MAX_SESSIONS = 32
# These keys are handled here, because adapters do not know them.
_HANDLED_KEYS = ("preLaunchTask", "postDebugTask", "envFile", "environment", "env")
# Adapters expect numbers here, but a variable can only give text.
_NUMBER_KEYS = (("processId",), ("pid",), ("port",), ("connect", "port"), ("listen", "port"))
ATTACH_TARGET_KEYS = ("processId", "pid", "port", "connect", "listen", "program", "websocketAddress")


@dataclass(frozen=True, slots=True)
class LaunchEnvironment:
    """The client that starts it: its workspace and its environment, never the daemon's."""

    workspace: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    folders: Mapping[str, Path] = field(default_factory=dict)
    platform: Platform = _THIS_PLATFORM
    rule: FileAccessPolicy = field(default_factory=FileAccessPolicy)
    is_trusted: bool = True
    """If not set, the start is only described: no envFile is read."""


@dataclass(frozen=True, slots=True)
class ResolvedConfiguration:
    """One session to start. `arguments` is everything for the adapter, with variables expanded and `env` included."""

    name: str
    type: str
    request: str
    arguments: Mapping[str, Any] = field(repr=False)
    env: Mapping[str, str | None] = field(repr=False)
    """On top of the client's environment; None takes a variable away."""
    folder: Path
    env_files: tuple[str, ...] = ()
    before: TaskPlan | None = None
    after: TaskPlan | None = None
    notes: tuple[LaunchNote, ...] = ()
    lists_environment: bool = False
    """Written as a list of names and values (`environment`), as the C++ debuggers take it."""


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What one start begins: one session, or the sessions of a compound."""

    name: str
    sessions: tuple[ResolvedConfiguration, ...]
    stop_all: bool = False
    before: TaskPlan | None = None


_NO_INPUTS = VariableInputs()


def resolve(
    request: LaunchRequest,
    client: LaunchEnvironment,
    caller: VariableInputs = _NO_INPUTS,
    type_for: TypeFor = debugger_type_for,
    unwrap: UnwrapCommand | None = None,
) -> LaunchPlan:
    """Reads files and runs nothing."""
    require_workspace(client.workspace)
    ways = [way for way in ("configuration_name", "configuration", "program") if getattr(request, way)]
    if len(ways) != 1:
        raise _bad_selection(ways)
    resolver = _LaunchResolver(client, caller, type_for, unwrap)
    if request.configuration_name:
        return _with_overrides(resolver.named(request.configuration_name), request)
    if request.configuration:
        return _with_overrides(resolver.inline(dict(request.configuration)), request)
    return resolver.program(request)


class _LaunchResolver:
    def __init__(
        self, client: LaunchEnvironment, caller: VariableInputs, type_for: TypeFor, unwrap: UnwrapCommand | None
    ) -> None:
        self._files = WorkspaceFiles(client.workspace, client.rule)
        self._reads_env_files = client.is_trusted
        self._type_for = type_for
        self._unwrap = unwrap
        self._scope = _scope(client, caller, self._files)
        self._planner: TaskPlanner | None = None

    def named(self, name: str) -> LaunchPlan:
        configurations, compounds = self._by_name("configurations"), self._by_name("compounds")
        if name in configurations:
            return LaunchPlan(name, (self._configuration(configurations[name]),))
        if name in compounds:
            return self._compound(compounds[name], configurations)
        raise self._unknown(name, [*configurations, *compounds])

    def _by_name(self, key: str) -> dict[str, ConfigNode]:
        """Entries that have a name; of two with one name, the first. A broken entry does not spoil the others."""
        nodes = [node for node in entries(self._files.launch, key) if isinstance(node.value, dict)]
        found: dict[str, ConfigNode] = {}
        for node in nodes:
            if isinstance(node.value.get("name"), str):
                found.setdefault(node.value["name"], node)
        return found

    def inline(self, configuration: dict[str, Any]) -> LaunchPlan:
        node = ConfigNode(configuration, (), ConfigOrigin("configuration", "bad_configuration"))
        require_usable(node)
        configuration.setdefault("request", "launch")
        if "type" not in configuration and "program" in configuration:
            configuration["type"] = self._type_of(node)
        configuration.setdefault("name", _base_name(configuration.get("program")))
        session = self._configuration(node)
        return LaunchPlan(session.name, (session,))

    def program(self, request: LaunchRequest) -> LaunchPlan:
        """The caller's own words: no variable is looked for in them."""
        origin = ConfigOrigin("program", "bad_configuration")
        given = ConfigNode(_as_configuration(request), (), origin)
        require_usable(given)
        found, build = self._unwrapped(given.object())
        given = require_usable(given.with_value(found))
        cwd = Path(os.path.normpath(self._files.folder / given.text("cwd")))
        env = read_environment(given.get("env"))
        if "type" in found:
            name = _base_name(found.get("program") or found.get("module"))
            fields = {"name": name, "request": "launch", "cwd": str(cwd)}
            resolved = ResolvedConfiguration(
                name, given.text("type"), "launch", {**found, **fields}, env, self._files.folder, before=build
            )
            return LaunchPlan(name, (resolved,))
        path = self._program_path(given.text("program"), cwd)
        kind = self._type_for(path)
        fields = {"name": path.name, "type": kind, "request": "launch", "program": str(path), "cwd": str(cwd)}
        arguments = {**given.object(), **fields}
        return LaunchPlan(
            path.name, (ResolvedConfiguration(path.name, kind, "launch", arguments, env, self._files.folder),)
        )

    def _program_path(self, program: str, cwd: Path) -> Path:
        """A relative path is the workspace's, as the caller sees it; else the folder's that it runs in."""
        folder = self._files.folder
        candidates = [Path(os.path.normpath(place / program)) for place in (folder, cwd)]
        found = next((path for path in candidates if file_kind(path) != "nothing"), None)
        found = found or installed_script(program, folder, self._scope.environment)
        if found is None:
            raise no_program(candidates[0])
        return found

    def _compound(self, node: ConfigNode, known: Mapping[str, ConfigNode]) -> LaunchPlan:
        require_compound(node)
        members = compound_members(node)
        if len(members) > MAX_SESSIONS:
            raise node.fault(localize("it has more than {limit} entries", limit=MAX_SESSIONS))
        sessions = [self._configuration(self._member(member, known)) for member in members]
        before = self._task(self._expanded(node.get("preLaunchTask")))
        return LaunchPlan(node.text("name"), tuple(sessions), node.flag("stopAll"), before)

    def _member(self, member: ConfigNode, known: Mapping[str, ConfigNode]) -> ConfigNode:
        name = member.string()
        if name not in known:
            problem = localize("no configuration is named {name}", name=quoted(name))
            raise member.fault(problem, code="unknown_configuration", hint=suggestion(name, known), known=list(known))
        return known[name]

    def _configuration(self, written: ConfigNode) -> ResolvedConfiguration:
        node = for_platform(written, self._scope.platform)
        require_configuration(node)
        expander = self._expander(node)
        started, build = self._unwrapped(expander.expand(node).object())
        node = node.with_value(started)
        env_files = env_file_paths(node.get("envFile"), self._files.folder)
        files = read_env_files(env_files if self._reads_env_files else [], self._scope.environment)
        env: Additions = {
            **files.values,
            **read_environment_list(_list_member(node, "environment")),
            **read_environment(node.get("env")),
        }
        return ResolvedConfiguration(
            name=node.required_text("name"),
            type=node.required_text("type"),
            request=node.text("request"),
            arguments=self._arguments(node, env),
            env=env,
            folder=self._files.folder,
            env_files=tuple(str(path) for _, path in env_files),
            before=_in_sequence(self._task(node.get("preLaunchTask")), build),
            after=self._task(node.get("postDebugTask")),
            notes=(*files.notes, *_unknown_variable_notes(expander)),
            lists_environment=_list_member(node, "environment") is not None,
        )

    def _arguments(self, node: ConfigNode, env: Additions) -> dict[str, Any]:
        _require_types(node)
        arguments = {key: value for key, value in node.object().items() if key not in _HANDLED_KEYS}
        process_id = self._scope.caller.process_id
        if node.text("request") == "attach" and process_id and not any(key in arguments for key in ATTACH_TARGET_KEYS):
            arguments["processId"] = process_id
        for path in _NUMBER_KEYS:
            _make_number(arguments, path)
        return {**arguments, "env": env} if env else arguments

    def _expander(self, node: ConfigNode) -> Expander:
        declared = [] if node.origin.document is None else entries(self._files.launch, "inputs")
        return Expander(self._scope, declared)

    def _expanded(self, node: ConfigNode | None) -> ConfigNode | None:
        return None if node is None else self._expander(node).expand(node)

    def _task(self, wanted: ConfigNode | None) -> TaskPlan | None:
        if wanted is None or wanted.value in (None, "", []):
            return None
        if self._planner is None:
            self._planner = TaskPlanner(self._scope)
        plans = [self._planner.plan(it) for it in wanted.one_or_more()]
        return plans[0] if len(plans) == 1 else TaskPlan(plans[-1].label, None, tuple(plans), in_sequence=True)

    def _unwrapped(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], TaskPlan | None]:
        """What a launcher starts, and what must be built first."""
        cwd = Path(os.path.normpath(self._files.folder / str(given.get("cwd") or "")))
        is_started = given.get("request", "launch") == "launch" and isinstance(given.get("program"), str)
        if self._unwrap is None or not is_started or not is_launcher(given, self._files.folder, cwd):
            return dict(given), None
        words = command_words(given)
        is_cargo = words[0] == "cargo"
        found: Mapping[str, Any] = {"program": "cargo", "args": words[1:]} if is_cargo else self._unwrap(words, cwd)
        if found.get("program") != "cargo":
            first = found.get("preLaunchTask")
            plan = self._task(ConfigNode(first, ("preLaunchTask",), ConfigOrigin("program", "bad_configuration")))
            return unwrap_configuration(given, {key: it for key, it in found.items() if key != "preLaunchTask"}), plan
        env = {**self._scope.environment, **(found.get("env") or {})}
        built, plan = cargo_program(["cargo", *found["args"]], Path(found.get("cwd") or cwd), env)
        return unwrap_configuration(given, {**found, **built}), plan

    def _type_of(self, node: ConfigNode) -> str:
        program = Expander(self._scope, []).expand(node.child("program", node.value["program"])).string()
        cwd = Expander(self._scope, []).expand(node.child("cwd", node.text("cwd"))).string()
        args = Expander(self._scope, []).expand(node.child("args", node.value.get("args") or []))
        found, _ = self._unwrapped({"program": program, "cwd": cwd, "args": args.value})
        if "type" in found:
            return str(found["type"])
        program = str(found["program"])
        return self._type_for(Path(os.path.normpath(self._files.folder / cwd / program)))

    def _unknown(self, name: str, known: list[str]) -> LaunchError:
        file = self._files.launch.origin.name
        return LaunchError(
            "unknown_configuration",
            localize("No debug configuration named '{name}' in {file}.", name=quoted(name)[1:-1], file=file),
            hint=suggestion(name, known),
            known=list(dict.fromkeys(known)),
        )


def _in_sequence(first: TaskPlan | None, then: TaskPlan | None) -> TaskPlan | None:
    return replace(then, depends_on=(first,)) if first and then else first or then


def _scope(client: LaunchEnvironment, caller: VariableInputs, files: WorkspaceFiles) -> VariableScope:
    folders = client.folders or {client.workspace.name: client.workspace}
    return VariableScope(
        files=files,
        platform=client.platform,
        home=client.environment.get("HOME") or str(Path.home()),
        environment=client.environment,
        folders=folders,
        caller=caller,
        default_build_task=lambda: default_build_task(files),
    )


def _with_overrides(launch: LaunchPlan, request: LaunchRequest) -> LaunchPlan:
    """The caller's arguments override what is written."""
    if not (request.args or request.cwd or request.env):
        return launch
    return replace(launch, sessions=tuple(_override(session, request) for session in launch.sessions))


def _override(session: ResolvedConfiguration, request: LaunchRequest) -> ResolvedConfiguration:
    env = {**session.env, **request.env}
    given: dict[str, Any] = {"args": list(request.args)} if request.args else {}
    given |= {"cwd": os.path.normpath(session.folder / request.cwd)} if request.cwd else {}
    given |= {"env": env} if env else {}
    return replace(session, arguments={**session.arguments, **given}, env=env)


def _as_configuration(request: LaunchRequest) -> dict[str, Any]:
    whole = {
        "program": request.program,
        "args": list(request.args),
        "cwd": request.cwd or None,
        "env": dict(request.env),
    }
    return {key: value for key, value in whole.items() if value}


def _list_member(node: ConfigNode, key: str) -> ConfigNode | None:
    """A member that other debuggers give another meaning, and then another form."""
    member = node.get(key)
    return member if member is not None and isinstance(member.value, list) else None


def _require_types(node: ConfigNode) -> None:
    """Keys that every debugger understands. `args` may be one string, which some split themselves."""
    for key in ("program", "cwd", "module"):
        node.text(key)
    args = node.get("args")
    for arg in [] if args is None or isinstance(args.value, str) else args.items():
        arg.string()


def _make_number(arguments: dict[str, Any], path: tuple[str, ...]) -> None:
    *outer, last = path
    holder: Any = arguments
    for key in outer:
        holder = holder.get(key)
        if not isinstance(holder, dict):
            return
    text = holder.get(last)
    if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) <= 10:
        holder[last] = int(text)


def _unknown_variable_notes(expander: Expander) -> list[LaunchNote]:
    """A misspelt variable would otherwise be found only by what it breaks."""
    notes = []
    for variable in dict.fromkeys(expander.unknown_variables):
        likely = likely_variable(variable)
        if likely is not None:
            text = localize("Not a variable; left unchanged. Did you mean {likely}?", likely=likely)
            notes.append(LaunchNote(text, f"${{{variable}}}"))
    return notes


def _base_name(program: object) -> str:
    return Path(program).name or "inline" if isinstance(program, str) else "inline"


def _bad_selection(ways: list[str]) -> LaunchError:
    if ways:
        message = localize("Pass only one of {ways}.", ways=", ".join(f"`{way}`" for way in ways))
    else:
        message = localize("Nothing to start was given.")
    hint = localize("Pass `configuration_name`, an inline `configuration`, or `program` with `args`.")
    return LaunchError("bad_start", message, hint=hint)
