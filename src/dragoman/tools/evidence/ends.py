"""How a run ended, as data and as a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.debug.evidence.run import End
from dragoman.debug.model import Frame, Raised
from dragoman.phrases import Phrase, say
from dragoman.tools.debug.stops import short_path
from dragoman.tools.debug.thread_dumps import dump_fields, dump_lines
from dragoman.tools.debug.values import Values, name
from dragoman.tools.evidence.answers import ExceptionSeen, FrameSeen, RunEnd
from dragoman.tools.operation import Caller
from dragoman.tools.showing import one_line
from dragoman.visible import without_colours
from dragoman.words import labelled, word_of

_FRAMES = 8
_MESSAGE = 400
_OUTPUT = 1000
_OUTPUT_LINES = 5
_LINE = 160

_LIMITS = {
    "hits": say("limit: there are more hits than max_hits"),
    "characters": say("limit: there is more than max_chars"),
    "seconds": say("limit: it was not over after timeout_s"),
    "expression": say("limit: an expression was not evaluated in time"),
    "steps": say("limit: there are more steps than max_steps"),
}


@dataclass(frozen=True, slots=True)
class Ends:
    values: Values

    def data(self, caller: Caller, end: End) -> RunEnd:
        raised = end.raised
        return RunEnd(
            how=end.how,
            limit=end.limit or None,
            exit_code=end.ended.exit_code if end.ended else None,
            signal=(end.ended.signal or None) if end.ended else None,
            exception=self.exception(raised) if raised else None,
            frames=frames_seen(end.frames, caller.workspace),
            output=self.values.tail(without_colours(end.output), _OUTPUT) or None,
            **dump_fields(end.dump, caller, short=True),
        )

    def exception(self, raised: Raised) -> ExceptionSeen:
        return ExceptionSeen(type=name(raised.type), message=self.values.text(raised.message, _MESSAGE))


def frames_seen(frames: Sequence[Frame], workspace: Path) -> list[FrameSeen] | None:
    """Those of the user; all, where none is."""
    own = [it for it in frames if not it.is_library] or list(frames)
    return [_frame(it, workspace) for it in own[:_FRAMES]] or None


def _frame(frame: Frame, workspace: Path) -> FrameSeen:
    path = short_path(frame.path, workspace) if frame.path else None
    return FrameSeen(function=name(frame.name), file_path=path, line=frame.line or None)


def end_lines(end: RunEnd) -> list[Phrase]:
    at = [labelled(say("at"), stack_line(end.frames))] if end.frames else []
    return [*_how(end), *at, *dump_lines(end), *_output(end.output)]


def _how(end: RunEnd) -> list[Phrase]:
    found = [_LIMITS[end.limit]] if end.limit in _LIMITS else []
    if end.exception:
        told = one_line(f"{end.exception.type}: {end.exception.message}", _MESSAGE)
        found.append(labelled(word_of("exception"), told))
    if end.how == "lost":
        found.append(say("The debugger is gone, and has not said how the program ended."))
    if end.exit_code is not None:
        found.append(labelled(say("exit code"), end.exit_code))
    return [*found, *([labelled(say("signal"), end.signal)] if end.signal else [])]


def stack_line(frames: Sequence[FrameSeen]) -> str:
    return " < ".join(f"{it.file_path or '?'}:{it.line} {it.function}" for it in frames)


def _output(output: str | None) -> list[Phrase]:
    """The tail; each line behind a bar, so that none can pass for one of ours."""
    lines = (output or "").splitlines()[-_OUTPUT_LINES:]
    return [say("{text}", text=f"| {one_line(line, _LINE)}") for line in lines]
