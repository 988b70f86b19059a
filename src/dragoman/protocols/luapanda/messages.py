"""What the runtime sends, typed where Dragoman reads it: kinds, stacks, variables, replies.

`written_by` finds which end wrote a line: captures often contain both directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import msgspec

from dragoman.core.errors import RemoteProtocolError

Kind = Literal["ack", "stop", "notice", "reply"]


STOPS = frozenset(
    {
        "stopOnEntry",
        "stopOnBreakpoint",
        "stopOnCodeBreakpoint",
        "stopOnStep",
        "stopOnStepIn",
        "stopOnStepOut",
    }
)
# Unsolicited messages of the runtime, and the field of `info` that contains the text.
NOTICES = {
    "output": "logInfo",
    "tip": "logInfo",
    "tipError": "logInfo",
    "debug_console": "logInfo",
    "refreshLuaMemory": "memInfo",
}
ACKNOWLEDGED = frozenset({"continue", "stopOnStep", "stopOnStepIn", "stopOnStepOut", "setBreakPoint", "stopRun"})
ANSWERED = ACKNOWLEDGED | {
    "initSuccess",
    "getVariable",
    "setVariable",
    "getWatchedVariable",
    "runREPLExpression",
}
# Ids that name no command: the runtime sends "" for one never set, and "0" or 0 for none.
NO_ID = frozenset({"", "0"})


_T = TypeVar("_T")


class StackEntry(msgspec.Struct, frozen=True, kw_only=True):
    """`index` names the frame in later commands; the top one is 2, and C functions leave gaps."""

    file: str = ""
    opath: str = msgspec.field(name="oPath", default="")
    line: int
    index: int
    name: str = ""


class LuaPandaVariable(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Numbers come as text or as numbers, and flags as text or as booleans; here they are converted."""

    name: str
    type: str = ""
    value: str = ""
    variables_reference: int = 0
    index: int | None = None
    is_success: bool = True


class Assignment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to setVariable. `value` is missing for nil, and a JSON number or boolean for those types."""

    success: bool
    tip: str = ""
    name: str = ""
    type: str = ""
    value: Any = None
    variables_reference: int = 0


class RuntimeInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The whole negotiation: what the runtime reports in its answer to initSuccess."""

    version: str = msgspec.field(name="debuggerVer", default="")
    has_hook_library: bool = msgspec.field(name="UseHookLib", default=False)
    has_loadstring: bool = msgspec.field(name="UseLoadstring", default=False)
    encodes_strings: bool = msgspec.field(name="isNeedB64EncodeStr", default=False)
    extension: str = msgspec.field(name="dragoman", default="")
    lua: str = ""
    state: str = ""
    features: tuple[str, ...] = ()

    @property
    def is_extended(self) -> bool:
        """Whether it is Dragoman's own runtime, and has recognised Dragoman."""
        return self.extension == "1"


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the runtime. `fields` is all of it, as it came."""

    cmd: str
    callback_id: str
    info: Any
    stack: tuple[StackEntry, ...] | None
    fields: dict[str, Any]

    @property
    def text(self) -> str:
        """The text of a notice."""
        info = self.info if isinstance(self.info, dict) else {}
        return str(info.get(NOTICES.get(self.cmd, ""), ""))


def message_from(fields: Mapping[str, Any]) -> Message:
    cmd = fields.get("cmd")
    if not isinstance(cmd, str):
        raise RemoteProtocolError("missing_cmd", "A message has no cmd.")
    stack = fields.get("stack")
    return Message(
        cmd=cmd,
        callback_id=id_text(fields.get("callbackId")) or "",
        info=fields.get("info"),
        stack=None if stack is None else _read(stack, tuple[StackEntry, ...], "stack"),
        fields=dict(fields),
    )


def id_text(value: Any) -> str | None:
    """Ids are text on both sides; the runtime echoes 5 as "5"."""
    return value if value is None or isinstance(value, str) else str(value)


def classify(message: Message) -> Kind:
    """A step's acknowledgement and its stop share their cmd, and may share their id: only a stop has a stack."""
    if message.stack is not None:
        return "stop"
    if message.cmd in NOTICES:
        return "notice"
    if message.cmd in ACKNOWLEDGED and not message.info:
        return "ack"
    return "reply" if message.cmd in ANSWERED or message.callback_id not in NO_ID else "notice"


def read_variables(message: Message) -> tuple[LuaPandaVariable, ...]:
    """Of getVariable, getWatchedVariable and runREPLExpression."""
    return _read(message.info, tuple[LuaPandaVariable, ...], message.cmd)


def read_assignment(message: Message) -> Assignment:
    return _read(message.info, Assignment, message.cmd)


def read_runtime(message: Message) -> RuntimeInfo:
    return _read(message.info or {}, RuntimeInfo, message.cmd)  # an empty table is [], never {}


def _read(value: Any, kind: type[_T], what: str) -> _T:
    try:
        return msgspec.convert(value, kind, strict=False)  # not strict: "4" is 4, and "true" is true
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise RemoteProtocolError("bad_message", f"The {what} is malformed: {error}.") from error


End = Literal["ide", "runtime"]


# Commands whose answer is an object too: a field that only the answer has.
_ANSWER_FIELDS = {"initSuccess": "debuggerVer", "setVariable": "success"}


def written_by(fields: Mapping[str, Any]) -> End | None:
    """None where it could be either. The runtime writes an empty table as a list, the IDE as an object."""
    cmd, info = fields.get("cmd"), fields.get("info")
    if "stack" in fields or isinstance(info, list) or cmd in NOTICES or cmd in STOPS - ANSWERED:
        return "runtime"
    if not isinstance(info, dict):
        return None
    return "runtime" if _ANSWER_FIELDS.get(str(cmd)) in info else "ide"
