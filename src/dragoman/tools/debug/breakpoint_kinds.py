"""The kinds of breakpoints: what each takes, and what it is called in an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dragoman.phrases import say
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.parameters import SetBreakpoint
from dragoman.workspace.breakpoints import Breakpoint, BreakpointKind

_ALWAYS = frozenset({"kind", "enabled"})


@dataclass(frozen=True, slots=True)
class _Takes:
    needs: str
    may: frozenset[str] = frozenset()


# Functions and data have no log messages in the protocol, exceptions no hit conditions.
_TAKES: Mapping[BreakpointKind, _Takes] = {
    "line": _Takes(
        "file_path",
        frozenset({"line_number", "line_text", "column_number", "condition", "hit_condition", "log_message"}),
    ),
    "function": _Takes("function_name", frozenset({"condition", "hit_condition"})),
    "exception": _Takes("exception", frozenset({"condition"})),
    "data": _Takes(
        "variable", frozenset({"variables_reference", "access", "session_id", "condition", "hit_condition"})
    ),
}


def require_of_kind(wanted: SetBreakpoint) -> None:
    """What a kind would ignore is refused: it would stop where nobody asked it to."""
    given = _given(wanted)
    takes = _TAKES[wanted.kind]
    strangers = given - _ALWAYS - takes.may - {takes.needs}
    if takes.needs not in given or strangers:
        raise ToolError(
            "bad_arguments",
            say("A breakpoint of kind {kind} needs `{needs}`.", kind=wanted.kind, needs=takes.needs)
            if takes.needs not in given
            else say("A breakpoint of kind {kind} takes no {names}.", kind=wanted.kind, names=_ticked(strangers)),
            hint=say("It may have: {names}.", names=_ticked({takes.needs, *takes.may, "enabled"})),
        )


def is_switch(wanted: SetBreakpoint) -> bool:
    """An existing one is switched on or off, and nothing else is asked."""
    if wanted.breakpoint_id is None:
        return False
    if _given(wanted) != {"breakpoint_id", "enabled"}:
        raise ToolError(
            "bad_arguments",
            say("With `breakpoint_id`, give `enabled` and nothing else."),
            hint=say("Setting the same place again changes its conditions; remove_breakpoint removes it."),
        )
    return True


def what(breakpoint: Breakpoint) -> str:
    """What it watches, where that is not a place in a file."""
    return breakpoint.function or breakpoint.filter or breakpoint.variable


def _given(wanted: SetBreakpoint) -> set[str]:
    return {name for name in wanted.model_fields_set if getattr(wanted, name) not in {None, ""}}


def _ticked(names: set[str] | frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
