"""The commands of the IDE as one table, and the states in which each may be sent.

The runtime dies of a malformed command, so nothing else is ever encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from dragoman.core.errors import LocalProtocolError

TOP_STACK_ID = 2  # the `index` of the innermost frame
_EXTENDED_TEXTS = ("condition", "hitCondition", "logMessage")

# Never answered. If one had an id, the runtime would echo it in the answer to the next command without an id.
SILENT = frozenset({"LuaGarbageCollect"})
_BREAKPOINT_KEYS = frozenset({"line", "condition", "logMessage", "type", "verified"})
_CONDITION, _LOG, _LINE = 0, 1, 2


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is needed")
    return value


def _flag(value: Any) -> str:
    """Flags are strings: for every flag but useCHook the runtime reads a JSON true as false."""
    text = str(value).lower() if isinstance(value, bool) else value
    if text not in ("true", "false"):
        raise ValueError("true or false is needed")
    return str(text)


def _at_least(least: int, most: int = 2**53) -> Callable[[Any], str]:
    """A whole number as decimal text, within what a Lua 5.1 number holds exactly."""

    def number(value: Any) -> str:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"a whole number from {least} to {most} is needed")
        return str(value)

    return number


def _breakpoints(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise TypeError("a list of breakpoints is needed, empty to clear them")
    return [_breakpoint(node) for node in value]


def _breakpoint(node: Any) -> dict[str, Any]:
    if not isinstance(node, Mapping) or not node.keys() <= _BREAKPOINT_KEYS:
        raise ValueError("a breakpoint has a line, and a condition or a logMessage")
    condition, log = _text(node.get("condition") or ""), _text(node.get("logMessage") or "")
    if condition and log:
        raise ValueError("a breakpoint has a condition or a logMessage, not both")
    kind, extra = _LINE, {}
    if condition:
        kind, extra = _CONDITION, {"condition": condition}
    elif log:
        kind, extra = _LOG, {"logMessage": log}
    if node.get("type", kind) not in (kind, str(kind)):
        raise ValueError("the type of a breakpoint follows from its condition or logMessage")
    return {"verified": True, "type": kind, "line": int(_at_least(1)(node.get("line"))), **extra}


def _extended_breakpoints(value: Any) -> list[dict[str, Any]]:
    """In Dragoman's extension a condition, a hit condition and a message may be combined."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise TypeError("a list of breakpoints is needed, empty to clear them")
    return [_extended_breakpoint(node) for node in value]


def _extended_breakpoint(node: Any) -> dict[str, Any]:
    if not isinstance(node, Mapping) or not node.keys() <= _BREAKPOINT_KEYS | {"hitCondition"}:
        raise ValueError("a breakpoint has a line, a condition, a hitCondition and a logMessage")
    texts = {name: _text(node[name]) for name in _EXTENDED_TEXTS if node.get(name)}
    kind = _LOG if "logMessage" in texts else _CONDITION if texts else _LINE
    return {"verified": True, "type": kind, "line": int(_at_least(1)(node.get("line"))), **texts}


def _watches(value: Any) -> list[dict[str, str]]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise TypeError("a list of data breakpoints is needed, empty to clear them")
    return [_watch(node) for node in value]


def _watch(node: Any) -> dict[str, str]:
    if not isinstance(node, Mapping) or not {"id"} <= node.keys() <= {"id", "condition", "hitCondition"}:
        raise ValueError("a data breakpoint has an id, a condition and a hitCondition")
    return {name: _text(text) for name, text in node.items() if text}


class CommandField(msgspec.Struct, frozen=True):
    encode: Callable[[Any], Any]
    required: bool = True


_OPTIONAL_TEXT, _OPTIONAL_FLAG = CommandField(_text, required=False), CommandField(_flag, required=False)
_FRAME = CommandField(_at_least(TOP_STACK_ID))
_REFERENCE = CommandField(_at_least(1))


COMMANDS: dict[str, dict[str, CommandField]] = {
    "initSuccess": {
        "stopOnEntry": CommandField(_flag),
        "luaFileExtension": CommandField(_text),
        "cwd": CommandField(_text),
        "TempFilePath": CommandField(_text),
        "isNeedB64EncodeStr": _OPTIONAL_FLAG,
        "logLevel": CommandField(_at_least(0, 2), required=False),
        "pathCaseSensitivity": _OPTIONAL_FLAG,
        "OSType": _OPTIONAL_TEXT,
        "clibPath": _OPTIONAL_TEXT,
        "useCHook": _OPTIONAL_FLAG,
        "adapterVersion": _OPTIONAL_TEXT,
        "autoPathMode": _OPTIONAL_FLAG,
        "distinguishSameNameFile": _OPTIONAL_FLAG,
        "truncatedOPath": _OPTIONAL_TEXT,
        "DevelopmentMode": _OPTIONAL_FLAG,
        # Commands of the extension; a runtime that does not know them ignores them.
        "dragoman": _OPTIONAL_TEXT,
        "exceptions": _OPTIONAL_TEXT,
        "heartbeat": CommandField(_at_least(0), required=False),
    },
    "setBreakPoint": {"path": CommandField(_text), "bks": CommandField(_breakpoints)},
    "continue": {
        "isFakeHit": _OPTIONAL_FLAG,
        "fakeBKPath": _OPTIONAL_TEXT,
        "fakeBKLine": CommandField(_at_least(1), required=False),
    },
    "stopOnStep": {},
    "stopOnStepIn": {},
    "stopOnStepOut": {},
    "getVariable": {"varRef": _REFERENCE, "stackId": _FRAME},
    "setVariable": {
        "varRef": _REFERENCE,
        "stackId": _FRAME,
        "newValue": CommandField(_text),
        "varName": CommandField(_text),
    },
    "getWatchedVariable": {"varName": CommandField(_text), "stackId": _FRAME},
    "runREPLExpression": {"Expression": CommandField(_text), "stackId": _FRAME},
    "LuaGarbageCollect": {},
    "stopRun": {"attach": _OPTIONAL_FLAG},
}


_COROUTINE, _NUMBER = _OPTIONAL_TEXT, CommandField(_at_least(0), required=False)


# Only for Dragoman's own runtime, once it has confirmed that it understands. Any other would resume the program.
EXTENDED: dict[str, dict[str, CommandField]] = {
    "pause": {},
    "stack": {"start": _NUMBER, "count": _NUMBER, "coroutine": _COROUTINE},
    "coroutines": {},
    "scopes": {"frame": _FRAME, "coroutine": _COROUTINE},
    "variables": {
        "reference": _REFERENCE,
        **dict.fromkeys(("start", "count", "depth", "budget", "text", "timeout"), _NUMBER),
    },
    "evaluate": {
        "expression": CommandField(_text),
        "frame": CommandField(_at_least(TOP_STACK_ID), required=False),
        "coroutine": _COROUTINE,
        "text": _NUMBER,
        "timeout": _NUMBER,
    },
    "assign": {
        "reference": _REFERENCE,
        "position": CommandField(_at_least(0)),
        "expression": CommandField(_text),
        "frame": CommandField(_at_least(TOP_STACK_ID), required=False),
        "timeout": _NUMBER,
    },
    "watchable": {"reference": _REFERENCE, "position": CommandField(_at_least(0))},
    "setDataBreakpoints": {"data": CommandField(_watches)},
    "setExceptions": {"filter": CommandField(_text)},
    "sources": {"limit": _NUMBER},
    "heartbeat": {},
}
_ALL = (
    COMMANDS | EXTENDED | {"setBreakPoint": {"path": CommandField(_text), "bks": CommandField(_extended_breakpoints)}}
)


def encoded_info(cmd: str, info: Mapping[str, Any], *, extended: bool = False) -> dict[str, Any]:
    """`info` as the runtime needs it: an object with every required field, flags and numbers as text."""
    commands = _ALL if extended else COMMANDS
    if cmd not in commands:
        reason = f"{cmd!r} is not a command: the runtime would resume the program and stop listening."
        raise LocalProtocolError("unknown_command", reason)
    if not isinstance(info, Mapping):
        raise LocalProtocolError("bad_info", f"{cmd} needs its info as an object: without one the program dies.")
    fields = commands[cmd]
    for name in info:
        if name not in fields:
            raise LocalProtocolError("unknown_field", f"{cmd} has no field {name!r}.")
    return {name: _encoded(cmd, name, fields[name], info) for name in fields if _is_sent(name, fields, info)}


def _is_sent(name: str, fields: Mapping[str, CommandField], info: Mapping[str, Any]) -> bool:
    return name in info or fields[name].required


def _encoded(cmd: str, name: str, field: CommandField, info: Mapping[str, Any]) -> Any:
    if name not in info:
        raise LocalProtocolError("missing_field", f"{cmd} needs {name!r}.")
    try:
        return field.encode(info[name])
    except (TypeError, ValueError) as error:
        raise LocalProtocolError("bad_field", f"{name!r} of {cmd}: {error}.") from error


class LuaPandaState(StrEnum):
    IDLE = "idle"  # connected; the IDE speaks first
    INIT = "init"  # initSuccess is sent and not answered
    STOPPED = "stopped"
    RUNNING = "running"
    CLOSED = "closed"  # after stopRun nothing is read any more


# Messages of the runtime that change the state; every other is named after a command.
INITIALISED, STOP = "<initialised>", "<stop>"


_IDLE, _INIT, _STOPPED, _RUNNING, _CLOSED = LuaPandaState


TRANSITIONS: dict[LuaPandaState, dict[str, LuaPandaState]] = {
    _IDLE: {"initSuccess": _INIT},
    _INIT: {
        INITIALISED: _RUNNING,
        STOP: _STOPPED,
        "setBreakPoint": _INIT,
        "LuaGarbageCollect": _INIT,
        "stopRun": _CLOSED,
    },
    _STOPPED: {
        STOP: _STOPPED,
        "setBreakPoint": _STOPPED,
        "getVariable": _STOPPED,
        "setVariable": _STOPPED,
        "getWatchedVariable": _STOPPED,
        "runREPLExpression": _STOPPED,
        "LuaGarbageCollect": _STOPPED,
        # From the moment they are sent: a later command would reach a running program.
        "continue": _RUNNING,
        "stopOnStep": _RUNNING,
        "stopOnStepIn": _RUNNING,
        "stopOnStepOut": _RUNNING,
        "stopRun": _CLOSED,
    },
    _RUNNING: {
        STOP: _STOPPED,
        "setBreakPoint": _RUNNING,
        "getWatchedVariable": _RUNNING,
        "runREPLExpression": _RUNNING,
        "LuaGarbageCollect": _RUNNING,
        "stopRun": _CLOSED,
    },
    _CLOSED: {},
}


_REASONS = {
    LuaPandaState.IDLE: "the connection begins with initSuccess",
    LuaPandaState.INIT: "initSuccess has not been answered yet",
    LuaPandaState.STOPPED: "the program is stopped, and the connection was set up before",
    LuaPandaState.RUNNING: "the program is running, and the runtime would drop it without an answer",
    LuaPandaState.CLOSED: "the connection has ended",
}


def state_after_sending(state: LuaPandaState, cmd: str, *, extended: bool = False) -> LuaPandaState:
    """Refuse what the runtime would drop, or crash on, in this state. Dragoman's own runtime answers every command."""
    if (
        extended
        and state in (LuaPandaState.STOPPED, LuaPandaState.RUNNING)
        and cmd not in TRANSITIONS[state]
        and cmd in EXTENDED
    ):
        return state
    try:
        return TRANSITIONS[state][cmd]
    except KeyError:
        raise LocalProtocolError("wrong_state", f"{cmd} cannot be sent now: {_REASONS[state]}.") from None


def state_after_receiving(state: LuaPandaState, what: str) -> LuaPandaState:
    """A stop that crosses our stopRun changes nothing."""
    return TRANSITIONS[state].get(what, state)
