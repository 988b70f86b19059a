"""Evaluates expressions at tracepoints and lets the program continue: one row per hit. The session sees only the
`Probe` port.

While a probe is set, the session has no other breakpoints: those of its clients are set aside and come back when the
run ends.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters.program_io import create_rows_file
from dragoman.debug.evidence.evaluation import EvidenceLanguage, language_of
from dragoman.debug.evidence.tracepoints import (
    CELL_CHARACTERS,
    EXCEPTION_INDEX,
    MAX_COLUMNS,
    Cell,
    FrameColumns,
    ReadLines,
    Tracepoint,
    TraceRow,
    TraceTable,
    WrittenRecord,
    breakpoint_id,
    is_user_variable,
    parameters_of,
    tracepoint_index,
)
from dragoman.debug.model import EvaluateResult, FrameInfo, VariableInfo
from dragoman.debug.stops.snapshot import StopReader
from dragoman.workspace.breakpoints import Breakpoint

log = logging.getLogger(__name__)

EVALUATION_TIMEOUT_S = 2.0
_TIMEOUT_CODES = frozenset({"adapter_silent", "adapter_busy"})

_STOPS_AT_ENTRY: Mapping[str, Mapping[str, Any]] = {"debugpy": {"stopOnEntry": True}}
_MOST_MEMBERS = 20
_READ_BYTES = 1 << 20
_ADDRESS = re.compile(r"\S* ?@ ?0x[0-9a-f]+|\{\.\.\.\}")
_ERROR_PREFIX = re.compile(r"(?:^|.*\b)error: (?:<[^>]*>:\d+:\d+: )?")

ContinuePredicate = Callable[[TraceRow], bool]


class EvidenceProbe:
    """Records a row at each hit of its tracepoints and lets the program continue.

    The predicate `should_continue` judges each row: where it is false, the program stops there, as at a breakpoint.
    `caught` holds, by adapter, a condition for exceptions at which the program stops although they are caught.
    """

    def __init__(
        self,
        points: Sequence[Tracepoint],
        table: TraceTable,
        *,
        should_continue: ContinuePredicate = lambda _: True,
        by_stops: bool = False,
        caught: Mapping[str, str] | None = None,
        lines: ReadLines | None = None,
    ) -> None:
        self.points = tuple(points)
        self.table = table
        self.breaking_row: TraceRow | None = None
        """The row that was judged to be the last."""
        self.is_suspended = False
        """Whether nothing is asked at the points for now."""
        self.watched: Breakpoint | None = None
        """Besides its points: data at whose change the program stops, or exceptions."""
        self.timed_out_expression = ""
        """An expression that was not evaluated in time."""
        self.never_stops = False
        """Whether its conditions are never true: the rows are all that the program does for it."""
        self.stops_at_entry = False
        """Whether a program that is started for it stops before its first line, if its debugger can."""
        self._should_continue = should_continue
        self._by_stops = by_stops
        self._caught = caught or {}
        self._lines_of = lines
        self._columns = [FrameColumns() for _ in self.points]
        self.faults: dict[int, str] = {}
        """Of points whose condition cannot be judged: why."""
        self.in_progress: dict[int, int] = {}
        """By thread, the point whose expressions are being evaluated, as far as the program says."""
        self._language = EvidenceLanguage()
        self._file: Path | None = None
        self._read = 0
        self._evaluated_singly: set[int] = set()
        self._thread_idents: dict[int, int] = {}

    def set_adapter(self, adapter_id: str) -> None:
        """To whom it is asked."""
        self._language = language_of(adapter_id)
        if adapter_id in self._caught:
            self.watched = Breakpoint(
                id=breakpoint_id(EXCEPTION_INDEX), kind="exception", filter="raised", condition=self._caught[adapter_id]
            )

    def run_without_halts(self) -> bool:
        self.never_stops = self.writes_rows
        return self.never_stops

    def launch_arguments(self, adapter_id: str) -> Mapping[str, Any]:
        return _STOPS_AT_ENTRY.get(adapter_id, {}) if self.stops_at_entry else {}

    @property
    def breakpoints(self) -> list[Breakpoint]:
        asked = [
            self._breakpoint(at)
            for at, point in enumerate(self.points)
            if not self.is_suspended and not point.at_return
        ]
        return asked if self.watched is None else [*asked, self.watched]

    def _breakpoint(self, at: int) -> Breakpoint:
        plain, writing = self.points[at].as_breakpoint(breakpoint_id(at)), self._language.writing
        if writing is None or self._file is None:
            return plain
        point = self.points[at]
        condition = writing.condition(
            self._file,
            # The first hit beyond the limit ends the run; it is read from the file instead of from a stop.
            self.table.limits.hits + self.never_stops,
            at,
            self._language.expressions_at(point),
            claims=bool(point.claim),
            only_if=point.condition,
            shows_frame=point.shows_frame,
        )
        return msgspec.structs.replace(plain, condition=f"{condition} and False" if self.never_stops else condition)

    @property
    def has_return_points(self) -> bool:
        return any(it.at_return for it in self.points)

    def return_points(self) -> tuple[list[tuple[int, Tracepoint]], Path | None, int]:
        """With their indices, the file for their rows, and how many: the first beyond the limit ends the run."""
        points = [(at, it) for at, it in enumerate(self.points) if it.at_return]
        return points, self._file, self.table.limits.hits + 1

    def expressions_at(self, at: int) -> tuple[str, ...]:
        return self._language.expressions_at(self.points[at])

    @property
    def shown_points(self) -> tuple[Tracepoint, ...]:
        """With the names of the frames that they showed as expressions."""
        return tuple(
            msgspec.structs.replace(point, expressions=(*point.expressions, *columns.names))
            for point, columns in zip(self.points, self._columns, strict=True)
        )

    def owns(self, hit: Sequence[int]) -> bool:
        return bool(hit) and all(0 <= tracepoint_index(id) < len(self.points) for id in hit)

    # Rows that the program writes itself

    @contextmanager
    def writing_rows(self) -> Iterator[None]:
        if self._by_stops:
            yield
            return
        self._file = create_rows_file()
        try:
            yield
        finally:
            self._file.unlink(missing_ok=True)

    @property
    def writes_rows(self) -> bool:
        """Whether the program runs on while its rows come."""
        return self._language.writing is not None and self._file is not None

    def read(self) -> None:
        """All that is there by now, up to the last whole line, as long as there is room for it."""
        while not self.table.is_over.is_set() and (lines := self._lines()):
            for line in lines:
                self._read_line(line.decode("utf-8", "replace"))

    def _lines(self) -> list[bytes]:
        """The file is the program's to spoil, as all else of it is."""
        try:
            with self._file.open("rb") if self._file else nullcontext(BytesIO()) as file:
                file.seek(self._read)
                *lines, _ = file.read(_READ_BYTES).split(b"\n")
        except OSError as error:
            log.info("rows that were written down could not be read: %s", error)
            return []
        self._read += sum(len(line) + 1 for line in lines)
        return lines

    def _read_line(self, line: str) -> None:
        try:
            record = self._language.writing.written(line) if self._language.writing else None
        except (ValueError, TypeError):
            return
        if record is not None and 0 <= record.point < len(self.points):
            self._handle_record(record)

    def _handle_record(self, record: WrittenRecord) -> None:
        self.in_progress = (
            {**self.in_progress, record.thread: record.point} if record.kind == "begun" else self._without(record)
        )
        if record.kind == "condition":
            self.faults[record.point] = record.fault
        if record.kind == "row" and not self.table.is_over.is_set():
            cells = [*record.cells, *self._columns[record.point].cells(record.frame)]
            self._judge(self.table.add(record.point, record.thread, cells))

    def _without(self, record: WrittenRecord) -> dict[int, int]:
        return {thread: point for thread, point in self.in_progress.items() if thread != record.thread}

    # Rows that are evaluated at a stop

    async def handle_hit(self, hit: Sequence[int], thread: int, top: FrameInfo, reader: StopReader) -> bool:
        """Whether the program goes on."""
        self.read()
        if self.table.is_over.is_set():
            return False
        is_going_on = True
        for at in dict.fromkeys(map(tracepoint_index, hit)):
            if not self.table.has_capacity:
                self.table.add(at, thread, ())
                return False
            cells = await self._cells(at, top, reader)
            if self.points[at].shows_frame:
                cells += self._columns[at].cells(await self._frame_values(at, top, reader))
            is_going_on &= self._judge(self.table.add(at, thread, cells))
        if self.timed_out_expression:
            self.table.end("expression")
        return is_going_on and not self.timed_out_expression

    async def handle_again(self, thread: int, frame: FrameInfo, reader: StopReader) -> bool | None:
        """Half as many questions, where the language knows by itself where it stands."""
        standing = self._language.standing
        shows_frame = any(it.shows_frame for it in self.points)
        if standing is None or self.writes_rows or shows_frame or not self.table.has_capacity:
            return None
        points = [(it.path, it.line, self._language.expressions_at(it)) for it in self.points]
        try:
            answer = await reader.evaluate(
                standing.build_query(points), frame.id, "watch", timeout_s=EVALUATION_TIMEOUT_S
            )
            found = standing.parse_result(answer.result)
        except (DragomanError, ValueError, SyntaxError):
            return None
        if found is None or self._thread_idents.setdefault(thread, found[1]) != found[1]:
            return None
        return self._judge(self.table.add(found[0], thread, found[2]))

    def _judge(self, row: TraceRow | None) -> bool:
        if row is None or self.table.is_over.is_set():
            return False
        if self._should_continue(row):
            return True
        self.breaking_row = row
        self.table.is_over.set()
        return False

    async def _frame_values(self, at: int, top: FrameInfo, reader: StopReader) -> list[tuple[str, Cell]]:
        point, found = self.points[at], await reader.top_locals(top.id)
        known = set(self._language.expressions_at(point))
        own = [it for it in (found.variables if found else ()) if is_user_variable(it) and it.name not in known]
        if point.at_entry and self._lines_of is not None and top.path:
            own = parameters_of(top, own, await self._lines_of(top.path))
        own = own[:MAX_COLUMNS]
        if self._language.combination is None:
            return [(it.name, Cell(_cut(await self._opened(it, reader)))) for it in own]
        names = [it.name for it in own]
        return list(zip(names, await self._evaluated(at, names, top, reader), strict=False))

    async def _cells(self, at: int, top: FrameInfo, reader: StopReader) -> list[Cell]:
        return await self._evaluated(at, self._language.expressions_at(self.points[at]), top, reader)

    async def _evaluated(self, at: int, expressions: Sequence[str], top: FrameInfo, reader: StopReader) -> list[Cell]:
        combination = self._language.combination
        if combination is None or at in self._evaluated_singly or not expressions:
            return [await self._cell(it, top, reader) for it in expressions]
        try:
            asked = combination.build_query(expressions)
            answer = await reader.evaluate(asked, top.id, combination.context, timeout_s=EVALUATION_TIMEOUT_S)
            return combination.parse_result(answer.result)
        except (DragomanError, ValueError, SyntaxError) as error:
            if getattr(error, "code", "") in _TIMEOUT_CODES:
                return [self._timed_out_cell(it) for it in expressions]
            self._evaluated_singly.add(at)  # one of them is not a valid expression and would make all of them fail
            return [await self._cell(it, top, reader) for it in expressions]

    async def _cell(self, expression: str, top: FrameInfo, reader: StopReader) -> Cell:
        if self.timed_out_expression:
            return Cell("", failed=True)
        try:
            answer = await reader.evaluate(expression, top.id, "watch", timeout_s=EVALUATION_TIMEOUT_S)
        except DragomanError as error:
            if error.code in _TIMEOUT_CODES:
                return self._timed_out_cell(expression)
            return Cell(_cut(error_line(error)), failed=True)
        return Cell(_cut(await self._opened(answer, reader)))

    async def _opened(self, answer: EvaluateResult | VariableInfo, reader: StopReader) -> str:
        """Where a debugger shows an address alone, what stands there."""
        shown = answer.value if isinstance(answer, VariableInfo) else answer.result
        if not answer.reference or not _ADDRESS.fullmatch(shown):
            return shown
        try:
            members = await reader.variables(answer.reference)
        except DragomanError:
            return shown
        return "{" + ", ".join(f"{it.name}: {it.value}" for it in members[:_MOST_MEMBERS]) + "}"

    def _timed_out_cell(self, expression: str) -> Cell:
        """The debugger may be busy with it for ever: nothing more is asked."""
        self.timed_out_expression = self.timed_out_expression or expression
        return Cell(f"not evaluated within {EVALUATION_TIMEOUT_S:g} s", failed=True)


def _cut(text: str) -> str:
    return text if len(text) <= 2 * CELL_CHARACTERS else f"{text[:CELL_CHARACTERS]}… ({len(text)} long)"


def error_line(error: DragomanError) -> str:
    """The line in which a debugger says why: the one that calls itself an error, else the last."""
    text = getattr(error, "reason", "") or error.code
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [_ERROR_PREFIX.sub("", line) for line in lines if "error: " in line]
    return (found or lines[-1:] or [""])[0]
