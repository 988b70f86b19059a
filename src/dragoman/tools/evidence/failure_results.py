"""Results of the tools that run a failure again, and their text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import ConfigDict

from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import LocalizedText, localize
from dragoman.tools.agent_text import one_line
from dragoman.tools.debug.results import OmitNone, only_required
from dragoman.tools.evidence.context import end_lines
from dragoman.tools.evidence.schema import EvidenceResult, ExceptionSummary, FrameSummary
from dragoman.tools.tool import Result

_VALUE_IN_TEXT = 120
_MESSAGE = 400
_SOURCE = 160
_NAMES_IN_TEXT = 10
_MESSAGE_LINES = 14
_MESSAGE_LINE = 1300


class ExceptionCause(ExceptionSummary):
    """`at` and `locals` belong to the innermost frame of the user's code."""

    model_config = ConfigDict(json_schema_extra=only_required)

    at: OmitNone[str] = None
    locals: OmitNone[dict[str, str]] = None


class CrashFrame(FrameSummary):
    """`values`: the parts of the failing line; those that cannot be evaluated begin with an exclamation mark."""

    locals: dict[str, str]
    source: OmitNone[str] = None
    values: OmitNone[dict[str, str]] = None
    more_locals: OmitNone[int] = None


class ExplainCrashResult(EvidenceResult):
    """The user's own frames, from the failing one up; `caused_by`, the nearest cause first.

    `printed`: the error comes from the program's output, and no debugger stopped there.
    """

    crashed: bool
    frames: list[CrashFrame]
    more_frames: OmitNone[int] = None
    printed: OmitNone[bool] = None
    caused_by: OmitNone[list[ExceptionCause]] = None


class FailedTest(Result):
    """Where the test failed, innermost frame first. There is no exception if the language has none, as in Go tests.

    `test`: its name, as in `failed`, if it is known.
    """

    model_config = ConfigDict(json_schema_extra=only_required)

    frames: list[CrashFrame]
    test: OmitNone[str] = None
    more_frames: OmitNone[int] = None
    exception: OmitNone[ExceptionSummary] = None
    caused_by: OmitNone[list[ExceptionCause]] = None


class DebugTestResult(EvidenceResult):
    """`failed`: the names of all failed tests; `failures`: details of up to five of them."""

    verdict: Literal["passed", "failed", "no tests", "limit"]
    seconds: float
    failed: OmitNone[list[str]] = None
    failures: OmitNone[list[FailedTest]] = None


class DebugLastFailureResult(EvidenceResult):
    """The recorded command, and the result under the debugger: a test or a program."""

    command: str
    command_id: str
    cwd: str
    fails_again: bool
    failed_with: OmitNone[int] = None
    test: OmitNone[DebugTestResult] = None
    crash: OmitNone[ExplainCrashResult] = None


def crash_lines(answer: ExplainCrashResult) -> list[LocalizedText]:
    first, *rest = end_lines(answer.ended) or [localize("The program ended.")]
    has_no_crash = not answer.crashed and answer.ended.how == "exited"
    remarks = [localize("No crash: the program ended by itself.")] if has_no_crash else []
    remarks += [localize("The debugger did not stop there; this is the program's output.")] if answer.printed else []
    details = _detail_lines(answer.caused_by, answer.frames, answer.more_frames)
    left = [localize("State: {state} ({session}).", state=label_of(answer.state or ""), session=answer.session_id)]
    return [*remarks, first, *details, *rest, *left[: bool(answer.session_id)]]


def _detail_lines(
    causes: Sequence[ExceptionCause] | None, frames: Sequence[CrashFrame], more: int | None
) -> list[LocalizedText]:
    """Causes, then frames. Locals that several of them share stand once."""
    lines: list[LocalizedText] = []
    seen: list[dict[str, str]] = []
    for cause in causes or ():
        lines += [_cause_line(cause), *_new_pair_lines(cause.locals, seen)]
    for frame in frames:
        lines += [_frame_line(frame), *_pair_lines(frame.values), *_new_pair_lines(frame.locals, seen)]
    return [*lines, localize("… {count} more frames", count=more)] if more else lines


def _cause_line(cause: ExceptionCause) -> LocalizedText:
    error = one_line(": ".join(filter(None, (cause.type, cause.message))), _MESSAGE)
    text = localize("{error} at {place}", error=error, place=cause.at) if cause.at else error
    return with_label(localize("caused by"), text)


def _frame_line(frame: CrashFrame) -> LocalizedText:
    source = f": {one_line(frame.source, _SOURCE)}" if frame.source else ""
    return localize("at {place}", place=f"{frame.file_path or '?'}:{frame.line} {frame.function}{source}")


def _new_pair_lines(values: dict[str, str] | None, seen: list[dict[str, str]]) -> list[LocalizedText]:
    if not values or values in seen:
        return []
    seen.append(values)
    return _pair_lines(values)


def _pair_lines(values: dict[str, str] | None) -> list[LocalizedText]:
    shown = [f"{name} = {one_line(value, _VALUE_IN_TEXT)}" for name, value in (values or {}).items()]
    return [localize("{text}", text=f"  {', '.join(shown)}")] if shown else []


def test_lines(answer: DebugTestResult) -> list[LocalizedText]:
    head, rest = test_head_lines(answer), test_end_lines(answer)
    return [*head, *(line for block in failure_blocks(answer) for line in block), *rest]


def test_head_lines(answer: DebugTestResult) -> list[LocalizedText]:
    """The verdict, and the failed tests of which no details follow."""
    heads = {
        "passed": localize("passed in {seconds} s", seconds=answer.seconds),
        "failed": localize("failed in {seconds} s", seconds=answer.seconds),
        "no tests": localize("No tests ran. Check the test id, or pass the command that runs the test."),
        "limit": localize("not finished after {seconds} s", seconds=answer.seconds),
    }
    labelled = {it.test for it in answer.failures or ()}
    others = [it for it in answer.failed or () if it not in labelled]
    return [heads[answer.verdict], *([with_label(localize("failed"), _names(others))] if others else [])]


def failure_blocks(answer: DebugTestResult) -> list[list[LocalizedText]]:
    """The lines of each failure, below the name of its test."""
    return [_failure_lines(it) for it in answer.failures or ()]


def test_end_lines(answer: DebugTestResult) -> list[LocalizedText]:
    """How the run ended, unless that is said already."""
    is_in_verdict = answer.verdict == "passed" or (answer.failures and answer.verdict != "limit")
    return [] if is_in_verdict else end_lines(answer.ended)


def _names(failed: list[str]) -> str:
    more = len(failed) - _NAMES_IN_TEXT
    return ", ".join(failed[:_NAMES_IN_TEXT]) + (f", … (+{more})" if more > 0 else "")


def _failure_lines(failure: FailedTest) -> list[LocalizedText]:
    raised = failure.exception
    label = [with_label(localize("failed"), failure.test)] if failure.test else []
    head = _message_lines(": ".join(filter(None, (raised.type, raised.message)))) if raised else []
    return [*label, *head, *_detail_lines(failure.caused_by, failure.frames, failure.more_frames)]


def _message_lines(message: str) -> list[LocalizedText]:
    """The lines of a message, those after the first indented, so that none can look like one of ours."""
    first, *rest = [it for it in message.splitlines() if it.strip()][:_MESSAGE_LINES] or [""]
    texts = [one_line(first, _MESSAGE_LINE), *(f"  {one_line(it.strip(), _MESSAGE)}" for it in rest)]
    return [localize("{text}", text=it) for it in texts]
