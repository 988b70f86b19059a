"""Parameters that several debug tools share. Descriptions are short: an agent pays for every character of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dragoman.tools.json_schema import LIVE_SESSION, RELATIVE_PATH, STOPPED_THREAD, TOP_FRAME, Maybe
from dragoman.tools.tool import Parameters

DEFAULT_WAIT_S = 45.0
CLIENT_TIMEOUT_S = 60.0
MAX_WAIT_S = 3600.0
DEFAULT_COUNT = 100
VALUE_CHARACTERS = 2000
MAX_VALUE_CHARACTERS = 50_000
OUTPUT_CHARACTERS = 4000
MAX_STDIN = 1_000_000
MAX_VARIABLES = 1000

LineNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]
Number = Annotated[int, Field(ge=0, le=2**53)]
SessionId = Annotated[str, Field(max_length=100, description=LIVE_SESSION)]
ThreadId = Annotated[Maybe[Number], Field(description=STOPPED_THREAD)]
FrameId = Annotated[Maybe[Number], Field(description=TOP_FRAME)]
Text = Annotated[str, Field(max_length=10_000)]
FilePath = Annotated[str, Field(min_length=1, max_length=4096, description=RELATIVE_PATH)]
LineText = Annotated[str, Field(max_length=1000, description="Instead of line_number: text unique to one line.")]
Wait = Annotated[bool, Field(description="false: return at once.")]
Seconds = Annotated[float, Field(ge=0, le=MAX_WAIT_S)]
HoldSeconds = Annotated[float, Field(ge=0, le=600, description="Seconds from now to keep the program stopped.")]
Characters = Annotated[int, Field(ge=1, le=MAX_VALUE_CHARACTERS, description="Per value.")]


class NoParameters(Parameters):
    pass


class SessionParameters(Parameters):
    session_id: SessionId = ""


class SetBreakpointParameters(Parameters):
    kind: Literal["line", "function", "exception", "data"] = "line"
    file_path: Annotated[str, Field(max_length=4096, description="For line.")] = ""
    line_number: Maybe[LineNumber] = None
    line_text: LineText = ""
    column_number: Maybe[LineNumber] = None
    function_name: Annotated[str, Field(max_length=1000, description="For function.")] = ""
    exception: Annotated[
        str,
        Field(
            max_length=200,
            description="For exception: uncaught, raised, all, or a debugger filter; condition can name a type.",
        ),
    ] = ""
    variable: Annotated[str, Field(max_length=1000, description="For data: stop on change.")] = ""
    variables_reference: Annotated[
        Maybe[Number], Field(description="Reference of its container. Default: the top frame.")
    ] = None
    access: Literal["write", "read", "readWrite"] = "write"
    session_id: Annotated[str, Field(max_length=100, description="For data.")] = ""
    condition: Annotated[Text, Field(description="Stop only if this is true.")] = ""
    hit_condition: Annotated[
        str, Field(max_length=100, description="Hits to stop at: 3, == 3, > 5, >= 8, % 2 == 0.")
    ] = ""
    log_message: Annotated[Text, Field(description="Log instead of stopping; {expression} is evaluated.")] = ""
    enabled: bool = True
    breakpoint_id: Annotated[Maybe[Number], Field(description="With `enabled` only: enable or disable this one.")] = (
        None
    )
