"""Which calls explain a failure: of a crash, the frame that raised; of an assertion, the functions that computed what
it compares; of a hang, the function that does not return.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from dragoman.debug.evidence.calls.assertion_calls import calls_behind
from dragoman.debug.evidence.calls.trace_call import CallQuery
from dragoman.debug.evidence.crash import CrashReport, ExplainedFrame
from dragoman.debug.evidence.run import RunOutcome
from dragoman.debug.evidence.stepping.function_search import FunctionSearch
from dragoman.debug.evidence.stepping.source_functions import ANONYMOUS, SourceFunction
from dragoman.debug.evidence.stepping.source_languages import language_of_file
from dragoman.debug.evidence.tracepoints import ReadLines
from dragoman.debug.source_files import is_library

MAX_QUERIES = 6
_FRAMES = 3
_PRINTED = re.compile(
    r'^(?:  File ")?([^\s":][^":\n]*\.py)(?:", line |:)(\d{1,7})(?:, in (?!<module>)|: )', re.MULTILINE
)
_TEST = re.compile(r"(?:.*\.)?test|<module>$|setUp|tearDown", re.IGNORECASE)
_PYTHON = ".py"
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_OVERFLOW = "RecursionError"


async def failure_queries(crash: CrashReport, lines: ReadLines, workspace: Path) -> list[CallQuery]:
    """The likeliest first. Empty for a language whose calls are not recorded."""
    if not any(PurePath(it.frame.path).suffix == _PYTHON for it in crash.frames):
        return await _stepped_queries(crash, FunctionSearch(workspace))
    frames = [it for it in crash.frames if PurePath(it.frame.path).suffix == _PYTHON and not _is_inner(it)]
    found = await _cause_queries(crash, lines)
    raised = crash.end.raised or crash.printed
    # Where the stack overflowed, the first call says with what it began; the innermost ones are all alike.
    is_overflow = raised is not None and raised.type.endswith(_OVERFLOW)
    call = "outermost" if is_overflow else "failing"
    for at, frame in enumerate(frames[:_FRAMES]):
        if at == 0 and not _is_test(frame):
            found.append(CallQuery(file=frame.frame.path, line=frame.frame.line, call=call))
        if at == 0 or _is_test(frame):
            found += _queries(await lines(frame.frame.path), frame.frame.line)
    return list(dict.fromkeys(found))[:MAX_QUERIES]


async def _cause_queries(crash: CrashReport, lines: ReadLines) -> list[CallQuery]:
    """What led to the failure first: its innermost call, or, if that is a test, the calls in its line."""
    found: list[CallQuery] = []
    for cause in reversed(crash.causes):
        at = cause.frame
        if at is None or at.is_library or PurePath(at.path).suffix != _PYTHON:
            continue
        if not _TEST.match(at.name):
            found.append(CallQuery(file=at.path, line=at.line, call="last"))
        else:
            found += _queries(await lines(at.path), at.line)
    return found


async def _stepped_queries(crash: CrashReport, search: FunctionSearch) -> list[CallQuery]:
    """By the text of the sources. Where no debugger stopped, by the lines that the program printed."""
    places = [(it.frame.path, it.frame.line) for it in crash.frames if not it.frame.is_library]
    places = [it for it in places if language_of_file(it[0])] or await search.printed_places(crash.end.output)
    found: list[SourceFunction] = []
    for at, (path, line) in enumerate(places[:_FRAMES]):
        function = await search.around(path, line)
        is_test = _is_test_place(path, function)
        if at == 0 and function is not None and not is_test:
            found.append(function)
        if at == 0 or is_test:
            found += await search.behind(path, line, MAX_QUERIES)
    chosen = list(dict.fromkeys(found))[:MAX_QUERIES]
    return [CallQuery(it.name, it.path, it.first, "last") for it in chosen]


def _is_test_place(path: str, function: SourceFunction | None) -> bool:
    language = language_of_file(path)
    is_named = language is not None and bool(language.test.fullmatch(PurePath(path).name))
    return is_named or function is None or function.name in {"main", ANONYMOUS} or bool(_TEST.match(function.name))


async def printed_queries(output: str, lines: ReadLines) -> list[CallQuery]:
    """Of a failure at which no debugger stopped, such as a stack overflow: by the traceback that was printed."""
    places = [(path, int(line)) for path, line in _PRINTED.findall(output)]
    places = [it for it in places if not is_library(f"/{it[0].lstrip('./')}")]
    found: list[CallQuery] = []
    if places and not _TEST.match(PurePath(places[-1][0]).name):
        found.append(CallQuery(file=places[-1][0], line=places[-1][1]))
    for path, line in places[:1]:
        found += _queries(await lines(path), line)
    return list(dict.fromkeys(found))[:MAX_QUERIES]


def hang_queries(end: RunOutcome) -> list[CallQuery]:
    """The innermost function of the user's that has not returned."""
    own = [it for it in end.frames if not it.is_library and _is_traced(it.path) and it.line]
    return [CallQuery(file=it.path, line=it.line) for it in own[:1]]


def _is_traced(path: str) -> bool:
    return PurePath(path).suffix == _PYTHON or language_of_file(path) is not None


def callee_queries(records: Iterable[Mapping[str, Any]], known: Collection[CallQuery]) -> list[CallQuery]:
    """The functions that the recorded calls called, the last one first: a function that only passes a call on explains
    nothing. By single steps they were followed in the same run.
    """
    traced = [it for it in records if not it.get("by_steps")]
    rows = [row for it in traced for row in it.get("rows", ()) if "line" in row]  # the others are gaps
    found = dict.fromkeys(_place(called) for row in reversed(rows) for called in reversed(row.get("calls", ())))
    is_overflow = any(str(it.get("end", {}).get("error", "")).startswith(_OVERFLOW) for it in traced)
    seen = {(it.function, it.file, it.line) for it in known}
    call = "outermost" if is_overflow else "last"
    return [CallQuery(*it, call) for it in found if "<" not in it[0] and it not in seen][:MAX_QUERIES]


def _place(called: Sequence[Any]) -> tuple[str, str, int]:
    """With its file and first line: another module may have a function of that name. A file of another language, of
    which Python code says that it is its own, would be stepped through.
    """
    file, line = called[5:] or ("", 0)
    return (str(called[0]), "", 0) if language_of_file(file) else (str(called[0]), file, line)


def _queries(lines: Sequence[str] | None, line: int) -> Iterator[CallQuery]:
    for function in calls_behind("\n".join(lines or ()), line):
        yield CallQuery(function=function, call="last")


def _is_inner(frame: ExplainedFrame) -> bool:
    """A comprehension: the function that it stands in has the same line, and is traced with it."""
    return frame.frame.name in _INNER


def _is_test(frame: ExplainedFrame) -> bool:
    """A test's own values stand beside its assertion already; those of a function that it calls do not."""
    return bool(_TEST.match(frame.frame.name))
