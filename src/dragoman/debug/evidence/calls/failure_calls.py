"""Which calls explain a failure: of a crash, the frame that raised; of an assertion, the functions that computed what
it compares; of a hang, the function that does not return.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from dragoman.debug.evidence.calls.assertion_calls import calls_behind
from dragoman.debug.evidence.calls.trace_call import CallQuery
from dragoman.debug.evidence.crash import CrashReport, ExplainedFrame
from dragoman.debug.evidence.frame_values import ReadLines
from dragoman.debug.evidence.run import RunOutcome

MAX_QUERIES = 5
_FRAMES = 3
_TEST = re.compile(r"(?:.*\.)?test|<module>$|setUp|tearDown", re.IGNORECASE)
_PYTHON = ".py"


async def failure_queries(crash: CrashReport, lines: ReadLines) -> list[CallQuery]:
    """The likeliest first. Empty for a language whose calls are not recorded."""
    frames = [it for it in crash.frames if PurePath(it.frame.path).suffix == _PYTHON]
    found: list[CallQuery] = []
    for at, frame in enumerate(frames[:_FRAMES]):
        if at == 0 and not _is_test(frame):
            found.append(CallQuery(file=frame.frame.path, line=frame.frame.line, call="failing"))
        if at == 0 or _is_test(frame):
            found += _queries(await lines(frame.frame.path), frame.frame.line)
    return list(dict.fromkeys(found))[:MAX_QUERIES]


def hang_queries(end: RunOutcome) -> list[CallQuery]:
    """The innermost function of the user's that has not returned."""
    own = [it for it in end.frames if not it.is_library and PurePath(it.path).suffix == _PYTHON and it.line]
    return [CallQuery(file=it.path, line=it.line) for it in own[:1]]


def callee_queries(records: Iterable[Mapping[str, Any]], known: Collection[CallQuery]) -> list[CallQuery]:
    """The functions that the recorded calls called, the last one first: a function that only passes a call on explains
    nothing.
    """
    rows = [row for record in records for row in record.get("rows", ()) if "line" in row]  # the others are gaps
    names = [str(called[0]) for row in rows for called in row.get("calls", ())]
    found = dict.fromkeys(CallQuery(function=it, call="last") for it in reversed(names) if "<" not in it)
    return [it for it in found if it not in known][:MAX_QUERIES]


def _queries(lines: Sequence[str] | None, line: int) -> Iterator[CallQuery]:
    for function in calls_behind("\n".join(lines or ()), line):
        yield CallQuery(function=function, call="last")


def _is_test(frame: ExplainedFrame) -> bool:
    """A test's own values stand beside its assertion already; those of a function that it calls do not."""
    return bool(_TEST.match(frame.frame.name))
