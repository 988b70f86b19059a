"""The tool `check`: does a claim hold each time the program comes by?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.debug.evidence.check import Checked, checked
from dragoman.debug.evidence.effects import suspicious
from dragoman.debug.evidence.sheet import Cell, Row
from dragoman.phrases import Phrase, say
from dragoman.tools.debug.client import client_of
from dragoman.tools.evidence.answers import CheckedAnswer
from dragoman.tools.evidence.parameters import CheckWanted
from dragoman.tools.evidence.room import Room
from dragoman.tools.evidence.subject import subject_of
from dragoman.tools.evidence.tracing import points_seen
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line
from dragoman.words import labelled, word_of

_VALUE_IN_TEXT = 160


@dataclass(frozen=True, slots=True)
class Checking:
    room: Room

    async def check(self, caller: Caller, wanted: CheckWanted) -> Outcome:
        subject = subject_of(wanted)
        point = await self.room.finder.point(caller, wanted, wanted, (), wanted.condition)

        async def act() -> Checked:
            return await checked(
                self.room.evidence,
                client_of(caller),
                subject,
                point,
                wanted.claim,
                wanted.limits,
                besides=wanted.expressions,
                stops=wanted.stop,
            )

        found = await self.room.awaited(caller, "check", wanted.timeout_s, act)
        answer = self._answer(caller, wanted, found)
        return Outcome([*_lines(answer), *self.room.last_lines(answer)], answer)

    def _answer(self, caller: Caller, wanted: CheckWanted, found: Checked) -> CheckedAnswer:
        (seen,) = points_seen(found.trace, caller, self.room)
        expressions = [wanted.claim, wanted.condition, *wanted.expressions]
        return CheckedAnswer(
            status="success",
            verdict=found.verdict,
            hits=found.hits,
            place=seen.place,
            not_bound=seen.not_bound,
            error=self.room.values.text(found.error, _VALUE_IN_TEXT) or None,
            before=self._values(found, found.before),
            at_break=self._values(found, found.broken),
            ended=self.room.ends.data(caller, found.trace.end),
            session_id=found.trace.session_id or None,
            state=found.trace.state or None,
            side_effects=[escaped(it) for it in suspicious(filter(None, expressions))] or None,
        )

    def _values(self, found: Checked, row: Row | None) -> dict[str, str] | None:
        if row is None:
            return None
        return {escaped(it): self._shown(it, cell) for it, cell in found.values(row)}

    def _shown(self, expression: str, cell: Cell) -> str:
        shown = self.room.values.value(expression, cell.text, len(cell.text)).text
        return f"!{shown}" if cell.failed else shown


def _lines(answer: CheckedAnswer) -> list[Phrase]:
    heads = {
        "holds": say("holds: {place}, hits: {hits}", hits=answer.hits, place=answer.place),
        "broken": say("broken at hit {hits} of {place}", hits=answer.hits, place=answer.place),
        "never reached": say("never reached: {place}", place=answer.place),
    }
    reason = [say("  not bound: {reason}", reason=one_line(answer.not_bound))] if answer.not_bound else []
    told = [
        (word_of("error"), answer.error),
        (say("before"), _pairs(answer.before)),
        (say("at the break"), _pairs(answer.at_break)),
    ]
    return [heads[answer.verdict], *reason, *(labelled(label, text) for label, text in told if text)]


def _pairs(values: dict[str, str] | None) -> str:
    shown: Sequence[str] = [f"{name} = {one_line(value, _VALUE_IN_TEXT)}" for name, value in (values or {}).items()]
    return ", ".join(shown)
