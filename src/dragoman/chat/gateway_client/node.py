"""The node role at a gateway: canvas commands of its agents, each answered once, and messages back to an agent.

The commands themselves belong to the owner: this module receives and answers them.
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

from dragoman.core.errors import DragomanError
from dragoman.protocols.gateway import EventFrame, SequenceGap

log = logging.getLogger(__name__)

WAITING_AT_MOST = 64
"""Commands that wait for their turn. For any more, the gateway reports a timeout to the agent."""
ANSWERED_AT_MOST = 256
"""Ids that are kept, so that a repeated frame is not executed again."""
COMMAND_TIMEOUT_S = 30.0
_MESSAGE_CHARACTERS = 20_000  # A gateway silently drops a longer message.

NodeCommand = Callable[[Mapping[str, Any]], Awaitable[Any]]


class NodeCommandError(Exception):
    """Why a command is refused, for the agent that sent it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NodeRequester(Protocol):
    async def request(self, method: str, params: Any) -> Raw | UnsetType: ...


class _NodeInvocation(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    command: str
    node_id: str = ""
    params_json: str | None = msgspec.field(name="paramsJSON", default=None)
    timeout_ms: int | float | None = None


class GatewayNode:
    """The commands that wait, in order. `run` belongs to a task group of the owner."""

    def __init__(self, commands: Mapping[str, NodeCommand]) -> None:
        self._commands = commands
        self._waiting: deque[_NodeInvocation] = deque()
        self._seen_ids: OrderedDict[str, None] = OrderedDict()
        self._queued = anyio.Event()

    def on_event(self, frame: EventFrame | SequenceGap) -> None:
        if isinstance(frame, SequenceGap) or frame.event != "node.invoke.request" or frame.payload is UNSET:
            return
        try:
            invoked = msgspec.json.decode(frame.payload, type=_NodeInvocation)
        except (msgspec.DecodeError, RecursionError):
            log.warning("a gateway sent a command that cannot be read")
            return
        self._queue(invoked)

    async def run(self, client: NodeRequester) -> None:
        """Execute commands in order: a drawing may depend on the one before it."""
        while True:
            while self._waiting:
                await self._answer(client, self._waiting.popleft())
            self._queued = anyio.Event()
            await self._queued.wait()

    def _queue(self, invoked: _NodeInvocation) -> None:
        if invoked.id in self._seen_ids or len(self._waiting) >= WAITING_AT_MOST:
            return
        self._seen_ids[invoked.id] = None
        while len(self._seen_ids) > ANSWERED_AT_MOST:
            self._seen_ids.popitem(last=False)
        self._waiting.append(invoked)
        self._queued.set()

    async def _answer(self, client: NodeRequester, invoked: _NodeInvocation) -> None:
        result = {"id": invoked.id, "nodeId": invoked.node_id, **await self._outcome(invoked)}
        try:
            await client.request("node.invoke.result", result)
        except DragomanError as error:
            log.warning("the answer to %s was not taken: %s", ascii(invoked.command[:60]), error)

    async def _outcome(self, invoked: _NodeInvocation) -> dict[str, Any]:
        asked_s = COMMAND_TIMEOUT_S if invoked.timeout_ms is None else invoked.timeout_ms / 1000
        try:
            with anyio.fail_after(max(0.0, min(asked_s, COMMAND_TIMEOUT_S))):
                return {"ok": True, "payload": await self._execute(invoked)}
        except NodeCommandError as error:
            return _failed(error.code, str(error))
        except TimeoutError:
            return _failed("TIMEOUT", "it took too long")
        except DragomanError as error:
            return _failed(error.code.upper(), str(error))

    async def _execute(self, invoked: _NodeInvocation) -> Any:
        command = self._commands.get(invoked.command)
        if command is None:
            raise NodeCommandError("UNKNOWN_COMMAND", f"there is no command {invoked.command[:80]!r} here")
        return await command(_params(invoked.params_json))


async def request_agent(client: NodeRequester, session_key: str, message: str) -> None:
    """Start a run in that session. It has no idempotency key, so it must not be sent twice."""
    wanted = {"message": message[:_MESSAGE_CHARACTERS], "sessionKey": session_key, "deliver": False}
    await client.request("node.event", {"event": "agent.request", "payloadJSON": json.dumps(wanted)})


def _params(text: str | None) -> Mapping[str, Any]:
    try:
        found = msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, RecursionError):
        raise NodeCommandError("INVALID_PARAMS", "the parameters are no JSON") from None
    if not isinstance(found, dict):
        raise NodeCommandError("INVALID_PARAMS", "the parameters are no object")
    return found


def _failed(code: str, message: str) -> dict[str, Any]:
    return {"ok": False, "error": {"code": code, "message": message[:1000]}}
