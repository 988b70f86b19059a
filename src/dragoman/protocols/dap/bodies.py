"""The event and response bodies that Dragoman reads, typed on demand. Other fields stay in the raw body.

Numbers here are the adapter's own.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeVar

import msgspec
from msgspec import UNSET

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.dap.messages import Event, Request, Response, decode_mended

# the limit for capabilities and their later additions; real adapters send about 5,000 bytes
_LONGEST_CAPABILITIES = 128 * 1024

_B = TypeVar("_B")


class _DapBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class EventBody(_DapBody, frozen=True):
    """The body of an event, typed: its class says which event it is, and `event` is the name on the wire."""

    event: ClassVar[str] = ""


class StoppedBody(EventBody, frozen=True):
    event: ClassVar[str] = "stopped"

    reason: str
    description: str | None = None
    thread_id: int | None = None
    preserve_focus_hint: bool | None = None
    text: str | None = None
    all_threads_stopped: bool | None = None
    hit_breakpoint_ids: tuple[int, ...] | None = None


class ContinuedBody(EventBody, frozen=True):
    event: ClassVar[str] = "continued"

    thread_id: int
    all_threads_continued: bool | None = None


class ExitedBody(EventBody, frozen=True):
    event: ClassVar[str] = "exited"

    exit_code: int


class TerminatedBody(EventBody, frozen=True):
    event: ClassVar[str] = "terminated"

    restart: Any = None


class ThreadBody(EventBody, frozen=True):
    event: ClassVar[str] = "thread"

    reason: str
    thread_id: int


class DapSource(_DapBody, frozen=True):
    name: str | None = None
    path: str | None = None
    source_reference: int | None = None


class OutputBody(EventBody, frozen=True):
    event: ClassVar[str] = "output"

    output: str
    category: str | None = "console"  # the specification's default for a missing value
    group: str | None = None
    variables_reference: int | None = None
    source: DapSource | None = None
    line: int | None = None
    column: int | None = None


class DapBreakpoint(_DapBody, frozen=True):
    verified: bool
    id: int | None = None
    message: str | None = None
    source: DapSource | None = None
    line: int | None = None
    column: int | None = None
    reason: str | None = None


class ChangedBreakpoint(_DapBody, frozen=True):
    """As much of a breakpoint as the adapter says has changed: some leave out `verified`."""

    verified: bool | None = None
    id: int | None = None
    message: str | None = None
    source: DapSource | None = None
    line: int | None = None
    column: int | None = None
    reason: str | None = None


class BreakpointBody(EventBody, frozen=True):
    event: ClassVar[str] = "breakpoint"

    breakpoint: ChangedBreakpoint
    reason: str = "changed"


class DebugpyAttachBody(EventBody, frozen=True):
    """debugpy's own event: a child process waits at the port that this configuration names."""

    event: ClassVar[str] = "debugpyAttach"

    configuration: dict[str, Any]


class ProcessBody(EventBody, frozen=True):
    event: ClassVar[str] = "process"

    name: str
    system_process_id: int | None = None
    is_local_process: bool | None = None
    start_method: str | None = None


class CapabilitiesBody(EventBody, frozen=True):
    event: ClassVar[str] = "capabilities"

    capabilities: msgspec.Raw


class InvalidatedBody(EventBody, frozen=True):
    event: ClassVar[str] = "invalidated"

    areas: tuple[str, ...] | None = None
    thread_id: int | None = None
    stack_frame_id: int | None = None


class ProgressStartBody(EventBody, frozen=True):
    event: ClassVar[str] = "progressStart"

    progress_id: str
    title: str
    request_id: int | None = None
    cancellable: bool | None = None
    message: str | None = None
    percentage: float | None = None


class ProgressUpdateBody(EventBody, frozen=True):
    event: ClassVar[str] = "progressUpdate"

    progress_id: str
    message: str | None = None
    percentage: float | None = None


class ProgressEndBody(EventBody, frozen=True):
    event: ClassVar[str] = "progressEnd"

    progress_id: str
    message: str | None = None


class InitializedBody(EventBody, frozen=True):
    event: ClassVar[str] = "initialized"


class CancelArguments(_DapBody, frozen=True):
    request_id: int | None = None
    progress_id: str | None = None


class RunInTerminalArguments(_DapBody, frozen=True):
    args: tuple[str, ...]
    cwd: str | None = None
    """Required by the protocol, but debugpy omits it for a module."""
    kind: str | None = None
    title: str | None = None
    env: dict[str, str | None] | None = None
    args_can_be_interpreted_by_shell: bool | None = None


class StartDebuggingArguments(_DapBody, frozen=True):
    configuration: dict[str, Any]
    request: Literal["launch", "attach"]


class Capabilities:
    """What an adapter can do: any flag by its name, and the raw object."""

    def __init__(self, raw: msgspec.Raw) -> None:
        if len(bytes(raw)) > _LONGEST_CAPABILITIES:
            reason = f"Capabilities of more than {_LONGEST_CAPABILITIES} bytes are not taken."
            raise RemoteProtocolError("capabilities_too_long", reason)
        self.raw = raw
        self._fields: dict[str, Any] = _read(msgspec.json.Decoder(dict[str, Any]), raw, "capabilities")

    def has(self, name: str) -> bool:
        """`has("supportsStepBack")`; a missing flag means no."""
        return self._fields.get(name) is True

    def get(self, name: str) -> Any:
        return self._fields.get(name)

    def merged(self, changed: msgspec.Raw) -> Capabilities:
        """Merge the changes of a `capabilities` event; other flags stay, as the specification says."""
        fields = self._fields | Capabilities(changed)._fields
        return Capabilities(msgspec.Raw(msgspec.json.encode(fields)))


EVENT_BODIES: dict[str, type[EventBody]] = {
    kind.event: kind
    for kind in (
        BreakpointBody,
        CapabilitiesBody,
        ContinuedBody,
        ExitedBody,
        InitializedBody,
        InvalidatedBody,
        OutputBody,
        ProcessBody,
        ProgressEndBody,
        ProgressStartBody,
        ProgressUpdateBody,
        StoppedBody,
        TerminatedBody,
        ThreadBody,
    )
}
_EVENT_DECODERS = {name: msgspec.json.Decoder(kind) for name, kind in EVENT_BODIES.items()}
_ANY_FIELDS = msgspec.json.Decoder(dict[str, Any])
_EMPTY = msgspec.Raw(b"{}")


def typed_body(event: Event) -> EventBody | None:
    """The body of a known event, or None for an unknown one."""
    if event.event == DebugpyAttachBody.event:
        return DebugpyAttachBody(configuration=_read(_ANY_FIELDS, event.body, event.event))
    decoder = _EVENT_DECODERS.get(event.event)
    return None if decoder is None else _read(decoder, event.body, event.event)


def read_body(message: Event | Response, kind: type[_B]) -> _B:
    what = message.event if isinstance(message, Event) else message.command
    return _read(msgspec.json.Decoder(kind), message.body, what)


def read_arguments(request: Request, kind: type[_B]) -> _B:
    return _read(msgspec.json.Decoder(kind), request.arguments, request.command)


def read_value(value: Any, kind: type[_B], what: str) -> _B:
    """From values that were decoded already."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise RemoteProtocolError("bad_body", f"The body of {what!r} is malformed: {error}.") from error


def _read(decoder: msgspec.json.Decoder[_B], raw: msgspec.Raw | msgspec.UnsetType, what: str) -> _B:
    # Adapters omit an empty body or send null; both mean an empty object.
    data = _EMPTY if raw is UNSET or bytes(raw) == b"null" else raw
    try:
        return decode_mended(decoder, data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RemoteProtocolError("bad_body", f"The body of {what!r} is malformed: {error}.") from error


class _ResponseBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class DapThread(_ResponseBody, frozen=True):
    id: int
    name: str = ""


class ThreadsResponse(_ResponseBody, frozen=True):
    threads: tuple[DapThread, ...] = ()


class DapStackFrame(_ResponseBody, frozen=True):
    id: int
    name: str = ""
    source: DapSource | None = None
    line: int = 0
    column: int = 0
    presentation_hint: str | None = None
    instruction_pointer_reference: str | None = None


class StackTraceResponse(_ResponseBody, frozen=True):
    stack_frames: tuple[DapStackFrame, ...] = ()
    total_frames: int | None = None


class DapScope(_ResponseBody, frozen=True):
    name: str
    variables_reference: int = 0
    expensive: bool = False
    presentation_hint: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None


class ScopesResponse(_ResponseBody, frozen=True):
    scopes: tuple[DapScope, ...] = ()


class DapVariable(_ResponseBody, frozen=True):
    name: str
    value: str = ""
    type: str | None = None
    variables_reference: int = 0
    evaluate_name: str | None = None
    memory_reference: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None


class VariablesResponse(_ResponseBody, frozen=True):
    variables: tuple[DapVariable, ...] = ()


class EvaluateResponse(_ResponseBody, frozen=True):
    result: str = ""
    type: str | None = None
    variables_reference: int = 0
    named_variables: int | None = None
    indexed_variables: int | None = None
    memory_reference: str | None = None


class SetVariableResponse(_ResponseBody, frozen=True):
    value: str = ""
    result: str = ""
    """lldb-dap up to 19 sends the value under this name."""
    type: str | None = None
    variables_reference: int = 0


class ContinueResponse(_ResponseBody, frozen=True):
    all_threads_continued: bool | None = None


class DataBreakpointInfoResponse(_ResponseBody, frozen=True):
    data_id: str | None = None
    description: str = ""
    access_types: tuple[str, ...] | None = None


class SetBreakpointsResponse(_ResponseBody, frozen=True):
    breakpoints: tuple[DapBreakpoint, ...] = ()

    def of_requested(self, count: int) -> tuple[DapBreakpoint, ...]:
        """One for each that was sent, in order. The specification wants that; rdbg answers `setFunctionBreakpoints`
        with none, and what it leaves out is not bound.
        """
        missing = max(0, count - len(self.breakpoints))
        return (*self.breakpoints[:count], *(DapBreakpoint(verified=False) for _ in range(missing)))


class ExceptionDetails(_ResponseBody, frozen=True):
    message: str | None = None
    type_name: str | None = None
    full_type_name: str | None = None
    stack_trace: str | None = None


class ExceptionInfoResponse(_ResponseBody, frozen=True):
    exception_id: str = ""
    description: str | None = None
    break_mode: str = ""
    details: ExceptionDetails | None = None
