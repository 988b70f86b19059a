"""What the evidence tools share: runs, locations, values, the wait for a run, and how a run ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dragoman.core.errors import DragomanError
from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import strip_colors
from dragoman.debug.evidence.run import EvidenceService, RunOutcome
from dragoman.debug.model import FrameInfo, RaisedException
from dragoman.tools.agent_text import one_line
from dragoman.tools.debug.stop_results import short_path
from dragoman.tools.debug.thread_dumps import dump_fields, dump_lines
from dragoman.tools.debug.values import ValueFormatter, name
from dragoman.tools.evidence.schema import EvidenceResult, ExceptionSummary, FrameSummary, RunEnd
from dragoman.tools.evidence.target import LocationFinder
from dragoman.tools.waits import OpenWait, OpenWaits
from dragoman.workspace.caller import Caller

_FRAMES = 8
_MESSAGE = 400
_OUTPUT = 1000
_OUTPUT_LINES = 5
_LINE = 160
_EXPRESSION_IN_TEXT = 80

_LIMITS = {
    "hits": localize("limit: more hits than max_hits"),
    "characters": localize("limit: more than max_chars"),
    "seconds": localize("limit: not finished after timeout_s"),
    "expression": localize("limit: an expression timed out"),
    "steps": localize("limit: more steps than max_steps"),
}


@dataclass(frozen=True, slots=True)
class RunEndFormatter:
    values: ValueFormatter

    def data(self, caller: Caller, end: RunOutcome) -> RunEnd:
        raised = end.raised
        return RunEnd(
            how=end.how,
            limit=end.limit or None,
            exit_code=end.ended.exit_code if end.ended else None,
            signal=(end.ended.signal or None) if end.ended else None,
            exception=self.exception(raised) if raised else None,
            frames=frame_summaries(end.frames, caller.workspace),
            output=self.values.tail(strip_colors(end.output), _OUTPUT) or None,
            **dump_fields(end.dump, caller, short=True),
        )

    def exception(self, raised: RaisedException) -> ExceptionSummary:
        return ExceptionSummary(type=name(raised.type), message=self.values.text(raised.message, _MESSAGE))


def frame_summaries(frames: Sequence[FrameInfo], workspace: Path) -> list[FrameSummary] | None:
    """The user's own frames; all frames if there are none."""
    own = [it for it in frames if not it.is_library] or list(frames)
    return [_frame(it, workspace) for it in own[:_FRAMES]] or None


def _frame(frame: FrameInfo, workspace: Path) -> FrameSummary:
    path = short_path(frame.path, workspace) if frame.path else None
    return FrameSummary(function=name(frame.name), file_path=path, line=frame.line or None)


def end_lines(end: RunEnd) -> list[LocalizedText]:
    at = [with_label(localize("at"), stack_line(end.frames))] if end.frames else []
    return [*_end_reason_lines(end), *at, *dump_lines(end), *_output_lines(end.output)]


def _end_reason_lines(end: RunEnd) -> list[LocalizedText]:
    found = [_LIMITS[end.limit]] if end.limit in _LIMITS else []
    if end.exception:
        text = one_line(f"{end.exception.type}: {end.exception.message}", _MESSAGE)
        found.append(with_label(label_of("exception"), text))
    if end.how == "lost":
        found.append(localize("The debugger exited without reporting how the program ended."))
    if end.exit_code is not None:
        found.append(with_label(localize("exit code"), end.exit_code))
    return [*found, *([with_label(localize("signal"), end.signal)] if end.signal else [])]


def stack_line(frames: Sequence[FrameSummary]) -> str:
    return " < ".join(f"{it.file_path or '?'}:{it.line} {it.function}" for it in frames)


def _output_lines(output: str | None) -> list[LocalizedText]:
    """The end of the output, each line marked with a bar so that it cannot look like one of Dragoman's."""
    lines = (output or "").splitlines()[-_OUTPUT_LINES:]
    return [localize("{text}", text=f"| {one_line(line, _LINE)}") for line in lines]


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class EvidenceContext:
    """What every evidence tool works with. It owns nothing: the services live in the daemon."""

    evidence: EvidenceService
    finder: LocationFinder
    values: ValueFormatter
    waits: OpenWaits

    @property
    def ends(self) -> RunEndFormatter:
        return RunEndFormatter(self.values)

    async def wait_for_run(self, caller: Caller, tool: str, within_s: float, act: Callable[[], Awaitable[_T]]) -> _T:
        """Wait with progress reports. If the user interrupts the wait, what was started for it ends."""
        found = await self.waits.until(caller, OpenWait(tool, "", caller.workspace, caller.id), within_s, act)
        if found is None:
            raise DragomanError("interrupted", localize("The user interrupted the run."))
        return found

    def closing_lines(self, answer: EvidenceResult) -> list[LocalizedText]:
        lines = end_lines(answer.ended)
        if answer.side_effects:
            shown = ", ".join(one_line(it, _EXPRESSION_IN_TEXT) for it in answer.side_effects)
            lines.append(localize("may have changed the program: {expressions}", expressions=shown))
        if answer.session_id:
            lines.append(
                localize("State: {state} ({session}).", state=label_of(answer.state or ""), session=answer.session_id)
            )
        return lines
