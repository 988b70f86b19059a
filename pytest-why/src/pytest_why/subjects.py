"""Which functions to trace: the one that raised, and those that computed what the assertion compares.

The functions are those that `assertion_calls` finds in the source of the test, as `explain_failure` of Dragoman does. A
name that the test can see is followed to its function, so that an alias, or a method of another class, is not mistaken.
"""

from __future__ import annotations

import inspect
import linecache
import re
import types
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePath
from typing import Any

import pytest

from .assertion_calls import calls_behind
from .call_target import CallTarget, is_own

MOST_TARGETS = 3
"""Of one run: what they called is traced in the next, and the section has room for few more."""
_FRAMES = 3
_TEST = re.compile(r"test|<module>$|setUp|tearDown", re.IGNORECASE)
_TEST_FILE = re.compile(r"^(?:test_|tests?\.py$|conftest\.py$)|_test\.py$")
_MISSING = object()

Target = tuple[CallTarget, str]


def targets_of(excinfo: pytest.ExceptionInfo[BaseException]) -> list[Target]:
    """The likeliest first, with which of their calls."""
    example = _failed_example(excinfo.value)
    if example is not None:
        return _distinct(_behind(*example))[:MOST_TARGETS]
    found: list[Target] = []
    frames = [it for it in _frames(excinfo.tb) if is_own(it.tb_frame.f_code.co_filename)]
    for at, entry in enumerate(reversed(frames[-_FRAMES:])):
        code = entry.tb_frame.f_code
        is_test = _TEST.match(code.co_name) is not None
        if at == 0 and not is_test:
            # Where the stack overflowed, the first call says with what it began; the innermost ones are all alike.
            call = "outermost" if isinstance(excinfo.value, RecursionError) else "failing"
            found.append((CallTarget(codes=(code,)), call))
        if at == 0 or is_test:
            source = "".join(linecache.getlines(code.co_filename))
            found += _behind(source, entry.tb_lineno, entry.tb_frame)
    return _distinct(found)[:MOST_TARGETS]


def callees_of(records: Iterable[dict[str, Any]], known: Collection[tuple[str, int]]) -> list[Target]:
    """The functions that the recorded calls called, the last one first.

    `known`: the files and first lines of those that were traced.
    """
    rows = [row for record in records for row in record["rows"] if "line" in row]  # the others are gaps
    places = [(str(called[0]), called[5], called[6]) for row in rows for called in row.get("calls", ())]
    wanted = [it for it in dict.fromkeys(reversed(places)) if "<" not in it[0] and it[1:] not in known]
    return [(CallTarget(*it), "last") for it in wanted[:MOST_TARGETS]]


def is_preparation(record: dict[str, Any]) -> bool:
    """A constructor, or a function of the tests themselves."""
    is_of_tests = _TEST_FILE.search(PurePath(record["file"]).name) is not None
    return is_of_tests or str(record["function"]).endswith("__init__")


def _frames(traceback: types.TracebackType | None) -> Iterator[types.TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _failed_example(error: BaseException) -> tuple[str, int, None] | None:
    """Of a doctest: the source of its examples up to the one that failed, and the line of that one."""
    if type(error).__module__ not in ("doctest", "_pytest.doctest"):
        return None  # `failures` of any other exception may be anything
    failure = next(iter(getattr(error, "failures", ())), error)
    test, failed = getattr(failure, "test", None), getattr(failure, "example", None)
    if failed is None or not hasattr(test, "examples"):
        return None
    before = test.examples[: test.examples.index(failed)]
    head = "".join(it.source for it in before)
    return head + failed.source, head.count("\n") + 1, None


def _behind(source: str, line: int, frame: types.FrameType | None) -> Iterator[Target]:
    for name in calls_behind(source, line):
        code = _code_of(name, frame) if frame is not None else None
        if code is None:
            yield CallTarget(name), "last"
        elif is_own(code.co_filename):
            yield CallTarget(codes=(code,)), "last"


def _code_of(name: str, frame: types.FrameType) -> types.CodeType | None:
    """Of a function or class that has this name in the frame, without running anything of the program."""
    name, _, method = name.partition(".")
    value = frame.f_locals.get(name, frame.f_globals.get(name, _MISSING))
    if isinstance(value, type):
        value = inspect.getattr_static(value, method or "__init__", None)
    if isinstance(value, (staticmethod, classmethod, types.MethodType)):
        value = value.__func__
    if not isinstance(value, types.FunctionType) or hasattr(value, "_pytestfixturefunction"):
        return None
    inner = inspect.unwrap(value)
    return inner.__code__ if isinstance(inner, types.FunctionType) else None


def _distinct(targets: Iterable[Target]) -> list[Target]:
    by_function = {(it.codes, it.name, it.qualifier): (it, call) for it, call in reversed(list(targets))}
    return list(reversed(list(by_function.values())))
