"""What one call did: a row per executed line, with what the line changed and what it called, within bounded memory.

Rows are kept at the start, at the end, and wherever the program takes a way from one line to another that it has taken
at most twice before. The rows in between become a gap, which keeps how many they were and the newest values.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from .call_changes import changes
from .call_target import UnpatchedFunctions
from .call_values import ValueCopier, render

MAX_KEPT = 150
TAIL_ROWS = 50
NOVEL_PASSES = 2
FIRST_ROWS = 60
MAX_CALLS_PER_ROW = 4
FIRST_CALLS = 2
_WORTHLESS = ("__class__", "__pydevd_ret_val_dict", "__exception__")
_MISSING = object()
_SHALLOW_AFTER = 3000
_CHANGES_IN_GAP = 12


class CalledRow:
    """A call into the user's own code from a recorded line."""

    __slots__ = ("args", "code", "error", "frame", "name", "result", "yields")

    def __init__(self, frame: Any, name: str, args: list[tuple[str, Any]]) -> None:
        self.frame = frame
        self.code = frame.f_code
        self.name = name
        self.args = args
        self.result: Any = _MISSING
        self.error = ""
        self.yields = 0

    def as_data(self) -> list[Any]:
        args = [[name, render(node, 48)] for name, node in self.args]
        result = None if self.result is _MISSING else render(self.result, 80)
        return [self.name, args, result, self.error, self.yields, self.code.co_filename, self.code.co_firstlineno]


class CallRow:
    __slots__ = ("calls", "changes", "is_novel", "line", "more_calls", "note", "yielded")

    def __init__(self, line: int, is_novel: bool) -> None:
        self.line = line
        self.is_novel = is_novel
        self.changes: list[tuple[str, Any]] = []
        self.calls: list[CalledRow] = []
        self.more_calls = 0
        self.note = ""
        self.yielded: list[Any] = []

    def as_data(self) -> dict[str, Any]:
        found: dict[str, Any] = {"line": self.line}
        if self.changes:
            found["changes"] = [[path, render(node, 120)] for path, node in self.changes]
        if self.calls:
            found["calls"] = [it.as_data() for it in self.calls]
        if self.more_calls:
            found["more_calls"] = self.more_calls
        if self.note:
            found["note"] = self.note
        if self.yielded:
            found["yielded"] = [render(it, 80) for it in self.yielded]
        if self.is_novel:
            found["new"] = True
        return found


class RowGap:
    __slots__ = ("calls", "changes", "first", "last", "rows")

    def __init__(self) -> None:
        self.rows = self.calls = 0
        self.first = self.last = 0
        self.changes: dict[str, Any] = {}

    def add(self, row: CallRow) -> None:
        self.rows += 1
        self.calls += len(row.calls) + row.more_calls
        self.first = min(self.first or row.line, row.line)
        self.last = max(self.last, row.line)
        for path, node in row.changes:
            self.changes.pop(path, None)
            self.changes[path] = node
        while len(self.changes) > _CHANGES_IN_GAP:
            del self.changes[next(iter(self.changes))]

    def as_data(self) -> dict[str, Any]:
        shown = [[path, render(node, 80)] for path, node in self.changes.items()]
        return {"gap": self.rows, "lines": [self.first, self.last], "calls": self.calls, "changes": shown}


class CallRecording:
    """One call while it runs, and what became of it."""

    def __init__(self, frame: Any, number: int, depth: int, values: ValueCopier) -> None:
        self.frame = frame
        self.code = frame.f_code
        self.number = number
        self.depth = depth
        self.began_s = UnpatchedFunctions.monotonic()
        self.lines = 0
        self.yields = 0
        self.is_suspended = False
        self.how = ""
        self.result: Any = None
        self.error = ""
        self.end_line = frame.f_lineno
        self._values = values
        self._seen: dict[str, Any] = {}
        self._ids: dict[str, int] = {}
        self._kept: list[Any] = []
        self._tail: deque[CallRow] = deque()
        self._passes: dict[tuple[int, int], int] = {}
        self.row: CallRow | None = None
        self.args = argument_copies(frame, values)
        names = {name for name, _ in self.args}
        self.compare()
        self.outer = [it for it in self._seen.items() if it[0] not in names]

    def compare(self) -> list[tuple[str, Any]]:
        """What changed in its variables since the last time."""
        seen, found, copy = self._seen, [], self._values.copy
        budget = 200 if self.lines < _SHALLOW_AFTER else 30
        held = self.frame.f_locals
        count = 0
        for name, value in held.items():
            if name in _WORTHLESS or name[0] in ".@":
                continue
            count += 1
            kind = type(value)
            node = value if kind is str and len(value) < 1000 else copy(value, budget)
            old = seen.get(name, _MISSING)
            if old is _MISSING:
                seen[name] = node
                found.append((name, node))
            elif node is not old and node != old:
                seen[name] = node
                is_same = self._ids.get(name) == id(value)
                found += changes(name, old, node) if is_same else [(name, node)]
            if type(node) is tuple:
                self._ids[name] = id(value)
        if count < len(seen):
            for name in [it for it in seen if it not in held]:
                del seen[name]
                found.append((name, ("t", "(deleted)")))
        return found

    def yielded(self, value: Any) -> None:
        self.yields += 1
        if self.row is not None and len(self.row.yielded) < MAX_CALLS_PER_ROW:
            self.row.yielded.append(self._values.copy(value, 40))

    def suspend(self) -> None:
        """From here to its next event the frame is not touched: it may outlive its generator, and reading the variables
        of such a frame crashes Python 3.13.0.
        """
        if self.row is not None:
            self.row.changes += self.compare()
        self.is_suspended = True

    def line(self, number: int) -> None:
        self.is_suspended = False
        self.close_row()
        before = self.end_line
        self.end_line = number
        self.lines += 1
        way = (before, number)
        passes = self._passes[way] = self._passes.get(way, 0) + 1
        self.row = CallRow(number, passes <= NOVEL_PASSES or self.lines <= FIRST_ROWS)

    def close_row(self) -> None:
        row = self.row
        if row is None:
            return
        if not self.is_suspended:
            row.changes += self.compare()
        self._tail.append(row)
        self.row = None
        if len(self._tail) > TAIL_ROWS:
            self._settle(self._tail.popleft())

    def _settle(self, row: CallRow) -> None:
        if (row.is_novel or row.note) and len(self._kept) < MAX_KEPT:
            row.changes = [(path, ("t", render(node, 120))) for path, node in row.changes]  # their copies may be large
            self._kept.append(row)
            return
        if not self._kept or type(self._kept[-1]) is not RowGap:
            self._kept.append(RowGap())
        self._kept[-1].add(row)

    def called(self, entry: CalledRow) -> bool:
        """Of many calls in one line, the first ones and the newest are kept."""
        if self.row is None:
            return False
        if len(self.row.calls) >= MAX_CALLS_PER_ROW:
            self.row.more_calls += 1
            del self.row.calls[FIRST_CALLS]
        self.row.calls.append(entry)
        return True

    def raised(self, text: str) -> None:
        if self.row is not None:
            self.row.note = text

    def end(self, how: str, result: Any = None, error: str = "") -> None:
        self.close_row()
        self.how = how
        self.result = result
        self.error = error
        self.frame = None

    def as_data(self) -> dict[str, Any]:
        if self.row is not None and not self.is_suspended:
            self.row.changes += self.compare()
        how = self.how or ("suspended" if self.is_suspended else "running")
        open_row = [self.row] if self.row is not None else []
        found: dict[str, Any] = {
            "call": self.number,
            "args": [[name, render(node, 160)] for name, node in self.args],
            "rows": [it.as_data() for it in (*self._kept, *self._tail, *open_row)],
            "lines": self.lines,
            "end": {"how": how, "line": self.end_line},
        }
        if self.outer:
            found["outer"] = [[name, render(node, 80)] for name, node in self.outer[:8]]
        if how == "returned":
            found["end"]["value"] = render(self.result, 300)
        if self.error:
            found["end"]["error"] = self.error
        if how in ("running", "limit", "suspended"):
            found["end"]["values"] = [[name, render(node, 80)] for name, node in list(self._seen.items())[:20]]
        if self.yields:
            found["yields"] = self.yields
        return found


def argument_copies(frame: Any, values: ValueCopier, budget: int = 200) -> list[tuple[str, Any]]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    held = frame.f_locals
    names = [it for it in code.co_varnames[:count] if it in held]
    return [(it, values.copy(held[it], budget)) for it in names]
