"""What the tools for evidence share: where runs come from, places, values, ends, and the wait for a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from dragoman.debug.evidence.run import Evidence
from dragoman.phrases import Phrase, say
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.values import Values
from dragoman.tools.debug.waits import Wait, Waits
from dragoman.tools.evidence.answers import Found
from dragoman.tools.evidence.ends import Ends, end_lines
from dragoman.tools.evidence.place import PlaceFinder
from dragoman.tools.operation import Caller
from dragoman.tools.showing import one_line
from dragoman.words import word_of

_T = TypeVar("_T")
_EXPRESSION_IN_TEXT = 80


@dataclass(frozen=True, slots=True)
class Room:
    evidence: Evidence
    finder: PlaceFinder
    values: Values
    waits: Waits

    @property
    def ends(self) -> Ends:
        return Ends(self.values)

    async def awaited(self, caller: Caller, tool: str, within_s: float, act: Callable[[], Awaitable[_T]]) -> _T:
        """With progress for who shows it; a person can break it off, and what was started for it ends."""
        found = await self.waits.until(caller, Wait(tool, "", caller.workspace, caller.id), within_s, act)
        if found is None:
            raise ToolError("interrupted", say("The user broke off the run."))
        return found

    def last_lines(self, answer: Found) -> list[Phrase]:
        lines = end_lines(answer.ended)
        if answer.side_effects:
            shown = ", ".join(one_line(it, _EXPRESSION_IN_TEXT) for it in answer.side_effects)
            lines.append(say("may have changed the program: {expressions}", expressions=shown))
        if answer.session_id:
            lines.append(
                say("State: {state} ({session}).", state=word_of(answer.state or ""), session=answer.session_id)
            )
        return lines
