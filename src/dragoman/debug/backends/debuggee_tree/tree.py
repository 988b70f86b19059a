"""A debuggee tree: several debuggees behind one backend, as one program with many threads.

js-debug opens a session for every node process, debugpy one for every child. Breakpoints go to all debuggees, also to
those that join later; events are merged, and one stop is reported at a time.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import msgspec

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.debuggee_tree.adapter_workarounds import ChangedValues, LateContinues
from dragoman.debug.backends.debuggee_tree.breakpoint_lists import LIST_COMMANDS, BreakpointLists
from dragoman.debug.backends.debuggee_tree.debuggees import ConnectChild, Debuggee, Debuggees
from dragoman.debug.backends.debuggee_tree.request_router import EVALUATE_IN_EACH, RequestRouter, ThreadIds
from dragoman.debug.backends.debuggee_tree.stop_arbiter import StopArbiter
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.debug.backends.port import BackendOwnership, DebuggeeConnection, make_event, make_response
from dragoman.protocols.dap import Response
from dragoman.protocols.dap.bodies import (
    BreakpointBody,
    ContinuedBody,
    DebugpyAttachBody,
    EventBody,
    ExitedBody,
    InitializedBody,
    ProcessBody,
    StoppedBody,
    TerminatedBody,
    ThreadBody,
)

log = logging.getLogger(__name__)

_TERMINATED_TIMEOUT_S = 1.0

_STEP_COMMANDS = frozenset({"next", "stepIn", "stepOut", "stepBack", "goto", "restartFrame"})
RUN_COMMANDS = _STEP_COMMANDS | {"continue", "reverseContinue"}
_ROOT_COMMANDS = frozenset({"launch", "attach", "configurationDone", "disconnect", "terminate", "restart"})
_SERVED_CAPABILITIES = {"supportsRunInTerminalRequest": True, "supportsStartDebuggingRequest": True}


class FinalEvents(Protocol):
    """The events to emit before the end, or when the root has gone without reporting one."""

    async def __call__(self, *, gone: bool) -> list[EventBody]: ...


@dataclass(frozen=True, slots=True)
class DebuggeeTreeTraits:
    """As in `AdapterSpec`."""

    ends_with_its_children: bool = False
    shows_stale_values: bool = False
    continues_only_on_request: bool = False


class DebuggeeTree:
    """Presents a root debuggee and its children as one backend.

    `run` belongs into a task group; `connect` opens another connection for a child's configuration. It keeps ids
    unique, reports one stop at a time, and never ends the group for a child that leaves.

    A program without children runs in a group of one. js-debug always has a child session, and debugpy may open one at
    any moment of a run: the session knows breakpoints by the group's numbers, threads by its ids and stops by its
    turns from the start, so none of them changes when a child appears. A group of one also serves what its adapter
    needs anyway: late `continued` events, stale values, thread ids of 0, and breakpoint lists that a child gets later.
    """

    ownership = BackendOwnership()

    def __init__(
        self, root: DebuggeeConnection, connect: ConnectChild, final_events: FinalEvents, traits: DebuggeeTreeTraits
    ) -> None:
        self._final_events = final_events
        self._traits = traits
        self._changed_values = ChangedValues()
        self._breakpoint_lists = BreakpointLists()
        self._debuggees = Debuggees(root, connect, self._breakpoint_lists, self)
        self._root = self._debuggees.root
        self._threads = ThreadIds()
        self._stop_arbiter = StopArbiter()
        self._late_continues = LateContinues()
        self._router = RequestRouter(self._debuggees, self._threads, self._stop_arbiter)
        self.events = AdapterEventQueue()
        self._final_reported: anyio.Event | None = None

    @property
    def is_configurable(self) -> bool:
        """Whether the adapter has reached the program."""
        return self._root.initialized.is_set()

    # The life.

    async def run(self) -> None:
        """Until the root has gone."""
        try:
            async with anyio.create_task_group() as group:
                self._debuggees.start_in(group)
                await self.read_events(self._root)
                if self._final_reported is not None:
                    await self._final_reported.wait()
                await self._emit_final_events(gone=True)
                group.cancel_scope.cancel("the root has gone")
        finally:
            self.events.close()

    async def end(self) -> None:
        self.events.close()
        await self._debuggees.end()

    def emit(self, body: EventBody) -> None:
        self.events.put(body)

    def add_child(self, request: str, configuration: Mapping[str, Any]) -> None:
        self._debuggees.add_child(request, configuration)

    def remove(self, debuggee: Debuggee) -> None:
        """Its threads are gone, and so is a stop of it that was told or waits to be told."""
        if debuggee.left or debuggee is self._root:
            return
        self._debuggees.leave(debuggee)
        for thread in self._threads.of(debuggee.slot):
            self._threads.forget(thread)
            self.emit(ThreadBody(reason="exited", thread_id=thread))
            if self._stop_arbiter.is_current(debuggee.slot):
                self.emit(ContinuedBody(thread_id=thread, all_threads_continued=False))
        self._stop_arbiter.left(debuggee.slot)
        self._late_continues.left(debuggee.slot)
        self._emit_next_stop()
        self._debuggees.spawn(self._disconnect, debuggee)

    async def _disconnect(self, debuggee: Debuggee) -> None:
        """js-debug says itself that all has ended, as a rule at once."""
        await self._debuggees.disconnect(debuggee)
        await anyio.sleep(_TERMINATED_TIMEOUT_S)
        if self._traits.ends_with_its_children and self._debuggees.is_root_alone:
            self._handle_terminated(self._root, TerminatedBody())

    # What members say.

    async def read_events(self, debuggee: Debuggee) -> None:
        """To its end. Events are handled as they arrive; nothing is kept here."""

        def take(body: EventBody) -> bool:
            self._dispatch(debuggee, body)
            return True

        debuggee.link.events.attach(take, into=self.events)
        await debuggee.link.events.closed.wait()
        self.remove(debuggee)

    def _dispatch(self, debuggee: Debuggee, body: EventBody) -> None:
        is_silenced = not debuggee.is_debugged and not isinstance(body, InitializedBody)
        if debuggee.left or is_silenced:  # its place may be another's by now
            return
        try:
            self._handle(debuggee, body)
        except (RemoteProtocolError, DragomanError) as error:
            log.warning("an event of a member was skipped: %s", error)

    def _handle(self, debuggee: Debuggee, body: EventBody) -> None:
        match body:
            case InitializedBody():
                self._handle_initialized(debuggee, body)
            case StoppedBody():
                self._handle_stopped(debuggee, body)
            case ContinuedBody():
                self._handle_continued(debuggee, body)
            case ThreadBody():
                self._handle_thread(debuggee, body)
            case BreakpointBody():
                self._handle_breakpoint(debuggee, body)
            case TerminatedBody():
                self._handle_terminated(debuggee, body)
            case DebugpyAttachBody():
                self.add_child("attach", body.configuration)
            case ExitedBody() | ProcessBody() if debuggee is not self._root:
                return  # a child's exit code is not the program's
            case _:
                self.emit(body)

    def _handle_initialized(self, debuggee: Debuggee, body: InitializedBody) -> None:
        """js-debug says it twice, and each member to us alone."""
        is_news = not debuggee.initialized.is_set()
        debuggee.initialized.set()
        if debuggee is self._root and is_news:
            self.emit(body)

    def _handle_stopped(self, debuggee: Debuggee, body: StoppedBody) -> None:
        thread = None if body.thread_id is None else self._threads.ours(debuggee.slot, body.thread_id)
        hit = body.hit_breakpoint_ids
        if hit:
            ours = [self._breakpoint_lists.breakpoints.number(debuggee.slot, it) for it in hit]
            known = tuple(it for it in ours if it is not None)
            hit = known if len(known) == len(ours) else ()  # else the place tells it better than half of them
        self._late_continues.stopped(debuggee.slot)
        told = msgspec.structs.replace(body, thread_id=thread, hit_breakpoint_ids=hit)
        if self._stop_arbiter.stopped(debuggee.slot, told):
            self.emit(told)

    def _handle_continued(self, debuggee: Debuggee, body: ContinuedBody) -> None:
        """Of a member whose stop was not the one told, it says nothing about the program that is seen above."""
        if self._traits.continues_only_on_request and self._late_continues.is_late(debuggee.slot):
            return
        if self._stop_arbiter.continued(debuggee.slot):
            thread = self._threads.ours(debuggee.slot, body.thread_id)
            self.emit(msgspec.structs.replace(body, thread_id=thread))
            self._emit_next_stop()

    def _handle_thread(self, debuggee: Debuggee, body: ThreadBody) -> None:
        thread = self._threads.ours(debuggee.slot, body.thread_id)
        if body.reason == "exited":
            self._threads.forget(thread)
        self.emit(ThreadBody(reason=body.reason, thread_id=thread))

    def _handle_breakpoint(self, debuggee: Debuggee, body: BreakpointBody) -> None:
        said = msgspec.to_builtins(body.breakpoint)
        told = self._breakpoint_lists.breakpoints.changed(debuggee.slot, said)
        if told is not None:
            self.emit(make_event("breakpoint", reason="changed", breakpoint=told))

    def _handle_terminated(self, debuggee: Debuggee, body: TerminatedBody) -> None:
        if debuggee is not self._root:
            self.remove(debuggee)
        elif self._final_reported is None:
            self._final_reported = anyio.Event()
            self._debuggees.spawn(self._report_end, body, self._final_reported)

    async def _report_end(self, body: TerminatedBody, reported: anyio.Event) -> None:
        """In a task: how the program ended may take a moment to learn, and what it printed is taken meanwhile."""
        try:
            await self._emit_final_events(gone=False)
            self.emit(body)
        finally:
            reported.set()

    async def _emit_final_events(self, *, gone: bool) -> None:
        for body in await self._final_events(gone=gone):
            self.emit(body)

    def _emit_next_stop(self) -> None:
        if (held := self._stop_arbiter.next()) is not None:
            self.emit(held)

    # What is asked of them.

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in LIST_COMMANDS:
            return await self._breakpoint_lists.set(self._debuggees.links(), command, arguments or {}, timeout_s)
        if command == "initialize":
            self._debuggees.initialize_arguments = {**(arguments or {}), **_SERVED_CAPABILITIES}
            return await self._root.link.request(command, self._debuggees.initialize_arguments, timeout_s=timeout_s)
        if command == EVALUATE_IN_EACH:
            return await self._router.evaluate_in_each(arguments or {}, timeout_s)
        if command == "threads":
            return await self._router.all_threads(timeout_s)
        if command == "disconnect":
            await self._debuggees.dismiss_children(arguments)
        if command in RUN_COMMANDS:
            return await self._resume(command, arguments or {}, timeout_s)
        if command not in _ROOT_COMMANDS:
            return await self._request_one(command, arguments, timeout_s)
        response = await self._root.link.request(command, arguments, timeout_s=timeout_s)
        if command == "configurationDone":
            self._debuggees.configured.set()
        return response

    async def _request_one(self, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        told = await self._router.asked(command, arguments, timeout_s)
        return self._changed_values.correct(command, arguments or {}, told) if self._traits.shows_stale_values else told

    async def _resume(self, command: str, arguments: dict[str, Any], timeout_s: float) -> Response:
        """Noted before it is sent: the next stop may come before the answer."""
        debuggee, own = self._router.route(arguments)
        self._changed_values.forget()
        was_current = self._stop_arbiter.mark_resumed(debuggee.slot, stepping=command in _STEP_COMMANDS)
        self._late_continues.mark_resumed(debuggee.slot)
        try:
            response = await self._send_resume(debuggee, command, own, timeout_s)
        except DragomanError as error:
            if error.code == "adapter_gone":  # it went on, to its end, which is told as such
                return make_response(command, {})
            self._stop_arbiter.mark_refused(debuggee.slot, was_current=was_current)
            self._late_continues.mark_refused(debuggee.slot)
            raise
        if self._stop_arbiter.has_waiters(debuggee.slot):
            self._debuggees.spawn(self._emit_next_stop_after, debuggee.slot)
        return response

    async def _send_resume(self, debuggee: Debuggee, command: str, own: dict[str, Any], timeout_s: float) -> Response:
        if self._late_continues.answers(debuggee.slot, command):
            return await debuggee.link.request(command, own, timeout_s=timeout_s)
        self._debuggees.spawn(self._resume_unanswered, debuggee, command, own, timeout_s)
        return make_response(command, {})

    async def _resume_unanswered(self, debuggee: Debuggee, command: str, own: dict[str, Any], timeout_s: float) -> None:
        with contextlib.suppress(DragomanError, RemoteProtocolError):
            await debuggee.link.request(command, own, timeout_s=timeout_s)

    async def _emit_next_stop_after(self, slot: int) -> None:
        """In a task: who sent it on may be the one who reads our events. A step's own stop comes first, if it comes."""
        await self._stop_arbiter.wait_for_step(slot)
        self._emit_next_stop()
