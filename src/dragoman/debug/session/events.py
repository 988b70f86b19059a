"""The events of a backend in a session: urgent ones are applied at once, ordered ones one after another.

Output is read while a stop is still being inspected, so that everything printed before the stop is reported with it.
The end is handled at once, so that neither a slow inspection nor a hung command delays it. A stop is ordered: it goes
through the pipeline, is compared with the last one in its frame, and is published.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
import msgspec

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.port import Backend
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.breakpoints.sync import BreakpointSync
from dragoman.debug.model import SessionState, Stop, VariableChange
from dragoman.debug.session.debuggee_process import DebuggeeProcess, InspectionInterrupter
from dragoman.debug.session.event_log import stop_event
from dragoman.debug.session.handshake import AdapterHandshake
from dragoman.debug.session.lifecycle import ChangeSignal, SessionLifecycle, Transition
from dragoman.debug.session.output import SessionOutput
from dragoman.debug.session.run_control import RecordEvent, RunControl
from dragoman.debug.session.threads import ThreadStates
from dragoman.debug.stops.pipeline import StopContext, StopPipeline
from dragoman.debug.thread_dump.session_thread_dumps import ThreadDumpPause
from dragoman.io.event_loop import wait_for_first
from dragoman.protocols.dap import bodies
from dragoman.protocols.dap.bodies import EventBody

log = logging.getLogger(__name__)

_DRAIN_TIMEOUT_S = 1.0


class AdapterEventReader:
    def __init__(
        self,
        backend: Backend,
        quirks: AdapterQuirks,
        output: SessionOutput,
        breakpoint_sync: BreakpointSync,
        threads: ThreadStates,
        interrupter: InspectionInterrupter,
        changes: ChangeSignal,
    ) -> None:
        self.exit_code: int | None = None
        self.exited = anyio.Event()
        self.terminated = anyio.Event()
        self.program = DebuggeeProcess()
        self._next_stop = anyio.Event()
        self._line_end = "\r\n" if quirks.has_terminal_line_ends else "\n"
        self._log_prefix = re.compile(quirks.log_prefix or "")
        self._noise = re.compile(quirks.noise or r"(?!)")
        self._output = output
        self._breakpoint_sync = breakpoint_sync
        self._threads = threads
        self._interrupter = interrupter
        self._changes = changes
        self._queue = backend.events
        self._is_drained = anyio.Event()

    async def read_events(self) -> None:
        """Runs until the backend has closed."""
        self._queue.attach(self._handle_now)
        await self._queue.closed.wait()
        if self._queue.error is not None:
            raise self._queue.error

    async def ordered_events(self) -> AsyncIterator[EventBody]:
        async for body in self._queue.ordered():
            yield body
        self._is_drained.set()

    async def requeue(self, body: bodies.StoppedBody) -> None:
        self._queue.requeue(body)

    async def wait_until_drained(self) -> None:
        with anyio.move_on_after(_DRAIN_TIMEOUT_S):
            await wait_for_first(self._is_drained, self.terminated)

    @property
    def has_ended(self) -> bool:
        return self.exited.is_set() or self.terminated.is_set()

    async def wait_for_end(self) -> None:
        await wait_for_first(self.exited, self.terminated)

    async def wait_for_end_or_stop(self) -> None:
        self._next_stop = anyio.Event()
        await wait_for_first(self.exited, self.terminated, self._next_stop)

    def close(self) -> None:
        """Nobody handles a stop any more; output is still taken."""
        self._queue.discard()

    def _handle_now(self, body: EventBody) -> bool:
        try:
            is_taken = self._apply(body)
        except RemoteProtocolError as error:
            log.warning("an event was skipped: %s", error)
            return True
        self._changes.notify()
        return is_taken

    def _apply(self, body: EventBody) -> bool:
        """Whether it was applied; an ordered event waits for its turn."""
        match body:
            case bodies.OutputBody():
                self._handle_output(body)
            case bodies.BreakpointBody():
                self._breakpoint_sync.update_binding(body)
            case bodies.ThreadBody():
                self._threads.changed(body)
            case bodies.ProcessBody():
                self._interrupter.record_process(body)
                self.program.record_process(body)
            case bodies.ExitedBody():
                self.exit_code = body.exit_code
                self.exited.set()
            case bodies.TerminatedBody():
                self.terminated.set()
            case bodies.StoppedBody():
                self._next_stop.set()
                return False
            case bodies.InitializedBody() | bodies.ContinuedBody() | bodies.CapabilitiesBody():
                return False
        return True

    def _handle_output(self, body: bodies.OutputBody) -> None:
        """Output about the adapter itself is not the program's, and is dropped."""
        if body.category == "telemetry" or self._noise.fullmatch(body.output):
            return
        if self._breakpoint_sync.note_output(body.output):
            return  # the error is reported once, with the breakpoint, and not at each hit
        prefix = self._log_prefix.match(body.output)
        text = body.output[prefix.end() if prefix else 0 :].replace(self._line_end, "\n")
        self._output.append(body.category or "console", text)


_MAX_TRACKED_FRAMES = 256  # keeps the most recent; a deep recursion has more


class FrameChangeTracker:
    """Compares the locals of a frame with those at the last stop in it."""

    def __init__(self) -> None:
        self._seen: dict[tuple[object, ...], dict[str, str]] = {}

    def changes_at(self, stop: Stop) -> tuple[VariableChange, ...]:
        """A frame by thread, function and depth: a function that a loop calls again counts as the same frame."""
        frame = stop.frame
        if frame is None or stop.top_locals is None:
            return ()
        key = (stop.thread_id, frame.path, frame.name, stop.total_frames - stop.at)
        before = self._seen.pop(key, None)
        now = {it.name: it.value for it in stop.top_locals.variables}
        self._seen[key] = now
        if len(self._seen) > _MAX_TRACKED_FRAMES:
            del self._seen[next(iter(self._seen))]
        if before is None:
            return ()
        return tuple(
            VariableChange(name=name, before=before.get(name)) for name in now if before.get(name) != now[name]
        )


_ENDING_STATES = frozenset({SessionState.TERMINATING, SessionState.TERMINATED})
_CONCURRENT_REASONS = frozenset({"breakpoint", "step"})  # otherwise an exception or a data breakpoint would be missed


class AdapterEventHandler:
    """Applies ordered events to the session. `prepare` runs between the snapshot of a stop and its publication;
    `store` gets each published stop.
    """

    def __init__(
        self,
        backend: Backend,
        lifecycle: SessionLifecycle,
        threads: ThreadStates,
        handshake: AdapterHandshake,
        stop_pipeline: StopPipeline,
        run_control: RunControl,
        brief_halt: ThreadDumpPause,
        *,
        title: str,
        record_event: RecordEvent,
        prepare: Callable[[], Awaitable[None]],
        store: Callable[[Stop], None],
    ) -> None:
        self.stop_context: StopContext | None = None
        """The last stop that was published."""
        self._backend = backend
        self._lifecycle = lifecycle
        self._threads = threads
        self._handshake = handshake
        self._stop_pipeline = stop_pipeline
        self._run_control = run_control
        self._brief_halt = brief_halt
        self._title = title
        self._record_event = record_event
        self._prepare = prepare
        self._store = store
        self._memory = FrameChangeTracker()

    async def handle_all(self, events: AsyncIterator[EventBody]) -> None:
        """In order, one at a time. An event that cannot be handled is skipped: the next one may be sound."""
        async for body in events:
            try:
                await self.handle(body)
            except (DragomanError, RemoteProtocolError) as error:
                log.warning("%s: an event was skipped: %s", self._title, error)

    async def handle(self, body: EventBody) -> None:
        match body:
            case bodies.InitializedBody():
                self._handshake.initialized.set()
            case bodies.StoppedBody():
                await self._handle_stop(body)
            case bodies.ContinuedBody():
                self._continued(body)
            case bodies.CapabilitiesBody():
                self._handshake.record_capabilities(body)

    def mark_running(self) -> None:
        """The first time is recorded: a program that only starts cannot be inspected."""
        was_starting = self._lifecycle.state is SessionState.STARTING
        self._lifecycle.transition(Transition.RESUMED)
        if was_starting:
            self._record_event("debug.running", self._title, {})

    async def _handle_stop(self, body: bodies.StoppedBody) -> None:
        """Published when its snapshot is complete, so a caller never sees half of one. A stop during the shutdown is
        not reported: the debugger may close before it says where."""
        was_stopped = self._lifecycle.is_at_stop
        resume_count = self._run_control.resume_count
        if not was_stopped and await self._brief_halt.handle(
            body, self._run_control.command, self._stop_pipeline.resume_program
        ):
            return
        if was_stopped and self._is_concurrent_stop(body):
            await self._stop_pipeline.count_hit(body)
            return
        stop_context = await self._stop_pipeline.process(
            body, self._lifecycle.stops + 1, self._run_control.by, self._run_control.command
        )
        if stop_context is None or self._lifecycle.state in _ENDING_STATES:
            return
        if was_stopped and self._run_control.resume_count != resume_count:
            return  # a repeated stop, or a stop of another thread, after the program was resumed during the inspection
        if was_stopped and self.stop_context is not None and self.stop_context.is_same_stop(stop_context):
            return
        await self._prepare()
        changed = self._memory.changes_at(stop_context.stop)
        output, lines = self._stop_pipeline.output_since()
        stop = msgspec.structs.replace(stop_context.stop, output=output, output_lines=lines, changed=changed)
        self.stop_context = StopContext(stop, stop_context.handles, stop_context.reader)
        self._lifecycle.stopped_at(stop)
        self._record_event("debug.stopped", *stop_event(stop))
        self._store(stop)

    def _is_concurrent_stop(self, body: bodies.StoppedBody) -> bool:
        """Another thread reached a breakpoint at the same moment. All threads stand and resume together, so it is
        listed among the other threads. As a separate stop it would look as if somebody had resumed the program."""
        stop, thread = self._lifecycle.stop, body.thread_id
        is_another = stop is not None and thread is not None and thread != stop.thread_id
        return is_another and bool(body.all_threads_stopped) and body.reason in _CONCURRENT_REASONS

    def _continued(self, body: bodies.ContinuedBody) -> None:
        """An event about another thread than the one that stopped leaves the stop as it is."""
        if self._lifecycle.is_at_stop and self._backend.ownership.person:
            self._run_control.mark_resumed_by(self._backend.ownership.person)
        self._threads.mark_resumed(body.thread_id, everything=body.all_threads_continued is not False)
        if self._lifecycle.stop is None or not self._threads.is_stopped(self._lifecycle.stop.thread_id):
            self.mark_running()
