"""The tool `trace`: several places and several expressions over a whole run, as one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.debug.evidence.effects import suspicious
from dragoman.debug.evidence.points import Point
from dragoman.debug.evidence.sheet import CELL_IN_TEXT, Cell, Row, Sheet
from dragoman.debug.evidence.trace import Trace, together, traced
from dragoman.debug.model import Binding
from dragoman.phrases import Language, Phrase, say, spoken, text_in
from dragoman.tools.debug.client import client_of
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.python_functions import NOT_FOUND
from dragoman.tools.debug.stops import short_path
from dragoman.tools.evidence.answers import PointSeen, Traced
from dragoman.tools.evidence.parameters import TraceWanted
from dragoman.tools.evidence.room import Room
from dragoman.tools.evidence.subject import subject_of
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line

_EXPRESSION_IN_TEXT = 80
_REASON = 400
_AS_ABOVE = "="


@dataclass(frozen=True, slots=True)
class Tracing:
    room: Room

    async def trace(self, caller: Caller, wanted: TraceWanted) -> Outcome:
        subject = subject_of(wanted)
        points = together([await self._point(caller, wanted, at) for at in range(len(wanted.points))])
        require_apart(points)

        async def act() -> Trace:
            return await traced(self.room.evidence, client_of(caller), subject, points, wanted.limits)

        trace = await self.room.awaited(caller, "trace", wanted.timeout_s, act)
        answer = self._answer(caller, trace)
        lines = table_lines(answer, trace.sheet)
        places = ", ".join(it.place for it in answer.points)
        self.room.evidence.service.record_trace(client_of(caller), trace.ran_as, places, "\n".join(map(str, lines)))
        return Outcome([*lines, *self.room.last_lines(answer)], answer)

    async def _point(self, caller: Caller, wanted: TraceWanted, at: int) -> Point:
        point = wanted.points[at]
        return await self.room.finder.point(caller, wanted, point, tuple(point.expressions), point.condition)

    def _answer(self, caller: Caller, trace: Trace) -> Traced:
        expressions = [it for point in trace.points for it in (*point.expressions, point.condition) if it]
        return Traced(
            status="success",
            hits=trace.sheet.hits,
            points=points_seen(trace, caller, self.room),
            rows=[self._row(trace, row) for row in (*trace.sheet.rows, *trace.sheet.tail)],
            rows_left_out=trace.sheet.left_out or None,
            ended=self.room.ends.data(caller, trace.end),
            session_id=trace.session_id or None,
            state=trace.state or None,
            side_effects=[escaped(it) for it in suspicious(expressions)] or None,
        )

    def _row(self, trace: Trace, row: Row) -> dict[str, object]:
        told: dict[str, object] = {"hit": row.number}
        told |= {"point": row.point + 1} if len(trace.points) > 1 else {}
        told |= {"thread": row.thread} if trace.sheet.threads > 1 else {}
        pairs = list(zip(trace.points[row.point].expressions, row.changed, strict=False))
        values = {escaped(it): self._shown(it, cell) for it, cell in pairs if cell and not cell.failed}
        errors = {escaped(it): self._shown(it, cell) for it, cell in pairs if cell and cell.failed}
        return told | ({"values": values} if values else {}) | ({"errors": errors} if errors else {})

    def _shown(self, expression: str, cell: Cell) -> str:
        return self.room.values.value(expression, cell.text, len(cell.text)).text


def require_apart(points: Sequence[Point]) -> None:
    if len({point.place for point in points}) < len(points):
        raise ToolError(
            "same_place",
            say("Two points stand at one place with different conditions, and a debugger knows one."),
            hint=say("Give one of them, with the condition as an expression."),
        )


def points_seen(trace: Trace, caller: Caller, room: Room) -> list[PointSeen]:
    return [
        PointSeen(
            place=_place(point, binding, caller.workspace),
            expressions=[escaped(it) for it in point.expressions],
            hits=trace.sheet.hits_of(at),
            condition=escaped(point.condition) or None,
            not_bound=_why_not_bound(trace, at, binding, room, caller.language),
        )
        for at, (point, binding) in enumerate(zip(trace.points, trace.bindings, strict=True))
    ]


def _why_not_bound(trace: Trace, at: int, binding: Binding, room: Room, language: Language) -> str | None:
    """A place that no code stands at, or whose condition cannot be judged, is no place that was not reached."""
    if trace.sheet.hits_of(at):
        return None
    fault = trace.faults.get(at)
    why = spoken(say("The condition failed: {reason}", reason=fault)) if fault else binding.message
    why = why or (spoken(NOT_FOUND) if trace.points[at].is_unknown else "")
    return room.values.text(text_in(why, language), _REASON) or None


def _place(point: Point, binding: Binding, workspace: Path) -> str:
    if point.function:
        return one_line(point.function, _EXPRESSION_IN_TEXT)
    return f"{short_path(point.path, workspace)}:{binding.line or point.line}"


# The lines: what is asked first, then a row a hit. `=`: as above; alone, all of the row.


def table_lines(answer: Traced, sheet: Sheet) -> list[Phrase]:
    several, is_over = len(answer.points) > 1, answer.ended.how != "limit"
    heads = [
        line for at, it in enumerate(answer.points, 1) for line in _head(at if several else 0, it, is_over=is_over)
    ]
    kept = len(sheet.rows)
    first = _rows(answer.rows[:kept], sheet.rows, answer, sheet, several=several)
    last = _rows(answer.rows[kept:], sheet.tail, answer, sheet, several=several)
    gap = [say("… {count} rows left out …", count=sheet.left_out)] if sheet.left_out else []
    return [*heads, *_plain(first), *gap, *_plain(last)]


def _plain(lines: Iterator[str]) -> Iterator[Phrase]:
    return (say("{text}", text=line) for line in lines)


def _head(at: int, point: PointSeen, *, is_over: bool) -> Iterator[Phrase]:
    asked = " | ".join(one_line(it, _EXPRESSION_IN_TEXT) for it in point.expressions)
    place: str | Phrase = f"{f'@{at} ' if at else ''}{point.place}"
    if point.condition:
        place = say("{place} if {condition}", place=place, condition=one_line(point.condition, _EXPRESSION_IN_TEXT))
    yield say("{place}: {asked}", place=place, asked=asked)
    if point.not_bound:
        yield say("  not bound: {reason}", reason=one_line(point.not_bound))
    elif not point.hits and is_over:
        yield say("  never reached")


def _rows(
    shown: Sequence[dict[str, Any]], rows: Sequence[Row], answer: Traced, sheet: Sheet, *, several: bool
) -> Iterator[str]:
    begun = 0
    for at, row in enumerate(rows):
        last = at + 1 == len(rows)
        begun = begun or row.number
        if not any(row.changed) and not several and not last and not any(rows[at + 1].changed):
            continue  # told with the last of those in which nothing changed
        number = f"{begun}" if begun == row.number else f"{begun}-{row.number}"
        point = f" @{row.point + 1}" if several else ""
        thread = f" t{row.thread}" if sheet.threads > 1 else ""
        told = shown[at]
        cells = [_cell(told, it) for it in answer.points[row.point].expressions] if any(row.changed) else [_AS_ABOVE]
        yield f"{number}{point}{thread} | {' | '.join(cells)}"
        begun = 0


def _cell(row: dict[str, object], expression: str) -> str:
    for kind, mark in (("values", ""), ("errors", "!")):
        found = row.get(kind)
        if isinstance(found, dict) and expression in found:
            return mark + one_line(str(found[expression]), CELL_IN_TEXT)
    return _AS_ABOVE
