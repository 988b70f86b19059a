"""The tools for breakpoints, which belong to the workspace and need no session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dragoman.clock import Clock
from dragoman.debug import persons, suffixes
from dragoman.debug.hit_conditions import parse_hit_condition
from dragoman.debug.model import Binding
from dragoman.debug.service import Client, DebugService
from dragoman.debug.states import LIVE, State
from dragoman.phrases import Phrase, say, text_in
from dragoman.tools.debug import answers
from dragoman.tools.debug import parameters as take
from dragoman.tools.debug.breakpoint_kinds import is_switch, require_of_kind
from dragoman.tools.debug.client import client_of, files_of_stacks
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.places import Places, absolute
from dragoman.tools.debug.python_functions import require_function
from dragoman.tools.debug.stops import short_path
from dragoman.tools.debug.values import Values, name, timestamp
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line, path
from dragoman.words import in_turn, word_of
from dragoman.workspace.breakpoints import Breakpoint

_MESSAGE_CHARACTERS = 400  # what to do about it stands in it, perhaps as a line to copy
_CONDITION_IN_TEXT = 80
_IN_TEXT = 50
_CONFIGURED = frozenset({State.RUNNING, State.STOPPED})


@dataclass(frozen=True, slots=True)
class BreakpointTools:
    service: DebugService
    places: Places
    values: Values
    clock: Clock

    async def set(self, caller: Caller, wanted: take.SetBreakpoint) -> Outcome:
        client = client_of(caller)
        if is_switch(wanted):
            made, binding = await self.service.change_breakpoint(
                client, wanted.breakpoint_id or 0, enabled=wanted.enabled
            )
        else:
            asked = await self._asked(caller, client, wanted)
            made, binding = await self.service.set_breakpoint(client, asked)
        fields = self._answer(caller, made, binding).model_dump()
        answer = answers.NewBreakpoint.model_validate({**fields, "timestamp": timestamp(self.clock.wall_ns())})
        line = _line(answer, caller, waits=not self._has_sessions(client))
        return Outcome([line], answers.BreakpointSet(breakpoint=answer))

    async def remove(self, caller: Caller, wanted: take.RemoveBreakpoint) -> Outcome:
        chosen = _chosen(caller, wanted)
        gone = await self.service.remove_breakpoints(client_of(caller), chosen.which)
        if not gone and chosen.missing is not None:
            raise chosen.missing
        ids = [breakpoint.id for breakpoint in gone]
        message = chosen.message if chosen.message is not None else _removed(ids)
        answer = answers.BreakpointsRemoved(message=message.in_language(caller.language), removed=ids)
        return Outcome([message], answer)

    async def list(self, caller: Caller, _: take.Nothing) -> Outcome:
        found = [self._answer(caller, *pair) for pair in self.service.breakpoints(client_of(caller))]
        answer = answers.Breakpoints(timestamp=timestamp(self.clock.wall_ns()), breakpoints=found)
        waits = not self._has_sessions(client_of(caller))
        lines = [_line(it, caller, waits=waits) for it in found[:_IN_TEXT]]
        rest = [say("and {count} more", count=len(found) - _IN_TEXT)] if len(found) > _IN_TEXT else []
        return Outcome([*(lines or [say("No breakpoints in this workspace.")]), *rest], answer)

    async def _asked(self, caller: Caller, client: Client, wanted: take.SetBreakpoint) -> Breakpoint:
        require_of_kind(wanted)
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

    async def _place(self, caller: Caller, client: Client, wanted: take.SetBreakpoint) -> tuple[str, int]:
        named = files_of_stacks(self.service, client)
        return await self.places.line_of(
            wanted.file_path, caller.workspace, named, wanted.line_number, wanted.line_text
        )

    async def _require_function(self, caller: Caller, client: Client, function: str) -> None:
        """With a session of another language nothing is asked; without one, only where all is Python."""
        live = [it for it in self.service.sessions(client) if it.state in LIVE]
        of_python = {it.launch.dialect.suffixes == suffixes.PYTHON for it in live}
        files = files_of_stacks(self.service, client) | {str(it.launch.arguments.get("program") or "") for it in live}
        is_python = of_python.pop() if len(of_python) == 1 else None
        await require_function(function, caller.workspace, is_python=is_python, besides=dict.fromkeys(files))

    def _has_sessions(self, client: Client) -> bool:
        return any(it.state in _CONFIGURED and not it.is_ending for it in self.service.sessions(client))

    def _require_conditions(self, client: Client) -> None:
        """A condition that the running debugger would ignore is refused: it would stop where nobody asked it to."""
        for session in self.service.sessions(client):
            if session.is_ending:
                continue
            if session.state in _CONFIGURED and not session.capabilities.has("supportsConditionalBreakpoints"):
                raise ToolError(
                    "condition_unsupported",
                    say("The debug adapter does not support conditional breakpoints."),
                    hint=say("Use `hit_condition`, or a plain breakpoint and evaluate_expression."),
                )

    def _message(self, caller: Caller, binding: Binding) -> str | None:
        """The list is ours and does not fail by an adapter; that it cannot be reached is told of what it concerns."""
        live = [it for it in self.service.sessions(client_of(caller)) if it.state in _CONFIGURED and not it.is_ending]
        if not binding.message and not binding.verified and any(it.bindings.is_out_of_reach for it in live):
            return say("The debug adapter cannot be reached.").in_language(caller.language)
        return self.values.text(text_in(binding.message, caller.language), _MESSAGE_CHARACTERS) or None

    def _answer(self, caller: Caller, breakpoint: Breakpoint, binding: Binding) -> answers.BreakpointAnswer:
        return answers.BreakpointAnswer(
            id=breakpoint.id,
            kind=breakpoint.kind,
            verified=binding.verified,
            enabled=breakpoint.enabled,
            source=answers.BreakpointSource(path=path(breakpoint.path)) if breakpoint.path else None,
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
            set_by=by.in_language(caller.language) if (by := persons.told(breakpoint.owner)) else None,
        )


@dataclass(frozen=True, slots=True)
class _Chosen:
    which: Callable[[Breakpoint], bool]
    missing: ToolError | None = None
    message: Phrase | None = None


def _chosen(caller: Caller, wanted: take.RemoveBreakpoint) -> _Chosen:
    given = [wanted.breakpoint_id is not None, wanted.location is not None, wanted.clear_all]
    if sum(given) != 1:
        raise ToolError("bad_arguments", say("Give exactly one of `breakpoint_id`, `location` and `clear_all` (true)."))
    if wanted.location is not None:
        path, line = absolute(wanted.location.file_path, caller.workspace), wanted.location.line_number
        return _Chosen(lambda it: (it.path, it.line) == (path, line), _none_there())
    if wanted.breakpoint_id is not None:
        return _Chosen(lambda it: it.id == wanted.breakpoint_id, _no_such(wanted.breakpoint_id))
    return _Chosen(lambda _: True, message=say("All breakpoints were removed."))


def _removed(ids: list[int]) -> Phrase:
    return say("Removed the breakpoint with id {id}.", id=", ".join(map(str, ids)))


def _no_such(id: int) -> ToolError:
    return ToolError(
        "unknown_breakpoint",
        say("No breakpoint with id {id} was found.", id=id),
        hint=say("get_breakpoints lists those there are."),
    )


def _none_there() -> ToolError:
    return ToolError(
        "no_breakpoint_there",
        say("There is no breakpoint at that place."),
        hint=say("get_breakpoints lists those there are."),
    )


def _line(breakpoint: answers.BreakpointAnswer, caller: Caller, *, waits: bool) -> Phrase:
    """What an agent wrote and what an adapter said stand in labels at the end, each in one line. One that no debugger
    was asked about yet `waits` for a session: nothing is wrong with it."""
    waits = waits and not breakpoint.verified and breakpoint.enabled
    state = "verified" if breakpoint.verified else "set" if waits else "unverified"
    head = _HEADS[state](breakpoint.id, _place_of(breakpoint, caller))
    moved = breakpoint.actual_line if breakpoint.actual_line != breakpoint.line else None
    access = word_of(breakpoint.access) if breakpoint.access else None
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
    shown += [say("debugger says: {text}", text=one_line(breakpoint.message))] if breakpoint.message else []
    disabled = [say("waits for a session")] if waits else [] if breakpoint.enabled else [say("disabled")]
    return in_turn([head, *disabled, *shown])


def _shown(value: object) -> object:
    return value if isinstance(value, Phrase) else one_line(str(value), _CONDITION_IN_TEXT)


_HEADS: Mapping[str, Callable[[int, str], Phrase]] = {
    "verified": lambda number, place: say("breakpoint {id} verified{place}", id=number, place=place),
    "set": lambda number, place: say("breakpoint {id} set{place}", id=number, place=place),
    "unverified": lambda number, place: say("breakpoint {id} unverified{place}", id=number, place=place),
}
_LABELS: Mapping[str, Callable[[object], Phrase]] = {
    "function": lambda text: say("function: {text}", text=text),
    "exception": lambda text: say("exception: {text}", text=text),
    "data": lambda text: say("data: {text}", text=text),
    "access": lambda text: say("access: {text}", text=text),
    "bound to line": lambda text: say("bound to line: {text}", text=text),
    "if": lambda text: say("if: {text}", text=text),
    "hits": lambda text: say("hits: {text}", text=text),
    "log": lambda text: say("log: {text}", text=text),
}


def _place_of(breakpoint: answers.BreakpointAnswer, caller: Caller) -> str:
    if breakpoint.source is None:
        return ""
    column = f":{breakpoint.column}" if breakpoint.column else ""
    return f" {short_path(breakpoint.source.path, caller.workspace)}:{breakpoint.line}{column}"
