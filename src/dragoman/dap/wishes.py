"""What an editor's configuration asks for: a session to join, or a program to start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.dap.refusals import needs_target
from dragoman.debug.wishes import Wish

OURS = "dragoman"
# The editor acts on these itself, before and after us; or they are notes that it makes to itself.
_EDITORS = frozenset(
    {"preLaunchTask", "postDebugTask", "internalConsoleOptions", "presentation", "serverReadyAction", "debugServer"}
)
_TAKEN = frozenset(
    {"dragomanType", "configuration", "configurationName", "workspace", "inputs", "noDebug", "mirrorsBreakpoints",
     "readOnly", "session"}
)  # fmt: skip
_OF_A_PROGRAM = frozenset({"program", "args", "cwd", "env", "name", "type", "request"})
_TARGETS = frozenset({"program", "module", "code", "dragomanType", "configuration", "configurationName"})
_ATTACHED_TO = frozenset(
    {"processId", "pid", "port", "connect", "listen", "connectionPort", "connectionIP", "VSCodeAsClient"}
)


def starts_something(arguments: Mapping[str, Any]) -> bool:
    """Of an `attach`: whether it means a program, and not a session."""
    return bool((_TARGETS | _ATTACHED_TO) & arguments.keys()) and "session" not in arguments


def wish_of(arguments: Mapping[str, Any], request: str) -> Wish:
    """In this order: a whole configuration within it, the name of one in launch.json, itself with the debugger's type,
    or just a program."""
    no_debug = arguments.get("noDebug") is True
    inner = arguments.get("configuration")
    if isinstance(inner, dict):
        return Wish(configuration={"request": request, **_without_editors(inner)}, no_debug=no_debug)
    name = arguments.get("configurationName")
    if isinstance(name, str) and name:
        return Wish(configuration_name=name, inputs=_texts(arguments.get("inputs")), no_debug=no_debug)
    type = _type(arguments)
    given = {key: value for key, value in _without_editors(arguments).items() if key not in _TAKEN}
    if type:
        return Wish(configuration={**given, "type": type, "request": request}, no_debug=no_debug)
    if given.get("program") and given.keys() - _OF_A_PROGRAM:  # the debugger's own words, of a type that the file says
        bare = {key: value for key, value in given.items() if key != "type"}
        return Wish(configuration={**bare, "request": request}, no_debug=no_debug)
    return _of_program(given, no_debug=no_debug)


def _of_program(given: Mapping[str, Any], *, no_debug: bool) -> Wish:
    program = given.get("program")
    if not isinstance(program, str) or not program:
        raise needs_target()
    args = given.get("args")
    return Wish(
        program=program,
        args=tuple(map(str, args)) if isinstance(args, list) else (),
        cwd=str(given.get("cwd") or ""),
        env=_texts(given.get("env")),
        no_debug=no_debug,
    )


def _type(arguments: Mapping[str, Any]) -> str:
    """The debugger's own: `type` names us where an editor chose us by it."""
    for key in ("dragomanType", "type"):
        value = arguments.get(key)
        if isinstance(value, str) and value not in {"", OURS}:
            return value
    return ""


def _without_editors(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in _EDITORS and not key.startswith("__")}


def _texts(values: object) -> dict[str, str]:
    return {str(key): str(value) for key, value in values.items()} if isinstance(values, dict) else {}
