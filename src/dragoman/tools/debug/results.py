"""Results that several debug tools share. Fields that the specification names come first, Dragoman's own after them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from dragoman.tools.tool import Result

_T = TypeVar("_T")
# A field that is omitted if it is None; null is only for fields that the specification defines as nullable.
OmitNone = Annotated[_T | SkipJsonSchema[None], Field(exclude_if=lambda value: value is None)]


def only_required(schema: dict[str, Any]) -> None:
    """Leave optional fields out of the schema, which agents pay for by length; they may still be in the result."""
    schema["properties"] = {name: schema["properties"][name] for name in schema["required"]}


def _status_first(schema: dict[str, Any]) -> None:
    schema["properties"]["status"].pop("default")
    schema["required"] = ["status", *schema.get("required", ())]


class DebugFailure(Result):
    """An error as a result. `debugger_says` and `details` hold foreign text, apart from Dragoman's own."""

    model_config = ConfigDict(json_schema_extra=only_required)

    status: Literal["error"]
    message: str
    code: str
    hint: OmitNone[str] = None
    state: OmitNone[str] = None
    session_id: OmitNone[str] = None
    debugger_says: OmitNone[str] = None
    details: OmitNone[dict[str, Any]] = None


class SuccessResult(Result):
    """Base of the results whose only `status` is success."""

    model_config = ConfigDict(json_schema_extra=_status_first)

    status: Literal["success"] = "success"


class VariableAnswer(Result):
    """`length` is the original length, if `value` was cut."""

    name: str
    value: str
    type: str | None
    variables_reference: int
    evaluate_name: OmitNone[str] = None
    memory_reference: OmitNone[str] = None
    truncated: OmitNone[Literal[True]] = None
    length: OmitNone[int] = None


class StopSource(Result):
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
    """`what` names a breakpoint without a location: a function, an exception, a variable."""

    id: int
    path: OmitNone[str] = None
    line: OmitNone[int] = None
    what: OmitNone[str] = None
    reason: str


class SourceLines(Result):
    start: int
    lines: list[str]


class OtherThread(Result):
    thread_id: int
    name: str
    state: str


class StopEventData(Result):
    """`at_frame_id` is present if the program stopped below the user's own code: it is the frame that the source, line,
    lines and variables belong to, as an editor would show it. `call_stack` still begins at the top. `changed`:
    variables that changed since the last stop in that frame, with their previous values.
    """

    model_config = ConfigDict(json_schema_extra=only_required)

    session_id: str
    stop_number: int
    timestamp: str
    reason: str
    thread_id: int
    description: str | None
    text: str | None
    all_threads_stopped: bool | None
    source: StopSource | None
    line: int | None
    column: int | None
    call_stack: list[CallFrame]
    total_frames: int
    top_frame_variables: TopFrameVariables | None
    hit_breakpoint_ids: list[int] | None
    changed: OmitNone[dict[str, str | None]] = None
    at_frame_id: OmitNone[int] = None
    library_frames_left_out: OmitNone[int] = None
    exception: OmitNone[ExceptionAnswer] = None
    output: OmitNone[str] = None
    unbound_breakpoints: OmitNone[list[UnboundBreakpoint]] = None
    source_lines: OmitNone[SourceLines] = None
    other_threads: OmitNone[list[OtherThread]] = None
    total_threads: OmitNone[int] = None
    sent_on_by: OmitNone[str] = None
    resumes_in_s: OmitNone[int] = None


class DumpedThreadAnswer(Result):
    """A thread, a goroutine or an asyncio task, at its innermost location in the user's own code."""

    model_config = ConfigDict(json_schema_extra=only_required)

    name: str
    state: str
    thread_id: OmitNone[int] = None
    process_id: OmitNone[int] = None
    function_name: OmitNone[str] = None
    file_path: OmitNone[str] = None
    line_number: OmitNone[int] = None
    waits_for: OmitNone[str] = None
    held_by: OmitNone[str] = None
    held_at: OmitNone[str] = None
    call: OmitNone[str] = None


class NoteAnswer(Result):
    """`about` quotes the file that the note is about."""

    message: str
    about: str


class AlsoStarted(Result):
    session_id: str
    name: str
    state: str


class WaitResult(Result):
    """The result of a waiting tool; `status` decides which fields are present.

    In the first result of a session, `runs_with` names its interpreter and adapter, `notes` lists possible mistakes in
    its configuration, and `live_sessions` lists other active sessions. After a pause or a timeout, `threads` and
    `tasks` show where each thread is and what it waits for.
    """

    status: Literal["stopped", "completed", "timeout", "interrupted", "success"]
    session_id: str
    state: str
    message: OmitNone[str] = None
    stop_event_data: OmitNone[StopEventData] = None
    exit_code: OmitNone[int] = None
    signal: OmitNone[str] = None
    output: OmitNone[str] = None
    unbound_breakpoints: OmitNone[list[UnboundBreakpoint]] = None
    threads: OmitNone[list[DumpedThreadAnswer]] = None
    tasks: OmitNone[list[DumpedThreadAnswer]] = None
    threads_left_out: OmitNone[int] = None
    deadlock: OmitNone[str] = None
    runs_with: OmitNone[dict[str, str]] = None
    other_sessions: OmitNone[list[AlsoStarted]] = None
    live_sessions: OmitNone[list[AlsoStarted]] = None
    notes: OmitNone[list[NoteAnswer]] = None
    hint: OmitNone[str] = None


class ThreadAnswer(OtherThread):
    function_name: OmitNone[str] = None
    file_path: OmitNone[str] = None
    line_number: OmitNone[int] = None
