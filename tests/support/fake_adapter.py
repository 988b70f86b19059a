"""A debug adapter that a test scripts: events before responses, silence, refusals, a crash in the middle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import msgspec

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.debug.backends.port import AdapterRefusedError, BackendOwnership, decode_event
from dragoman.protocols.dap import Event, Response

Answer = Callable[[dict[str, Any]], Any]

_STACK = {
    "stackFrames": [{"id": 1, "name": "f", "line": 5, "column": 1, "source": {"path": "/p/a.py"}}],
    "totalFrames": 1,
}


class FakeAdapter:
    """Answers like a small honest adapter; `answers[command]` replaces one answer.

    An answer is a body, an exception to raise, None for silence until the deadline, or an event to answer late at.
    """

    ownership = BackendOwnership()

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.ended = False
        self.capabilities: dict[str, Any] = {"supportsConfigurationDoneRequest": True}
        self.answers: dict[str, Answer] = {
            "initialize": lambda _: self.capabilities,
            "setBreakpoints": self._bind,
            "setFunctionBreakpoints": lambda arguments: self._bind_named(arguments, 1000),
            "setDataBreakpoints": lambda arguments: self._bind_named(arguments, 2000),
            "dataBreakpointInfo": lambda arguments: {"dataId": f"at {arguments['name']}", "description": "data"},
            "setVariable": lambda arguments: {"value": arguments["value"], "type": "int"},
            "setExpression": lambda arguments: {"value": arguments["value"], "type": "int"},
            "stackTrace": lambda _: _STACK,
            "scopes": lambda _: {"scopes": [{"name": "Locals", "variablesReference": 9, "presentationHint": "locals"}]},
            "variables": lambda _: {"variables": [{"name": "n", "value": "3", "type": "int", "variablesReference": 0}]},
            "threads": lambda _: {"threads": [{"id": 1, "name": "main"}]},
            "evaluate": lambda arguments: {"result": arguments["expression"], "variablesReference": 0},
        }
        self.late_answers: dict[str, anyio.Event] = {}
        """Events that the next response to a command waits for, whatever it is."""
        self.events = AdapterEventQueue()

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        self.requests.append((command, arguments or {}))
        if command in self.late_answers:
            await self.late_answers.pop(command).wait()
        answer = self.answers[command](arguments or {}) if command in self.answers else {}
        if answer is None:
            await anyio.sleep(timeout_s)
            raise DragomanError("adapter_silent", localize("{text}", text=command))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, anyio.Event):
            await answer.wait()
            answer = {}
        if command == "launch":
            self.emit("initialized")
        await anyio.lowlevel.checkpoint()
        return Response(
            seq=0, request_seq=0, success=True, command=command, body=msgspec.Raw(msgspec.json.encode(answer))
        )

    async def end(self) -> None:
        self.ended = True
        self.events.close()

    def emit(self, event: str, **body: Any) -> None:
        self.receive(Event(seq=0, event=event, body=msgspec.Raw(msgspec.json.encode(body))))

    def receive(self, event: Event) -> None:
        """As a connection does with what it reads."""
        if (body := decode_event(event)) is not None:
            self.events.put(body)

    def stop(self, reason: str = "breakpoint", **body: Any) -> None:
        self.emit("stopped", reason=reason, threadId=1, **body)

    def die(self) -> None:
        self.events.close()

    def break_off(self, error: DragomanError) -> None:
        """As an adapter that breaks the protocol is told by its backend."""
        self.events.close(error)

    def refuse(self, command: str, reason: str) -> None:
        self.answers[command] = lambda _: AdapterRefusedError(command, reason)

    def when(self, command: str, act: Callable[[], None], *, answers: bool = True) -> None:
        """Do something the moment the request arrives, before it is answered, or instead of answering."""

        def acted(_: dict[str, Any]) -> Any:
            act()
            return {} if answers else None

        self.answers[command] = acted

    def can(self, *names: str, **others: Any) -> None:
        """What it says of itself when it is asked first."""
        self.capabilities |= dict.fromkeys(names, True) | others

    def sent(self, command: str) -> list[dict[str, Any]]:
        return [arguments for name, arguments in self.requests if name == command]

    def _bind(self, arguments: dict[str, Any]) -> dict[str, Any]:
        wanted = arguments["breakpoints"]
        return {"breakpoints": [{"id": 100 + it["line"], "verified": True, "line": it["line"]} for it in wanted]}

    def _bind_named(self, arguments: dict[str, Any], base: int) -> dict[str, Any]:
        return {
            "breakpoints": [{"id": base + index, "verified": True} for index, _ in enumerate(arguments["breakpoints"])]
        }
