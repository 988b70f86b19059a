"""What callers ask of a stopped program. Evaluations go one after another: adapters answer parallel ones wrongly."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec

from dragoman.debug import faults
from dragoman.debug.backend import AdapterRefusedError, Answering
from dragoman.debug.life import Life
from dragoman.debug.model import Evaluated, Frame, Locals, Page, Scope, ThreadSeen, Variable
from dragoman.debug.opening import Launch, Opening
from dragoman.debug.paging import Pager
from dragoman.debug.program import Program
from dragoman.debug.stopping import Moment
from dragoman.debug.threads import Threads
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import say
from dragoman.wire.dap import answers, read_body
from dragoman.wire.json_weight import PartLimits
from dragoman.workspace.breakpoints import Breakpoint

_ANSWERED_WITHIN_S = 10.0
_END_TOLD_WITHIN_S = 3.0
_THREADS_PLACED = 32  # each costs a question
_PASSED_ON = PartLimits(strings=200_000, others=500_000)  # each becomes an object of ours
_FRAMES = 10_000  # of one thread: a recursion without end has hundreds of thousands


class Looks:
    def __init__(
        self,
        backend: Answering,
        life: Life,
        threads: Threads,
        opening: Opening,
        launch: Launch,
        program: Program,
        moment: Callable[[], Moment],
    ) -> None:
        self._backend = backend
        self._life = life
        self._threads = threads
        self._opening = opening
        self._launch = launch
        self._program = program
        self._moment = moment
        self._turn = anyio.Lock()

    async def scopes(self, frame: int | None, thread_id: int | None) -> tuple[Scope, ...]:
        self._now()
        async with self._in_turn(_ANSWERED_WITHIN_S):
            moment = self._now()
            chosen = await self._frame(moment, frame, thread_id)
            return await moment.looking.scopes(faults.top_frame(moment.stop).id if chosen is None else chosen)

    async def stack(self, thread_id: int, start: int, count: int) -> tuple[tuple[Frame, ...], int]:
        """A part of it, and how deep it is; what the stop has shown already is not asked for again."""
        moment = self._now()
        stop = moment.stop
        end = start + count if count else max(start, stop.total_frames)
        if thread_id == stop.thread_id and stop.frames and min(end, stop.total_frames) <= len(stop.frames):
            return stop.frames[start:end], stop.total_frames
        levels = min(start + count, _FRAMES) if count else _FRAMES
        async with self._in_turn(_ANSWERED_WITHIN_S):
            frames, total = await self._now().looking.stack(thread_id, levels)
        return frames[start:], total

    async def ask(self, command: str, arguments: dict[str, Any], *, frame: int | None = None) -> dict[str, Any]:
        """What only the adapter knows, as it says it: for questions whose answers hold no numbers of a stop."""
        if frame is not None:
            arguments = {**arguments, "frameId": self._now().handles.take_frame(frame)}
        response = await self._backend.request(command, arguments, timeout_s=_ANSWERED_WITHIN_S)
        if response.body is not msgspec.UNSET and _PASSED_ON.exceeded_by(bytes(response.body)):
            raise RemoteProtocolError("too_many_parts", f"The answer to {command!r} has too many parts to be read.")
        return read_body(response, dict[str, Any])

    async def data_info(self, name: str, reference: int | None, frame: int | None) -> answers.DataBreakpointInfoAnswer:
        moment = self._now()
        asked: dict[str, Any] = {"name": name}
        asked |= {"variablesReference": moment.handles.take_variables(reference)} if reference else {}
        asked |= {"frameId": moment.handles.take_frame(frame)} if frame is not None and not reference else {}
        response = await self._backend.request("dataBreakpointInfo", asked, timeout_s=_ANSWERED_WITHIN_S)
        return read_body(response, answers.DataBreakpointInfoAnswer)

    async def refresh(self) -> None:
        """After what may have changed anything: the next answer must not show what is no longer so."""
        async with self._in_turn(_ANSWERED_WITHIN_S):
            await self._refresh(self._now())

    async def named(self, reference: int) -> tuple[Variable, ...]:
        """What a container holds beside its elements."""
        async with self._in_turn(_ANSWERED_WITHIN_S):
            return await self._now().looking.variables(reference, filter="named")

    async def locals(self, frame: int) -> Locals | None:
        async with self._in_turn(_ANSWERED_WITHIN_S):
            return await self._now().looking.top_locals(frame)

    async def page(self, reference: int, *, start: int, count: int) -> Page:
        async with self._in_turn(_ANSWERED_WITHIN_S):
            moment = self._now()
            return await Pager(moment.looking, self._launch.dialect).page(reference, start, count)

    async def evaluate(
        self, expression: str, frame: int | None, context: str, *, timeout_s: float, thread_id: int | None
    ) -> Evaluated:
        self._now()
        async with self._in_turn(timeout_s):
            moment = self._now()
            chosen = await self._frame(moment, frame, thread_id)
            return await moment.looking.evaluate(expression, chosen, context, timeout_s=timeout_s)

    async def set_variable(self, name: str, value: str, reference: int | None, frame: int | None) -> Evaluated:
        """What the stop showed of the locals is read anew: the next answer must not show what is no longer so."""
        self._now()
        async with self._in_turn(_ANSWERED_WITHIN_S):
            moment = self._now()
            chosen = await self._frame(moment, frame, None)
            assignment = moment.looking.assignment(name, value) if reference is None else ""
            if assignment:
                answer = await moment.looking.evaluate(assignment, chosen, "repl", timeout_s=_ANSWERED_WITHIN_S)
            else:
                holder = reference if reference is not None else await self._holder(moment, name, chosen)
                answer = await self._set(moment, name, value, holder, chosen)
            await self._refresh(moment)
        return answer

    async def threads(self, *, placed: bool = True) -> tuple[ThreadSeen, ...]:
        """With their places, which only stopped ones have."""
        if self._life.ended is not None:
            raise faults.already_ended()
        found = await self._threads.listed()
        near = found[:_THREADS_PLACED] if placed else ()
        return (*[await self._placed(it) for it in near], *found[len(near) :])

    async def data_of(self, wanted: Breakpoint) -> Breakpoint:
        """The adapter's name for what a data breakpoint watches."""
        if not self._opening.capabilities.has("supportsDataBreakpoints"):
            raise faults.not_supported(say("stop where data changes"), self._launch.adapter_id)
        moment = self._now()
        frame = await self._frame(moment, wanted.frame, None)
        holder = (
            wanted.reference if wanted.reference is not None else await self._holder(moment, wanted.variable, frame)
        )
        answer = await self.data_info(wanted.variable, holder, frame)
        if answer.data_id is None:
            raise faults.cannot_watch(answer.description)
        if answer.access_types is not None and wanted.access not in answer.access_types:
            raise faults.no_such_access(wanted.access, answer.access_types)
        return msgspec.structs.replace(wanted, data_id=answer.data_id, reference=None, frame=None)

    def _now(self) -> Moment:
        self._life.require_stopped()
        return self._moment()

    async def _frame(self, moment: Moment, frame: int | None, thread_id: int | None) -> int | None:
        """Without either, the frame to look at; of another thread, the top frame there."""
        if frame is not None:
            return frame
        if thread_id is None or thread_id == moment.stop.thread_id:
            return moment.stop.frame.id if moment.stop.frame else None
        await self._threads.require(thread_id)
        if not self._threads.is_stopped(thread_id):
            raise faults.thread_runs(thread_id)
        frames, _ = await moment.looking.stack(thread_id, 1)
        return frames[0].id if frames else None

    async def _holder(self, moment: Moment, name: str, frame: int | None) -> int:
        """The scope in which a frame has the name; zero where none does."""
        scopes = await moment.looking.scopes(frame) if frame is not None else ()
        for scope in scopes:
            if scope.reference and not scope.expensive:
                found = await moment.looking.variables(scope.reference)
                if any(variable.name == name for variable in found):
                    return scope.reference
        return 0

    async def _set(self, moment: Moment, name: str, value: str, holder: int, frame: int | None) -> Evaluated:
        can = self._opening.capabilities
        if holder and self._launch.dialect.swallows_bad_values:
            target = await self._target(moment, name, holder)
            if target:
                return await self._assigned(moment, target, value, moment.looking.container(holder).frame)
            await moment.looking.evaluate(value, frame, "watch", timeout_s=_ANSWERED_WITHIN_S)
        if holder and can.has("supportsSetVariable"):
            number = moment.handles.take_variables(holder)
            return await self._asked(
                moment, "setVariable", {"variablesReference": number, "name": name, "value": value}
            )
        if can.has("supportsSetExpression"):
            await self._require_known(moment, name, frame)
            return await self._assigned(moment, name, value, frame)
        if can.has("supportsSetVariable"):
            raise faults.unknown_variable(name)
        raise faults.not_supported(say("change variables"), self._launch.adapter_id)

    async def _target(self, moment: Moment, name: str, holder: int) -> str:
        """What an assignment in the frame would change; empty where it would not change this one."""
        if moment.looking.container(holder).is_outer:
            return ""
        found = await moment.looking.variables(holder)
        return next((it.evaluate_name or "" for it in found if it.name == name), "")

    async def _assigned(self, moment: Moment, target: str, value: str, frame: int | None) -> Evaluated:
        asked: dict[str, Any] = {"expression": target, "value": value}
        asked |= {"frameId": moment.handles.take_frame(frame)} if frame is not None else {}
        try:
            return await self._asked(moment, "setExpression", asked)
        except AdapterRefusedError as refused:
            raise AdapterRefusedError("setExpression", self._launch.dialect.fault_of(value) or refused.reason) from None

    async def _require_known(self, moment: Moment, name: str, frame: int | None) -> None:
        """Else a slip of the pen would make a new variable, and pass for the change of one."""
        try:
            if name.isidentifier():
                await moment.looking.evaluate(name, frame, "watch", timeout_s=_ANSWERED_WITHIN_S)
        except AdapterRefusedError as refused:
            raise faults.unknown_variable(name) from refused

    async def _asked(self, moment: Moment, command: str, asked: dict[str, Any]) -> Evaluated:
        response = await self._backend.request(command, asked, timeout_s=_ANSWERED_WITHIN_S)
        answer = read_body(response, answers.SetVariableAnswer)
        reference = moment.handles.give_variables(answer.variables_reference)
        return Evaluated(result=answer.value or answer.result, type=answer.type, reference=reference)

    async def _refresh(self, moment: Moment) -> None:
        stop = self._life.stop
        if stop is None or stop.number != moment.stop.number or stop.frame is None:
            return
        found = await moment.looking.top_locals(stop.frame.id)
        if found is not None and self._life.stop is stop:
            self._life.seen_anew(msgspec.structs.replace(stop, top_locals=found))

    async def _placed(self, thread: ThreadSeen) -> ThreadSeen:
        if thread.state != "stopped" or self._life.stop is None:
            return thread
        try:
            frames, _ = await self._moment().looking.stack(thread.id, 1)
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
            raise faults.busy()
        try:
            yield
        except AdapterRefusedError:
            await self._require_alive()
            raise
        finally:
            self._turn.release()

    async def _require_alive(self) -> None:
        """An expression may end the program: adapters refuse it in some words, and tell of the end a little later."""
        if self._program.has_gone:
            await self._life.outcome(self._life.stops, _END_TOLD_WITHIN_S)
            raise faults.already_ended()
