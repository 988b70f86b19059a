"""The role `tools` of the daemon's socket: the operations of the toolbox for who has only a shell.

The hello says who calls (workspace, working folder, environment); then come calls as in the role `control`, but several
may be open at once, so that one can break off another's wait. A call that takes long tells so every few seconds.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from anyio.abc import ByteStream

from dragoman.daemon.control import Params, failure, fault
from dragoman.daemon.runs import Runs
from dragoman.daemon.shell_words import shell_lines
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.mcp.door import caller_of
from dragoman.phrases import say
from dragoman.tools import Caller, Outcome, Toolbox
from dragoman.tools.debug import Waits
from dragoman.wire.control import Answer, Call, Failure, Hello, Item, ServerConnection

log = logging.getLogger(__name__)

# One for all shells: a command finds the session that the one before it started, and is told when it moved on since.
CALLER = "shell"
OPEN_AT_MOST = 16
PROGRESS_EVERY_S = 5.0
SENT_WITHIN_S = 10.0
NEXT_CALL_WITHIN_S = 7200.0  # the longest wait of a tool is an hour
BREAKPOINTS_AT_MOST = 1000
_BROKEN_OFF_WITHIN_S = 60.0
_LOOK_EVERY_S = 0.02
_READ = 65536
_GONE = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


@dataclass(frozen=True, slots=True)
class ToolCalls:
    toolbox: Toolbox
    waits: Waits
    runs: Runs

    async def __call__(self, hello: Hello, stream: ByteStream, rest: bytes) -> None:
        caller = replace(caller_of(hello), id=CALLER)
        await _Conversation(self, caller, hello, stream).hold(rest)


@dataclass(slots=True)
class _Conversation:
    face: ToolCalls
    caller: Caller
    hello: Hello
    stream: ByteStream
    open: dict[int, Caller] = field(default_factory=dict)
    sending: anyio.Lock = field(default_factory=anyio.Lock)
    connection: ServerConnection = field(default_factory=ServerConnection)

    async def hold(self, rest: bytes) -> None:
        """A caller who leaves takes its open calls along: they stop waiting, and what they started lives on."""
        self.connection.hello = self.hello
        async with anyio.create_task_group() as group:
            try:
                async for call in self._calls(rest):
                    self._require_room(call.id)
                    self.open[call.id] = replace(self.caller)
                    group.start_soon(self._answer, call)
            except RemoteProtocolError as error:
                await self._send(Failure(0, error.code, error.message))
            except _GONE:
                pass
            group.cancel_scope.cancel("the caller left")

    async def _calls(self, data: bytes) -> AsyncIterator[Call]:
        while True:
            for message in self.connection.receive_data(data):
                if isinstance(message, Call):
                    yield message
            with anyio.fail_after(NEXT_CALL_WITHIN_S):
                data = await self.stream.receive(_READ)

    def _require_room(self, id: int) -> None:
        """Open calls are counted by their ids: with one id for all of them there would be room for any number."""
        if id in self.open:
            raise RemoteProtocolError("repeated_id", f"the call {id} is open already")
        if len(self.open) >= OPEN_AT_MOST:
            raise RemoteProtocolError("too_many_calls", f"more than {OPEN_AT_MOST} calls are open")

    async def _answer(self, call: Call) -> None:
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._tick, call)
                reply = await self._reply(call)
                group.cancel_scope.cancel("it is answered")
            await self._send(reply)
        except _GONE:
            return
        finally:
            self.open.pop(call.id, None)

    async def _reply(self, call: Call) -> Answer | Failure:
        methods: Mapping[str, Callable[[Call], Awaitable[Any]]] = {
            "call": self._call,
            "run": self._run,
            "stop_waiting": self._stop_waiting,
        }
        try:
            return Answer(call.id, await methods.get(call.method, _unknown)(call))
        except DragomanError as error:
            return failure(call, error, self.caller.language)
        except Exception:
            log.exception("the call %s failed", ascii(call.method[:60]))
            return failure(call, fault(), self.caller.language)

    async def _tick(self, call: Call) -> None:
        began = anyio.current_time()
        with contextlib.suppress(*_GONE):
            while True:
                await anyio.sleep(PROGRESS_EVERY_S)
                await self._send(Item(call.id, {"waited_s": round(anyio.current_time() - began)}))

    async def _send(self, reply: Item | Answer | Failure) -> None:
        """Whole or not at all: an answer that overtakes a word of progress must not cut its line."""
        async with self.sending:
            with anyio.fail_after(SENT_WITHIN_S, shield=True):
                await self.stream.send(self.connection.send(reply))

    # The methods.

    async def _call(self, call: Call) -> dict[str, Any]:
        tool, arguments = call.params.get("tool"), call.params.get("arguments", {})
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            raise _bad_request()
        caller = self.open[call.id]
        if call.params.get("all_workspaces") is True:
            caller = self.open[call.id] = replace(caller, sees_every_workspace=True)
        return self._shaped(await self.face.toolbox.call(tool, arguments, caller))

    async def _run(self, call: Call) -> dict[str, Any]:
        """Breakpoints, then the start. Without `keep` they belong to this run, and go with it."""
        start, breakpoints = call.params.get("start", {}), _breakpoints(call.params)
        async with self.face.runs.begun(self.caller.workspace) as run:
            owner = self.caller if call.params.get("keep") else replace(self.caller, id=run.client.id)
            for wanted in breakpoints:
                outcome = await self.face.toolbox.call("set_breakpoint", wanted, owner)
                if outcome.is_error:
                    return self._shaped(outcome)
            return self._shaped(await self.face.toolbox.call("start_debugging", start, self.open[call.id]))

    async def _stop_waiting(self, call: Call) -> dict[str, Any]:
        if call.params.get("own"):
            return {"count": await self._stop_own(call.id)}
        session_id = call.params.get("session_id", "")
        return {"count": self.face.waits.interrupt(session_id=session_id if isinstance(session_id, str) else "")}

    async def _stop_own(self, asking: int) -> int:
        """A start that is under way cannot be broken off: the wait behind it is, as soon as there is one."""
        with anyio.move_on_after(_BROKEN_OFF_WITHIN_S):
            while waiting := [caller for id, caller in self.open.items() if id != asking]:
                if count := sum(self.face.waits.interrupt(call=caller) for caller in waiting):
                    return count
                await anyio.sleep(_LOOK_EVERY_S)
        return 0

    def _shaped(self, outcome: Outcome) -> dict[str, Any]:
        data = outcome.data.model_dump(mode="json")
        return {"data": data, "lines": shell_lines(outcome, self.caller.language), "is_error": outcome.is_error}


async def _unknown(call: Call) -> Any:
    raise DragomanError(
        "unknown_method",
        say("This daemon does not know `{method}`.", method=ascii(call.method[:60])),
        hint=say("The command line may be newer than the daemon: `dragoman restart` puts them in step."),
    )


def _breakpoints(params: Params) -> list[dict[str, Any]]:
    wanted = params.get("breakpoints", [])
    if not isinstance(wanted, list) or not all(isinstance(it, dict) for it in wanted):
        raise _bad_request()
    if len(wanted) > BREAKPOINTS_AT_MOST or not isinstance(params.get("start", {}), dict):
        raise _bad_request()
    return wanted


def _bad_request() -> DragomanError:
    return DragomanError(
        "bad_request",
        say("What was asked of the daemon lacks a part or has one of the wrong kind."),
        hint=say("The command line may be newer than the daemon: `dragoman restart` puts them in step."),
    )
