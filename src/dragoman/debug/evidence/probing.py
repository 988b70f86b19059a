"""What a session asks at its points instead of stopping: a row a hit, and on. The session knows it by this port alone.

While it is there, the session has no other breakpoints: those of clients are kept aside, and come back with its end.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence

from dragoman.debug.evidence.languages import Language, language_of
from dragoman.debug.evidence.points import Point, id_of, point_of
from dragoman.debug.evidence.sheet import CELL_CHARACTERS, Cell, Row, Sheet
from dragoman.debug.model import Evaluated, Frame
from dragoman.debug.snapshot import Looking
from dragoman.errors import DragomanError
from dragoman.workspace.breakpoints import Breakpoint

EVALUATED_WITHIN_S = 2.0
_TOO_SLOW = frozenset({"adapter_silent", "adapter_busy"})

_MEMBERS = 20
_ADDRESS = re.compile(r"\S* ?@ ?0x[0-9a-f]+|\{\.\.\.\}")
_PREFIX = re.compile(r"(?:^|.*\b)error: (?:<[^>]*>:\d+:\d+: )?")

GoesOn = Callable[[Row], bool]


class Probing:
    """`goes_on` judges each row: where it says no, the program stops there, as at a breakpoint."""

    def __init__(
        self,
        points: Sequence[Point],
        sheet: Sheet,
        *,
        goes_on: GoesOn = lambda _: True,
        by_stops: bool = False,
    ) -> None:
        self.points = tuple(points)
        self.sheet = sheet
        self.broke_off: Row | None = None
        """The row that was judged to be the last."""
        self.watched: Breakpoint | None = None
        """Data at whose change the program stops."""
        self.never_ended = ""
        """An expression that was not evaluated in time."""
        self._goes_on = goes_on
        # At functions debuggers log nothing, and rows of both kinds would come out of their order.
        self._by_stops = by_stops or any(point.function for point in self.points)
        self._language = Language()
        self._mark = f"<{secrets.token_hex(8)}>"
        self._one_by_one: set[int] = set()

    def speak(self, adapter_id: str) -> None:
        """To whom it is asked."""
        self._language = language_of(adapter_id)

    @property
    def breakpoints(self) -> list[Breakpoint]:
        asked = [point.as_breakpoint(id_of(at)) for at, point in enumerate(self.points)]
        return asked if self.watched is None else [*asked, self.watched]

    def owns(self, hit: Sequence[int]) -> bool:
        return bool(hit) and all(0 <= point_of(id) < len(self.points) for id in hit)

    @property
    def is_logging(self) -> bool:
        """Whether it runs on while its rows are heard."""
        return self._language.logging is not None and not self._by_stops

    # Rows that the debugger says by itself.

    def log_message(self, id: int) -> str:
        """Empty: it is a stop."""
        logging, at = self._language.logging, point_of(id)
        if logging is None or self._by_stops or not self.owns([id]):
            return ""
        return logging.logged(self._mark, self.sheet.limits.hits, at, self._language.asked(self.points[at]))

    def hear(self, text: str) -> bool:
        """Whether what was printed is a row of ours, which is then nobody else's to see."""
        if self._language.logging is None or not text.startswith(self._mark):
            return False
        at, thread, cells = self._language.logging.heard(text[len(self._mark) :])
        if 0 <= at < len(self.points) and not self.sheet.is_over.is_set():
            self._judge(self.sheet.add(at, thread, cells))
        return True

    # Rows that are asked for at a stop.

    async def take(self, hit: Sequence[int], thread: int, top: Frame, looking: Looking) -> bool:
        """Whether the program goes on."""
        is_going_on = True
        for at in dict.fromkeys(map(point_of, hit)):
            if not self.sheet.has_room:
                self.sheet.add(at, thread, ())
                return False
            cells = await self._cells(at, top, looking)
            is_going_on &= self._judge(self.sheet.add(at, thread, cells))
        return is_going_on

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
        self.sheet.end("expression")
        return Cell(f"not evaluated within {EVALUATED_WITHIN_S:g} s", failed=True)


def _cut(text: str) -> str:
    return text if len(text) <= 2 * CELL_CHARACTERS else f"{text[:CELL_CHARACTERS]}… ({len(text)} long)"


def said(error: DragomanError) -> str:
    """The line in which a debugger says why: the one that calls itself an error, else the last."""
    text = getattr(error, "reason", "") or error.code
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [_PREFIX.sub("", line) for line in lines if "error: " in line]
    return (found or lines[-1:] or [""])[0]
