"""What a tracepoint without expressions shows: the arguments where a function begins, and elsewhere the locals.

They are not the same at every hit, so a point's columns grow with each name that appears.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence

from dragoman.debug.evidence.tracepoints import Cell
from dragoman.debug.model import FrameInfo, VariableInfo

ReadLines = Callable[[str], Awaitable[Sequence[str] | None]]

MAX_COLUMNS = 20
UNSET = Cell("not set", failed=True)
"""In the column of a name that this hit does not have."""
_MOST_SIGNATURE_LINES = 30

# Made by the language or by a runner of tests.
_GENERATED_PREFIXES = ("__", "special variables", "function variables", "class variables", "~r", "@py_")
_GENERATED_VALUES = {
    ("this", "global"),
    ("this", "Object"),
    ("this", "undefined"),
    ("exports", "{}"),
    ("%self", "main"),
}
_NODE_MODULE_PREFIX = "Module {id: "
_LUA_MODULE = re.compile(r"(?:table)?[{(](?:\[?\"?\w+\"?\]? ?= ?function: 0x\w+,? ?)+[})]|function: 0x\w+")
_GENERATED_TYPES = {"function", "type", "module", "builtin_function_or_method", "Function", "*testing.T", "*testing.B"}


def is_user_variable(variable: VariableInfo) -> bool:
    is_module = variable.name == "module" and variable.value.startswith(_NODE_MODULE_PREFIX)
    is_made = (
        is_module
        or variable.name.startswith(_GENERATED_PREFIXES)
        or (variable.name, variable.value) in _GENERATED_VALUES
        or bool(_LUA_MODULE.fullmatch(variable.value))
    )
    return not is_made and (variable.type or "") not in _GENERATED_TYPES


class FrameColumns:
    """The names that the hits of one tracepoint have shown, in the order in which they came."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def cells(self, found: Iterable[tuple[str, Cell]]) -> list[Cell]:
        """One for each column so far; a name whose first value failed has none."""
        by_name = dict(found)
        self.names += [it for it in by_name if it not in self.names and not by_name[it].failed]
        del self.names[MAX_COLUMNS:]
        return [by_name.get(it, UNSET) for it in self.names]


def parameters_of(
    frame: FrameInfo, variables: Sequence[VariableInfo], lines: Sequence[str] | None
) -> list[VariableInfo]:
    """Those that stand in the head of the function: debuggers of compiled languages list all locals where it begins.

    All of them if its head is not found.
    """
    head = _head(frame, lines or ())
    named = [it for it in variables if re.search(rf"(?<![\w.]){re.escape(it.name)}\b", head)]
    return named if head else list(variables)


def _head(frame: FrameInfo, lines: Sequence[str]) -> str:
    """From the line with the function's name up to the line where it stands, or up to its brace on the same line."""
    names = re.findall(r"\w+", frame.name.partition("(")[0])
    last = min(frame.line, len(lines)) - 1
    for at in range(last, max(-1, last - _MOST_SIGNATURE_LINES), -1):
        found = re.search(rf"\b{re.escape(names[-1])}\s*[(=:<]", lines[at]) if names else None
        if found:
            return (
                lines[at][found.end() - 1 :].partition("{")[0]
                if at == last
                else "\n".join([lines[at][found.end() - 1 :], *lines[at + 1 : last]])
            )
    return ""
