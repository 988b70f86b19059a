"""What the tools for evidence answer: a status as everywhere, the finding, and how the run ended."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict

from dragoman.tools.debug.answers import DumpedThreadAnswer, Maybe
from dragoman.tools.operation import Result


def required_alone(schema: dict[str, Any]) -> None:
    """Schemas are paid for: what is always there is enough, the rest may come besides."""
    schema["properties"] = {name: schema["properties"][name] for name in schema["required"]}


class FrameSeen(Result):
    model_config = ConfigDict(json_schema_extra=required_alone)

    function: str
    file_path: Maybe[str] = None
    line: Maybe[int] = None


class ExceptionSeen(Result):
    type: str
    message: str


class CauseSeen(ExceptionSeen):
    """`at` and `locals`: of the innermost frame of the user's code in it."""

    model_config = ConfigDict(json_schema_extra=required_alone)

    at: Maybe[str] = None
    locals: Maybe[dict[str, str]] = None


class RunEnd(Result):
    """`limit`: hits, characters, seconds, expression or steps. Frames: of the exception, or where it stood.

    `threads` and `tasks` say of one that was not over in time where each is and what it waits for."""

    model_config = ConfigDict(json_schema_extra=required_alone)

    how: Literal["exited", "exception", "stopped", "limit", "lost"]
    limit: Maybe[str] = None
    exit_code: Maybe[int] = None
    signal: Maybe[str] = None
    exception: Maybe[ExceptionSeen] = None
    frames: Maybe[list[FrameSeen]] = None
    output: Maybe[str] = None
    threads: Maybe[list[DumpedThreadAnswer]] = None
    tasks: Maybe[list[DumpedThreadAnswer]] = None
    threads_left_out: Maybe[int] = None
    deadlock: Maybe[str] = None


class Found(Result):
    """Of every tool: `session_id` and `state` are there where a session is left to go on with."""

    model_config = ConfigDict(json_schema_extra=required_alone)

    status: Literal["success"]
    ended: RunEnd
    session_id: Maybe[str] = None
    state: Maybe[str] = None
    side_effects: Maybe[list[str]] = None
    """Expressions that may have changed what the program did."""


class PointSeen(Result):
    model_config = ConfigDict(json_schema_extra=required_alone)

    place: str
    expressions: list[str]
    hits: int
    condition: Maybe[str] = None
    not_bound: Maybe[str] = None


class Traced(Found):
    """A row: hit, point (both from 1), then the cells that changed by the number of their expression, from 1."""

    hits: int
    points: list[PointSeen]
    rows: list[dict[str, Any]]
    rows_left_out: Maybe[int] = None
    """Between the first and the last, where there were more than `max_chars`."""


class CheckedAnswer(Found):
    """Of one that is broken, `hits` is the hit at which it broke; values are those of the claim's own names."""

    verdict: Literal["holds", "broken", "never reached"]
    hits: int
    place: str
    not_bound: Maybe[str] = None
    error: Maybe[str] = None
    before: Maybe[dict[str, str]] = None
    at_break: Maybe[dict[str, str]] = None


class ChangeFound(Found):
    """`place` is the line that did it, `old` and `new` the value before it and after; `steps` how long it took."""

    verdict: Literal["changed", "unchanged", "never reached"]
    by: Literal["data breakpoint", "steps"]
    steps: int
    place: Maybe[str] = None
    source: Maybe[str] = None
    old: Maybe[str] = None
    new: Maybe[str] = None
    frames: Maybe[list[FrameSeen]] = None
    not_bound: Maybe[str] = None


class CrashFrame(FrameSeen):
    """`values`: of the parts of the line that failed; one that cannot be evaluated begins with an exclamation mark."""

    locals: dict[str, str]
    source: Maybe[str] = None
    values: Maybe[dict[str, str]] = None
    more_locals: Maybe[int] = None


class CrashSeen(Found):
    """Frames of the user's own code, from the one that failed up; `caused_by`, the nearest first.

    `printed`: the program said so, and no debugger stopped there."""

    crashed: bool
    frames: list[CrashFrame]
    printed: Maybe[bool] = None
    caused_by: Maybe[list[CauseSeen]] = None


class TestFailure(Result):
    """Where it failed, from there up; no exception where the language has none, as Go's tests."""

    model_config = ConfigDict(json_schema_extra=required_alone)

    frames: list[CrashFrame]
    exception: Maybe[ExceptionSeen] = None
    caused_by: Maybe[list[CauseSeen]] = None


class TestSeen(Found):
    """`failed`: the names of all that failed; `failures`: what stood where the first of them did."""

    verdict: Literal["passed", "failed", "no tests", "limit"]
    seconds: float
    failed: Maybe[list[str]] = None
    failures: Maybe[list[TestFailure]] = None


class RunsCompared(Found):
    """`hits`: of the one, of the other. `one` and `other`: what differs at `hit`; missing where a run had none."""

    verdict: Literal["same", "different"]
    hits: list[int]
    other_ended: RunEnd
    hit: Maybe[int] = None
    place: Maybe[str] = None
    one: Maybe[dict[str, str]] = None
    other: Maybe[dict[str, str]] = None
    before: Maybe[list[dict[str, str]]] = None


class LastFailureSeen(Found):
    """What the record says of the command, and what came of it under the debugger: a test, or a program."""

    command: str
    command_id: str
    cwd: str
    fails_again: bool
    failed_with: Maybe[int] = None
    test: Maybe[TestSeen] = None
    crash: Maybe[CrashSeen] = None


class PastStop(Result):
    """`changed`: since the stop before in the same frame; `value`: of the variable that was searched for."""

    model_config = ConfigDict(json_schema_extra=required_alone)

    id: str
    at: str
    program: str
    reason: str
    place: str
    changed: Maybe[list[str]] = None
    value: Maybe[str] = None


class StopAt(PastStop):
    frames: list[FrameSeen]
    variables: dict[str, str]
    exception: Maybe[str] = None


class Changed(Result):
    """None: it was not there."""

    name: str
    before: str | None
    after: str | None


class StopsFound(Result):
    model_config = ConfigDict(json_schema_extra=required_alone)

    status: Literal["success"]
    stops: Maybe[list[PastStop]] = None
    at: Maybe[StopAt] = None
    changes: Maybe[list[Changed]] = None
    searched: Maybe[int] = None
    is_complete: Maybe[bool] = None
