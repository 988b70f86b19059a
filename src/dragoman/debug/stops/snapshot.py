"""Reads a stopped program: stack, locals of the top frame and the exception, within a time budget and never as an
error.

A slow or half-broken adapter gives a smaller snapshot, not a lost stop. `Probe` is the port for evidence runs, which
read at places of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import anyio
import msgspec

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.port import AdapterRefusedError, RequestPort
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import EvaluateResult, FrameInfo, Locals, RaisedException, ScopeInfo, VariableInfo
from dragoman.debug.source_files import is_library, own_frame_index
from dragoman.debug.stops.handles import Handles
from dragoman.io.event_loop import in_turns
from dragoman.protocols.dap import bodies, read_body
from dragoman.workspace.breakpoints import Breakpoint

SNAPSHOT_TIMEOUT_S = 4.0
SNAPSHOT_FRAMES = 20
MAX_SCOPES = 1_000  # more than any language has; each one takes a request
MAX_LOCALS = 100
EXCEPTION_CHARACTERS = 65_536  # an exception's message can have megabytes; nobody is shown more than this

_T = TypeVar("_T")
_LIBRARY_HINTS = frozenset({"subtle", "deemphasize"})


@dataclass(frozen=True, slots=True)
class StopSnapshot:
    frames: tuple[FrameInfo, ...] = ()
    total_frames: int = 0
    top_locals: Locals | None = None
    raised: RaisedException | None = None
    at: int = 0
    """The frame to look at: see `Stop`."""


@dataclass(frozen=True, slots=True)
class VariableContainer:
    """What is known about a variables reference: its expression, its frame, and its sizes."""

    expression: str = ""
    type: str = ""
    frame: int | None = None
    named: int | None = None
    indexed: int | None = None
    is_outer: bool = False
    """A scope whose names do not belong to the frame: an assignment in the frame would create new ones."""


class StopReader:
    """Reads a stopped program through its backend. Ids that it returns are our handles."""

    def __init__(self, backend: RequestPort, handles: Handles, quirks: AdapterQuirks) -> None:
        self._backend = backend
        self._handles = handles
        self._quirks = quirks
        self._containers: dict[int, VariableContainer] = {}

    async def snapshot(self, thread_id: int, *, exception: bool, with_locals: bool = True) -> StopSnapshot:
        """Requests one after another: adapters answer parallel ones slower than in turn."""
        frames: tuple[FrameInfo, ...] = ()
        total, top, raised = 0, None, None
        with anyio.move_on_after(SNAPSHOT_TIMEOUT_S):
            frames, total = await self._or_default(self.stack(thread_id, SNAPSHOT_FRAMES), ((), 0))
            if frames and with_locals:
                top = await self.top_locals(frames[0].id)
            if exception:
                raised = await self._or_default(self._raised(thread_id), None)
        return StopSnapshot(frames, total, top, raised)

    async def with_locals(self, snapshot: StopSnapshot) -> StopSnapshot:
        found: Locals | None = None
        with anyio.move_on_after(SNAPSHOT_TIMEOUT_S):
            found = await self.top_locals(snapshot.frames[0].id) if snapshot.frames else None
        return replace(snapshot, top_locals=found)

    async def with_own_frame(self, snapshot: StopSnapshot, reason: str) -> StopSnapshot:
        """The same, with the locals of the user's own frame where the program stopped below it."""
        at = own_frame_index(reason, snapshot.frames)
        if not at:
            return snapshot
        found: Locals | None = None
        with anyio.move_on_after(SNAPSHOT_TIMEOUT_S):
            found = await self.top_locals(snapshot.frames[at].id)
        return replace(snapshot, at=at, top_locals=found)

    async def stack(self, thread_id: int, levels: int) -> tuple[tuple[FrameInfo, ...], int]:
        asked = {"threadId": thread_id, "startFrame": 0, "levels": levels}
        answer = await self._ask("stackTrace", asked, bodies.StackTraceResponse)
        frames = tuple([self._frame(it) async for it in in_turns(answer.stack_frames[:levels])])
        return frames, max(answer.total_frames or 0, len(answer.stack_frames))

    async def scopes(self, frame: int) -> tuple[ScopeInfo, ...]:
        answer = await self._ask("scopes", {"frameId": self._handles.resolve_frame(frame)}, bodies.ScopesResponse)
        scopes = tuple(self._scope(scope) for scope in answer.scopes[:MAX_SCOPES])
        self._containers |= {it.reference: _scope_container(it, frame) for it in scopes}
        return scopes

    async def variables(
        self, reference: int, *, start: int = 0, count: int = 0, filter: str = ""
    ) -> tuple[VariableInfo, ...]:
        asked: dict[str, Any] = {"variablesReference": self._handles.resolve_variables(reference)}
        asked |= {"start": start, "count": count} if count else {}
        asked |= {"filter": filter} if filter else {}
        answer = await self._ask("variables", asked, bodies.VariablesResponse)
        frame = self.container(reference).frame
        return tuple([self._remember_container(self._variable(it), frame) async for it in in_turns(answer.variables)])

    def _remember_container(self, variable: VariableInfo, frame: int | None) -> VariableInfo:
        if variable.reference:
            self._containers[variable.reference] = _container(variable, variable.evaluate_name, frame)
        return variable

    def container(self, reference: int) -> VariableContainer:
        return self._containers.get(reference, VariableContainer())

    async def top_locals(self, frame: int) -> Locals | None:
        found: Locals | None = await self._or_default(self._locals(frame), None)
        return found

    async def evaluate(self, expression: str, frame: int | None, context: str, *, timeout_s: float) -> EvaluateResult:
        asked: dict[str, Any] = {
            "expression": expression,
            "context": self._quirks.evaluate_contexts.get(context, context),
        }
        asked |= {"frameId": self._handles.resolve_frame(frame)} if frame is not None else {}
        response = await self._backend.request("evaluate", asked, timeout_s=timeout_s)
        answer = read_body(response, bodies.EvaluateResponse)
        if answer.type in self._quirks.failure_types:
            raise AdapterRefusedError("evaluate", answer.result)
        result = EvaluateResult(
            result=answer.result,
            type=answer.type,
            reference=self._handles.assign_variables(answer.variables_reference),
            named=answer.named_variables,
            indexed=answer.indexed_variables,
            memory_reference=answer.memory_reference,
        )
        self._containers[result.reference] = _container(result, expression, frame)
        return result

    def assignment(self, name: str, value: str) -> str:
        """An expression that changes a variable of a frame; empty where the adapter has a request for that."""
        return (
            self._quirks.assignment_expression.format(name=name, value=value)
            if self._quirks.assignment_expression
            else ""
        )

    async def _locals(self, frame: int) -> Locals | None:
        """Where an adapter splits locals by block, all scopes with the hint `locals` belong together."""
        scopes = [scope for scope in await self.scopes(frame) if not scope.expensive]
        chosen = [scope for scope in scopes if scope.hint == "locals"] or scopes[:1]
        if not chosen:
            return None
        by_name: dict[str, VariableInfo] = {}
        for scope in chosen:
            for variable in await self.variables(scope.reference) if scope.reference else ():
                by_name.setdefault(variable.name, variable)
        return Locals(scope_name=chosen[0].name, variables=tuple(by_name.values())[:MAX_LOCALS])

    async def _raised(self, thread_id: int) -> RaisedException | None:
        info = await self._ask("exceptionInfo", {"threadId": thread_id}, bodies.ExceptionInfoResponse)
        details = info.details or bodies.ExceptionDetails()
        type, message = details.type_name or info.exception_id, details.message or info.description or ""
        if not message:  # js-debug sends type and message in one text: `TypeError: x is undefined`
            type, _, message = type.partition(": ")
        return RaisedException(
            type=self._without_notes(type[:EXCEPTION_CHARACTERS]),
            message=message[:EXCEPTION_CHARACTERS],
            uncaught=info.break_mode in {"unhandled", "userUnhandled"},
            where=(details.stack_trace or "")[:EXCEPTION_CHARACTERS],
        )

    async def _ask(self, command: str, arguments: dict[str, Any], kind: type[_T]) -> _T:
        return read_body(await self._backend.request(command, arguments, timeout_s=SNAPSHOT_TIMEOUT_S), kind)

    async def _or_default(self, looked: Any, otherwise: Any) -> Any:
        try:
            return await looked
        except (DragomanError, RemoteProtocolError, msgspec.ValidationError):
            return otherwise

    def _without_notes(self, name: str) -> str:
        return (
            re.sub(self._quirks.name_notes_pattern, "", name, flags=re.DOTALL)
            if self._quirks.name_notes_pattern
            else name
        )

    def _frame(self, frame: bodies.DapStackFrame) -> FrameInfo:
        source = frame.source
        path = (source.path or "") if source else ""
        return FrameInfo(
            id=self._handles.assign_frame(frame.id),
            name=self._without_notes(frame.name),
            path=path,
            line=frame.line,
            column=frame.column,
            is_library=self._is_library(frame, path),
            address=frame.instruction_pointer_reference or "",
            source_name=(source.name or "") if source else "",
            source_reference=(source.source_reference or 0) if source else 0,
        )

    def _is_library(self, frame: bodies.DapStackFrame, path: str) -> bool:
        sourceless_pattern = self._quirks.sourceless_pattern
        return (
            frame.presentation_hint in _LIBRARY_HINTS
            or is_library(path)
            or bool(sourceless_pattern and re.match(sourceless_pattern, frame.name))
        )

    def _scope(self, scope: bodies.DapScope) -> ScopeInfo:
        return ScopeInfo(
            name=scope.name,
            reference=self._handles.assign_variables(scope.variables_reference),
            expensive=scope.expensive,
            hint=scope.presentation_hint or "",
            named=scope.named_variables,
            indexed=scope.indexed_variables,
        )

    def _variable(self, variable: bodies.DapVariable) -> VariableInfo:
        return VariableInfo(
            name=variable.name,
            value=variable.value,
            type=variable.type,
            reference=self._handles.assign_variables(variable.variables_reference),
            evaluate_name=variable.evaluate_name,
            memory_reference=variable.memory_reference,
            named=variable.named_variables,
            indexed=variable.indexed_variables,
        )


def _scope_container(scope: ScopeInfo, frame: int) -> VariableContainer:
    return VariableContainer(frame=frame, named=scope.named, indexed=scope.indexed, is_outer=scope.hint != "locals")


def _container(found: VariableInfo | EvaluateResult, expression: str | None, frame: int | None) -> VariableContainer:
    return VariableContainer(expression or "", found.type or "", frame, found.named, found.indexed)


class Probe(Protocol):
    """An evidence run that reads values at its own breakpoints. While a session has a probe, it has no other
    breakpoints."""

    def set_adapter(self, adapter_id: str) -> None:
        """Called once, before anything else, with the adapter that will evaluate the expressions."""
        ...

    def run_without_halts(self) -> bool:
        """Called for a program that must not be halted: from now on its breakpoints never stop. False if it cannot."""
        ...

    def launch_arguments(self, adapter_id: str) -> Mapping[str, Any]:
        """Launch arguments that the probe needs in addition."""
        ...

    @property
    def breakpoints(self) -> Sequence[Breakpoint]:
        """All breakpoints that the session has in the meantime. Their ids are negative."""
        ...

    def owns(self, hit: Sequence[int]) -> bool: ...

    async def handle_again(self, thread: int, frame: FrameInfo, reader: StopReader) -> bool | None:
        """Like `take`, for a thread that another thread's stop halted at one of the probe's breakpoints. None if the
        probe must see the thread where it stands."""
        ...

    async def handle_hit(self, hit: Sequence[int], thread: int, top: FrameInfo, reader: StopReader) -> bool:
        """Read the values at one of the probe's breakpoints. Returns whether the program goes on."""
        ...
