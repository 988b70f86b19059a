"""Bodies of the responses we look into. Numbers here are the adapter's own."""

from __future__ import annotations

import msgspec

from dragoman.wire.dap.bodies import Breakpoint, Source


class _Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class Thread(_Answer, frozen=True):
    id: int
    name: str = ""


class ThreadsAnswer(_Answer, frozen=True):
    threads: tuple[Thread, ...] = ()


class StackFrame(_Answer, frozen=True):
    id: int
    name: str = ""
    source: Source | None = None
    line: int = 0
    column: int = 0
    presentation_hint: str | None = None
    instruction_pointer_reference: str | None = None


class StackTraceAnswer(_Answer, frozen=True):
    stack_frames: tuple[StackFrame, ...] = ()
    total_frames: int | None = None


class Scope(_Answer, frozen=True):
    name: str
    variables_reference: int = 0
    expensive: bool = False
    presentation_hint: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None


class ScopesAnswer(_Answer, frozen=True):
    scopes: tuple[Scope, ...] = ()


class Variable(_Answer, frozen=True):
    name: str
    value: str = ""
    type: str | None = None
    variables_reference: int = 0
    evaluate_name: str | None = None
    memory_reference: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None


class VariablesAnswer(_Answer, frozen=True):
    variables: tuple[Variable, ...] = ()


class EvaluateAnswer(_Answer, frozen=True):
    result: str = ""
    type: str | None = None
    variables_reference: int = 0
    named_variables: int | None = None
    indexed_variables: int | None = None
    memory_reference: str | None = None


class SetVariableAnswer(_Answer, frozen=True):
    value: str = ""
    result: str = ""
    """What lldb-dap up to 19 calls the value."""
    type: str | None = None
    variables_reference: int = 0


class ContinueAnswer(_Answer, frozen=True):
    all_threads_continued: bool | None = None


class DataBreakpointInfoAnswer(_Answer, frozen=True):
    data_id: str | None = None
    description: str = ""
    access_types: tuple[str, ...] | None = None


class BreakpointsAnswer(_Answer, frozen=True):
    breakpoints: tuple[Breakpoint, ...] = ()


class ExceptionDetails(_Answer, frozen=True):
    message: str | None = None
    type_name: str | None = None
    full_type_name: str | None = None
    stack_trace: str | None = None


class ExceptionInfoAnswer(_Answer, frozen=True):
    exception_id: str = ""
    description: str | None = None
    break_mode: str = ""
    details: ExceptionDetails | None = None
