"""The tool `stop_history`: stops that are over, listed, read, compared and searched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dragoman.debug.history.kept import KeptFrame, KeptStop
from dragoman.debug.history.service import Difference, StopHistory, difference
from dragoman.phrases import Phrase, joined, say
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.stops import short_path
from dragoman.tools.debug.values import name, timestamp
from dragoman.tools.evidence.answers import Changed, FrameSeen, PastStop, StopAt, StopsFound
from dragoman.tools.evidence.parameters import StopsWanted
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line
from dragoman.words import labelled, word_of

_VALUE_IN_TEXT = 120
_FRAMES_IN_TEXT = 6
_NAMES_IN_TEXT = 6


@dataclass(frozen=True, slots=True)
class Remembering:
    history: StopHistory

    async def stops(self, caller: Caller, wanted: StopsWanted) -> Outcome:
        if wanted.diff_with and not wanted.at:
            raise ToolError("bad_arguments", say("Give `at` as well: the two stops are compared."))
        if wanted.diff_with:
            return await self._diff(caller, wanted)
        if wanted.at:
            return await self._at(caller, wanted)
        return await (self._search if wanted.variable else self._list)(caller, wanted)

    async def _list(self, caller: Caller, wanted: StopsWanted) -> Outcome:
        found = await self.history.newest(caller.record_of, session=wanted.session_id, limit=wanted.limit)
        stops = [_past(it, caller.workspace) for it in found]
        lines = [joined("", (_line(it), _changed(it))) for it in stops]
        return Outcome(lines or [say("No stop is kept.")], StopsFound(status="success", stops=stops))

    async def _at(self, caller: Caller, wanted: StopsWanted) -> Outcome:
        stop = await self.history.at(caller.record_of, wanted.at)
        answer = _whole(stop, caller.workspace)
        return Outcome(_at_lines(answer), StopsFound(status="success", at=answer))

    async def _diff(self, caller: Caller, wanted: StopsWanted) -> Outcome:
        place = caller.record_of
        one, other = await self.history.at(place, wanted.at), await self.history.at(place, wanted.diff_with)
        changes = [_change(it) for it in difference(one, other)]
        stops = [_past(it, caller.workspace) for it in (one, other)]
        answer = StopsFound(status="success", stops=stops, changes=changes)
        lines = [_line(it) for it in stops] + [_diff_line(it) for it in changes]
        same = [] if changes else [say("The same values.")]
        return Outcome([*lines, *same], answer)

    async def _search(self, caller: Caller, wanted: StopsWanted) -> Outcome:
        found = await self.history.search(
            caller.record_of, wanted.variable, wanted.value, session=wanted.session_id, limit=wanted.limit
        )
        stops = [_past(stop, caller.workspace, value=hit.value) for stop, hit in found.hits]
        answer = StopsFound(
            status="success", stops=stops, searched=found.searched, is_complete=None if found.is_complete else False
        )
        variable = one_line(wanted.variable)
        values = [f"{variable} = {one_line(it.value or '', _VALUE_IN_TEXT)}" for it in stops]
        lines = [joined("  ", (_line(it), value)) for it, value in zip(stops, values, strict=True)]
        if not stops:
            lines = [say("In none of {count} stops.", count=found.searched)]
        if not found.is_complete:
            lines.append(say("The newest {count} stops were searched; older ones were not.", count=found.searched))
        return Outcome(lines, answer)


def _past(stop: KeptStop, workspace: Path, *, value: str | None = None) -> PastStop:
    frame = stop.frame
    return PastStop(
        id=stop.id,
        at=timestamp(stop.at_ns),
        program=name(stop.title),
        reason=name(stop.reason),
        place=_place(frame, workspace) if frame else "",
        changed=[name(it) for it in stop.seen.changed] or None,
        value=escaped(value) if value is not None else None,
    )


def _whole(stop: KeptStop, workspace: Path) -> StopAt:
    type, message = stop.seen.raised
    return StopAt(
        **_past(stop, workspace).model_dump(),
        frames=[_frame(it, workspace) for it in stop.seen.frames],
        variables={name(it.name): escaped(it.value) for it in stop.seen.variables},
        exception=escaped(f"{type}: {message}") if type else None,
    )


def _frame(frame: KeptFrame, workspace: Path) -> FrameSeen:
    path = short_path(frame.path, workspace) if frame.path else None
    return FrameSeen(function=name(frame.name), file_path=path, line=frame.line or None)


def _place(frame: KeptFrame, workspace: Path) -> str:
    return f"{short_path(frame.path, workspace)}:{frame.line} {name(frame.name)}"


def _change(change: Difference) -> Changed:
    return Changed(name=name(change.name), before=_or_none(change.before), after=_or_none(change.after))


def _or_none(text: str | None) -> str | None:
    return None if text is None else escaped(text)


def _line(stop: PastStop) -> Phrase:
    return joined(" ", (stop.id, stop.at[11:19], word_of(stop.reason), stop.place))


def _changed(stop: PastStop) -> Phrase | str:
    names = stop.changed or []
    more = f" +{len(names) - _NAMES_IN_TEXT}" if len(names) > _NAMES_IN_TEXT else ""
    return say("  changed: {names}", names=f"{', '.join(names[:_NAMES_IN_TEXT])}{more}") if names else ""


def _at_lines(stop: StopAt) -> list[Phrase]:
    stack = " < ".join(f"{it.file_path or '?'}:{it.line} {it.function}" for it in stop.frames[1:_FRAMES_IN_TEXT])
    values = [say("{text}", text=f"  {it} = {one_line(text, _VALUE_IN_TEXT)}") for it, text in stop.variables.items()]
    raised = [labelled(word_of("exception"), stop.exception)] if stop.exception else []
    return [_line(stop), *raised, *values, *([labelled(say("stack"), stack)] if stack else [])]


def _diff_line(change: Changed) -> Phrase:
    shown = [one_line(it, _VALUE_IN_TEXT) if it is not None else "-" for it in (change.before, change.after)]
    return say("{text}", text=f"  {change.name}: {shown[0]} -> {shown[1]}")
