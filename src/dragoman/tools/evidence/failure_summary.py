"""A failure as `explain_failure` tells it above the calls behind it: each thing once.

What a recorded call shows is left out of its frame, and so are values that the message holds already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from dragoman.tools.evidence.failure_results import CrashFrame, DebugTestResult, ExplainCrashResult, FailedTest
from dragoman.tools.evidence.schema import RunEnd

_LOCAL = 70
_LEAST = 4
_RESULT = 30
_WHERE_OBJECT = re.compile(r"\n +\+ +where [^\n]*<[^\n]* object at 0x[^\n]*")
_NOTHING = re.compile(r"<[^\n]* (?:object at 0x[0-9a-f]+|testMethod=\w+)>$|TestContext$|Suite$")  # says only what it is
_ASSERTION = re.compile(r": Assertion `(?P<text>.+)' failed\.$")
_NODE_CODE = " [ERR_ASSERTION]"
_IS_COMPARISON = re.compile(r" (?:==|!=|<=?|>=?|in|is|not) ")

Records = Iterable[Mapping[str, Any]]


def summarize_test(test: DebugTestResult, records: Records, asked: str = "") -> DebugTestResult:
    """`asked`: the id of the test, which is not repeated to who named it."""
    all_records = list(records)
    failures = [_failure(it, all_records) for it in test.failures or ()] or None
    is_asked = failures is not None and [it.lstrip("./") for it in test.failed or ()] == [asked.lstrip("./")]
    if is_asked:
        failures = [
            it.model_copy(update={"test": None}) if (it.test or "").lstrip("./") == asked.lstrip("./") else it
            for it in failures or ()
        ]
    # What a runner prints of itself is its progress; the failure stands in the calls.
    ended = test.ended.model_copy(update={"output": None}) if all_records else test.ended
    return test.model_copy(update={"failures": failures, "failed": None if is_asked else test.failed, "ended": ended})


def summarize_crash(crash: ExplainCrashResult, records: Records) -> ExplainCrashResult:
    exception, all_records = crash.ended.exception, list(records)
    message = exception.message if exception else ""
    ended = _without_assertion(crash.ended, crash.frames) if all_records else crash.ended
    return crash.model_copy(update={"frames": _frames(crash.frames, all_records, message), "ended": ended})


def _without_assertion(ended: RunEnd, frames: Sequence[CrashFrame]) -> RunEnd:
    """An `assert` of C prints the line that is shown already, and how a program ends that raised is known."""
    is_in_message = ended.exception is not None and ended.exception.message.endswith(ended.signal or "")
    found = [_ASSERTION.search(it) for it in (ended.output or "").splitlines()]
    is_shown = any(it and it["text"] in (frame.source or "") for it in found for frame in frames)
    kept = [line for line, it in zip((ended.output or "").splitlines(), found, strict=True) if not it]
    update = {"output": "\n".join(kept) or None} if is_shown else {}
    return ended.model_copy(update={**update, **({"signal": None, "exit_code": None} if is_in_message else {})})


def _failure(failure: FailedTest, records: Sequence[Mapping[str, Any]]) -> FailedTest:
    raised = failure.exception
    message = raised.message if raised else ""
    if raised is not None and records:
        message = _without_source(message, failure.frames)
        raised = raised.model_copy(update={"message": message, "type": raised.type.removesuffix(_NODE_CODE)})
    frames = _frames(failure.frames, records, message)
    if raised is None or not records:
        return failure.model_copy(update={"frames": frames})
    return failure.model_copy(
        update={"frames": frames, "exception": raised.model_copy(update={"message": _without_difference(message)})}
    )


def _without_source(message: str, frames: Sequence[CrashFrame]) -> str:
    """Lines that repeat the line that failed, which stands below."""
    sources = {(it.source or "").strip().rstrip(";") for it in frames} - {""}
    first, *rest = message.split("\n")
    kept = [it for it in rest if it.strip() not in sources]
    return "\n".join([first if len(kept) == len(rest) or any(it.strip() for it in kept) else first.rstrip(":"), *kept])


def _without_difference(message: str) -> str:
    """pytest compares both sides once more, line by line, below an empty line."""
    return _WHERE_OBJECT.sub("", re.split(r"\n\s*\n", message)[0]) if message.startswith("assert ") else message


def _frames(frames: Sequence[CrashFrame], records: Sequence[Mapping[str, Any]], message: str) -> list[CrashFrame]:
    found: list[CrashFrame] = []
    for frame in frames:
        if found and _place(found[-1]) == _place(frame):
            continue  # a function that calls itself
        found.append(_without_values(frame) if _is_recorded(frame, records) else _brief(frame, message, records))
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


def _brief(frame: CrashFrame, message: str, records: Sequence[Mapping[str, Any]]) -> CrashFrame:
    is_short = bool(records)
    results = [str(it.get("end", {}).get("value") or "") for it in records]
    values = {
        name: value
        for name, value in (frame.values or {}).items()
        if not value.startswith("!") and not _IS_COMPARISON.search(name) and not _is_in_message(value, message)
    }
    held = {name: value for name, value in frame.locals.items() if not is_short or not _is_in_message(value, message)}
    if is_short:
        values, held = _cut(values), {name: it for name, it in _cut(held).items() if not _NOTHING.match(it)}
        held = {name: it for name, it in held.items() if not _is_result(it, results)}
    return frame.model_copy(update={"values": values or None, "locals": held})


def _is_in_message(value: str, message: str) -> bool:
    return len(value) >= _LEAST and value in message


def _is_result(value: str, results: Sequence[str]) -> bool:
    """What a call that is shown returned stands there."""
    return len(value) > _RESULT and any(it.startswith(value[:_RESULT]) for it in results)


def _cut(values: Mapping[str, str]) -> dict[str, str]:
    return {name: it if len(it) <= _LOCAL else it[: _LOCAL - 1] + "\u2026" for name, it in values.items()}
