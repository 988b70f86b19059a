"""The values of a frame between two steps: variables as the debugger shows them, and what is in those that it shows
only by their address. What the function's own lines name is opened, within a budget of questions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from dragoman.core.errors import DragomanError
from dragoman.debug.evidence.tracepoints import is_user_variable
from dragoman.debug.model import Stop, VariableInfo
from dragoman.debug.session.session import DebugSession

_MOST_VARIABLES = 40
_MOST_MEMBERS = 24
_MOST_QUESTIONS = 8  # per stop
_LEVELS = 2
_VALUE = 160
_IN_VALUE = 8
_MEMBER = re.compile(r"[^\W\d]\w*|\[?\d+\]?|\[?\"[^\"]{0,60}\"\]?")
_HIDDEN = frozenset({"[[Prototype]]", "[[Entries]]", "length", "size"})
# Values shown only by their address, or with members shown only by their length.
_CLOSED = re.compile(
    r"^\W*0x[0-9a-f]+$|@ ?0x[0-9a-f]+|\{\.\.\.\}|\{…\}|\b(?:Array|Map|Set)\(\d+\)[,}]|: (?:Map|Set)\(\d+\)"
    r"|^table: |…[}\]]?$"
    r"|^[A-Z]\w*(?:\(\d+\))?$"
)
_TEXT_POINTER = re.compile(r'^0x[0-9a-f]+ (?=")')
_NULL = re.compile(r"^(?:\([^)]*\) )?0x0+$")
_ZEROS = re.compile(r"\b0x0+(?=[0-9a-f])")
# The types and lengths with which Delve shows slices and structs.
_GO_NOISE = re.compile(r"\[\][\w.*\[\]]+ len: \d+, cap: \d+, (?=\[|nil)|\*?\b[A-Za-z]\w*\.[A-Za-z]\w* (?=\{)")


@dataclass(slots=True)
class FrameValues:
    """By name, and by path where a value was opened: `ring->values[2]` is `ring.values[2]`. Values are whole: they are
    cut only where they are shown, so that a change behind the cut is one.
    """

    values: dict[str, str] = field(default_factory=dict)
    opened: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of the variables that were opened, their parts by path."""
    returned: str | None = None

    def shown(self, name: str) -> str:
        parts = self.opened.get(name)
        if not parts:
            return _cut(self.values.get(name, ""))
        inside = [f"{path[len(name) :].lstrip('.')}={_cut(value)}" for path, value in parts.items()]
        # When a value is truncated, plain members are more useful than elements.
        inside.sort(key=lambda it: "[" in it.partition("=")[0])
        more = ", …" if len(inside) > _IN_VALUE else ""
        return f"{{{', '.join(inside[:_IN_VALUE])}{more}}}"

    def changes(self, before: FrameValues, assigned: Collection[str]) -> list[list[str]]:
        """What is not as before; and what was assigned for the first time, also if memory held the same by chance."""
        found: list[list[str]] = []
        for name, value in self.values.items():
            if name in self.opened:
                old = before.opened.get(name, {})
                parts = self.opened[name]
                new = [[path, _cut(text)] for path, text in parts.items() if old.get(path) != text]
                is_new = name not in before.values or (new and not old)
                found += [[name, self.shown(name)]] if is_new or len(new) > 4 else new
            elif before.values.get(name) != value or name in assigned:
                found.append([name, _cut(value)])
        return found


def shown_value(value: str) -> str:
    return _cut(_plain(value))


def _plain(value: str) -> str:
    text = _GO_NOISE.sub("", _TEXT_POINTER.sub("", value))
    return "NULL" if _NULL.match(text) else _ZEROS.sub("0x", text)


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"


async def read_values(
    session: DebugSession, stop: Stop, named: Collection[str], before: FrameValues | None, returned: Collection[str]
) -> FrameValues:
    """`named`: the variables to open. Of the others, what was known of their parts still stands if nothing moved."""
    found = FrameValues()
    questions = [_MOST_QUESTIONS]
    held = stop.top_locals.variables if stop.top_locals else ()
    for variable in [it for it in held if it.name in returned or is_user_variable(it)][:_MOST_VARIABLES]:
        if variable.name in returned:
            found.returned = await _returned(session, variable, questions)
            continue
        found.values[variable.name] = _plain(variable.value)
        if not _is_closed(variable):
            continue
        if variable.name in named and questions[0] > 0:
            parts = await _parts(session, variable, variable.name, _LEVELS, questions)
            if parts:
                found.opened[variable.name] = parts
        elif (
            before is not None
            and variable.name in before.opened
            and before.values.get(variable.name) == found.values[variable.name]
        ):
            found.opened[variable.name] = before.opened[variable.name]
    return found


async def _returned(session: DebugSession, variable: VariableInfo, questions: list[int]) -> str:
    if not _is_closed(variable):
        return shown_value(variable.value)
    parts = await _parts(session, variable, "", _LEVELS, questions)
    return FrameValues({"": ""}, {"": parts}).shown("") if parts else shown_value(variable.value)


def _is_closed(variable: VariableInfo) -> bool:
    return bool(variable.reference) and bool(_CLOSED.search(variable.value)) and not _NULL.match(variable.value)


async def _parts(
    session: DebugSession, variable: VariableInfo, path: str, levels: int, questions: list[int]
) -> dict[str, str]:
    questions[0] -= 1
    try:
        page = await session.inspection.page(variable.reference, start=0, count=_MOST_MEMBERS)
    except DragomanError:
        return {}
    found: dict[str, str] = {}
    for it in page.variables:
        if (
            it.name in _HIDDEN
            or it.name.startswith("__")
            or it.value.startswith("ƒ ")
            or not _MEMBER.fullmatch(it.name)
        ):
            continue
        place = f"{path}{it.name}" if it.name.startswith("[") else _joined(path, it.name)
        inner: Mapping[str, str] = {}
        if levels > 1 and questions[0] > 0 and _is_closed(it):
            inner = await _parts(session, it, place, levels - 1, questions)
        if inner:
            found |= inner
        else:
            found[place] = _plain(it.value)
    return found


def _joined(path: str, name: str) -> str:
    if name.isdigit():
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name
