"""What an editor says about itself when it connects, and what its `launch` or `attach` arguments ask for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dragoman.core.localization import Language
from dragoman.debug.model import LaunchRequest
from dragoman.protocols.control import Hello
from dragoman.servers.dap.errors import needs_target
from dragoman.workspace.caller import Caller, RemoteCaller, RunInTerminal

DRAGOMAN_TYPE = "dragoman"


@dataclass(frozen=True, slots=True)
class EditorContext:
    """What is known about an editor before it sends its first request.

    The environment is for the programs that the editor starts. It is never logged and never journalled.
    """

    workspace: Path
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    language: Language = "en"
    session: str = ""
    """The session that the editor was started for, if any."""
    read_only: bool = False
    remote: RemoteCaller | None = None
    """The editor runs on another machine: opening a folder there does not mean trust here."""

    @classmethod
    def of(cls, hello: Hello) -> EditorContext:
        """Read the context. It comes from another process: values of the wrong type are left out."""
        about = hello.about
        environment = about.get("environment")
        session = about.get("session")
        return cls(
            workspace=_absolute_path(about.get("workspace")),
            cwd=_absolute_path(about.get("cwd")),
            environment=_string_items(environment) if isinstance(environment, dict) else {},
            language="zh" if hello.language == "zh" else "en",
            session=session if isinstance(session, str) else "",
            read_only=about.get("read_only") is True,
            remote=RemoteCaller.of(about),
        )

    def client(self, id: str, workspace: Path | None = None, terminal: RunInTerminal | None = None) -> Caller:
        place = workspace or self.workspace
        return Caller(
            id,
            place,
            self.cwd,
            environment=self.environment,
            trusts_workspace=_is_own(place) and self.remote is None,
            remote=self.remote,
            terminal=terminal,
        )

    def at(self, workspace: object) -> EditorContext:
        """The same context in the folder that the configuration names."""
        found = _absolute_path(workspace)
        return self if found == Path("/") else replace(self, workspace=found, cwd=found)


def _is_own(workspace: Path) -> bool:
    """Whether the folder is the person's own, so that opening it in an editor means trust.

    A folder of another user is not, and neither is the root.
    """
    try:
        return workspace != workspace.parent and workspace.stat().st_uid == os.getuid()
    except OSError:
        return False


def _absolute_path(value: object) -> Path:
    return Path(value) if isinstance(value, str) and value.startswith("/") and "\0" not in value else Path("/")


def _string_items(values: Mapping[Any, Any]) -> dict[str, str]:
    return {name: value for name, value in values.items() if isinstance(name, str) and isinstance(value, str)}


# The editor handles these itself, or they are its own notes.
_EDITOR_KEYS = frozenset(
    {"preLaunchTask", "postDebugTask", "internalConsoleOptions", "presentation", "serverReadyAction", "debugServer"}
)
_TAKEN = frozenset(
    {"dragomanType", "configuration", "configurationName", "workspace", "inputs", "noDebug", "mirrorsBreakpoints",
     "readOnly", "session"}
)  # fmt: skip
_PROGRAM_KEYS = frozenset({"program", "args", "cwd", "env", "name", "type", "request"})
_TARGETS = frozenset({"program", "module", "code", "dragomanType", "configuration", "configurationName"})
_ATTACHED_TO = frozenset(
    {"processId", "pid", "port", "connect", "listen", "connectionPort", "connectionIP", "VSCodeAsClient"}
)


def starts_program(arguments: Mapping[str, Any]) -> bool:
    """Whether an `attach` means a program, not a Dragoman session."""
    return bool((_TARGETS | _ATTACHED_TO) & arguments.keys()) and "session" not in arguments


def launch_request_from(arguments: Mapping[str, Any], request: str) -> LaunchRequest:
    """Find the launch request: a whole configuration in the arguments, the name of one in launch.json, the arguments
    themselves with the debugger's type, or only a program. They are tried in this order."""
    no_debug = arguments.get("noDebug") is True
    inner = arguments.get("configuration")
    if isinstance(inner, dict):
        return LaunchRequest(configuration={"request": request, **_without_editors(inner)}, no_debug=no_debug)
    name = arguments.get("configurationName")
    if isinstance(name, str) and name:
        return LaunchRequest(configuration_name=name, inputs=_texts(arguments.get("inputs")), no_debug=no_debug)
    type = _type(arguments)
    given = {key: value for key, value in _without_editors(arguments).items() if key not in _TAKEN}
    if type:
        return LaunchRequest(configuration={**given, "type": type, "request": request}, no_debug=no_debug)
    # The debugger's own arguments; the file name gives the type.
    if given.get("program") and given.keys() - _PROGRAM_KEYS:
        bare = {key: value for key, value in given.items() if key != "type"}
        return LaunchRequest(configuration={**bare, "request": request}, no_debug=no_debug)
    return _program_request(given, no_debug=no_debug)


def _program_request(given: Mapping[str, Any], *, no_debug: bool) -> LaunchRequest:
    program = given.get("program")
    if not isinstance(program, str) or not program:
        raise needs_target()
    args = given.get("args")
    return LaunchRequest(
        program=program,
        args=tuple(map(str, args)) if isinstance(args, list) else (),
        cwd=str(given.get("cwd") or ""),
        env=_texts(given.get("env")),
        no_debug=no_debug,
    )


def _type(arguments: Mapping[str, Any]) -> str:
    """The debugger's type. `type` names Dragoman if the editor chose Dragoman by it."""
    for key in ("dragomanType", "type"):
        value = arguments.get(key)
        if isinstance(value, str) and value not in {"", DRAGOMAN_TYPE}:
            return value
    return ""


def _without_editors(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in _EDITOR_KEYS and not key.startswith("__")}


def _texts(values: object) -> dict[str, str]:
    return {str(key): str(value) for key, value in values.items()} if isinstance(values, dict) else {}
