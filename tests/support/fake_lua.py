"""A Lua runtime that replays a recorded session to whatever an IDE asks.

Its stops come in their recorded order, one for each command that resumes the program; any other command gets the next
answer that was recorded for it, or an empty one. It can die or fall silent at any command.
"""

from __future__ import annotations

import contextlib
import socket
from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Any

import anyio

from dragoman.core.errors import RemoteProtocolError
from dragoman.io.net.streams import TcpStream
from dragoman.protocols.luapanda import CommandReceived, LuaPandaCommand, Message, RuntimeConnection, classify
from dragoman.protocols.luapanda.framing import message_line, message_text, read_message
from dragoman.protocols.luapanda.messages import message_from

RUNS = frozenset({"initSuccess", "continue", "stopOnStep", "stopOnStepIn", "stopOnStepOut"})
_ENDS = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)
_DEFAULT_INIT = {"debuggerVer": "3.3.1", "UseHookLib": "0", "UseLoadstring": "0", "isNeedB64EncodeStr": "false"}
_EMPTY_ASSIGNMENT = {"success": "false", "tip": "", "name": "", "type": "nil", "variablesReference": "0"}


class FakeLua:
    """`run` belongs into a task group; `near` is the IDE's end of the connection."""

    def __init__(
        self, recorded: Iterable[bytes] = (), *, loads_code: bool = False, dies_at: int = 0, hangs_at: int = 0
    ) -> None:
        """`recorded` are the lines of a real runtime. It dies or hangs at the command of that number, from 1."""
        self.commands: list[LuaPandaCommand] = []
        self.fault: RemoteProtocolError | None = None
        self.stops: deque[Message] = deque()
        self.notices: list[Message] = []
        self.holds: anyio.Event | None = None
        """Until it is set, no stop is told."""
        self._answers: defaultdict[str, deque[Any]] = defaultdict(deque)
        self._loads_code = loads_code
        self._dies_at = dies_at
        self._hangs_at = hangs_at
        self._connection = RuntimeConnection()
        near, far = socket.socketpair()
        self.near, self._far = TcpStream(near), TcpStream(far)
        for line in recorded:
            self._remember(message_from(read_message(message_text(line.rstrip(b"\n")))))

    def close(self) -> None:
        self.near.close()
        self._far.close()

    def _remember(self, message: Message) -> None:
        kind = classify(message)
        if kind == "stop":
            self.stops.append(message)
        elif kind == "notice":
            self.notices.append(message)
        else:
            self._answers[message.cmd].append(message.info)

    async def run(self) -> None:
        """Until the IDE has gone, or its own end."""
        try:
            with contextlib.suppress(*_ENDS):
                await self._play()
        except RemoteProtocolError as fault:
            self.fault = fault  # of which a real program dies
        finally:
            with anyio.CancelScope(shield=True):
                await self._far.aclose()

    async def _play(self) -> None:
        for notice in self.notices:
            await self._far.send(message_line(notice.fields))
        while True:
            self._connection.receive_data(await self._far.receive())
            for event in self._connection.events():
                if isinstance(event, CommandReceived) and not await self._obey(event):
                    return

    async def _obey(self, received: CommandReceived) -> bool:
        """Whether the program lives on."""
        command = received.command
        self.commands.append(command)
        if len(self.commands) == self._dies_at:
            return False
        if len(self.commands) == self._hangs_at:
            await anyio.sleep_forever()
        if received.outcome == "answered":
            await self._far.send(self._connection.send_reply(command.cmd, self._answer(command.cmd)))
        if command.cmd in RUNS:
            return await self._go_on()
        return command.cmd != "stopRun"

    async def _go_on(self) -> bool:
        """To the next stop; behind the last one the program ends."""
        if not self.stops:
            return False
        if self.holds is not None:
            await self.holds.wait()
        stop = self.stops.popleft()
        await self._far.send(self._connection.send_stop(stop.cmd, stop.stack or ()))
        return True

    def _answer(self, cmd: str) -> Any:
        recorded = self._answers[cmd]
        if cmd == "initSuccess":
            result = recorded.popleft() if recorded else _DEFAULT_INIT
            return {**result, "UseLoadstring": "1" if self._loads_code else "0"}
        return recorded.popleft() if recorded else _EMPTY_ASSIGNMENT if cmd == "setVariable" else []
