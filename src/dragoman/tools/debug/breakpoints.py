"""The breakpoint tools: `set_breakpoint`, `remove_breakpoint` and `get_breakpoints`.

Breakpoints belong to the workspace and need no session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.labels import label_of, semicolon_list
from dragoman.core.localization import LocalizedText, localize, text_in_language
from dragoman.debug import model, source_files
from dragoman.debug.breakpoints.hit_conditions import parse_hit_condition
from dragoman.debug.model import LIVE_STATES, Binding, SessionState
from dragoman.debug.service import DebugService
from dragoman.tools.agent_text import escaped, one_line, path
from dragoman.tools.debug import parameters as params
from dragoman.tools.debug.breakpoint_validation import is_toggle, require_function, require_parameters_of_kind
from dragoman.tools.debug.parameters import FilePath, LineNumber, Number
from dragoman.tools.debug.results import OmitNone, SuccessResult, only_required
from dragoman.tools.debug.session_lookup import stack_files
from dragoman.tools.debug.source_locations import SourceLocations, absolute_path
from dragoman.tools.debug.stop_results import short_path
from dragoman.tools.debug.values import ValueFormatter, name, timestamp
from dragoman.tools.json_schema import Maybe
from dragoman.tools.tool import Effects, Parameters, Result, ToolOutcome, tool
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller

_MESSAGE_CHARACTERS = 400  # it explains how to fix it, perhaps with a line to copy
_CONDITION_IN_TEXT = 80
_IN_TEXT = 50
_CONFIGURED = frozenset({SessionState.RUNNING, SessionState.STOPPED})


class BreakpointLocationParameters(Parameters):
    file_path: FilePath
    line_number: LineNumber


class RemoveBreakpointParameters(Parameters):
    breakpoint_id: Maybe[Number] = None
    location: Maybe[BreakpointLocationParameters] = None
    clear_all: Annotated[bool, Field(description="All in this workspace.")] = False


class BreakpointSource(Result):
    path: str


class BreakpointAnswer(Result):
    """`line` is the requested line, `actual_line` the bound one; only line breakpoints have a location."""

    model_config = ConfigDict(json_schema_extra=only_required)

    id: int
    kind: str
    verified: bool
    enabled: bool
    source: BreakpointSource | None
    line: int | None
    column: OmitNone[int] = None
    condition: OmitNone[str] = None
    hit_condition: OmitNone[str] = None
    log_message: OmitNone[str] = None
    message: OmitNone[str] = None
    actual_line: OmitNone[int] = None
    function_name: OmitNone[str] = None
    exception: OmitNone[str] = None
    variable: OmitNone[str] = None
    access: OmitNone[str] = None
    session_id: OmitNone[str] = None
    set_by: OmitNone[str] = None
    owner: OmitNone[str] = None
    """The id of the client that set it: the page knows its name. For people only, as an id says nothing to agents."""


class NewBreakpoint(BreakpointAnswer):
    timestamp: str


class SetBreakpointResult(SuccessResult):
    breakpoint: NewBreakpoint


class RemoveBreakpointResult(SuccessResult):
    message: str
    removed: list[int]


class BreakpointsResult(SuccessResult):
    timestamp: str
    breakpoints: list[BreakpointAnswer]


@dataclass(frozen=True, slots=True)
class BreakpointTools:
    service: DebugService
    locations: SourceLocations
    values: ValueFormatter
    clock: Clock

    @tool(
        "set_breakpoint",
        "Set a breakpoint",
        (
            "Set or replace a breakpoint or logpoint on a line, function, exception, or (while stopped) data. "
            "Needs no session; all but data breakpoints outlive sessions."
        ),
        params.SetBreakpointParameters,
        SetBreakpointResult,
        Effects(repeatable=True),
    )
    async def set(self, caller: Caller, wanted: params.SetBreakpointParameters) -> ToolOutcome:
        if is_toggle(wanted):
            made, binding = await self.service.change_breakpoint(
                caller, wanted.breakpoint_id or 0, enabled=wanted.enabled
            )
        else:
            asked = await self._requested_breakpoint(caller, caller, wanted)
            made, binding = await self.service.set_breakpoint(caller, asked)
        fields = self._answer(caller, made, binding).model_dump()
        answer = NewBreakpoint.model_validate({**fields, "timestamp": timestamp(self.clock.wall_ns())})
        line = _breakpoint_line(answer, caller, waits=not self._has_sessions(caller))
        return ToolOutcome([line], SetBreakpointResult(breakpoint=answer))

    @tool(
        "remove_breakpoint",
        "Remove breakpoints",
        "Remove breakpoints by exactly one of breakpoint_id, location (the whole line), clear_all.",
        RemoveBreakpointParameters,
        RemoveBreakpointResult,
        Effects(destroys=True),
    )
    async def remove(self, caller: Caller, wanted: RemoveBreakpointParameters) -> ToolOutcome:
        chosen = _selection(caller, wanted)
        gone = await self.service.remove_breakpoints(caller, chosen.which)
        if not gone and chosen.missing is not None:
            raise chosen.missing
        ids = [breakpoint.id for breakpoint in gone]
        message = chosen.message if chosen.message is not None else _removed(ids)
        answer = RemoveBreakpointResult(message=message.in_language(caller.language), removed=ids)
        return ToolOutcome([message], answer)

    @tool(
        "get_breakpoints",
        "List breakpoints",
        "List this workspace's breakpoints and whether the debugger bound them (verified).",
        params.NoParameters,
        BreakpointsResult,
    )
    async def list(self, caller: Caller, _: params.NoParameters) -> ToolOutcome:
        found = [self._answer(caller, *pair) for pair in self.service.breakpoints(caller)]
        answer = BreakpointsResult(timestamp=timestamp(self.clock.wall_ns()), breakpoints=found)
        waits = not self._has_sessions(caller)
        lines = [_breakpoint_line(it, caller, waits=waits) for it in found[:_IN_TEXT]]
        rest = [localize("and {count} more", count=len(found) - _IN_TEXT)] if len(found) > _IN_TEXT else []
        return ToolOutcome([*(lines or [localize("No breakpoints in this workspace.")]), *rest], answer)

    async def _requested_breakpoint(
        self, caller: Caller, client: Caller, wanted: params.SetBreakpointParameters
    ) -> Breakpoint:
        require_parameters_of_kind(wanted)
        if wanted.hit_condition:
            parse_hit_condition(wanted.hit_condition)
        if wanted.condition:
            self._require_conditions(client)
        if wanted.kind == "function":
            await self._require_function(caller, client, wanted.function_name)
        path, line = await self._place(caller, client, wanted) if wanted.kind == "line" else ("", 0)
        return Breakpoint(
            id=0,
            owner=caller.id,
            kind=wanted.kind,
            path=path,
            line=line,
            column=wanted.column_number,
            function=wanted.function_name,
            filter=wanted.exception,
            variable=wanted.variable,
            reference=wanted.variables_reference,
            access=wanted.access,
            session=wanted.session_id,
            condition=wanted.condition,
            hit_condition=wanted.hit_condition,
            log_message=wanted.log_message,
            enabled=wanted.enabled,
        )

    async def _place(self, caller: Caller, client: Caller, wanted: params.SetBreakpointParameters) -> tuple[str, int]:
        named = stack_files(self.service, client)
        return await self.locations.resolve_line(
            wanted.file_path, caller.workspace, named, wanted.line_number, wanted.line_text
        )

    async def _require_function(self, caller: Caller, client: Caller, function: str) -> None:
        """Check the function's name if the program is, or may be, Python."""
        live = [it for it in self.service.registry.sessions(client) if it.state in LIVE_STATES]
        of_python = {it.launch.quirks.suffixes == source_files.PYTHON for it in live}
        files = stack_files(self.service, client) | {str(it.launch.arguments.get("program") or "") for it in live}
        is_python = of_python.pop() if len(of_python) == 1 else None
        await require_function(function, caller.workspace, is_python=is_python, besides=dict.fromkeys(files))

    def _has_sessions(self, caller: Caller) -> bool:
        return any(it.state in _CONFIGURED and not it.is_ending for it in self.service.registry.sessions(caller))

    def _require_conditions(self, caller: Caller) -> None:
        """Refuse a condition that the running debugger would ignore, because the program would stop where it should
        not.
        """
        for session in self.service.registry.sessions(caller):
            if session.is_ending:
                continue
            if session.state in _CONFIGURED and not session.capabilities.has("supportsConditionalBreakpoints"):
                raise DragomanError(
                    "condition_unsupported",
                    localize("The debug adapter does not support conditional breakpoints."),
                    hint=localize("Use `hit_condition`, or a plain breakpoint and evaluate_expression."),
                )

    def _message(self, caller: Caller, binding: Binding) -> str | None:
        """The status message of one breakpoint. The list itself never fails: an unreachable adapter is reported per
        breakpoint.
        """
        live = [it for it in self.service.registry.sessions(caller) if it.state in _CONFIGURED and not it.is_ending]
        if not binding.message and not binding.verified and any(it.breakpoint_sync.is_unreachable for it in live):
            return localize("Cannot reach the debug adapter.").in_language(caller.language)
        return self.values.text(text_in_language(binding.message, caller.language), _MESSAGE_CHARACTERS) or None

    def _answer(self, caller: Caller, breakpoint: Breakpoint, binding: Binding) -> BreakpointAnswer:
        return BreakpointAnswer(
            id=breakpoint.id,
            kind=breakpoint.kind,
            verified=binding.verified,
            enabled=breakpoint.enabled,
            source=BreakpointSource(path=path(breakpoint.path)) if breakpoint.path else None,
            line=breakpoint.line or None,
            column=breakpoint.column,
            condition=escaped(breakpoint.condition) or None,
            hit_condition=escaped(breakpoint.hit_condition) or None,
            log_message=escaped(breakpoint.log_message) or None,
            message=self._message(caller, binding),
            actual_line=binding.line if binding.verified else None,
            function_name=name(breakpoint.function) or None,
            exception=name(breakpoint.filter) or None,
            variable=name(breakpoint.variable) or None,
            access=breakpoint.access if breakpoint.kind == "data" else None,
            session_id=breakpoint.session or None,
            set_by=by.in_language(caller.language) if (by := model.person_label(breakpoint.owner)) else None,
            owner=None if caller.is_agent else breakpoint.owner or None,
        )


@dataclass(frozen=True, slots=True)
class _Selection:
    which: Callable[[Breakpoint], bool]
    missing: DragomanError | None = None
    message: LocalizedText | None = None


def _selection(caller: Caller, wanted: RemoveBreakpointParameters) -> _Selection:
    given = [wanted.breakpoint_id is not None, wanted.location is not None, wanted.clear_all]
    if sum(given) != 1:
        raise DragomanError(
            "bad_arguments", localize("Pass exactly one of `breakpoint_id`, `location` and `clear_all` (true).")
        )
    if wanted.location is not None:
        path, line = absolute_path(wanted.location.file_path, caller.workspace), wanted.location.line_number
        return _Selection(lambda it: (it.path, it.line) == (path, line), _no_breakpoint_there())
    if wanted.breakpoint_id is not None:
        return _Selection(lambda it: it.id == wanted.breakpoint_id, _unknown_breakpoint(id=wanted.breakpoint_id))
    return _Selection(lambda _: True, message=localize("All breakpoints were removed."))


def _removed(ids: list[int]) -> LocalizedText:
    return localize("Removed the breakpoint with id {id}.", id=", ".join(map(str, ids)))


_unknown_breakpoint = ErrorSpec(
    "unknown_breakpoint", "No breakpoint with id {id} was found.", "get_breakpoints lists the breakpoints."
)


_no_breakpoint_there = ErrorSpec(
    "no_breakpoint_there", "No breakpoint at that place.", "get_breakpoints lists the breakpoints."
)


def _breakpoint_line(breakpoint: BreakpointAnswer, caller: Caller, *, waits: bool) -> LocalizedText:
    """One line per breakpoint. Text from agents and adapters comes last, with a label.

    A breakpoint that no debugger has seen yet `waits` for a session, which is not an error.
    """
    waits = waits and not breakpoint.verified and breakpoint.enabled
    state = "verified" if breakpoint.verified else "set" if waits else "unverified"
    head = _HEADS[state](breakpoint.id, _place_of(breakpoint, caller))
    moved = breakpoint.actual_line if breakpoint.actual_line != breakpoint.line else None
    access = label_of(breakpoint.access) if breakpoint.access else None
    labels: list[tuple[str, object]] = [
        ("function", breakpoint.function_name),
        ("exception", breakpoint.exception),
        ("data", breakpoint.variable),
        ("access", access),
        ("bound to line", moved),
        ("if", breakpoint.condition),
        ("hits", breakpoint.hit_condition),
        ("log", breakpoint.log_message),
    ]
    shown = [_LABELS[label](_shown(value)) for label, value in labels if value]
    shown += [localize("debugger says: {text}", text=one_line(breakpoint.message))] if breakpoint.message else []
    disabled = [localize("waits for a session")] if waits else [] if breakpoint.enabled else [localize("disabled")]
    return semicolon_list([head, *disabled, *shown])


def _shown(value: object) -> object:
    return value if isinstance(value, LocalizedText) else one_line(str(value), _CONDITION_IN_TEXT)


_HEADS: Mapping[str, Callable[[int, str], LocalizedText]] = {
    "verified": lambda number, place: localize("breakpoint {id} verified{place}", id=number, place=place),
    "set": lambda number, place: localize("breakpoint {id} set{place}", id=number, place=place),
    "unverified": lambda number, place: localize("breakpoint {id} unverified{place}", id=number, place=place),
}
_LABELS: Mapping[str, Callable[[object], LocalizedText]] = {
    "function": lambda text: localize("function: {text}", text=text),
    "exception": lambda text: localize("exception: {text}", text=text),
    "data": lambda text: localize("data: {text}", text=text),
    "access": lambda text: localize("access: {text}", text=text),
    "bound to line": lambda text: localize("bound to line: {text}", text=text),
    "if": lambda text: localize("if: {text}", text=text),
    "hits": lambda text: localize("hits: {text}", text=text),
    "log": lambda text: localize("log: {text}", text=text),
}


def _place_of(breakpoint: BreakpointAnswer, caller: Caller) -> str:
    if breakpoint.source is None:
        return ""
    column = f":{breakpoint.column}" if breakpoint.column else ""
    return f" {short_path(breakpoint.source.path, caller.workspace)}:{breakpoint.line}{column}"
