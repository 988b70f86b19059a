"""The backend port: it takes DAP requests and emits DAP events.

A spawned adapter, the Lua bridge and a session of an editor are all backends, so every tool works with each. Helpers
build the DAP messages that a backend makes itself.
"""

from __future__ import annotations

import logging
from typing import Any, Protocol

import msgspec

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.core.localization import localize
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.protocols.dap import Event, Response, bodies, typed_body
from dragoman.protocols.dap.bodies import EventBody

log = logging.getLogger(__name__)

STEP_COMMANDS = frozenset({"next", "stepIn", "stepOut", "stepBack", "goto", "restartFrame"})
RUN_COMMANDS = STEP_COMMANDS | {"continue", "reverseContinue"}
LIST_COMMANDS = frozenset({"setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"})
"""Each replaces a whole list, which a child that joins later gets as well."""

EVALUATE_IN_EACH = "dragomanEvaluateInEach"
"""A request of ours: the same expression in every process, answered with our numbers of its threads."""
LIBRARY_ARGUMENT = "dragomanLibraryExpressions"
"""An argument of ours in a breakpoint list: expressions that each process evaluates before it gets the list. What they
return is why the debugger cannot stop there."""
TIME_LIMIT_ARGUMENT = "dragomanLimitSeconds"
"""An argument of ours, for backends that can end an evaluation: how long the caller waits for it."""


class BackendOwnership(msgspec.Struct, frozen=True, kw_only=True):
    """What belongs to the backend rather than to us. Services read it, and never assume."""

    breakpoints: bool = True
    process: bool = True
    output: bool = True
    restart: bool = False
    person: str = ""
    """The person who owns the session and may resume the program without us. Empty: nobody."""


class RequestPort(Protocol):
    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        """Returns a successful response. Raises `AdapterRefusedError`, or another error if the backend is gone or
        silent."""
        ...


class Backend(RequestPort, Protocol):
    ownership: BackendOwnership
    events: AdapterEventQueue
    """Closed when the backend has ended."""

    async def end(self) -> None:
        """Let go of everything, at once; safe to call twice."""
        ...


class AdapterRefusedError(DragomanError):
    """The adapter answered a request with a failure; `reason` is in its own words."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(
            "adapter_refused",
            localize("The debugger rejected `{command}`: {reason}", command=command, reason=reason or "?"),
        )
        self.reason = reason


def make_event(event: str, **body: Any) -> EventBody:
    """With the names of the protocol: `make_event("thread", reason="exited", threadId=1)`."""
    if event == bodies.CapabilitiesBody.event:  # the only body that keeps its value as bytes
        body = {**body, "capabilities": msgspec.Raw(msgspec.json.encode(body.get("capabilities", {})))}
    return bodies.read_value(body, bodies.EVENT_BODIES[event], event)


def make_output_event(text: str, category: str) -> EventBody:
    return bodies.OutputBody(output=text, category=category)


def decode_event(event: Event) -> EventBody | None:
    """Once, as it arrives. What cannot be read is passed over: the next message may be sound."""
    try:
        return typed_body(event)
    except RemoteProtocolError as error:
        log.warning("an event was skipped: %s", error)
        return None


def make_response(command: str, body: Any) -> Response:
    return Response(request_seq=0, success=True, command=command, body=msgspec.Raw(msgspec.json.encode(body)))
