"""The IDE's side: send only what the runtime survives, and distinguish answers, stops and notices."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.luapanda.commands import (
    INITIALISED,
    SILENT,
    STOP,
    LuaPandaState,
    encoded_info,
    state_after_receiving,
    state_after_sending,
)
from dragoman.protocols.luapanda.framing import (
    MAX_LINE,
    LineReader,
    command_line,
    from_base64,
    map_base64,
    message_text,
    read_message,
)
from dragoman.protocols.luapanda.messages import Kind, Message, RuntimeInfo, classify, message_from, read_runtime

MIN_ID, MAX_ID = 10, 999_999_999  # ids below ten are reserved
# Each answer during one stop deepens the Lua stack by three frames; LuaJIT overflows after 3,845, Lua 5.1 after 5,456.
REQUESTS_PER_STOP = 2_000
_ATTEMPTS_FOR_AN_ID = 1_000
_REMEMBERED_IDS = 1_024
STEPS = {"over": "stopOnStep", "in": "stopOnStepIn", "out": "stopOnStepOut"}
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class PendingCommand(msgspec.Struct, frozen=True):
    """A command without an answer yet: its deadline on the caller's clock, and the context that its waiter needs."""

    callback_id: int
    cmd: str
    deadline: float | None = None
    context: Any = None


class CommandAnswered(msgspec.Struct, frozen=True):
    """The acknowledgement of a command, or the reply to it."""

    message: Message
    command: PendingCommand


class CommandAnsweredLate(msgspec.Struct, frozen=True):
    """The answer to a command that had timed out."""

    message: Message
    command: PendingCommand


class UnexpectedAnswer(msgspec.Struct, frozen=True):
    """An answer with an id that no command has."""

    message: Message


class StopReceived(msgspec.Struct, frozen=True):
    message: Message


class NoticeReceived(msgspec.Struct, frozen=True):
    message: Message


class Closed(msgspec.Struct, frozen=True):
    """The last event: the commands that will never be answered, and the reason if the end was not clean."""

    abandoned: tuple[PendingCommand, ...]
    error: RemoteProtocolError | None = None


IdeEvent = CommandAnswered | CommandAnsweredLate | UnexpectedAnswer | StopReceived | NoticeReceived | Closed


class IdeConnection:
    """`events()` gives what was received in order; where the runtime broke the protocol it raises RemoteProtocolError,
    after everything that came before. `receive_eof` then reports what is left unanswered."""

    def __init__(
        self, ids: Callable[[], int], *, max_line: int = MAX_LINE, requests_per_stop: int = REQUESTS_PER_STOP
    ) -> None:
        """`ids` returns candidates, random ones in production; it is called again while they are in use."""
        self._ids = ids
        self._reader = LineReader(max_line)
        self._queue: deque[IdeEvent | RemoteProtocolError] = deque()
        self._pending: dict[str, PendingCommand] = {}
        self._expired: dict[str, PendingCommand] = {}
        self._requests_per_stop = requests_per_stop
        self._fault: RemoteProtocolError | None = None
        self._ended = False
        self.state = LuaPandaState.IDLE
        self.requests_left = requests_per_stop
        self.runtime: RuntimeInfo | None = None
        self._sort: dict[Kind, Callable[[Message], IdeEvent]] = {
            "stop": self._stop,
            "notice": NoticeReceived,
            "ack": self._answer,
            "reply": self._answer,
        }

    @property
    def pending(self) -> tuple[PendingCommand, ...]:
        return tuple(self._pending.values())

    @property
    def is_extended(self) -> bool:
        return self.runtime is not None and self.runtime.is_extended

    def receive_data(self, data: bytes) -> None:
        if self._ended:
            raise LocalProtocolError("closed", "Bytes were received after the end.")
        if self._fault is not None:
            return
        self._reader.feed(data)
        try:
            while (line := self._reader.next_line()) is not None:
                self._receive(message_from(read_message(message_text(line))))
        except RemoteProtocolError as fault:
            self._fault = fault
            self.state = LuaPandaState.CLOSED
            self._reader.discard()
            self._queue.append(fault)

    def receive_eof(self) -> None:
        if self._ended:
            return
        self._ended = True
        self.state = LuaPandaState.CLOSED
        if self._fault is None and self._reader.unread:
            self._fault = RemoteProtocolError("truncated", "The connection ended in the middle of a message.")
        self._reader.discard()
        self._queue.append(Closed(self.pending, self._fault))
        self._pending.clear()

    def events(self) -> Iterator[IdeEvent]:
        while self._queue:
            event = self._queue.popleft()
            if isinstance(event, RemoteProtocolError):
                raise event
            yield event

    def send_command(
        self,
        cmd: str,
        info: Mapping[str, Any] = _NOTHING,
        *,
        now: float,
        timeout_s: float = 0,
        context: Any = None,
    ) -> bytes:
        """Encode one command as a line and register its waiter; nothing changes if it cannot be encoded.

        A timeout of 0 means none. `context` is returned with the answer, the timeout or the end.
        """
        fields = encoded_info(cmd, info, extended=self.is_extended)
        state = state_after_sending(self.state, cmd, extended=self.is_extended)
        cost = self._cost(cmd, state)
        if cmd in SILENT:
            line = command_line({"cmd": cmd, "info": fields})
        else:
            command = PendingCommand(self._free_id(), cmd, now + timeout_s if timeout_s > 0 else None, context)
            line = command_line({"callbackId": str(command.callback_id), "cmd": cmd, "info": fields})
            self._pending[str(command.callback_id)] = command
        self.state = state
        self.requests_left -= cost
        return line

    def send_step(
        self,
        kind: Literal["over", "in", "out"] = "over",
        *,
        now: float,
        timeout_s: float = 0,
        context: Any = None,
    ) -> bytes:
        return self.send_command(STEPS[kind], now=now, timeout_s=timeout_s, context=context)

    def expire(self, now: float) -> tuple[PendingCommand, ...]:
        """Expire the commands whose deadline has passed. A later answer is reported as late."""
        late = tuple(c for c in self.pending if c.deadline is not None and c.deadline <= now)
        for command in late:
            self._expired[str(command.callback_id)] = self._pending.pop(str(command.callback_id))
        while len(self._expired) > _REMEMBERED_IDS:
            del self._expired[next(iter(self._expired))]
        return late

    def _cost(self, cmd: str, after: LuaPandaState) -> int:
        if not (self.state is after is LuaPandaState.STOPPED) or cmd in SILENT or self.is_extended:
            return 0
        if self.requests_left < 1:
            reason = (
                f"{self._requests_per_stop} requests were answered in this stop; more could overflow the Lua stack."
            )
            raise LocalProtocolError("stop_budget_spent", f"{reason} Step or continue first.")
        return 1

    def _free_id(self) -> int:
        """A candidate that no open command has and, if possible, none whose answer may still come late."""
        candidate = 0
        for _ in range(_ATTEMPTS_FOR_AN_ID):
            candidate = self._ids()
            if not MIN_ID <= candidate <= MAX_ID:
                raise LocalProtocolError("bad_callback_id", f"{candidate} is not an id from {MIN_ID} to {MAX_ID}.")
            if str(candidate) not in self._pending and str(candidate) not in self._expired:
                return candidate
        if self._expired.pop(str(candidate), None) is not None:
            return candidate
        raise LocalProtocolError("no_free_id", "The source of ids gives only ids that are in use.")

    def _receive(self, message: Message) -> None:
        if self.runtime is not None and self.runtime.encodes_strings:
            message = msgspec.structs.replace(message, info=map_base64(message.info, from_base64))
        self._queue.append(self._sort[classify(message)](message))

    def _stop(self, message: Message) -> StopReceived:
        self.state = state_after_receiving(self.state, STOP)
        self.requests_left = self._requests_per_stop
        return StopReceived(message)

    def _answer(self, message: Message) -> CommandAnswered | CommandAnsweredLate | UnexpectedAnswer:
        if message.cmd == "initSuccess":
            self.runtime = read_runtime(message)
            self.state = state_after_receiving(self.state, INITIALISED)
        if (command := _taken(self._pending, message) or self._greeting(message)) is not None:
            return CommandAnswered(message, command)
        if (command := _taken(self._expired, message)) is not None:
            return CommandAnsweredLate(message, command)
        return UnexpectedAnswer(message)

    def _greeting(self, message: Message) -> PendingCommand | None:
        """A runtime's first reply may have the id that it started with.

        There is only one handshake, so it answers that.
        """
        if message.cmd != "initSuccess" or message.callback_id not in ("", "0"):
            return None
        ours = next((command for command in self._pending.values() if command.cmd == message.cmd), None)
        return self._pending.pop(str(ours.callback_id)) if ours is not None else None


def _taken(commands: dict[str, PendingCommand], message: Message) -> PendingCommand | None:
    """An id alone is not enough: the runtime can echo a stale one with another cmd."""
    command = commands.get(message.callback_id)
    if command is None or command.cmd != message.cmd:
        return None
    return commands.pop(message.callback_id)
