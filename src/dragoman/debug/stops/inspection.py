"""Inspects a stopped program: scopes, variables page by page, expressions and threads.

Evaluations run one after another, because adapters answer parallel ones wrongly. Few adapters page: most return
everything, and some the first hundred with a mark. Where the language can, the rest is read as a slice of the
container.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.core.localization import localize
from dragoman.debug import errors
from dragoman.debug.backends.port import AdapterRefusedError, RequestPort
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.errors import (
    already_ended,
    cannot_watch,
    evaluation_busy,
    not_supported,
    thread_running,
    unknown_variable,
)
from dragoman.debug.model import EvaluateResult, FrameInfo, Locals, ScopeInfo, ThreadInfo, VariableInfo, VariablePage
from dragoman.debug.session.debuggee_process import DebuggeeProcess
from dragoman.debug.session.handshake import AdapterHandshake, AdapterLaunch
from dragoman.debug.session.lifecycle import SessionLifecycle
from dragoman.debug.session.threads import ThreadStates
from dragoman.debug.stops.pipeline import StopContext
from dragoman.debug.stops.snapshot import StopReader, VariableContainer
from dragoman.protocols.dap import bodies, read_body
from dragoman.protocols.json_input import PartLimits
from dragoman.workspace.breakpoints import Breakpoint

_SLICE_TIMEOUT_S = 4.0
_RESPONSE_TIMEOUT_S = 10.0
_END_TIMEOUT_S = 3.0
_MAX_LOCATED_THREADS = 32  # each takes a request to the debugger
_MAX_FRAMES = 10_000  # frames of one thread; an endless recursion has hundreds of thousands


class VariablePager:
    def __init__(self, reader: StopReader, quirks: AdapterQuirks) -> None:
        self._reader = reader
        self._quirks = quirks

    async def page(self, reference: int, start: int, count: int) -> VariablePage:
        """Without a count, all from the start on."""
        container = self._reader.container(reference)
        if container.indexed and count:
            return await self._paged(reference, container, start, count)
        found = await self._reader.variables(reference)
        whole = tuple(it for it in found if it.name not in self._quirks.truncation_marks)
        is_cut = len(whole) != len(found)
        stop = start + count if count else max(start, len(whole))
        if is_cut and (page := await self._sliced(container, start, stop)) is not None:
            return page
        return VariablePage(variables=whole[start:stop], total=None if is_cut else len(whole))

    async def _paged(self, reference: int, container: VariableContainer, start: int, count: int) -> VariablePage:
        """Pages by the adapter, which has said how many there are: elements first, then the other members."""
        indexed, named = container.indexed or 0, container.named or 0
        variables: list[VariableInfo] = []
        if start < indexed:
            asked = min(count, indexed - start)
            elements = await self._reader.variables(reference, start=start, count=asked, filter="indexed")
            variables += _elements_of_page(elements, start, asked)
        if named and start + count > indexed:
            others = _without_elements(await self._reader.variables(reference, filter="named"), variables, named)
            variables += others[max(0, start - indexed) : start + count - indexed]
        return VariablePage(variables=tuple(variables), total=indexed + named)

    async def _sliced(self, container: VariableContainer, start: int, stop: int) -> VariablePage | None:
        """None if the language cannot slice, or the program's own type does not allow it."""
        spelled = self._quirks.slice_expressions.get(container.type)
        if not spelled or not container.expression:
            return None
        sliced = spelled.format(name=container.expression, start=start, stop=stop)
        try:
            total = int((await self._evaluate(self._quirks.length.format(name=container.expression), container))[0])
            reference = (await self._evaluate(sliced, container))[1]
            found = await self._reader.variables(reference) if reference else ()
        except (DragomanError, ValueError):
            return None
        mine = [it for it in found if it.name not in self._quirks.synthetic_children | self._quirks.truncation_marks]
        by_place = container.type not in self._quirks.keyed_types
        return VariablePage(variables=tuple(_renumbered(it, start) if by_place else it for it in mine), total=total)

    async def _evaluate(self, expression: str, container: VariableContainer) -> tuple[str, int]:
        answer = await self._reader.evaluate(expression, container.frame, "watch", timeout_s=_SLICE_TIMEOUT_S)
        return answer.result, answer.reference


def _elements_of_page(elements: tuple[VariableInfo, ...], start: int, count: int) -> tuple[VariableInfo, ...]:
    """Checked by name if names are indices: js-debug adds the prototype to a page, others answer with everything."""
    if len(elements) <= count:
        return elements  # not recognized by name, because Lua counts from one
    wanted = {str(place) for place in range(start, start + count)}
    named = tuple(it for it in elements if it.name.strip("[]") in wanted)
    if named:
        return named
    return elements[start : start + count]


def _without_elements(
    others: tuple[VariableInfo, ...], elements: list[VariableInfo], count: int
) -> tuple[VariableInfo, ...]:
    """Without the elements, where the adapter does not heed what it was asked for and answers with everything."""
    element_names = {it.name for it in elements}
    is_everything = len(others) > count
    return tuple(
        it for it in others if it.name not in element_names and not (is_everything and it.name.strip("[]").isdigit())
    )


def _renumbered(variable: VariableInfo, start: int) -> VariableInfo:
    """An element of a slice is named by its place in the whole."""
    is_place = variable.name.isascii() and variable.name.isdigit()
    return msgspec.structs.replace(variable, name=str(start + int(variable.name))) if is_place else variable


_FORWARDED_LIMITS = PartLimits(strings=200_000, others=500_000)  # each one becomes a Python object


class Inspection:
    """What callers may read and change in a stopped program, one request at a time."""

    def __init__(
        self,
        backend: RequestPort,
        lifecycle: SessionLifecycle,
        threads: ThreadStates,
        handshake: AdapterHandshake,
        launch: AdapterLaunch,
        program: DebuggeeProcess,
        stop_context: Callable[[], StopContext],
    ) -> None:
        self._backend = backend
        self._lifecycle = lifecycle
        self._threads = threads
        self._handshake = handshake
        self._launch = launch
        self._program = program
        self._stop_context = stop_context
        self._turn = anyio.Lock()

    async def scopes(self, frame: int | None, thread_id: int | None) -> tuple[ScopeInfo, ...]:
        self._context()
        async with self._in_turn(_RESPONSE_TIMEOUT_S):
            stop_context = self._context()
            chosen = await self._frame(stop_context, frame, thread_id)
            return await stop_context.reader.scopes(
                errors.top_frame(stop_context.stop).id if chosen is None else chosen
            )

    async def stack(self, thread_id: int, start: int, count: int) -> tuple[tuple[FrameInfo, ...], int]:
        """A part of it, and how deep it is; what the stop has shown already is not asked for again."""
        stop_context = self._context()
        stop = stop_context.stop
        end = start + count if count else max(start, stop.total_frames)
        if thread_id == stop.thread_id and stop.frames and min(end, stop.total_frames) <= len(stop.frames):
            return stop.frames[start:end], stop.total_frames
        levels = min(start + count, _MAX_FRAMES) if count else _MAX_FRAMES
        async with self._in_turn(_RESPONSE_TIMEOUT_S):
            frames, total = await self._context().reader.stack(thread_id, levels)
        return frames[start:], total

    async def ask(self, command: str, arguments: dict[str, Any], *, frame: int | None = None) -> dict[str, Any]:
        """Passes a question on to the adapter if its answer holds no numbers that belong to a stop."""
        if frame is not None:
            arguments = {**arguments, "frameId": self._context().handles.resolve_frame(frame)}
        response = await self._backend.request(command, arguments, timeout_s=_RESPONSE_TIMEOUT_S)
        if response.body is not msgspec.UNSET and _FORWARDED_LIMITS.exceeded_by(bytes(response.body)):
            raise RemoteProtocolError("too_many_parts", f"The answer to {command!r} has too many parts to be read.")
        return read_body(response, dict[str, Any])

    async def data_info(self, name: str, reference: int | None, frame: int | None) -> bodies.DataBreakpointInfoResponse:
        stop_context = self._context()
        asked: dict[str, Any] = {"name": name}
        asked |= {"variablesReference": stop_context.handles.resolve_variables(reference)} if reference else {}
        asked |= {"frameId": stop_context.handles.resolve_frame(frame)} if frame is not None and not reference else {}
        response = await self._backend.request("dataBreakpointInfo", asked, timeout_s=_RESPONSE_TIMEOUT_S)
        return read_body(response, bodies.DataBreakpointInfoResponse)

    async def refresh(self) -> None:
        """After what may have changed anything: the next answer must not show what is no longer so."""
        async with self._in_turn(_RESPONSE_TIMEOUT_S):
            await self._refresh(self._context())

    async def named(self, reference: int) -> tuple[VariableInfo, ...]:
        """The members of a container besides its elements."""
        async with self._in_turn(_RESPONSE_TIMEOUT_S):
            return await self._context().reader.variables(reference, filter="named")

    async def locals(self, frame: int) -> Locals | None:
        async with self._in_turn(_RESPONSE_TIMEOUT_S):
            return await self._context().reader.top_locals(frame)

    async def page(self, reference: int, *, start: int, count: int) -> VariablePage:
        async with self._in_turn(_RESPONSE_TIMEOUT_S):
            stop_context = self._context()
            return await VariablePager(stop_context.reader, self._launch.quirks).page(reference, start, count)

    async def evaluate(
        self, expression: str, frame: int | None, context: str, *, timeout_s: float, thread_id: int | None
    ) -> EvaluateResult:
        self._context()
        async with self._in_turn(timeout_s):
            stop_context = self._context()
            chosen = await self._frame(stop_context, frame, thread_id)
            return await stop_context.reader.evaluate(expression, chosen, context, timeout_s=timeout_s)

    async def set_variable(self, name: str, value: str, reference: int | None, frame: int | None) -> EvaluateResult:
        """Reads the locals of the stop again, because an assignment may have changed them."""
        self._context()
        async with self._in_turn(_RESPONSE_TIMEOUT_S):
            stop_context = self._context()
            chosen = await self._frame(stop_context, frame, None)
            assignment = stop_context.reader.assignment(name, value) if reference is None else ""
            if assignment:
                answer = await stop_context.reader.evaluate(assignment, chosen, "repl", timeout_s=_RESPONSE_TIMEOUT_S)
            else:
                holder = reference if reference is not None else await self._holder(stop_context, name, chosen)
                answer = await self._set(stop_context, name, value, holder, chosen)
            await self._refresh(stop_context)
        return answer

    async def threads(self, *, placed: bool = True) -> tuple[ThreadInfo, ...]:
        """With their places, which only stopped ones have."""
        if self._lifecycle.ended is not None:
            raise already_ended()
        found = await self._threads.listed()
        near = found[:_MAX_LOCATED_THREADS] if placed else ()
        return (*[await self._placed(it) for it in near], *found[len(near) :])

    async def resolve_data_breakpoint(self, wanted: Breakpoint) -> Breakpoint:
        """The adapter's name for what a data breakpoint watches."""
        if not self._handshake.capabilities.has("supportsDataBreakpoints"):
            raise not_supported(adapter=self._launch.adapter_id, what=localize("set data breakpoints"))
        stop_context = self._context()
        frame = await self._frame(stop_context, wanted.frame, None)
        holder = (
            wanted.reference
            if wanted.reference is not None
            else await self._holder(stop_context, wanted.variable, frame)
        )
        answer = await self.data_info(wanted.variable, holder, frame)
        if answer.data_id is None:
            raise cannot_watch(reason=answer.description)
        if answer.access_types is not None and wanted.access not in answer.access_types:
            raise errors.no_such_access(access=wanted.access, offered=answer.access_types)
        return msgspec.structs.replace(wanted, data_id=answer.data_id, reference=None, frame=None)

    def _context(self) -> StopContext:
        self._lifecycle.require_stopped()
        return self._stop_context()

    async def _frame(self, stop_context: StopContext, frame: int | None, thread_id: int | None) -> int | None:
        """Without either, the frame to look at; of another thread, the top frame there."""
        if frame is not None:
            return frame
        if thread_id is None or thread_id == stop_context.stop.thread_id:
            return stop_context.stop.frame.id if stop_context.stop.frame else None
        await self._threads.require(thread_id)
        if not self._threads.is_stopped(thread_id):
            raise thread_running(id=thread_id)
        frames, _ = await stop_context.reader.stack(thread_id, 1)
        return frames[0].id if frames else None

    async def _holder(self, stop_context: StopContext, name: str, frame: int | None) -> int:
        """The scope in which a frame has the name; zero where none does."""
        scopes = await stop_context.reader.scopes(frame) if frame is not None else ()
        for scope in scopes:
            if scope.reference and not scope.expensive:
                found = await stop_context.reader.variables(scope.reference)
                if any(variable.name == name for variable in found):
                    return scope.reference
        return 0

    async def _set(
        self, stop_context: StopContext, name: str, value: str, holder: int, frame: int | None
    ) -> EvaluateResult:
        can = self._handshake.capabilities
        if holder and self._launch.quirks.ignores_bad_values:
            target = await self._target(stop_context, name, holder)
            if target:
                return await self._assigned(stop_context, target, value, stop_context.reader.container(holder).frame)
            await stop_context.reader.evaluate(value, frame, "watch", timeout_s=_RESPONSE_TIMEOUT_S)
        if holder and can.has("supportsSetVariable"):
            number = stop_context.handles.resolve_variables(holder)
            return await self._request_value(
                stop_context, "setVariable", {"variablesReference": number, "name": name, "value": value}
            )
        if can.has("supportsSetExpression"):
            await self._require_known(stop_context, name, frame)
            return await self._assigned(stop_context, name, value, frame)
        if can.has("supportsSetVariable"):
            raise unknown_variable(name=name)
        raise not_supported(adapter=self._launch.adapter_id, what=localize("change variables"))

    async def _target(self, stop_context: StopContext, name: str, holder: int) -> str:
        """The variable that an assignment in the frame would change; empty if it would not change this one."""
        if stop_context.reader.container(holder).is_outer:
            return ""
        found = await stop_context.reader.variables(holder)
        return next((it.evaluate_name or "" for it in found if it.name == name), "")

    async def _assigned(self, stop_context: StopContext, target: str, value: str, frame: int | None) -> EvaluateResult:
        asked: dict[str, Any] = {"expression": target, "value": value}
        asked |= {"frameId": stop_context.handles.resolve_frame(frame)} if frame is not None else {}
        try:
            return await self._request_value(stop_context, "setExpression", asked)
        except AdapterRefusedError as refused:
            raise AdapterRefusedError("setExpression", self._launch.quirks.fault_of(value) or refused.reason) from None

    async def _require_known(self, stop_context: StopContext, name: str, frame: int | None) -> None:
        """Else a slip of the pen would make a new variable, and pass for the change of one."""
        try:
            if name.isidentifier():
                await stop_context.reader.evaluate(name, frame, "watch", timeout_s=_RESPONSE_TIMEOUT_S)
        except AdapterRefusedError as refused:
            raise unknown_variable(name=name) from refused

    async def _request_value(self, stop_context: StopContext, command: str, asked: dict[str, Any]) -> EvaluateResult:
        response = await self._backend.request(command, asked, timeout_s=_RESPONSE_TIMEOUT_S)
        answer = read_body(response, bodies.SetVariableResponse)
        reference = stop_context.handles.assign_variables(answer.variables_reference)
        return EvaluateResult(result=answer.value or answer.result, type=answer.type, reference=reference)

    async def _refresh(self, stop_context: StopContext) -> None:
        stop = self._lifecycle.stop
        if stop is None or stop.number != stop_context.stop.number or stop.frame is None:
            return
        found = await stop_context.reader.top_locals(stop.frame.id)
        if found is not None and self._lifecycle.stop is stop:
            self._lifecycle.update_stop(msgspec.structs.replace(stop, top_locals=found))

    async def _placed(self, thread: ThreadInfo) -> ThreadInfo:
        if thread.state != "stopped" or self._lifecycle.stop is None:
            return thread
        try:
            frames, _ = await self._stop_context().reader.stack(thread.id, 1)
        except DragomanError:
            return thread
        if not frames:
            return thread
        top = frames[0]
        return msgspec.structs.replace(thread, path=top.path, line=top.line, function=top.name)

    @asynccontextmanager
    async def _in_turn(self, within_s: float) -> AsyncIterator[None]:
        with anyio.move_on_after(within_s) as waiting:
            await self._turn.acquire()
        if waiting.cancelled_caught:
            raise evaluation_busy()
        try:
            yield
        except AdapterRefusedError:
            await self._require_alive()
            raise
        finally:
            self._turn.release()

    async def _require_alive(self) -> None:
        """An expression may end the program: adapters refuse it in some words, and tell of the end a little later."""
        if self._program.has_exited:
            await self._lifecycle.outcome(self._lifecycle.stops, _END_TIMEOUT_S)
            raise already_ended()
