"""A debuggee tree: a program and the child sessions that its adapter asks for, as one program with many threads.

js-debug opens a session for every node process, debugpy one for every child. Breakpoints go to all debuggees, also to
those that join later; events are merged, and one stop is reported at a time. A program without children has no tree:
its backend makes one when the first child is announced.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.adapters.connection import DebuggeeConnection, DebuggeeSetup
from dragoman.debug.backends.debuggee_tree.breakpoint_lists import BreakpointLists
from dragoman.debug.backends.debuggee_tree.debuggees import ROOT, ConnectChild, Debuggee, Debuggees, StopArbiter
from dragoman.debug.backends.debuggee_tree.request_router import RequestRouter, ThreadIds
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.debug.backends.port import EVALUATE_IN_EACH, LIST_COMMANDS, RUN_COMMANDS, STEP_COMMANDS, make_event
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
_ROOT_COMMANDS = frozenset(
    {"initialize", "launch", "attach", "configurationDone", "disconnect", "terminate", "restart"}
)


class DebuggeeTree:
    """Presents a root debuggee and its children as one.

    It may begin in the middle of a run, when the session already knows the root's threads, breakpoints and a stop. So
    it takes over what its root has reported: thread ids and breakpoint ids of the root stay as they are, frame ids and
    references of the root are never changed, and a stop of the root that was not resumed is the current one. Whatever
    a child reports gets other numbers.

    `emit` takes the merged events, `queue` is where they end up, `connect` opens a connection for the configuration of
    a child, and all tasks run in `group`. The tree keeps ids unique, reports one stop at a time, and never ends the
    program because a child leaves.
    """

    def __init__(
        self,
        root: DebuggeeConnection,
        setup: DebuggeeSetup,
        connect: ConnectChild,
        emit: Callable[[EventBody], object],
        *,
        queue: AdapterEventQueue,
        group: TaskGroup,
        thread_ids: Iterable[int] = (),
        ends_with_its_children: bool = False,
    ) -> None:
        self._emit = emit
        self._queue = queue
        self._ends_with_its_children = ends_with_its_children
        self._breakpoint_lists = BreakpointLists(setup)
        self._debuggees = Debuggees(root, setup, self._breakpoint_lists, connect, self, group)
        self._root = self._debuggees.root
        self._threads = ThreadIds()
        for thread in thread_ids:
            self._threads.ours(ROOT, thread)
        self._stop_arbiter = StopArbiter()
        self._router = RequestRouter(self._debuggees, self._threads, self._stop_arbiter)
        if root.is_stopped:
            self._stop_arbiter.current = ROOT
        elif root.is_stepping:
            self._stop_arbiter.mark_resumed(ROOT, stepping=True)
            self._debuggees.spawn(self._emit_next_stop_after, ROOT)
        root.events.attach(self._handler_of(self._root), into=queue)

    async def end(self) -> None:
        await self._debuggees.end()

    @property
    def held_threads(self) -> tuple[int, ...]:
        """Threads of debuggees that are stopped too, whose stops wait to be reported."""
        return self._stop_arbiter.held_threads

    def emit(self, body: EventBody) -> None:
        self._emit(body)

    def add_child(self, request: str, configuration: Mapping[str, Any]) -> None:
        self._debuggees.add_child(request, configuration)

    def adopt_list(self, key: str) -> None:
        """A list that was on its way to the root when the tree began: its response has come."""
        self._breakpoint_lists.adopt(key)

    def adopt_refusal(self) -> None:
        """A run command that was on its way to the root when the tree began was refused: the root is still stopped."""
        self._stop_arbiter.mark_refused(ROOT, was_current=self._root.link.is_stopped)

    async def adopt_threads(self, response: Response) -> Response:
        """A list of threads that the root was sending when the tree began, with their ids in the tree: a child that has
        joined since may have one of them, and one that joins later must not get it."""
        return await self._router.root_threads(response)

    def remove(self, debuggee: Debuggee) -> None:
        """Forgets its threads, and its stop if one was reported or waits to be reported."""
        if debuggee.left or debuggee is self._root:
            return
        self._debuggees.leave(debuggee)
        for thread in self._threads.of(debuggee.slot):
            self._threads.forget(thread)
            self.emit(ThreadBody(reason="exited", thread_id=thread))
            if self._stop_arbiter.is_current(debuggee.slot):
                self.emit(ContinuedBody(thread_id=thread, all_threads_continued=False))
        self._stop_arbiter.left(debuggee.slot)
        self._emit_next_stop()
        self._debuggees.spawn(self._disconnect, debuggee)

    async def _disconnect(self, debuggee: Debuggee) -> None:
        """js-debug usually reports the end of everything itself, and at once."""
        await self._debuggees.disconnect(debuggee)
        await anyio.sleep(_TERMINATED_TIMEOUT_S)
        if self._ends_with_its_children and self._debuggees.is_root_alone:
            self.emit(TerminatedBody())

    # Events of debuggees.

    async def read_events(self, debuggee: Debuggee) -> None:
        """Until it ends. Events are handled as they arrive; nothing is queued here."""
        debuggee.link.events.attach(self._handler_of(debuggee), into=self._queue)
        await debuggee.link.events.closed.wait()
        self.remove(debuggee)

    def _handler_of(self, debuggee: Debuggee) -> Callable[[EventBody], bool]:
        def handle(body: EventBody) -> bool:
            self._dispatch(debuggee, body)
            return True

        return handle

    def _dispatch(self, debuggee: Debuggee, body: EventBody) -> None:
        is_silenced = not debuggee.is_debugged and not isinstance(body, InitializedBody)
        if debuggee.left or is_silenced:  # another child may use its slot by now
            return
        try:
            self._handle(debuggee, body)
        except (RemoteProtocolError, DragomanError) as error:
            log.warning("an event of a debuggee was skipped: %s", error)

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
        """Each child sends one that concerns only us."""
        debuggee.initialized.set()
        if debuggee is self._root:
            self.emit(body)

    def _handle_stopped(self, debuggee: Debuggee, body: StoppedBody) -> None:
        thread = None if body.thread_id is None else self._threads.ours(debuggee.slot, body.thread_id)
        hit = body.hit_breakpoint_ids
        if hit:
            ours = [self._breakpoint_lists.breakpoints.number(debuggee.slot, it) for it in hit]
            known = tuple(it for it in ours if it is not None)
            hit = known if len(known) == len(ours) else ()  # the location is more precise than one of several ids
        stopped = msgspec.structs.replace(body, thread_id=thread, hit_breakpoint_ids=hit)
        if self._stop_arbiter.stopped(debuggee.slot, stopped):
            self.emit(stopped)

    def _handle_continued(self, debuggee: Debuggee, body: ContinuedBody) -> None:
        """Not reported for a debuggee that is not the one with the reported stop."""
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
        changed = self._breakpoint_lists.breakpoints.update(debuggee.slot, msgspec.to_builtins(body.breakpoint))
        if changed is not None:
            self.emit(make_event("breakpoint", reason="changed", breakpoint=changed))

    def _handle_terminated(self, debuggee: Debuggee, body: TerminatedBody) -> None:
        if debuggee is self._root:
            self.emit(body)
        else:
            self.remove(debuggee)

    def _emit_next_stop(self) -> None:
        if (held := self._stop_arbiter.next()) is not None:
            self.emit(held)

    # Requests to them.

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in LIST_COMMANDS:
            return await self._breakpoint_lists.set(self._debuggees.links(), command, arguments or {}, timeout_s)
        if command == EVALUATE_IN_EACH:
            return await self._router.evaluate_in_each(arguments or {}, timeout_s)
        if command == "threads":
            return await self._router.all_threads(timeout_s)
        if command == "disconnect":
            await self._debuggees.dismiss_children(arguments)
        if command in RUN_COMMANDS:
            return await self._resume(command, arguments or {}, timeout_s)
        if command not in _ROOT_COMMANDS:
            return await self._router.request(command, arguments, timeout_s)
        return await self._root.link.request(command, arguments, timeout_s=timeout_s)

    async def _resume(self, command: str, arguments: dict[str, Any], timeout_s: float) -> Response:
        """Noted before it is sent: the next stop may come before the response."""
        debuggee, own = self._router.route(arguments)
        was_current = self._stop_arbiter.mark_resumed(debuggee.slot, stepping=command in STEP_COMMANDS)
        try:
            response = await debuggee.link.request(command, own, timeout_s=timeout_s)
        except DragomanError:
            self._stop_arbiter.mark_refused(debuggee.slot, was_current=was_current)
            raise
        if self._stop_arbiter.has_waiters(debuggee.slot):
            self._debuggees.spawn(self._emit_next_stop_after, debuggee.slot)
        return response

    async def _emit_next_stop_after(self, slot: int) -> None:
        """Runs in a task: the caller may be the one that reads our events. The stop of a step comes first, if it
        comes."""
        await self._stop_arbiter.wait_for_step(slot)
        self._emit_next_stop()
