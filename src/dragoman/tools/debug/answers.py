"""The results of the debug tools, field by field as the specification names them; what is ours besides comes after."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from dragoman.tools.operation import Result

_T = TypeVar("_T")
# A field that is either there with a value or not there at all; null is for those that the specification wants as null.
Maybe = Annotated[_T | SkipJsonSchema[None], Field(exclude_if=lambda value: value is None)]


def _required_alone(schema: dict[str, Any]) -> None:
    """Schemas are paid for as well, once a tool: what is always there is enough, the rest may come besides."""
    schema["properties"] = {name: schema["properties"][name] for name in schema["required"]}


def _status_first(schema: dict[str, Any]) -> None:
    schema["properties"]["status"].pop("default")
    schema["required"] = ["status", *schema.get("required", ())]


class Failure(Result):
    """`debugger_says` and `details` are the words of others, apart from ours."""

    model_config = ConfigDict(json_schema_extra=_required_alone)

    status: Literal["error"]
    message: str
    code: str
    hint: Maybe[str] = None
    state: Maybe[str] = None
    session_id: Maybe[str] = None
    debugger_says: Maybe[str] = None
    details: Maybe[dict[str, Any]] = None


class _Success(Result):
    model_config = ConfigDict(json_schema_extra=_status_first)

    status: Literal["success"] = "success"


class Configurations(_Success):
    configurations: list[dict[str, Any]]
    compounds: Maybe[list[dict[str, Any]]] = None
    problems: Maybe[list[dict[str, Any]]] = None


# Breakpoints.


class BreakpointSource(Result):
    path: str


class BreakpointAnswer(Result):
    """`line` was asked for, `actual_line` is where it bound; only a line breakpoint has a place of its own."""

    model_config = ConfigDict(json_schema_extra=_required_alone)

    id: int
    kind: str
    verified: bool
    enabled: bool
    source: BreakpointSource | None
    line: int | None
    column: Maybe[int] = None
    condition: Maybe[str] = None
    hit_condition: Maybe[str] = None
    log_message: Maybe[str] = None
    message: Maybe[str] = None
    actual_line: Maybe[int] = None
    function_name: Maybe[str] = None
    exception: Maybe[str] = None
    variable: Maybe[str] = None
    access: Maybe[str] = None
    session_id: Maybe[str] = None
    set_by: Maybe[str] = None


class NewBreakpoint(BreakpointAnswer):
    timestamp: str


class BreakpointSet(_Success):
    breakpoint: NewBreakpoint


class BreakpointsRemoved(_Success):
    message: str
    removed: list[int]


class Breakpoints(_Success):
    timestamp: str
    breakpoints: list[BreakpointAnswer]


# Looking.


class ScopeAnswer(Result):
    name: str
    variables_reference: int
    expensive: bool
    named_variables: Maybe[int] = None
    indexed_variables: Maybe[int] = None


class Scopes(_Success):
    """`at_frame_id`: whose, where no frame was asked for and it is not the top one. So too in an evaluation."""

    session_id: str
    scopes: list[ScopeAnswer]
    at_frame_id: Maybe[int] = None


class VariableAnswer(Result):
    """`length` is there where `value` was cut: that of the whole."""

    name: str
    value: str
    type: str | None
    variables_reference: int
    evaluate_name: Maybe[str] = None
    memory_reference: Maybe[str] = None
    truncated: Maybe[Literal[True]] = None
    length: Maybe[int] = None


class Variables(_Success):
    """`total` is null where the debugger does not tell it; `values_cut_to` is there where long values share room."""

    session_id: str
    variables: list[VariableAnswer]
    start: int
    total: int | None
    values_cut_to: Maybe[int] = None


class Evaluation(_Success):
    session_id: str
    result: str
    type: Maybe[str] = None
    variables_reference: int
    truncated: Maybe[Literal[True]] = None
    length: Maybe[int] = None
    at_frame_id: Maybe[int] = None


class VariableSet(_Success):
    """`value` is what the program has now, as the debugger shows it."""

    session_id: str
    name: str
    value: str
    type: Maybe[str] = None
    variables_reference: int
    truncated: Maybe[Literal[True]] = None
    length: Maybe[int] = None


# A stop.


class Source(Result):
    path: str
    name: str


class CallFrame(Result):
    frame_id: int
    function_name: str
    file_path: str
    line_number: int
    column_number: int


class TopFrameVariables(Result):
    scope_name: str
    variables: list[VariableAnswer]


class ExceptionAnswer(Result):
    type: str
    message: str
    where: str
    uncaught: bool


class UnboundBreakpoint(Result):
    """`what` names one that has no place: a function, an exception, a variable."""

    id: int
    path: Maybe[str] = None
    line: Maybe[int] = None
    what: Maybe[str] = None
    reason: str


class SourceLines(Result):
    start: int
    lines: list[str]


class SourceText(_Success):
    file_path: str
    start: int
    lines: list[str]
    total_lines: int


class OtherThread(Result):
    thread_id: int
    name: str
    state: str


class StopEventData(Result):
    """`at_frame_id` is there where the program stopped below the user's own code: the frame whose source, line, lines
    and variables these are, as an editor would show it. `call_stack` begins at the top all the same.
    `changed`: variables whose value is another than at the last stop in that frame, with what it was."""

    model_config = ConfigDict(json_schema_extra=_required_alone)

    session_id: str
    stop_number: int
    timestamp: str
    reason: str
    thread_id: int
    description: str | None
    text: str | None
    all_threads_stopped: bool | None
    source: Source | None
    line: int | None
    column: int | None
    call_stack: list[CallFrame]
    total_frames: int
    top_frame_variables: TopFrameVariables | None
    hit_breakpoint_ids: list[int] | None
    changed: Maybe[dict[str, str | None]] = None
    at_frame_id: Maybe[int] = None
    library_frames_left_out: Maybe[int] = None
    exception: Maybe[ExceptionAnswer] = None
    output: Maybe[str] = None
    unbound_breakpoints: Maybe[list[UnboundBreakpoint]] = None
    source_lines: Maybe[SourceLines] = None
    other_threads: Maybe[list[OtherThread]] = None
    total_threads: Maybe[int] = None
    sent_on_by: Maybe[str] = None


class DumpedThreadAnswer(Result):
    """A thread, a goroutine or an asyncio task; its place is the innermost one in the user's own code."""

    model_config = ConfigDict(json_schema_extra=_required_alone)

    name: str
    state: str
    thread_id: Maybe[int] = None
    process_id: Maybe[int] = None
    function_name: Maybe[str] = None
    file_path: Maybe[str] = None
    line_number: Maybe[int] = None
    waits_for: Maybe[str] = None
    held_by: Maybe[str] = None
    held_at: Maybe[str] = None
    call: Maybe[str] = None


class NoteAnswer(Result):
    """`about` is in the words of the file that it speaks of."""

    message: str
    about: str


class AlsoStarted(Result):
    session_id: str
    name: str
    state: str


class Awaited(Result):
    """What came of a waiting tool; which fields there are follows from `status`.

    `runs_with` says in the first answer of a session which interpreter and which adapter it got, `notes` what of its
    configuration may not be as it was meant, `live_sessions` which were there before. `threads` and `tasks` say after a
    pause or a timeout where each is and what it waits for.
    """

    status: Literal["stopped", "completed", "timeout", "interrupted", "success"]
    session_id: str
    state: str
    message: Maybe[str] = None
    stop_event_data: Maybe[StopEventData] = None
    exit_code: Maybe[int] = None
    signal: Maybe[str] = None
    output: Maybe[str] = None
    unbound_breakpoints: Maybe[list[UnboundBreakpoint]] = None
    threads: Maybe[list[DumpedThreadAnswer]] = None
    tasks: Maybe[list[DumpedThreadAnswer]] = None
    threads_left_out: Maybe[int] = None
    deadlock: Maybe[str] = None
    runs_with: Maybe[dict[str, str]] = None
    other_sessions: Maybe[list[AlsoStarted]] = None
    live_sessions: Maybe[list[AlsoStarted]] = None
    notes: Maybe[list[NoteAnswer]] = None
    hint: Maybe[str] = None


class Resumed(Awaited):
    """The same, with a schema that leaves out what stands in full at `start_debugging`."""

    model_config = ConfigDict(json_schema_extra=_required_alone)


# Sessions.


class StopRequested(_Success):
    """`live_sessions` are those that are left: the first is meant from now on where no session is named."""

    message: str
    session_id: str
    name: str
    state: str
    live_sessions: Maybe[list[AlsoStarted]] = None


class ThreadAnswer(OtherThread):
    function_name: Maybe[str] = None
    file_path: Maybe[str] = None
    line_number: Maybe[int] = None


class SessionAnswer(Result):
    model_config = ConfigDict(json_schema_extra=_required_alone)

    session_id: str
    name: str
    state: str
    since: str
    active: bool
    runs_with: Maybe[dict[str, str]] = None
    memory_bytes: Maybe[int] = None
    threads: Maybe[list[ThreadAnswer]] = None
    total_threads: Maybe[int] = None
    stop_number: Maybe[int] = None
    thread_id: Maybe[int] = None
    exit_code: Maybe[int] = None
    signal: Maybe[str] = None
    ended_by: Maybe[str] = None


class Sessions(_Success):
    timestamp: str
    sessions: list[SessionAnswer]
    ended_left_out: Maybe[int] = None
    not_lent: Maybe[list[str]] = None


class ProgramOutput(_Success):
    """`cursor` is what to ask with next; `missed` characters before the text were cut or have gone, `left` follow."""

    session_id: str
    state: str
    output: str
    cursor: int
    missed: int
    left: int
