"""Parameter types and results that the evidence tools share. A result has a status, the finding and how the run
ended.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from dragoman.tools.debug.parameters import Text
from dragoman.tools.debug.results import DumpedThreadAnswer, OmitNone, only_required
from dragoman.tools.evidence.target import RunTargetParameters
from dragoman.tools.json_schema import MIN_SECONDS
from dragoman.tools.tool import Result

MAX_HITS = 100_000
MAX_CHARACTERS = 200_000
MAX_SECONDS = 600.0
MAX_POINTS = 20
MAX_EXPRESSIONS = 20

Expression = Annotated[str, Field(min_length=1, max_length=2000)]
Expressions = Annotated[list[Expression], Field(default_factory=list, max_length=MAX_EXPRESSIONS)]
Hits = Annotated[int, Field(ge=1, le=MAX_HITS)]
Seconds = Annotated[float, Field(ge=MIN_SECONDS, le=MAX_SECONDS)]
Condition = Annotated[Text, Field(description="Only hits where it is true.")]


class LimitedRunParameters(RunTargetParameters):
    max_hits: Hits = 200
    timeout_s: Seconds = 30.0


class FrameSummary(Result):
    model_config = ConfigDict(json_schema_extra=only_required)

    function: str
    file_path: OmitNone[str] = None
    line: OmitNone[int] = None


class ExceptionSummary(Result):
    type: str
    message: str


class RunEnd(Result):
    """`limit`: hits, characters, seconds, expression or steps. Frames: of the exception, or of the last location.

    `threads` and `tasks` show where a run that timed out was waiting.
    """

    model_config = ConfigDict(json_schema_extra=only_required)

    how: Literal["exited", "exception", "stopped", "limit", "lost"]
    limit: OmitNone[str] = None
    exit_code: OmitNone[int] = None
    signal: OmitNone[str] = None
    exception: OmitNone[ExceptionSummary] = None
    frames: OmitNone[list[FrameSummary]] = None
    output: OmitNone[str] = None
    threads: OmitNone[list[DumpedThreadAnswer]] = None
    tasks: OmitNone[list[DumpedThreadAnswer]] = None
    threads_left_out: OmitNone[int] = None
    deadlock: OmitNone[str] = None


class EvidenceResult(Result):
    """Base of the results of all evidence tools. `session_id` and `state` are present if a session is left to continue
    with.
    """

    model_config = ConfigDict(json_schema_extra=only_required)

    status: Literal["success"]
    ended: RunEnd
    session_id: OmitNone[str] = None
    state: OmitNone[str] = None
    side_effects: OmitNone[list[str]] = None
    """Expressions that may have changed the program."""
