"""A session that a person started in an editor and shares: DAP through the editor's own debugger.

The program, its breakpoints and its end belong to the person. Inspection and steps are forwarded; requests that would
configure, restart or end the program are answered here and reach no adapter. An editor that sends more events than
the session takes is disconnected.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.core.localization import localize, localized_str
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.debug.backends.port import AdapterRefusedError, BackendOwnership, make_event, make_response
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.errors import adapter_gone
from dragoman.debug.model import LaunchRequest
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.launch_request import PreparedSession
from dragoman.io.errors import runtime_silent
from dragoman.protocols.dap import Response
from dragoman.protocols.dap.bodies import OutputBody
from dragoman.workspace.breakpoints import Breakpoint

MAX_QUEUED_EVENTS = 4000
log = logging.getLogger(__name__)


AskEditor = Callable[[str, dict[str, Any], float], Awaitable[Any]]
"""A method of the editor's, its parameters, and how long it may take."""


_FORWARDED_EVENTS = frozenset(
    {"stopped", "continued", "exited", "terminated", "thread", "output", "breakpoint", "capabilities"}
)
"""A process is not: it is not ours to look for, to interrupt or to end."""
_FORWARDED_COMMANDS = frozenset(
    {
        "threads", "stackTrace", "scopes", "variables", "evaluate", "setVariable", "setExpression", "source",
        "loadedSources", "modules", "exceptionInfo", "completions", "stepInTargets", "gotoTargets",
        "breakpointLocations", "readMemory", "writeMemory", "disassemble",
        "continue", "next", "stepIn", "stepOut", "pause", "goto", "restartFrame", "stepBack", "reverseContinue",
    }
)  # fmt: skip
# Capabilities that only the owner of the session may use.
_OWNER_CAPABILITIES = frozenset(
    {
        "supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsDataBreakpoints",
        "supportsInstructionBreakpoints", "exceptionBreakpointFilters", "supportsExceptionOptions",
        "supportsExceptionFilterOptions", "supportsRestartRequest", "supportsTerminateRequest",
        "supportTerminateDebuggee", "supportSuspendDebuggee", "supportsDebuggerProperties",
        "supportsTerminateThreadsRequest",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SessionOffer:
    """What an editor sends about a session when it shares it."""

    session: str
    name: str
    type: str
    capabilities: Mapping[str, Any]
    stops: Sequence[Mapping[str, Any]] = ()
    """The threads that were already stopped, with the body of each stop."""


class EditorBreakpoint(msgspec.Struct, frozen=True, rename="camel"):
    line: int
    column: int | None = None
    condition: str = ""
    hit_condition: str = ""
    log_message: str = ""
    enabled: bool = True


class EditorBreakpointChange(msgspec.Struct, frozen=True):
    """What a person changed in the editor about an agent's breakpoint in a lent session."""

    session: str
    path: str
    line: int
    now: EditorBreakpoint | None
    """The breakpoint after the change. None: it was removed."""

    def means(self, breakpoint: Breakpoint) -> bool:
        return (breakpoint.kind, breakpoint.path, breakpoint.line) == ("line", self.path, self.line)


class PersonBreakpoint(EditorBreakpoint, frozen=True, kw_only=True, rename="camel"):
    """A breakpoint that belongs to the person, as the editor has it."""

    path: str
    is_bound: bool = False


class EditorBackend:
    def __init__(self, offer: SessionOffer, ask: AskEditor, person: str, released: Callable[[str], None]) -> None:
        """`released`: nobody here has it any more while its editor still does, and why."""
        self.ownership = person_ownership(person)
        self._offer = offer
        self._ask = ask
        self._released = released
        self._is_held = True
        self.events = AdapterEventQueue()
        self._answered_here: dict[str, Callable[[], Any]] = {
            "initialize": self._capabilities,
            "attach": self._begin,
            "disconnect": dict,
            "setExceptionBreakpoints": dict,
        }

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in self._answered_here:
            return make_response(command, self._answered_here[command]())
        if command == "setBreakpoints":
            return make_response(command, await self._ask_editor("debug.breakpoints", command, arguments, timeout_s))
        if command not in _FORWARDED_COMMANDS:
            raise AdapterRefusedError(command, localized_str(localize("This session belongs to the user's editor.")))
        return make_response(command, await self._ask_editor("debug.request", command, arguments, timeout_s))

    async def end(self) -> None:
        """Let go of, and not ended: the person goes on."""
        self._release("let_go")

    def handle_event(self, event: str, body: Mapping[str, Any]) -> None:
        if event in _FORWARDED_EVENTS:
            self._put(event, body)

    def ended(self) -> None:
        self._is_held = False
        self._put("terminated", {})
        self.events.close()

    def handle_editor_gone(self) -> None:
        """The editor has disconnected, so it can no longer report how the program ended."""
        self._is_held = False
        self.events.close()

    def _put(self, event: str, body: Mapping[str, Any]) -> None:
        try:
            typed = make_event(event, **body)
        except RemoteProtocolError as error:
            log.warning("an event of an editor was skipped: %s", error)
            return
        if self.events.waiting >= MAX_QUEUED_EVENTS and not isinstance(typed, OutputBody):
            log.warning("a lent session is let go of: its editor tells more than is taken")
            self._release("too_fast")
            return
        self.events.put(typed, len(typed.output) if isinstance(typed, OutputBody) else 0)

    def _release(self, why: str) -> None:
        self.events.close()
        if self._is_held:
            self._is_held = False
            self._released(why)

    async def _ask_editor(self, method: str, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Any:
        asked = {"session": self._offer.session, "command": command, "arguments": arguments or {}}
        try:
            answer = await self._ask(method, asked, timeout_s)
        except DragomanError as error:
            if error.code == "editor_gone":
                raise adapter_gone(words="") from error
            if error.code == "editor_silent":
                raise runtime_silent(command=command, seconds=timeout_s) from error
            raise AdapterRefusedError(command, str(error.message)) from error
        if not isinstance(answer, dict) or "refused" in answer:
            raise AdapterRefusedError(command, str(answer.get("refused", "")) if isinstance(answer, dict) else "")
        return answer.get("body") or {}

    def _capabilities(self) -> Mapping[str, Any]:
        return {key: value for key, value in self._offer.capabilities.items() if key not in _OWNER_CAPABILITIES}

    def _begin(self) -> Mapping[str, Any]:
        self._put("initialized", {})
        for stop in self._offer.stops:
            self._put("stopped", stop)
        return {}


def person_ownership(person: str) -> BackendOwnership:
    """Everything is the person's."""
    return BackendOwnership(breakpoints=False, process=False, output=False, restart=False, person=person)


def prepare_shared_session(
    offer: SessionOffer, ask: AskEditor, person: str, quirks: AdapterQuirks, released: Callable[[str], None]
) -> tuple[EditorBackend, PreparedSession]:
    """`released` tells the editor that its session is no longer shared."""
    backend = EditorBackend(offer, ask, person, released)
    launch = AdapterLaunch("attach", {}, offer.type, observer_quirks(quirks))
    return backend, PreparedSession(offer.name, backend, launch, LaunchRequest(), facts={"editor": offer.type})


def read_person_breakpoints(answer: Mapping[str, Any]) -> list[PersonBreakpoint]:
    try:
        return msgspec.convert(answer.get("breakpoints"), list[PersonBreakpoint])
    except msgspec.ValidationError as error:
        raise DragomanError("bad_offer", localize("The editor sent an invalid breakpoint.")) from error


def read_breakpoint_change(answer: Mapping[str, Any]) -> EditorBreakpointChange:
    try:
        return msgspec.convert(answer, EditorBreakpointChange)
    except msgspec.ValidationError as error:
        raise DragomanError("bad_offer", localize("The editor sent an invalid breakpoint.")) from error


def read_offer(answer: Mapping[str, Any]) -> SessionOffer:
    try:
        return msgspec.convert(answer, SessionOffer)
    except msgspec.ValidationError as error:
        raise DragomanError("bad_offer", localize("Invalid request from the editor to share a session.")) from error


def observer_quirks(quirks: AdapterQuirks) -> AdapterQuirks:
    """How values are read stays; nothing that would send a person's program on, or interrupt it."""
    return replace(
        quirks,
        stops_in_each_frame=False,
        ways_to_end=frozenset(),
        takes_log_messages=True,
        takes_one_option_only=False,
        stops_unasked=frozenset(),
        step_out_ends_inside=False,
        has_several_locations=False,
        is_interruptible=False,
        condition_expression="",
        clear_breakpoints_expression="",
        leaves_program_stopped=False,
        properties={},
    )
