"""What the debug tools take. Descriptions are few and short: an agent pays for every character of the list."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dragoman.debug.model import StepKind
from dragoman.tools.operation import Parameters
from dragoman.tools.schemas import LEAST_S, Maybe, OrEmpty

DEFAULT_WAIT_S = 45.0
PATIENCE_OF_CLIENTS_S = 60.0
MOST_WAIT_S = 3600.0
DEFAULT_COUNT = 100
VALUE_CHARACTERS = 2000
MOST_CHARACTERS = 50_000
OUTPUT_CHARACTERS = 4000
MOST_STDIN = 1_000_000
MOST_NAMED = 1000

Place = Annotated[int, Field(ge=1, le=2**31 - 1)]
Number = Annotated[int, Field(ge=0, le=2**53)]
SessionId = Annotated[str, Field(max_length=100, description="Default: the only live session, or the last shown.")]
Thread = Annotated[Maybe[Number], Field(description="Default: the stopped thread.")]
Frame = Annotated[Maybe[Number], Field(description="From call_stack. Default: the top frame.")]
Text = Annotated[str, Field(max_length=10_000)]
FilePath = Annotated[str, Field(min_length=1, max_length=4096, description="Absolute, or relative to the workspace.")]
LineText = Annotated[str, Field(max_length=1000, description="Instead of line_number: text that only one line has.")]
Wait = Annotated[bool, Field(description="false: answer at once, state Running.")]
Seconds = Annotated[float, Field(ge=0, le=MOST_WAIT_S)]
Characters = Annotated[int, Field(ge=1, le=MOST_CHARACTERS, description="Cap on each value.")]


class Nothing(Parameters):
    pass


class OfSession(Parameters):
    session_id: SessionId = ""


class Waiting(OfSession):
    timeout_s: Seconds = DEFAULT_WAIT_S


class Acting(Waiting):
    wait: Wait = True


class Resuming(Acting):
    thread_id: Thread = None


class Until(Parameters):
    file_path: FilePath
    line_number: Maybe[Place] = None
    line_text: LineText = ""


class Continue(Resuming):
    until: Annotated[Maybe[Until], Field(description="Stop there too, this once.")] = None


class Step(Resuming):
    step_type: StepKind


class Start(Parameters):
    configuration_name: Annotated[str, Field(max_length=1000, description="A name of launch.json.")] = ""
    configuration: Annotated[dict[str, Any], Field(default_factory=dict, description="Inline, as in launch.json.")]
    program: Annotated[str, Field(max_length=4096, description="Just a file to debug.")] = ""
    args: Annotated[list[Text], Field(default_factory=list, max_length=1000)]
    cwd: Annotated[str, Field(max_length=4096)] = ""
    env: Annotated[dict[str, Text], Field(default_factory=dict, max_length=MOST_NAMED)]
    inputs: Annotated[
        dict[str, Text], Field(default_factory=dict, max_length=MOST_NAMED, description="Values of ${input:…}.")
    ]
    process_id: Annotated[Maybe[Number], Field(description="For ${command:pickProcess}.")] = None
    file: Annotated[str, Field(max_length=4096, description="For ${file}.")] = ""
    no_debug: Annotated[bool, Field(description="Run without breakpoints; waits for the end.")] = False
    stdin: Annotated[Maybe[str], Field(max_length=MOST_STDIN, description="What the program reads.")] = None
    timeout_s: Seconds = DEFAULT_WAIT_S
    wait: Wait = True


class SetBreakpoint(Parameters):
    kind: Literal["line", "function", "exception", "data"] = "line"
    file_path: Annotated[str, Field(max_length=4096, description="For line. Absolute, or in the workspace.")] = ""
    line_number: Maybe[Place] = None
    line_text: LineText = ""
    column_number: Maybe[Place] = None
    function_name: Annotated[str, Field(max_length=1000, description="For function.")] = ""
    exception: Annotated[
        str,
        Field(
            max_length=200,
            description="For exception: uncaught, raised, all, or the debugger's filter; condition may name its type.",
        ),
    ] = ""
    variable: Annotated[str, Field(max_length=1000, description="For data: stop when it changes.")] = ""
    variables_reference: Annotated[Maybe[Number], Field(description="What holds it. Default: the top frame.")] = None
    access: Literal["write", "read", "readWrite"] = "write"
    session_id: Annotated[str, Field(max_length=100, description="For data. Default: as elsewhere.")] = ""
    condition: Annotated[Text, Field(description="Stop only if this expression is true.")] = ""
    hit_condition: Annotated[
        str, Field(max_length=100, description="Which hits stop: 3, == 3, > 5, >= 8, % 2 == 0.")
    ] = ""
    log_message: Annotated[Text, Field(description="Log this instead of stopping; {expression} is filled in.")] = ""
    enabled: bool = True
    breakpoint_id: Annotated[
        Maybe[Number], Field(description="With `enabled` alone: switch an existing one on or off.")
    ] = None


class Location(Parameters):
    file_path: FilePath
    line_number: Place


class RemoveBreakpoint(Parameters):
    breakpoint_id: Maybe[Number] = None
    location: Maybe[Location] = None
    clear_all: Annotated[bool, Field(description="All of this workspace.")] = False


class Scopes(OfSession):
    thread_id: Thread = None
    frame_id: Frame = None


class Variables(OfSession):
    variables_reference: Annotated[Number, Field(ge=1)]
    start: Annotated[int, Field(ge=0, le=2**31)] = 0
    count: Annotated[int, Field(ge=1, le=1000)] = DEFAULT_COUNT
    filter: Annotated[str, Field(max_length=200, description="Only names that contain this.")] = ""
    max_chars: Characters = VALUE_CHARACTERS


class Evaluate(OfSession):
    expression: Annotated[str, Field(min_length=1, max_length=100_000)]
    thread_id: Thread = None
    frame_id: Frame = None
    context: Literal["watch", "repl", "hover", "clipboard"] = "repl"
    timeout_s: Annotated[float, Field(ge=LEAST_S, le=300)] = 15.0
    max_chars: Characters = VALUE_CHARACTERS


class SetVariable(OfSession):
    name: Annotated[str, Field(min_length=1, max_length=1000)]
    value: Annotated[str, Field(min_length=1, max_length=100_000, description="As written in the program's language.")]
    variables_reference: Annotated[Maybe[Number], Field(description="What holds it. Default: the frame.")] = None
    frame_id: Frame = None
    max_chars: Characters = VALUE_CHARACTERS


class GetSource(Parameters):
    file_path: FilePath
    line: Annotated[Place, Field(description="First line.")] = 1
    count: Annotated[int, Field(ge=1, le=400)] = 60


class GetOutput(OfSession):
    cursor: Annotated[Maybe[Number], Field(description="From here on; 0: from the start. Default: the newest.")] = None
    category: Annotated[
        OrEmpty[Literal["stdout", "stderr", "console"]], Field(description="Only this kind. Default: all.")
    ] = ""
    max_chars: Annotated[int, Field(ge=1, le=MOST_CHARACTERS)] = OUTPUT_CHARACTERS
