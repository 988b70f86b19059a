"""One look at a stopped program: stack, locals of the top frame, the exception. Inside a budget, never an error.

A slow or half-broken adapter gives a smaller snapshot, not a lost stop.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import anyio
import msgspec

from dragoman.debug.backend import AdapterRefusedError, Answering
from dragoman.debug.dialect import Dialect
from dragoman.debug.handles import Handles
from dragoman.debug.model import Evaluated, Frame, Locals, Raised, Scope, Variable
from dragoman.debug.own_code import is_library, where_to_look
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.transport.time_slice import in_turns
from dragoman.wire.dap import answers, read_body

BUDGET_S = 4.0
FRAMES = 20
SCOPES = 1_000  # no language has so many; each is asked for what it holds
LOCALS = 100
KEPT = 65_536  # of what an exception says, which may be megabytes: more than anybody is shown

_T = TypeVar("_T")
_LIBRARY_HINTS = frozenset({"subtle", "deemphasize"})


@dataclass(frozen=True, slots=True)
class Snapshot:
    frames: tuple[Frame, ...] = ()
    total_frames: int = 0
    top_locals: Locals | None = None
    raised: Raised | None = None
    at: int = 0
    """The frame to look at: see `Stop`."""


@dataclass(frozen=True, slots=True)
class Container:
    """What is known of a variables reference: how to say it in the language, in which frame, and what it holds."""

    expression: str = ""
    type: str = ""
    frame: int | None = None
    named: int | None = None
    indexed: int | None = None
    is_outer: bool = False
    """A scope whose names are not the frame's own: an assignment in the frame would make new ones."""


class Looking:
    """Reads a stopped program through its backend; what it hands out are our numbers."""

    def __init__(self, backend: Answering, handles: Handles, dialect: Dialect) -> None:
        self._backend = backend
        self._handles = handles
        self._dialect = dialect
        self._containers: dict[int, Container] = {}

    async def snapshot(self, thread_id: int, *, exception: bool, with_locals: bool = True) -> Snapshot:
        """Requests one after another: adapters answer parallel ones slower than in turn."""
        frames: tuple[Frame, ...] = ()
        total, top, raised = 0, None, None
        with anyio.move_on_after(BUDGET_S):
            frames, total = await self._tolerated(self.stack(thread_id, FRAMES), ((), 0))
            if frames and with_locals:
                top = await self.top_locals(frames[0].id)
            if exception:
                raised = await self._tolerated(self._raised(thread_id), None)
        return Snapshot(frames, total, top, raised)

    async def with_locals(self, seen: Snapshot) -> Snapshot:
        found: Locals | None = None
        with anyio.move_on_after(BUDGET_S):
            found = await self.top_locals(seen.frames[0].id) if seen.frames else None
        return replace(seen, top_locals=found)

    async def from_own_code(self, seen: Snapshot, reason: str) -> Snapshot:
        """The same, with the locals of the user's own frame where the program stopped below it."""
        at = where_to_look(reason, seen.frames)
        if not at:
            return seen
        found: Locals | None = None
        with anyio.move_on_after(BUDGET_S):
            found = await self.top_locals(seen.frames[at].id)
        return replace(seen, at=at, top_locals=found)

    async def stack(self, thread_id: int, levels: int) -> tuple[tuple[Frame, ...], int]:
        asked = {"threadId": thread_id, "startFrame": 0, "levels": levels}
        answer = await self._ask("stackTrace", asked, answers.StackTraceAnswer)
        frames = tuple([self._frame(it) async for it in in_turns(answer.stack_frames[:levels])])
        return frames, max(answer.total_frames or 0, len(answer.stack_frames))

    async def scopes(self, frame: int) -> tuple[Scope, ...]:
        answer = await self._ask("scopes", {"frameId": self._handles.take_frame(frame)}, answers.ScopesAnswer)
        scopes = tuple(self._scope(scope) for scope in answer.scopes[:SCOPES])
        self._containers |= {it.reference: _of_scope(it, frame) for it in scopes}
        return scopes

    async def variables(
        self, reference: int, *, start: int = 0, count: int = 0, filter: str = ""
    ) -> tuple[Variable, ...]:
        asked: dict[str, Any] = {"variablesReference": self._handles.take_variables(reference)}
        asked |= {"start": start, "count": count} if count else {}
        asked |= {"filter": filter} if filter else {}
        answer = await self._ask("variables", asked, answers.VariablesAnswer)
        frame = self.container(reference).frame
        return tuple([self._held(self._variable(it), frame) async for it in in_turns(answer.variables)])

    def _held(self, variable: Variable, frame: int | None) -> Variable:
        if variable.reference:
            self._containers[variable.reference] = _container(variable, variable.evaluate_name, frame)
        return variable

    def container(self, reference: int) -> Container:
        return self._containers.get(reference, Container())

    async def top_locals(self, frame: int) -> Locals | None:
        found: Locals | None = await self._tolerated(self._locals(frame), None)
        return found

    async def evaluate(self, expression: str, frame: int | None, context: str, *, timeout_s: float) -> Evaluated:
        asked: dict[str, Any] = {"expression": expression, "context": self._dialect.contexts.get(context, context)}
        asked |= {"frameId": self._handles.take_frame(frame)} if frame is not None else {}
        response = await self._backend.request("evaluate", asked, timeout_s=timeout_s)
        answer = read_body(response, answers.EvaluateAnswer)
        if answer.type in self._dialect.failure_types:
            raise AdapterRefusedError("evaluate", answer.result)
        found = Evaluated(
            result=answer.result,
            type=answer.type,
            reference=self._handles.give_variables(answer.variables_reference),
            named=answer.named_variables,
            indexed=answer.indexed_variables,
            memory_reference=answer.memory_reference,
        )
        self._containers[found.reference] = _container(found, expression, frame)
        return found

    def assignment(self, name: str, value: str) -> str:
        """An expression that changes a variable of a frame; empty where the adapter has a request for that."""
        return self._dialect.assigns.format(name=name, value=value) if self._dialect.assigns else ""

    async def _locals(self, frame: int) -> Locals | None:
        """Where an adapter splits them by block, all scopes hinted `locals` belong together."""
        scopes = [scope for scope in await self.scopes(frame) if not scope.expensive]
        chosen = [scope for scope in scopes if scope.hint == "locals"] or scopes[:1]
        if not chosen:
            return None
        by_name: dict[str, Variable] = {}
        for scope in chosen:
            for variable in await self.variables(scope.reference) if scope.reference else ():
                by_name.setdefault(variable.name, variable)
        return Locals(scope_name=chosen[0].name, variables=tuple(by_name.values())[:LOCALS])

    async def _raised(self, thread_id: int) -> Raised | None:
        info = await self._ask("exceptionInfo", {"threadId": thread_id}, answers.ExceptionInfoAnswer)
        details = info.details or answers.ExceptionDetails()
        type, message = details.type_name or info.exception_id, details.message or info.description or ""
        if not message:  # js-debug has both in one: `TypeError: x is undefined`
            type, _, message = type.partition(": ")
        return Raised(
            type=self._plain(type[:KEPT]),
            message=message[:KEPT],
            uncaught=info.break_mode in {"unhandled", "userUnhandled"},
            where=(details.stack_trace or "")[:KEPT],
        )

    async def _ask(self, command: str, arguments: dict[str, Any], kind: type[_T]) -> _T:
        return read_body(await self._backend.request(command, arguments, timeout_s=BUDGET_S), kind)

    async def _tolerated(self, looked: Any, otherwise: Any) -> Any:
        try:
            return await looked
        except (DragomanError, RemoteProtocolError, msgspec.ValidationError):
            return otherwise

    def _plain(self, name: str) -> str:
        return re.sub(self._dialect.own_notes, "", name, flags=re.DOTALL) if self._dialect.own_notes else name

    def _frame(self, frame: answers.StackFrame) -> Frame:
        source = frame.source
        path = (source.path or "") if source else ""
        return Frame(
            id=self._handles.give_frame(frame.id),
            name=self._plain(frame.name),
            path=path,
            line=frame.line,
            column=frame.column,
            is_library=self._is_library(frame, path),
            address=frame.instruction_pointer_reference or "",
            source_name=(source.name or "") if source else "",
            source_reference=(source.source_reference or 0) if source else 0,
        )

    def _is_library(self, frame: answers.StackFrame, path: str) -> bool:
        sourceless = self._dialect.sourceless
        return (
            frame.presentation_hint in _LIBRARY_HINTS
            or is_library(path)
            or bool(sourceless and re.match(sourceless, frame.name))
        )

    def _scope(self, scope: answers.Scope) -> Scope:
        return Scope(
            name=scope.name,
            reference=self._handles.give_variables(scope.variables_reference),
            expensive=scope.expensive,
            hint=scope.presentation_hint or "",
            named=scope.named_variables,
            indexed=scope.indexed_variables,
        )

    def _variable(self, variable: answers.Variable) -> Variable:
        return Variable(
            name=variable.name,
            value=variable.value,
            type=variable.type,
            reference=self._handles.give_variables(variable.variables_reference),
            evaluate_name=variable.evaluate_name,
            memory_reference=variable.memory_reference,
            named=variable.named_variables,
            indexed=variable.indexed_variables,
        )


def _of_scope(scope: Scope, frame: int) -> Container:
    return Container(frame=frame, named=scope.named, indexed=scope.indexed, is_outer=scope.hint != "locals")


def _container(found: Variable | Evaluated, expression: str | None, frame: int | None) -> Container:
    return Container(expression or "", found.type or "", frame, found.named, found.indexed)
