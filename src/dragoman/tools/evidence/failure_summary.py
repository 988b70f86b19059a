"""A failure as `explain_failure` tells it above the calls behind it: each thing once.

What a recorded call shows is left out of its frame, and so are values that the message holds already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from dragoman.tools.evidence.failure_results import CrashFrame, DebugTestResult, ExplainCrashResult, FailedTest

_LOCAL = 80
_LEAST = 4
_WHERE_OBJECT = re.compile(r"\n +\+ +where [^\n]*<[^\n]* object at 0x[^\n]*")
_IS_COMPARISON = re.compile(r" (?:==|!=|<=?|>=?|in|is|not) ")

Records = Iterable[Mapping[str, Any]]


def summarize_test(test: DebugTestResult, records: Records, asked: str = "") -> DebugTestResult:
    """`asked`: the id of the test, which is not repeated to who named it."""
    told = list(records)
    failures = [_failure(it, told) for it in test.failures or ()] or None
    is_asked = failures is not None and [it.lstrip("./") for it in test.failed or ()] == [asked.lstrip("./")]
    if is_asked:
        failures = [it.model_copy(update={"test": None}) for it in failures or ()]
    # What a runner prints of itself is its progress; the failure stands in the calls.
    ended = test.ended.model_copy(update={"output": None}) if told else test.ended
    return test.model_copy(update={"failures": failures, "failed": None if is_asked else test.failed, "ended": ended})


def summarize_crash(crash: ExplainCrashResult, records: Records) -> ExplainCrashResult:
    exception = crash.ended.exception
    return crash.model_copy(
        update={"frames": _frames(crash.frames, list(records), exception.message if exception else "")}
    )


def _failure(failure: FailedTest, records: Sequence[Mapping[str, Any]]) -> FailedTest:
    raised = failure.exception
    message = raised.message if raised else ""
    frames = _frames(failure.frames, records, message)
    if raised is None or not records:
        return failure.model_copy(update={"frames": frames})
    return failure.model_copy(
        update={"frames": frames, "exception": raised.model_copy(update={"message": _without_difference(message)})}
    )


def _without_difference(message: str) -> str:
    """pytest compares both sides once more, line by line, below an empty line."""
    return _WHERE_OBJECT.sub("", re.split(r"\n\s*\n", message)[0]) if message.startswith("assert ") else message


def _frames(frames: Sequence[CrashFrame], records: Sequence[Mapping[str, Any]], message: str) -> list[CrashFrame]:
    found: list[CrashFrame] = []
    for frame in frames:
        if found and _place(found[-1]) == _place(frame):
            continue  # a function that calls itself
        found.append(_without_values(frame) if _is_recorded(frame, records) else _brief(frame, message, bool(records)))
    return found


def _place(frame: CrashFrame) -> tuple[str | None, int | None, str]:
    return frame.file_path, frame.line, frame.function


def _is_recorded(frame: CrashFrame, records: Sequence[Mapping[str, Any]]) -> bool:
    name = frame.function.rpartition(".")[2]
    return any(
        PurePath(it["file"]).name == PurePath(frame.file_path or "").name
        and str(it["function"]).rpartition(".")[2] == name
        for it in records
    )


def _without_values(frame: CrashFrame) -> CrashFrame:
    return frame.model_copy(update={"locals": {}, "values": None, "more_locals": None})


def _brief(frame: CrashFrame, message: str, is_short: bool) -> CrashFrame:
    values = {
        name: value
        for name, value in (frame.values or {}).items()
        if not value.startswith("!") and not _IS_COMPARISON.search(name) and not _is_said(value, message)
    }
    held = {name: value for name, value in frame.locals.items() if not is_short or not _is_said(value, message)}
    if is_short:
        values, held = _cut(values), _cut(held)
    return frame.model_copy(update={"values": values or None, "locals": held})


def _is_said(value: str, message: str) -> bool:
    return len(value) >= _LEAST and value in message


def _cut(values: Mapping[str, str]) -> dict[str, str]:
    return {name: it if len(it) <= _LOCAL else it[: _LOCAL - 1] + "\u2026" for name, it in values.items()}
