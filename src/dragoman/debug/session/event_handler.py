"""Handles the ordered events of an adapter: a stop goes through the pipeline, is compared with the last one in its
frame, and is published.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from dragoman.debug.backends.port import Backend
from dragoman.debug.model import Stop, VariableChange
from dragoman.debug.session.event_log import stop_event
from dragoman.debug.session.handshake import AdapterHandshake
from dragoman.debug.session.lifecycle import SessionLifecycle
from dragoman.debug.session.run_control import RecordEvent, RunControl
from dragoman.debug.session.states import SessionState, Transition
from dragoman.debug.session.threads import ThreadStates
from dragoman.debug.stops.pipeline import StopContext, StopPipeline
from dragoman.debug.thread_dump.brief_halt import BriefHalt
from dragoman.protocols.dap import bodies
from dragoman.protocols.dap.bodies import EventBody

_MAX_TRACKED_FRAMES = 256  # of deep recursions the ones seen last


class FrameChangeTracker:
    """Compares the locals of a frame with those at the last stop in it."""

    def __init__(self) -> None:
        self._seen: dict[tuple[object, ...], dict[str, str]] = {}

    def changes_at(self, stop: Stop) -> tuple[VariableChange, ...]:
        """By thread, function and depth: where a loop calls it again it is the same frame to who looks."""
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
_CONCURRENT_REASONS = frozenset({"breakpoint", "step"})  # an exception, or watched data, would be lost


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
        brief_halt: BriefHalt,
        *,
        title: str,
        record_event: RecordEvent,
        prepare: Callable[[], Awaitable[None]],
        store: Callable[[Stop], None],
    ) -> None:
        self.stop_context: StopContext | None = None
        """The last stop that was told."""
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

    async def handle(self, body: EventBody) -> None:
        match body:
            case bodies.InitializedBody():
                self._handshake.initialized.set()
            case bodies.StoppedBody():
                await self._stopped(body)
            case bodies.ContinuedBody():
                self._continued(body)
            case bodies.CapabilitiesBody():
                self._handshake.learn(body)

    def mark_running(self) -> None:
        """That it runs at last is told: of what only starts, nobody can ask anything."""
        was_starting = self._lifecycle.state is SessionState.STARTING
        self._lifecycle.transition(Transition.RESUMED)
        if was_starting:
            self._record_event("debug.running", self._title, {})

    async def _stopped(self, body: bodies.StoppedBody) -> None:
        """The stop is told when the look at it is complete: a caller never sees half of one. One on the way out is no
        stop for anyone, and the debugger may have gone before it could say where."""
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
            return  # a stop told twice, or of another thread: the program was sent on during the look
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
        """Another thread reached a breakpoint in the same moment. They stand together and go on together, so it is seen
        among the other threads; as a stop of its own it would look as if somebody had sent the program on."""
        stop, thread = self._lifecycle.stop, body.thread_id
        is_another = stop is not None and thread is not None and thread != stop.thread_id
        return is_another and bool(body.all_threads_stopped) and body.reason in _CONCURRENT_REASONS

    def _continued(self, body: bodies.ContinuedBody) -> None:
        """Of another thread than the one that stopped, it changes nothing for who looks at the stop."""
        if self._lifecycle.is_at_stop and self._backend.ownership.person:
            self._run_control.mark_resumed_by(self._backend.ownership.person)
        self._threads.mark_resumed(body.thread_id, everything=body.all_threads_continued is not False)
        if self._lifecycle.stop is None or not self._threads.is_stopped(self._lifecycle.stop.thread_id):
            self.mark_running()
