"""The arguments of DAP requests. Ids of frames and variables are Dragoman's own, not the adapter's."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from dragoman.protocols.dap.bodies import DapSource


class _Arguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class InitializeArguments(_Arguments, frozen=True):
    client_id: str | None = msgspec.field(default=None, name="clientID")
    client_name: str | None = None
    locale: str | None = None
    lines_start_at1: bool = True
    columns_start_at1: bool = True
    path_format: str | None = None
    supports_variable_type: bool = False
    supports_run_in_terminal_request: bool = False
    supports_invalidated_event: bool = False

    @property
    def name(self) -> str:
        return self.client_name or self.client_id or "DAP"


class JoinArguments(_Arguments, frozen=True):
    """The members of `attach` and `launch` that are for Dragoman itself."""

    session: str = ""
    read_only: bool = False
    mirrors_breakpoints: bool = False
    """It shows others' breakpoints as its own, and so sends them back."""


class ThreadArguments(_Arguments, frozen=True):
    thread_id: int


class StepArguments(ThreadArguments, frozen=True):
    target_id: int | None = None
    granularity: str | None = None

    @property
    def more(self) -> dict[str, Any]:
        """The members that are only for the debugger."""
        given = {"targetId": self.target_id, "granularity": self.granularity}
        return {name: value for name, value in given.items() if value is not None}


class GotoArguments(ThreadArguments, frozen=True, kw_only=True):
    target_id: int


class FrameArguments(_Arguments, frozen=True):
    frame_id: int


class TerminateThreadsArguments(_Arguments, frozen=True):
    thread_ids: tuple[int, ...] = ()


class ReadMemoryArguments(_Arguments, frozen=True):
    memory_reference: str
    count: int
    offset: int = 0


class WriteMemoryArguments(_Arguments, frozen=True):
    memory_reference: str
    data: str
    offset: int = 0
    allow_partial: bool = False


class DisassembleArguments(_Arguments, frozen=True):
    memory_reference: str
    instruction_count: int
    offset: int = 0
    instruction_offset: int = 0
    resolve_symbols: bool = False


class SourceRangeArguments(_Arguments, frozen=True):
    """A position in a source, or a range."""

    source: DapSource
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


class StackTraceArguments(_Arguments, frozen=True):
    thread_id: int
    start_frame: int | None = None
    levels: int | None = None


class ScopesArguments(_Arguments, frozen=True):
    frame_id: int


class VariablesArguments(_Arguments, frozen=True):
    variables_reference: int
    filter: str | None = None
    start: int | None = None
    count: int | None = None


class EvaluateArguments(_Arguments, frozen=True):
    expression: str
    frame_id: int | None = None
    context: str | None = None


class SetVariableArguments(_Arguments, frozen=True):
    variables_reference: int
    name: str
    value: str


class SetExpressionArguments(_Arguments, frozen=True):
    expression: str
    value: str
    frame_id: int | None = None


class SourceArguments(_Arguments, frozen=True):
    source_reference: int = 0
    source: DapSource | None = None


class CompletionsArguments(_Arguments, frozen=True):
    text: str
    column: int
    line: int | None = None
    frame_id: int | None = None


class ModulesArguments(_Arguments, frozen=True):
    start_module: int | None = None
    module_count: int | None = None


class SourceBreakpoint(_Arguments, frozen=True):
    line: int
    column: int | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class SetBreakpointsArguments(_Arguments, frozen=True):
    source: DapSource
    breakpoints: tuple[SourceBreakpoint, ...] | None = None
    lines: tuple[int, ...] | None = None
    """DAP's form from before it had conditions."""

    @property
    def requested(self) -> tuple[SourceBreakpoint, ...]:
        if self.breakpoints is not None:
            return self.breakpoints
        return tuple(SourceBreakpoint(line=line) for line in self.lines or ())


class FunctionBreakpoint(_Arguments, frozen=True):
    name: str
    condition: str | None = None
    hit_condition: str | None = None


class SetFunctionBreakpointsArguments(_Arguments, frozen=True):
    breakpoints: tuple[FunctionBreakpoint, ...] = ()


class ExceptionFilterOptions(_Arguments, frozen=True):
    filter_id: str
    condition: str | None = None


class SetExceptionBreakpointsArguments(_Arguments, frozen=True):
    filters: tuple[str, ...] = ()
    filter_options: tuple[ExceptionFilterOptions, ...] | None = None


class DataBreakpointInfoArguments(_Arguments, frozen=True):
    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class DataBreakpoint(_Arguments, frozen=True):
    data_id: str
    access_type: str | None = None
    condition: str | None = None
    hit_condition: str | None = None


class SetDataBreakpointsArguments(_Arguments, frozen=True):
    breakpoints: tuple[DataBreakpoint, ...] = ()


class HoldArguments(_Arguments, frozen=True):
    seconds: Annotated[float, msgspec.Meta(ge=0, le=600)] = 30.0


class RemoveBreakpointArguments(_Arguments, frozen=True):
    id: int


class ChangeBreakpointArguments(SourceBreakpoint, frozen=True, kw_only=True):
    """The new state of the breakpoint."""

    id: int
    enabled: bool = True


class DisconnectArguments(_Arguments, frozen=True):
    terminate_debuggee: bool | None = None


class AnyArguments(_Arguments, frozen=True):
    """For requests whose arguments do not matter here."""


Configuration = dict[str, Any]
