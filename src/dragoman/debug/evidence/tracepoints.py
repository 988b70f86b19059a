"""Tracepoints, and the table of rows that they record: one row per hit, within limits, with what changed since the
last.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import anyio
import msgspec

from dragoman.debug.model import FrameInfo, VariableInfo
from dragoman.workspace.breakpoints import Breakpoint

EXCEPTION_INDEX = 1000
"""The index of the exception breakpoint; no tracepoint has it."""
RETURN_NAME = "__return__"
CELL_CHARACTERS = 400
CELL_IN_TEXT = 120
"""As much of a cell as is shown in a table."""
_RETURN = re.compile(rf"(?<!\w){RETURN_NAME}(?!\w)")
_CELL_SEPARATOR = 3
_ROW_PREFIX = 8


class Tracepoint(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a file, or a function by its name, at which expressions are evaluated without stopping."""

    path: str = ""
    line: int = 0
    function: str = ""
    condition: str = ""
    expressions: tuple[str, ...] = ()
    claim: str = ""
    """Asked before the expressions, as true or not."""
    shows_frame: bool = False
    """Whether it shows the frame's own values after the expressions: arguments at an entry, locals elsewhere."""
    at_entry: bool = False
    """Whether a function begins there."""
    at_return: bool = False
    """Whether it is each return of the function. The value is `RETURN_NAME` in its expressions."""
    returned: str = ""
    """At a `return` statement: the expression that reads the value to come, where that changes nothing."""
    is_unknown: bool = False
    """Whether no source has such a function: where it is never reached, that may be why."""

    @property
    def place(self) -> tuple[str, int, str, bool]:
        return self.path, self.line, self.function, self.at_return

    def readable(self, expression: str) -> str:
        """The expression in the words of this place: `RETURN_NAME` is known to the tracer in the program alone."""
        return _RETURN.sub(lambda _: f"({self.returned})", expression) if self.returned else expression

    def as_breakpoint(self, id: int) -> Breakpoint:
        return Breakpoint(
            id=id,
            kind="function" if self.function else "line",
            path=self.path,
            line=self.line,
            function=self.function,
            condition=self.condition,
        )


def names_return(expression: str) -> bool:
    return bool(_RETURN.search(expression))


def breakpoint_id(point: int) -> int:
    """Below those of clients and of runs to a place: no list shows them, and no answer names them."""
    return -1 - point


def tracepoint_index(id: int) -> int:
    return -1 - id


LimitKind = Literal["", "hits", "characters", "seconds", "expression", "steps"]


class Cell(NamedTuple):
    """A value as the debugger shows it, or the reason why there is none."""

    text: str
    failed: bool = False


class WrittenRecord(NamedTuple):
    """A line that a probed program writes: the start of a row (`begun`), a `row`, or why a `condition` failed."""

    kind: str
    point: int
    thread: int
    cells: list[Cell]
    fault: str = ""
    frame: Sequence[tuple[str, Cell]] = ()
    """The frame's own values, by their names."""


class TraceRow(NamedTuple):
    """One hit of a tracepoint."""

    number: int
    point: int
    thread: int
    cells: tuple[Cell, ...]
    changed: tuple[Cell | None, ...]
    """None where the cell is as in the row before of the same point."""


@dataclass(frozen=True, slots=True)
class TraceLimits:
    hits: int = 200
    characters: int = 6000
    seconds: float = 30.0
    rows: int = 0
    """How many of the last rows are kept; zero: all, and then characters count."""
    runs_on: bool = False
    """More characters do not end it: the first rows and the last are kept, half and half."""


def _shown_characters(cells: Sequence[Cell | None]) -> int:
    """How much of them a table shows."""
    return sum(min(len(cell.text), CELL_IN_TEXT) + _CELL_SEPARATOR for cell in cells if cell)


class TraceTable:
    """The rows of a run, within limits."""

    def __init__(self, limits: TraceLimits) -> None:
        self.limits = limits
        self.rows: list[TraceRow] = []
        self.limit: LimitKind = ""
        """Which limit ended it."""
        self.is_over = anyio.Event()
        self.hits = 0
        self._characters = 0
        self._hits_of: Counter[int] = Counter()
        self._last: dict[int, tuple[Cell, ...]] = {}
        self._threads: dict[int, int] = {}
        self._tail: deque[tuple[TraceRow, int]] = deque()
        self._tail_characters = 0

    @property
    def has_capacity(self) -> bool:
        return self.hits < self.limits.hits and (self.limits.runs_on or self._characters < self.limits.characters)

    @property
    def tail(self) -> tuple[TraceRow, ...]:
        """The last rows, where there were more than fit: each point's first of them is shown whole."""
        seen: set[int] = set()
        return tuple(self._whole_once(row, seen) for row, _ in self._tail)

    @staticmethod
    def _whole_once(row: TraceRow, seen: set[int]) -> TraceRow:
        is_first = row.point not in seen
        seen.add(row.point)
        return row._replace(changed=row.cells) if is_first else row

    @property
    def left_out(self) -> int:
        """How many rows between the first and the last are not kept."""
        return self.hits - len(self.rows) - len(self._tail) if self._tail else 0

    def add(self, point: int, thread: int, cells: Sequence[Cell]) -> TraceRow | None:
        """None: this hit is one too many. A limit is reached by what does not fit, not by the last that does."""
        if self.limit:
            return None
        if not self.has_capacity:
            self.end("hits" if self.hits >= self.limits.hits else "characters")
            return None
        before = self._last.get(point, ())
        now = tuple(cells)
        changed = tuple(None if before[at : at + 1] == (cell,) else cell for at, cell in enumerate(now))
        self.hits += 1
        self._hits_of[point] += 1
        row = TraceRow(self.hits, point, self._number_of(thread), now, changed)
        self._last[point] = now
        self._keep(row)
        return row

    def _keep(self, row: TraceRow) -> None:
        if self.limits.rows:
            self.rows.append(row)
            del self.rows[: -self.limits.rows]
            return
        shown = _ROW_PREFIX + _shown_characters(row.changed)
        half = self.limits.characters // 2
        self._characters += shown
        if not self.limits.runs_on or (not self._tail and self._characters <= half):
            self.rows.append(row)
            return
        self._tail.append((row, shown))
        self._tail_characters += shown
        while len(self._tail) > 1 and self._tail_characters > half:
            self._tail_characters -= self._tail.popleft()[1]

    def end(self, limit: LimitKind) -> None:
        self.limit = self.limit or limit
        self.is_over.set()

    def reopen(self) -> None:
        """What was over goes on."""
        self.is_over = anyio.Event()

    def hits_of(self, point: int) -> int:
        return self._hits_of[point]

    @property
    def threads(self) -> int:
        return len(self._threads)

    def _number_of(self, thread: int) -> int:
        """Small numbers, in the order in which they came."""
        return self._threads.setdefault(thread, len(self._threads) + 1)


# What a tracepoint without expressions shows: the arguments where a function begins, and elsewhere the locals.
#
# They are not the same at every hit, so a point's columns grow with each name that appears.

ReadLines = Callable[[str], Awaitable[Sequence[str] | None]]

MAX_COLUMNS = 20
UNSET = Cell("not set", failed=True)
"""In the column of a name that this hit does not have."""
_MOST_SIGNATURE_LINES = 30

# Names that the language or a test runner creates.
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
