"""The tool `explain_crash`: run to what nothing catches, and say what stood there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.debug.evidence.crash import Crash, Lines, SeenFrame, crashed
from dragoman.debug.evidence.printed_crash import Cause
from dragoman.debug.evidence.run import Subject
from dragoman.debug.evidence.sheet import Cell
from dragoman.debug.model import Variable
from dragoman.phrases import Phrase, say
from dragoman.tools.debug.client import client_of
from dragoman.tools.debug.sources import SourceReader
from dragoman.tools.debug.stops import short_path
from dragoman.tools.debug.values import name
from dragoman.tools.evidence.answers import CauseSeen, CrashFrame, CrashSeen
from dragoman.tools.evidence.ends import end_lines
from dragoman.tools.evidence.parameters import CrashWanted
from dragoman.tools.evidence.room import Room
from dragoman.tools.evidence.subject import subject_of
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line
from dragoman.words import labelled, word_of

_VALUE = 400
_VALUE_IN_TEXT = 120
_MESSAGE = 400
_LOCALS = 20
_SOURCE = 160
_STACK = re.compile(r"(?s)\n    at .*")  # of an error in JavaScript, which is shown with all of it


@dataclass(frozen=True, slots=True)
class Crashing:
    room: Room
    sources: SourceReader

    async def explain(self, caller: Caller, wanted: CrashWanted) -> Outcome:
        answer = await self.explained(caller, subject_of(wanted), wanted.timeout_s)
        return Outcome(crash_lines(answer), answer)

    async def explained(self, caller: Caller, subject: Subject, within_s: float) -> CrashSeen:
        async def act() -> Crash:
            evidence, lines = self.room.evidence, self.lines(caller)
            return await crashed(evidence, client_of(caller), subject, lines, within_s)

        return self._answer(caller, await self.room.awaited(caller, "explain_crash", within_s, act))

    def lines(self, caller: Caller) -> Lines:
        async def lines(path: str) -> Sequence[str] | None:
            return await self.sources.lines(path, caller.workspace, (path,))

        return lines

    def _answer(self, caller: Caller, crash: Crash) -> CrashSeen:
        ended, printed = self.room.ends.data(caller, crash.end), crash.printed
        exception = self.room.ends.exception(printed) if printed else ended.exception
        return CrashSeen(
            status="success",
            crashed=crash.is_one,
            frames=[self.frame(caller, it) for it in crash.frames],
            caused_by=[self.cause(caller, it) for it in crash.causes] or None,
            printed=True if printed else None,
            ended=ended.model_copy(update={"frames": None, "exception": exception}),
            session_id=crash.session_id or None,
            state=crash.state or None,
        )

    def cause(self, caller: Caller, cause: Cause) -> CauseSeen:
        at = cause.frame
        return CauseSeen(
            type=name(cause.type),
            message=self.room.values.text(cause.message, _MESSAGE),
            at=f"{short_path(at.path, caller.workspace)}:{at.line} {name(at.name)}" if at else None,
            locals={name(it.name): self._local(it) for it in cause.variables[:_LOCALS]} or None,
        )

    def frame(self, caller: Caller, seen: SeenFrame) -> CrashFrame:
        own = seen.variables
        return CrashFrame(
            function=name(seen.frame.name),
            file_path=short_path(seen.frame.path, caller.workspace) if seen.frame.path else None,
            line=seen.frame.line or None,
            source=self.room.values.text(seen.source, _SOURCE) or None,
            values={escaped(it): self._cell(it, cell) for it, cell in seen.values} or None,
            locals={name(it.name): self._local(it) for it in own[:_LOCALS]},
            more_locals=max(0, len(own) - _LOCALS) or None,
        )

    def _local(self, variable: Variable) -> str:
        return self._shown(variable.name, _STACK.sub("", variable.value))

    def _cell(self, expression: str, cell: Cell) -> str:
        shown = self._shown(expression, cell.text)
        return f"!{shown}" if cell.failed else shown

    def _shown(self, expression: str, text: str) -> str:
        shown = self.room.values.value(expression, text, _VALUE)
        return shown.text if shown.is_whole else f"{shown.text}… ({shown.length} chars)"


def crash_lines(answer: CrashSeen) -> list[Phrase]:
    first, *rest = end_lines(answer.ended) or [say("The program ended.")]
    is_calm = not answer.crashed and answer.ended.how == "exited"
    calm = [say("No crash: the program ended by itself.")] if is_calm else []
    calm += [say("The debugger did not stop there; this is what the program printed.")] if answer.printed else []
    told = [line for it in answer.caused_by or () for line in cause_lines(it)]
    told += [line for it in answer.frames for line in frame_lines(it)]
    left = [say("State: {state} ({session}).", state=word_of(answer.state or ""), session=answer.session_id)]
    return [*calm, first, *told, *rest, *left[: bool(answer.session_id)]]


def cause_lines(cause: CauseSeen) -> list[Phrase]:
    said = one_line(f"{cause.type}: {cause.message}" if cause.message else cause.type, _MESSAGE)
    told = say("{error} at {place}", error=said, place=cause.at) if cause.at else said
    return [labelled(say("caused by"), told), *_pairs(cause.locals)]


def frame_lines(frame: CrashFrame) -> list[Phrase]:
    source = f": {one_line(frame.source, _SOURCE)}" if frame.source else ""
    head = say("at {place}", place=f"{frame.file_path or '?'}:{frame.line} {frame.function}{source}")
    return [head, *_pairs(frame.values), *_pairs(frame.locals)]


def _pairs(values: dict[str, str] | None) -> list[Phrase]:
    shown = [f"{name} = {one_line(value, _VALUE_IN_TEXT)}" for name, value in (values or {}).items()]
    return [say("{text}", text=f"  {', '.join(shown)}")] if shown else []
