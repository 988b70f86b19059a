"""What editors ask with. Numbers of frames and variables here are ours."""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.wire.dap.bodies import Source


class _Arguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class Initialize(_Arguments, frozen=True):
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


class Join(_Arguments, frozen=True):
    """Of an `attach` or a `launch`, what is for us."""

    session: str = ""
    read_only: bool = False
    mirrors_breakpoints: bool = False
    """It shows others' breakpoints as its own, and so sends them back."""


class Thread(_Arguments, frozen=True):
    thread_id: int


class Step(Thread, frozen=True):
    target_id: int | None = None
    granularity: str | None = None

    @property
    def more(self) -> dict[str, Any]:
        """For the debugger alone."""
        given = {"targetId": self.target_id, "granularity": self.granularity}
        return {name: value for name, value in given.items() if value is not None}


class Goto(Thread, frozen=True, kw_only=True):
    target_id: int


class InFrame(_Arguments, frozen=True):
    frame_id: int


class TerminateThreads(_Arguments, frozen=True):
    thread_ids: tuple[int, ...] = ()


class ReadMemory(_Arguments, frozen=True):
    memory_reference: str
    count: int
    offset: int = 0


class WriteMemory(_Arguments, frozen=True):
    memory_reference: str
    data: str
    offset: int = 0
    allow_partial: bool = False


class Disassemble(_Arguments, frozen=True):
    memory_reference: str
    instruction_count: int
    offset: int = 0
    instruction_offset: int = 0
    resolve_symbols: bool = False


class InSource(_Arguments, frozen=True):
    """A place, or from there to another."""

    source: Source
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


class StackTrace(_Arguments, frozen=True):
    thread_id: int
    start_frame: int | None = None
    levels: int | None = None


class Scopes(_Arguments, frozen=True):
    frame_id: int


class Variables(_Arguments, frozen=True):
    variables_reference: int
    filter: str | None = None
    start: int | None = None
    count: int | None = None


class Evaluate(_Arguments, frozen=True):
    expression: str
    frame_id: int | None = None
    context: str | None = None


class SetVariable(_Arguments, frozen=True):
    variables_reference: int
    name: str
    value: str


class SetExpression(_Arguments, frozen=True):
    expression: str
    value: str
    frame_id: int | None = None


class SourceText(_Arguments, frozen=True):
    source_reference: int = 0
    source: Source | None = None


class Completions(_Arguments, frozen=True):
    text: str
    column: int
    line: int | None = None
    frame_id: int | None = None


class Modules(_Arguments, frozen=True):
    start_module: int | None = None
    module_count: int | None = None


class SourceBreakpoint(_Arguments, frozen=True):
    line: int
    column: int | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class SetBreakpoints(_Arguments, frozen=True):
    source: Source
    breakpoints: tuple[SourceBreakpoint, ...] | None = None
    lines: tuple[int, ...] | None = None
    """What the protocol had before there were conditions."""

    @property
    def wanted(self) -> tuple[SourceBreakpoint, ...]:
        if self.breakpoints is not None:
            return self.breakpoints
        return tuple(SourceBreakpoint(line=line) for line in self.lines or ())


class FunctionBreakpoint(_Arguments, frozen=True):
    name: str
    condition: str | None = None
    hit_condition: str | None = None


class SetFunctionBreakpoints(_Arguments, frozen=True):
    breakpoints: tuple[FunctionBreakpoint, ...] = ()


class FilterOptions(_Arguments, frozen=True):
    filter_id: str
    condition: str | None = None


class SetExceptionBreakpoints(_Arguments, frozen=True):
    filters: tuple[str, ...] = ()
    filter_options: tuple[FilterOptions, ...] | None = None


class DataBreakpointInfo(_Arguments, frozen=True):
    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class DataBreakpoint(_Arguments, frozen=True):
    data_id: str
    access_type: str | None = None
    condition: str | None = None
    hit_condition: str | None = None


class SetDataBreakpoints(_Arguments, frozen=True):
    breakpoints: tuple[DataBreakpoint, ...] = ()


class RemoveBreakpoint(_Arguments, frozen=True):
    id: int


class ChangeBreakpoint(SourceBreakpoint, frozen=True, kw_only=True):
    """As it is from now on."""

    id: int
    enabled: bool = True


class Disconnect(_Arguments, frozen=True):
    terminate_debuggee: bool | None = None


class Anything(_Arguments, frozen=True):
    """For requests whose arguments say nothing to us."""


Configuration = dict[str, Any]
