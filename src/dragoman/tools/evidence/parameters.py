"""What the tools for evidence take."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dragoman.debug.evidence.sheet import Limits
from dragoman.tools.debug.parameters import MOST_NAMED, MOST_STDIN, Text
from dragoman.tools.evidence.place import OfPlace
from dragoman.tools.evidence.subject import OfSubject
from dragoman.tools.operation import Parameters
from dragoman.tools.schemas import LEAST_S, Maybe

MOST_HITS = 100_000
MOST_CHARACTERS = 200_000
MOST_S = 600.0
MOST_POINTS = 20
MOST_EXPRESSIONS = 20

Expression = Annotated[str, Field(min_length=1, max_length=2000)]
Expressions = Annotated[list[Expression], Field(default_factory=list, max_length=MOST_EXPRESSIONS)]
Hits = Annotated[int, Field(ge=1, le=MOST_HITS)]
Seconds = Annotated[float, Field(ge=LEAST_S, le=MOST_S)]
Condition = Annotated[Text, Field(description="Only hits where this holds.")]


class Limited(OfSubject):
    max_hits: Hits = 200
    timeout_s: Seconds = 30.0


class PointWanted(OfPlace):
    expressions: Expressions
    condition: Condition = ""


class TraceWanted(Limited):
    points: Annotated[list[PointWanted], Field(min_length=1, max_length=MOST_POINTS)]
    max_chars: Annotated[int, Field(ge=100, le=MOST_CHARACTERS)] = 6000

    @property
    def limits(self) -> Limits:
        return Limits(self.max_hits, self.max_chars, self.timeout_s, runs_on=True)


class CheckWanted(Limited, OfPlace):
    claim: Annotated[Expression, Field(description="An expression that should be true at each hit.")]
    expressions: Annotated[Expressions, Field(description="Values to show besides those in the claim.")]
    condition: Condition = ""
    stop: Annotated[bool, Field(description="Stay stopped where it breaks.")] = False
    max_hits: Hits = 10_000

    @property
    def limits(self) -> Limits:
        return Limits(self.max_hits, MOST_CHARACTERS, self.timeout_s)


class ChangeWanted(OfSubject, OfPlace):
    expression: Expression
    invariant: Annotated[str, Field(max_length=2000, description="Find where this first is false instead.")] = ""
    max_steps: Annotated[int, Field(ge=1, le=10_000)] = 500
    timeout_s: Seconds = 30.0


class CrashWanted(OfSubject):
    timeout_s: Seconds = 60.0


class TestWanted(Parameters):
    test: Annotated[str, Field(max_length=2000, description="An id, such as tests/test_app.py::test_total.")] = ""
    command: Annotated[str, Field(max_length=8000, description="Or the line that runs it.")] = ""
    cwd: Annotated[str, Field(max_length=4096)] = ""
    env: Annotated[dict[str, Text], Field(default_factory=dict, max_length=MOST_NAMED)]
    timeout_s: Seconds = 120.0


class Against(Parameters):
    configuration_name: Annotated[str, Field(max_length=1000)] = ""
    configuration: Annotated[dict[str, Any], Field(default_factory=dict)]
    program: Annotated[str, Field(max_length=4096)] = ""
    args: Annotated[list[Text], Field(default_factory=list, max_length=1000)]
    cwd: Annotated[str, Field(max_length=4096)] = ""
    env: Annotated[dict[str, Text], Field(default_factory=dict, max_length=MOST_NAMED)]
    stdin: Annotated[Maybe[str], Field(max_length=MOST_STDIN)] = None
    commit: Annotated[str, Field(max_length=200, description="The workspace as it was there.")] = ""


class CompareWanted(TraceWanted):
    against: Annotated[Against, Field(description="What the other run has of its own.")]

    @property
    def limits(self) -> Limits:
        """Row by row: what is left out cannot be compared."""
        return Limits(self.max_hits, self.max_chars, self.timeout_s)


class LastFailureWanted(Parameters):
    terminal: Annotated[str, Field(max_length=200, description="Of one terminal; without it, of any.")] = ""
    command_id: Annotated[str, Field(max_length=200, description="Or this command.")] = ""
    timeout_s: Seconds = 120.0


class StopsWanted(Parameters):
    at: Annotated[str, Field(max_length=200, description="A stop, as listed: read it as it was.")] = ""
    diff_with: Annotated[str, Field(max_length=200, description="Another stop: what differs.")] = ""
    variable: Annotated[str, Field(max_length=200, description="Stops where it changed, or had `value`.")] = ""
    value: Annotated[str, Field(max_length=1000)] = ""
    session_id: Annotated[str, Field(max_length=100, description="Of one session; without it, of all runs.")] = ""
    limit: Annotated[int, Field(ge=1, le=200)] = 20
