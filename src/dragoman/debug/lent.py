"""A session that a person started in an editor, lent to us: DAP through the editor's own debugger.

The program, its breakpoints and its end are the person's. Looks and steps are passed on; what would configure, restart
or end it is answered here, and reaches no adapter.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from dragoman.debug import faults
from dragoman.debug.backend import AdapterRefusedError, Owns
from dragoman.debug.dialect import Dialect
from dragoman.debug.lent_events import LentEvents
from dragoman.debug.messages import answer
from dragoman.debug.opening import Launch
from dragoman.debug.wishes import Prepared, Wish
from dragoman.errors import DragomanError
from dragoman.phrases import say, spoken
from dragoman.transport.luapanda_driver import silent
from dragoman.wire.dap import Event, Response
from dragoman.workspace.breakpoints import Breakpoint

log = logging.getLogger(__name__)

Ask = Callable[[str, dict[str, Any], float], Awaitable[Any]]
"""A method of the editor's, its parameters, and how long it may take."""

_HEARD = frozenset({"stopped", "continued", "exited", "terminated", "thread", "output", "breakpoint", "capabilities"})
"""A process is not: it is not ours to look for, to interrupt or to end."""
_PASSED_ON = frozenset(
    {
        "threads", "stackTrace", "scopes", "variables", "evaluate", "setVariable", "setExpression", "source",
        "loadedSources", "modules", "exceptionInfo", "completions", "stepInTargets", "gotoTargets",
        "breakpointLocations", "readMemory", "writeMemory", "disassemble",
        "continue", "next", "stepIn", "stepOut", "pause", "goto", "restartFrame", "stepBack", "reverseContinue",
    }
)  # fmt: skip
# What an adapter can do that only the one who owns the session may ask for.
_OWNERS = frozenset(
    {
        "supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsDataBreakpoints",
        "supportsInstructionBreakpoints", "exceptionBreakpointFilters", "supportsExceptionOptions",
        "supportsExceptionFilterOptions", "supportsRestartRequest", "supportsTerminateRequest",
        "supportTerminateDebuggee", "supportSuspendDebuggee", "supportsDebuggerProperties",
        "supportsTerminateThreadsRequest",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Offer:
    """What an editor says of a session when it lends it."""

    session: str
    name: str
    type: str
    capabilities: Mapping[str, Any]
    stops: Sequence[Mapping[str, Any]] = ()
    """Where it stands already: of each thread that was stopped, as it was told."""


class MarkNow(msgspec.Struct, frozen=True, rename="camel"):
    line: int
    column: int | None = None
    condition: str = ""
    hit_condition: str = ""
    log_message: str = ""
    enabled: bool = True


class Marked(msgspec.Struct, frozen=True):
    """What a person did in the editor to a breakpoint that agents have in a lent session."""

    session: str
    path: str
    line: int
    now: MarkNow | None
    """As it is from now on; None: taken away."""

    def means(self, breakpoint: Breakpoint) -> bool:
        return (breakpoint.kind, breakpoint.path, breakpoint.line) == ("line", self.path, self.line)


class OwnMark(MarkNow, frozen=True, kw_only=True, rename="camel"):
    """A breakpoint of the person's own, as the editor has it."""

    path: str
    is_bound: bool = False


class LentSession:
    def __init__(self, offer: Offer, ask: Ask, person: str, released: Callable[[str], None]) -> None:
        """`released`: nobody here has it any more while its editor still does, and why."""
        self.owns = owned_by(person)
        self._offer = offer
        self._ask = ask
        self._released = released
        self._is_held = True
        self._events = LentEvents()
        self._here: dict[str, Callable[[], Any]] = {
            "initialize": self._capabilities,
            "attach": self._begin,
            "disconnect": dict,
            "setExceptionBreakpoints": dict,
        }

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in self._here:
            return answer(command, self._here[command]())
        if command == "setBreakpoints":
            return answer(command, await self._asked("debug.breakpoints", command, arguments, timeout_s))
        if command not in _PASSED_ON:
            raise AdapterRefusedError(command, spoken(say("The session is a person's, in an editor.")))
        return answer(command, await self._asked("debug.request", command, arguments, timeout_s))

    async def events(self) -> AsyncIterator[Event]:
        async for event in self._events.taken():
            yield event

    async def end(self) -> None:
        """Let go of, and not ended: the person goes on."""
        self._release("let_go")

    def heard(self, event: str, body: Mapping[str, Any]) -> None:
        if event in _HEARD and not self._events.put(event, body):
            log.warning("a lent session is let go of: its editor tells more than is taken")
            self._release("too_fast")

    def ended(self) -> None:
        self._is_held = False
        self._events.put("terminated", {})
        self._events.close()

    def lost(self) -> None:
        """The editor has left, and with it whatever it could have told of the end."""
        self._is_held = False
        self._events.close()

    def _release(self, why: str) -> None:
        self._events.close()
        if self._is_held:
            self._is_held = False
            self._released(why)

    async def _asked(self, method: str, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Any:
        asked = {"session": self._offer.session, "command": command, "arguments": arguments or {}}
        try:
            told = await self._ask(method, asked, timeout_s)
        except DragomanError as error:
            if error.code == "editor_gone":
                raise faults.adapter_gone("") from error
            if error.code == "editor_silent":
                raise silent(command, timeout_s) from error
            raise AdapterRefusedError(command, str(error.message)) from error
        if not isinstance(told, dict) or "refused" in told:
            raise AdapterRefusedError(command, str(told.get("refused", "")) if isinstance(told, dict) else "")
        return told.get("body") or {}

    def _capabilities(self) -> Mapping[str, Any]:
        return {key: value for key, value in self._offer.capabilities.items() if key not in _OWNERS}

    def _begin(self) -> Mapping[str, Any]:
        self._events.put("initialized", {})
        for stop in self._offer.stops:
            self._events.put("stopped", stop)
        return {}


def owned_by(person: str) -> Owns:
    """Everything is the person's."""
    return Owns(breakpoints=False, process=False, output=False, restart=False, others=person)


def lent(
    offer: Offer, ask: Ask, person: str, dialect: Dialect, released: Callable[[str], None]
) -> tuple[LentSession, Prepared]:
    """`released` tells the editor that a session of its is let go of."""
    backend = LentSession(offer, ask, person, released)
    launch = Launch("attach", {}, offer.type, as_watcher(dialect))
    return backend, Prepared(offer.name, backend, launch, Wish(), facts={"editor": offer.type})


def read_own(told: Mapping[str, Any]) -> list[OwnMark]:
    try:
        return msgspec.convert(told.get("breakpoints"), list[OwnMark])
    except msgspec.ValidationError as error:
        raise DragomanError("bad_offer", say("This is not how an editor tells of a breakpoint.")) from error


def read_marked(told: Mapping[str, Any]) -> Marked:
    try:
        return msgspec.convert(told, Marked)
    except msgspec.ValidationError as error:
        raise DragomanError("bad_offer", say("This is not how an editor tells of a breakpoint.")) from error


def read_offer(told: Mapping[str, Any]) -> Offer:
    try:
        return msgspec.convert(told, Offer)
    except msgspec.ValidationError as error:
        raise DragomanError("bad_offer", say("This is not how an editor lends a session.")) from error


def as_watcher(dialect: Dialect) -> Dialect:
    """How values are read stays; nothing that would send a person's program on, or interrupt it."""
    return replace(
        dialect,
        raises_in_each_frame=False,
        ways_to_end=frozenset(),
        takes_log_messages=True,
        heeds_one_alone=False,
        stops_unasked=frozenset(),
        out_ends_inside=False,
        several_places=False,
        is_interrupted=False,
        holds="",
        forgets="",
        leaves_standing=False,
        properties={},
    )
