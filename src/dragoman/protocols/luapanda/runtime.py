"""The runtime's side, as the real one behaves: what it accepts, what it crashes on, and which ids it echoes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.luapanda.commands import (
    COMMANDS,
    INITIALISED,
    SILENT,
    STOP,
    TRANSITIONS,
    LuaPandaState,
    state_after_receiving,
)
from dragoman.protocols.luapanda.connection import Closed
from dragoman.protocols.luapanda.framing import (
    MAX_LINE,
    LineReader,
    command_text,
    map_base64,
    message_line,
    read_command,
    to_base64,
)
from dragoman.protocols.luapanda.messages import ANSWERED, NOTICES, STOPS, StackEntry, id_text

FRAME_NAME = "文件名"  # the runtime knows no function names and sends this constant
# Commands whose info is indexed without a check: a missing one raises an error inside the program.
_NEEDS_INFO = frozenset(COMMANDS) - {"stopOnStep", "stopOnStepIn", "stopOnStepOut", "stopRun", *SILENT}
_NEEDS_TEXT = {"initSuccess": ("TempFilePath", "luaFileExtension")}


class LuaPandaCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the IDE. Numbers are text, as the runtime's decoder makes them; `fields` is all of it."""

    cmd: str
    callback_id: str | None
    info: Any
    fields: dict[str, Any]

    def flag(self, name: str) -> bool:
        """Only the text counts, and a JSON true for useCHook."""
        value = self.info.get(name) if isinstance(self.info, dict) else None
        return value == "true" or (value is True and name == "useCHook")


class CommandReceived(msgspec.Struct, frozen=True):
    """`dropped` commands get no answer from the real runtime, and leave their id behind."""

    command: LuaPandaCommand
    outcome: Literal["answered", "dropped"]


class CommandLost(msgspec.Struct, frozen=True):
    """The second of two messages on one line."""

    data: bytes


RuntimeEvent = CommandReceived | CommandLost | Closed


class RuntimeConnection:
    """Take one command from `events()`, answer it, take the next: the id that a reply echoes is the one last taken."""

    def __init__(self, *, max_line: int = MAX_LINE) -> None:
        self._reader = LineReader(max_line)
        self._queue: deque[LuaPandaCommand | CommandLost | Closed | RemoteProtocolError] = deque()
        self._held_id = ""  # until a first answer; afterwards none is "0"
        self._encodes_strings = False
        self._fault: RemoteProtocolError | None = None
        self._ended = False
        self.state = LuaPandaState.IDLE

    def receive_data(self, data: bytes) -> None:
        if self._ended:
            raise LocalProtocolError("closed", "Bytes were received after the end.")
        if self._fault is not None:
            return
        self._reader.feed(data)
        try:
            while (line := self._reader.next_line()) is not None:
                self._receive(line)
        except RemoteProtocolError as fault:
            self._fault = fault
            self._reader.discard()
            self._queue.append(fault)

    def receive_eof(self) -> None:
        if self._ended:
            return
        self._ended = True
        if self._fault is None and self._reader.unread:
            self._fault = RemoteProtocolError("truncated", "The connection ended in the middle of a command.")
        self._reader.discard()
        self._queue.append(Closed((), self._fault))

    def events(self) -> Iterator[RuntimeEvent]:
        while self._queue:
            event = self._queue.popleft()
            if isinstance(event, RemoteProtocolError):
                self.state = LuaPandaState.CLOSED
                raise event
            yield self._handle_command(event) if isinstance(event, LuaPandaCommand) else event
            self.state = LuaPandaState.CLOSED if isinstance(event, Closed) else self.state

    def send_reply(self, cmd: str, info: Any = None) -> bytes:
        """The acknowledgement of, or the reply to, the command last taken."""
        if cmd not in ANSWERED:
            raise LocalProtocolError("unknown_command", f"{cmd!r} is not a command that is answered.")
        if self._encodes_strings:
            info = map_base64(info, to_base64)
        line = message_line({"callbackId": self._held_id, "cmd": cmd, "info": _encodable(info)})
        self._held_id = "0"
        if cmd == "initSuccess":
            self.state = state_after_receiving(self.state, INITIALISED)
        return line

    def send_stop(self, cmd: str, stack: Sequence[StackEntry]) -> bytes:
        """Numbers in the stack are text; the id is the number 0."""
        if cmd not in STOPS:
            raise LocalProtocolError("unknown_stop", f"{cmd!r} is not a stop.")
        entries = [
            {
                "file": entry.file,
                "oPath": entry.opath,
                "line": str(entry.line),
                "index": str(entry.index),
                "name": entry.name or FRAME_NAME,
            }
            for entry in stack
        ]
        line = message_line({"callbackId": 0, "cmd": cmd, "info": [], "stack": entries})
        self.state = state_after_receiving(self.state, STOP)
        return line

    def send_notice(self, cmd: str, text: str) -> bytes:
        if cmd not in NOTICES:
            raise LocalProtocolError("unknown_notice", f"{cmd!r} is not a notice.")
        return message_line({"callbackId": "0", "cmd": cmd, "info": {NOTICES[cmd]: text}})

    def _receive(self, line: bytes) -> None:
        first, lost = command_text(line)
        self._queue.append(command_from(read_command(first)))
        if lost.strip():
            self._queue.append(CommandLost(lost))

    def _handle_command(self, command: LuaPandaCommand) -> CommandReceived:
        if command.callback_id not in (None, "0"):
            self._held_id = command.callback_id or ""
        outcome = self._outcome(command)
        if command.cmd == "initSuccess":
            self._encodes_strings = command.flag("isNeedB64EncodeStr")
        if command.cmd not in COMMANDS and self.state is LuaPandaState.STOPPED:
            self.state = LuaPandaState.RUNNING  # it reads nothing until the run ends, unless this was the entry stop
        self.state = TRANSITIONS[self.state].get(command.cmd, self.state)
        return CommandReceived(command, outcome)

    def _outcome(self, command: LuaPandaCommand) -> Literal["answered", "dropped"]:
        needs_stop = command.cmd in ("getVariable", "setVariable") and self.state is not LuaPandaState.STOPPED
        return "dropped" if needs_stop or command.cmd not in ANSWERED else "answered"


def command_from(fields: Mapping[str, Any]) -> LuaPandaCommand:
    """Refuse what would raise an error inside the debugged program."""
    cmd = fields.get("cmd")
    if not isinstance(cmd, str):
        raise RemoteProtocolError("missing_cmd", "A command has no cmd.")
    info = fields.get("info")
    if cmd in _NEEDS_INFO and (info is None or isinstance(info, bool)):
        raise RemoteProtocolError("missing_info", f"{cmd} has no info.")
    for name in _NEEDS_TEXT.get(cmd, ()):
        if not isinstance(info, dict) or not isinstance(info.get(name), str):
            raise RemoteProtocolError("missing_field", f"{cmd} has no {name}.")
    return LuaPandaCommand(cmd=cmd, callback_id=id_text(fields.get("callbackId")), info=info, fields=dict(fields))


def _encodable(info: Any) -> Any:
    try:
        return _lua_table(info)
    except RecursionError as error:
        raise LocalProtocolError("not_encodable", "The info is nested too deeply to be sent.") from error


def _lua_table(value: Any) -> Any:
    """Lua cannot tell an empty object from an empty list, and writes []."""
    if isinstance(value, Mapping):
        return {name: _lua_table(item) for name, item in value.items()} or []
    if isinstance(value, list | tuple):
        return [_lua_table(item) for item in value]
    return [] if value is None else value
