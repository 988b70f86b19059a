"""The node's side of a gateway: commands of its agents to a canvas, each answered once; and a person's word back.

The commands themselves are the owner's: this knows how they come and how they are answered.
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import anyio
import msgspec
from msgspec import UNSET, Raw, UnsetType

from dragoman.errors import DragomanError
from dragoman.wire.gateway import EventFrame, SequenceGap

log = logging.getLogger(__name__)

WAITING_AT_MOST = 64
"""Commands that wait for their turn; of more the gateway tells who asked that there was no answer in time."""
ANSWERED_AT_MOST = 256
"""Ids kept, so that a frame that comes again is not obeyed again."""
WITHIN_S = 30.0
_MESSAGE = 20_000  # a gateway drops a longer one without a word

Command = Callable[[Mapping[str, Any]], Awaitable[Any]]


class CommandError(Exception):
    """Why a command is not obeyed, for the agent that sent it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Requests(Protocol):
    async def request(self, method: str, params: Any) -> Raw | UnsetType: ...


class _Invoked(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    command: str
    node_id: str = ""
    params_json: str | None = msgspec.field(name="paramsJSON", default=None)
    timeout_ms: int | float | None = None


class Node:
    """Owns what waits. `run` belongs to a task group of the owner."""

    def __init__(self, commands: Mapping[str, Command]) -> None:
        self._commands = commands
        self._waiting: deque[_Invoked] = deque()
        self._known: OrderedDict[str, None] = OrderedDict()
        self._bell = anyio.Event()

    def heard(self, frame: EventFrame | SequenceGap) -> None:
        if isinstance(frame, SequenceGap) or frame.event != "node.invoke.request" or frame.payload is UNSET:
            return
        try:
            invoked = msgspec.json.decode(frame.payload, type=_Invoked)
        except (msgspec.DecodeError, RecursionError):
            log.warning("a gateway sent a command that cannot be read")
            return
        self._queue(invoked)

    async def run(self, client: Requests) -> None:
        """In their order: what is drawn second may stand on what was drawn first."""
        while True:
            while self._waiting:
                await self._answer(client, self._waiting.popleft())
            self._bell = anyio.Event()
            await self._bell.wait()

    def _queue(self, invoked: _Invoked) -> None:
        if invoked.id in self._known or len(self._waiting) >= WAITING_AT_MOST:
            return
        self._known[invoked.id] = None
        while len(self._known) > ANSWERED_AT_MOST:
            self._known.popitem(last=False)
        self._waiting.append(invoked)
        self._bell.set()

    async def _answer(self, client: Requests, invoked: _Invoked) -> None:
        told = {"id": invoked.id, "nodeId": invoked.node_id, **await self._outcome(invoked)}
        try:
            await client.request("node.invoke.result", told)
        except DragomanError as error:
            log.warning("the answer to %s was not taken: %s", ascii(invoked.command[:60]), error)

    async def _outcome(self, invoked: _Invoked) -> dict[str, Any]:
        asked_s = WITHIN_S if invoked.timeout_ms is None else invoked.timeout_ms / 1000
        try:
            with anyio.fail_after(max(0.0, min(asked_s, WITHIN_S))):
                return {"ok": True, "payload": await self._obeyed(invoked)}
        except CommandError as error:
            return _failed(error.code, str(error))
        except TimeoutError:
            return _failed("TIMEOUT", "it took too long")
        except DragomanError as error:
            return _failed(error.code.upper(), str(error))

    async def _obeyed(self, invoked: _Invoked) -> Any:
        command = self._commands.get(invoked.command)
        if command is None:
            raise CommandError("UNKNOWN_COMMAND", f"there is no command {invoked.command[:80]!r} here")
        return await command(_params(invoked.params_json))


async def request_agent(client: Requests, session_key: str, message: str) -> None:
    """A run in that session. There is no key that would make it harmless to send it twice."""
    wanted = {"message": message[:_MESSAGE], "sessionKey": session_key, "deliver": False}
    await client.request("node.event", {"event": "agent.request", "payloadJSON": json.dumps(wanted)})


def _params(text: str | None) -> Mapping[str, Any]:
    try:
        found = msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, RecursionError):
        raise CommandError("INVALID_PARAMS", "the parameters are no JSON") from None
    if not isinstance(found, dict):
        raise CommandError("INVALID_PARAMS", "the parameters are no object")
    return found


def _failed(code: str, message: str) -> dict[str, Any]:
    return {"ok": False, "error": {"code": code, "message": message[:1000]}}
