"""The tool `find_change`: which line changes a value, or breaks an invariant?"""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.debug.evidence.change import Looked, Question, changed
from dragoman.debug.evidence.effects import suspicious
from dragoman.debug.evidence.points import Point
from dragoman.debug.evidence.sheet import Cell
from dragoman.debug.model import Frame
from dragoman.phrases import Phrase, say, spoken, text_in
from dragoman.tools.debug.client import client_of
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.python_functions import NOT_FOUND
from dragoman.tools.debug.sources import SourceReader
from dragoman.tools.debug.stops import short_path
from dragoman.tools.evidence.answers import ChangeFound
from dragoman.tools.evidence.ends import frames_seen, stack_line
from dragoman.tools.evidence.parameters import ChangeWanted
from dragoman.tools.evidence.room import Room
from dragoman.tools.evidence.subject import subject_of
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line
from dragoman.words import labelled, word_of

_VALUE = 800
_VALUE_IN_TEXT = 160
_LINE = 160
_REASON = 400


@dataclass(frozen=True, slots=True)
class Changing:
    room: Room
    sources: SourceReader

    async def find(self, caller: Caller, wanted: ChangeWanted) -> Outcome:
        subject, point = subject_of(wanted), await self._point(caller, wanted)

        async def act() -> Looked:
            return await changed(
                self.room.evidence,
                client_of(caller),
                subject,
                point,
                Question(wanted.expression, wanted.invariant),
                steps=wanted.max_steps,
                seconds=wanted.timeout_s,
            )

        found = await self.room.awaited(caller, "find_change", wanted.timeout_s, act)
        answer = await self._answer(caller, wanted, found, point)
        return Outcome([*_lines(answer), *self.room.last_lines(answer)], answer)

    async def _point(self, caller: Caller, wanted: ChangeWanted) -> Point | None:
        if wanted.is_given:
            return await self.room.finder.point(caller, wanted, wanted, ())
        if wanted.session_id:
            return None
        raise ToolError(
            "bad_arguments",
            say("Give the place at which the expression begins to mean something."),
            hint=say("A stopped session needs none: it begins where it stands."),
        )

    async def _answer(self, caller: Caller, wanted: ChangeWanted, found: Looked, point: Point | None) -> ChangeFound:
        change = found.change
        at = change.at if change else None
        return ChangeFound(
            status="success",
            verdict=found.verdict,
            by=found.by,
            steps=found.steps,
            place=f"{short_path(at.path, caller.workspace)}:{at.line}" if at else None,
            source=await self._source(caller, at),
            old=self._shown(wanted.expression, change.old) if change else None,
            new=self._shown(wanted.expression, change.new) if change else None,
            frames=frames_seen(change.frames, caller.workspace) if change else None,
            not_bound=self._why_not_bound(caller, found, point),
            ended=self.room.ends.data(caller, found.end),
            session_id=found.session_id or None,
            state=found.state or None,
            side_effects=[escaped(it) for it in suspicious(filter(None, (wanted.expression, wanted.invariant)))]
            or None,
        )

    def _why_not_bound(self, caller: Caller, found: Looked, point: Point | None) -> str | None:
        if found.verdict != "never reached":
            return None
        why = found.binding.message if found.binding else ""
        why = why or (spoken(NOT_FOUND) if point is not None and point.is_unknown else "")
        return self.room.values.text(text_in(why, caller.language), _REASON) or None

    async def _source(self, caller: Caller, at: Frame | None) -> str | None:
        lines = await self.sources.lines(at.path, caller.workspace, {at.path}) if at and at.path else None
        if at is None or lines is None or not 0 < at.line <= len(lines):
            return None
        return self.room.values.text(lines[at.line - 1].strip(), _LINE)

    def _shown(self, expression: str, cell: Cell) -> str:
        shown = self.room.values.value(expression, cell.text, _VALUE).text
        return f"!{shown}" if cell.failed else shown


def _lines(answer: ChangeFound) -> list[Phrase]:
    heads = {
        "changed": say("changed at {place}", place=answer.place or "?"),
        "unchanged": say("unchanged ({steps} steps)", steps=answer.steps),
        "never reached": say("The place was never reached."),
    }
    reason = [say("  not bound: {reason}", reason=one_line(answer.not_bound))] if answer.not_bound else []
    told = [(word_of("line"), answer.source), (say("old"), answer.old), (say("new"), answer.new)]
    told.append((say("stack"), stack_line(answer.frames or ())))
    shown = [labelled(label, one_line(text, _VALUE_IN_TEXT)) for label, text in told if text]
    return [heads[answer.verdict], *reason, *shown]
