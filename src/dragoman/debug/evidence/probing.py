"""What a session asks at its points instead of stopping: a row a hit, and on. The session knows it by this port alone.

While it is there, the session has no other breakpoints: those of clients are kept aside, and come back with its end.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path

import msgspec

from dragoman.debug.adapters.scratch import rows_file
from dragoman.debug.evidence.languages import Language, language_of
from dragoman.debug.evidence.points import EXCEPTIONS, Point, id_of, point_of
from dragoman.debug.evidence.sheet import CELL_CHARACTERS, Cell, Row, Sheet, Written
from dragoman.debug.model import Evaluated, Frame
from dragoman.debug.snapshot import Looking
from dragoman.errors import DragomanError
from dragoman.workspace.breakpoints import Breakpoint

log = logging.getLogger(__name__)

EVALUATED_WITHIN_S = 2.0
_TOO_SLOW = frozenset({"adapter_silent", "adapter_busy"})

_MEMBERS = 20
_READ = 1 << 20
_ADDRESS = re.compile(r"\S* ?@ ?0x[0-9a-f]+|\{\.\.\.\}")
_PREFIX = re.compile(r"(?:^|.*\b)error: (?:<[^>]*>:\d+:\d+: )?")

GoesOn = Callable[[Row], bool]


class Probing:
    """`goes_on` judges each row: where it says no, the program stops there, as at a breakpoint. `caught`: by adapter, a
    condition of what the program stops at although it is caught."""

    def __init__(
        self,
        points: Sequence[Point],
        sheet: Sheet,
        *,
        goes_on: GoesOn = lambda _: True,
        by_stops: bool = False,
        caught: Mapping[str, str] | None = None,
    ) -> None:
        self.points = tuple(points)
        self.sheet = sheet
        self.broke_off: Row | None = None
        """The row that was judged to be the last."""
        self.is_resting = False
        """Whether nothing is asked at the points for now."""
        self.watched: Breakpoint | None = None
        """Besides its points: data at whose change the program stops, or exceptions."""
        self.never_ended = ""
        """An expression that was not evaluated in time."""
        self._goes_on = goes_on
        self._by_stops = by_stops
        self._caught = caught or {}
        self.faults: dict[int, str] = {}
        """Of points whose condition cannot be judged: why."""
        self.under_way: dict[int, int] = {}
        """By thread, the point whose expressions are being evaluated, as far as the program says."""
        self._language = Language()
        self._file: Path | None = None
        self._read = 0
        self._one_by_one: set[int] = set()
        self._own_number: dict[int, int] = {}

    def speak(self, adapter_id: str) -> None:
        """To whom it is asked."""
        self._language = language_of(adapter_id)
        if adapter_id in self._caught:
            self.watched = Breakpoint(
                id=id_of(EXCEPTIONS), kind="exception", filter="raised", condition=self._caught[adapter_id]
            )

    @property
    def breakpoints(self) -> list[Breakpoint]:
        asked = [self._breakpoint(at) for at in range(len(self.points)) if not self.is_resting]
        return asked if self.watched is None else [*asked, self.watched]

    def _breakpoint(self, at: int) -> Breakpoint:
        plain, writing = self.points[at].as_breakpoint(id_of(at)), self._language.writing
        if writing is None or self._file is None:
            return plain
        point = self.points[at]
        condition = writing.condition(
            self._file,
            self.sheet.limits.hits,
            at,
            self._language.asked(point),
            claims=bool(point.claim),
            only_if=point.condition,
        )
        return msgspec.structs.replace(plain, condition=condition)

    def owns(self, hit: Sequence[int]) -> bool:
        return bool(hit) and all(0 <= point_of(id) < len(self.points) for id in hit)

    # Rows that the program writes down by itself.

    @contextmanager
    def written_down(self) -> Iterator[None]:
        if self._by_stops:
            yield
            return
        self._file = rows_file()
        try:
            yield
        finally:
            self._file.unlink(missing_ok=True)

    @property
    def is_written_down(self) -> bool:
        """Whether the program runs on while its rows come."""
        return self._language.writing is not None and self._file is not None

    def read(self) -> None:
        """All that is there by now, up to the last whole line, as long as there is room for it."""
        while not self.sheet.is_over.is_set() and (lines := self._lines()):
            for line in lines:
                self._read_line(line.decode("utf-8", "replace"))

    def _lines(self) -> list[bytes]:
        """The file is the program's to spoil, as all else of it is."""
        try:
            with self._file.open("rb") if self._file else nullcontext(BytesIO()) as file:
                file.seek(self._read)
                *lines, _ = file.read(_READ).split(b"\n")
        except OSError as error:
            log.info("rows that were written down could not be read: %s", error)
            return []
        self._read += sum(len(line) + 1 for line in lines)
        return lines

    def _read_line(self, line: str) -> None:
        try:
            told = self._language.writing.written(line) if self._language.writing else None
        except (ValueError, TypeError):
            return
        if told is not None and 0 <= told.point < len(self.points):
            self._take_written(told)

    def _take_written(self, told: Written) -> None:
        self.under_way = {**self.under_way, told.thread: told.point} if told.kind == "begun" else self._without(told)
        if told.kind == "condition":
            self.faults[told.point] = told.fault
        if told.kind == "row" and not self.sheet.is_over.is_set():
            self._judge(self.sheet.add(told.point, told.thread, told.cells))

    def _without(self, told: Written) -> dict[int, int]:
        return {thread: point for thread, point in self.under_way.items() if thread != told.thread}

    # Rows that are asked for at a stop.

    async def take(self, hit: Sequence[int], thread: int, top: Frame, looking: Looking) -> bool:
        """Whether the program goes on."""
        self.read()
        if self.sheet.is_over.is_set():
            return False
        is_going_on = True
        for at in dict.fromkeys(map(point_of, hit)):
            if not self.sheet.has_room:
                self.sheet.add(at, thread, ())
                return False
            cells = await self._cells(at, top, looking)
            is_going_on &= self._judge(self.sheet.add(at, thread, cells))
        if self.never_ended:
            self.sheet.end("expression")
        return is_going_on and not self.never_ended

    async def take_again(self, thread: int, frame: Frame, looking: Looking) -> bool | None:
        """Half as many questions, where the language knows by itself where it stands."""
        standing = self._language.standing
        if standing is None or self.is_written_down or not self.sheet.has_room:
            return None
        points = [(it.path, it.line, self._language.asked(it)) for it in self.points]
        try:
            answer = await looking.evaluate(standing.asked(points), frame.id, "watch", timeout_s=EVALUATED_WITHIN_S)
            found = standing.answered(answer.result)
        except (DragomanError, ValueError, SyntaxError):
            return None
        if found is None or self._own_number.setdefault(thread, found[1]) != found[1]:
            return None
        return self._judge(self.sheet.add(found[0], thread, found[2]))

    def _judge(self, row: Row | None) -> bool:
        if row is None or self.sheet.is_over.is_set():
            return False
        if self._goes_on(row):
            return True
        self.broke_off = row
        self.sheet.is_over.set()
        return False

    async def _cells(self, at: int, top: Frame, looking: Looking) -> list[Cell]:
        expressions, combination = self._language.asked(self.points[at]), self._language.combination
        if combination is None or at in self._one_by_one or not expressions:
            return [await self._cell(it, top, looking) for it in expressions]
        try:
            asked = combination.asked(expressions)
            answer = await looking.evaluate(asked, top.id, combination.context, timeout_s=EVALUATED_WITHIN_S)
            return combination.answered(answer.result)
        except (DragomanError, ValueError, SyntaxError) as error:
            if getattr(error, "code", "") in _TOO_SLOW:
                return [self._given_up(it) for it in expressions]
            self._one_by_one.add(at)  # one of them is no expression at all, and would spoil the others
            return [await self._cell(it, top, looking) for it in expressions]

    async def _cell(self, expression: str, top: Frame, looking: Looking) -> Cell:
        if self.never_ended:
            return Cell("", failed=True)
        try:
            answer = await looking.evaluate(expression, top.id, "watch", timeout_s=EVALUATED_WITHIN_S)
        except DragomanError as error:
            if error.code in _TOO_SLOW:
                return self._given_up(expression)
            return Cell(_cut(said(error)), failed=True)
        return Cell(_cut(await self._opened(answer, looking)))

    async def _opened(self, answer: Evaluated, looking: Looking) -> str:
        """Where a debugger shows an address alone, what stands there."""
        if not answer.reference or not _ADDRESS.fullmatch(answer.result):
            return answer.result
        try:
            members = await looking.variables(answer.reference)
        except DragomanError:
            return answer.result
        return "{" + ", ".join(f"{it.name}: {it.value}" for it in members[:_MEMBERS]) + "}"

    def _given_up(self, expression: str) -> Cell:
        """The debugger may be busy with it for ever: nothing more is asked."""
        self.never_ended = self.never_ended or expression
        return Cell(f"not evaluated within {EVALUATED_WITHIN_S:g} s", failed=True)


def _cut(text: str) -> str:
    return text if len(text) <= 2 * CELL_CHARACTERS else f"{text[:CELL_CHARACTERS]}… ({len(text)} long)"


def said(error: DragomanError) -> str:
    """The line in which a debugger says why: the one that calls itself an error, else the last."""
    text = getattr(error, "reason", "") or error.code
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [_PREFIX.sub("", line) for line in lines if "error: " in line]
    return (found or lines[-1:] or [""])[0]
