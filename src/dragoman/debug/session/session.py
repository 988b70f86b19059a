"""One debug session: a program under a debugger, from its launch to its end.

All changes happen in the session's own tasks. A caller puts a command into the mailbox and waits for its result; a
cancelled caller only stops waiting. Whoever waits for a stop compares with the number of the last stop before the
command was sent, so a fast stop is never missed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import anyio
from anyio.abc import TaskStatus

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.redaction import SecretStream
from dragoman.debug import errors as session_errors
from dragoman.debug.backends.port import AdapterRefusedError, Backend
from dragoman.debug.breakpoints.sync import BreakpointSync, temporary_breakpoint
from dragoman.debug.errors import adapter_gone, already_ended, session_owned_by_person
from dragoman.debug.model import LIVE_STATES, ProgramEnd, RunTarget, SessionState, Stop
from dragoman.debug.session.countdown import HaltLimits, StopCountdown
from dragoman.debug.session.debuggee_process import InspectionInterrupter
from dragoman.debug.session.events import AdapterEventHandler, AdapterEventReader
from dragoman.debug.session.handshake import AdapterHandshake, AdapterLaunch
from dragoman.debug.session.lifecycle import ChangeSignal, SessionLifecycle, Transition
from dragoman.debug.session.output import SessionOutput
from dragoman.debug.session.request_tracker import RequestTracker, TrackedRequest
from dragoman.debug.session.run_control import Mailbox, RecordEvent, RunControl
from dragoman.debug.session.shutdown import SHUTDOWN_TIMEOUT_S, SessionShutdown
from dragoman.debug.session.stop_permissions import StopPermissions, trace_halts
from dragoman.debug.session.threads import ThreadStates
from dragoman.debug.stops.inspection import Inspection
from dragoman.debug.stops.pipeline import StopContext, StopPipeline
from dragoman.debug.stops.snapshot import Probe
from dragoman.debug.thread_dump import ThreadDumper
from dragoman.debug.thread_dump.session_thread_dumps import SessionThreadDumps, ThreadDumpPause
from dragoman.protocols.dap import Capabilities
from dragoman.workspace.breakpoints import Breakpoint

log = logging.getLogger(__name__)

_MAX_CLIENT_NAMES = 100
_FINAL_OUTPUT_TIMEOUT_S = 10.0
_FINAL_OUTPUT_CHARACTERS = 4000


@runtime_checkable
class _MeasuresMemory(Protocol):
    def memory_bytes(self) -> int | None: ...


@runtime_checkable
class _HoldsStops(Protocol):
    def held_threads(self) -> tuple[int, ...]:
        """Threads that are stopped, and whose stops wait to be reported."""
        ...


def _discard_event(kind: str, text: str, body: dict[str, Any]) -> None:
    """For a session without a record."""


class DebugSession:
    """One program under a debugger, from the handshake with its adapter to the shutdown.

    It creates its parts, connects them, and owns the task group in which they run: event reader, event handler, mailbox
    and shutdown. It also owns the breakpoints that are wanted, and the target of one run. Callers use `run_control`,
    `inspection`, `thread_dumps` and `breakpoint_sync` directly, and wait with `outcome`. It never assigns a state
    (`SessionLifecycle` does), never decides whether a stop is reported (`StopPipeline` does), never speaks of a
    particular adapter (`AdapterQuirks` does), and never restarts: a restart is another session under the same id.
    """

    def __init__(
        self,
        id: str,
        title: str,
        backend: Backend,
        launch: AdapterLaunch,
        clock: Clock,
        *,
        facts: Mapping[str, str] | None = None,
        predecessor: DebugSession | None = None,
        record_event: RecordEvent = _discard_event,
        store: Callable[[Stop], None] = lambda _: None,
        hold: anyio.Event | None = None,
        probe: Probe | None = None,
        secrets: Callable[[], SecretStream] | None = None,
        permissions: StopPermissions | None = None,
        limits: HaltLimits | None = None,
    ) -> None:
        """`predecessor` is the session that this one restarts: its output and its stop numbers continue."""
        if probe is not None and launch.is_launch:
            launch = replace(launch, arguments={**launch.arguments, **probe.launch_arguments(launch.adapter_id)})
        self.id = id
        self.title = title
        self.facts: Mapping[str, str] = facts or {}
        self.launch = launch
        self.permissions = permissions or StopPermissions()
        self.changes: ChangeSignal = predecessor.changes if predecessor else ChangeSignal()
        self.output: SessionOutput = (
            predecessor.output if predecessor else SessionOutput(changes=self.changes, secrets=secrets)
        )
        self.breakpoint_sync = BreakpointSync(backend, launch.quirks, launch.exception_filters, id, self.permissions)
        self._backend = backend
        self._lifecycle = SessionLifecycle(clock, predecessor.last_stop if predecessor else 0, self.changes)
        self.outcome = self._lifecycle.outcome
        self.require_stopped = self._lifecycle.require_stopped
        self.wait_until_started = self._lifecycle.wait_until_started
        self._mailbox = Mailbox()
        self._requests = RequestTracker(backend, takes_time_limit=launch.quirks.takes_time_limit)
        self._threads = ThreadStates(backend)
        self._handshake = AdapterHandshake(backend, launch, self._send_breakpoints, hold)
        self._interrupter = InspectionInterrupter(launch.quirks, self._threads, self.output, is_launch=launch.is_launch)
        self._events = AdapterEventReader(
            backend, launch.quirks, self.output, self.breakpoint_sync, self._threads, self._interrupter, self.changes
        )
        self._stops = StopPipeline(
            self._requests, launch, self.breakpoint_sync, self._threads, self.output, clock, self.permissions
        )
        self.run_control = RunControl(
            self._requests, self._lifecycle, self._threads, self._mailbox,
            requeue=self._events.requeue, record_event=record_event, set_run_to=self._set_run_to,
            resolve_frame=self._resolve_frame, is_core=launch.is_core, permissions=self.permissions,
            held_threads=backend.held_threads if isinstance(backend, _HoldsStops) else tuple,
        )  # fmt: skip
        self.countdown = StopCountdown(
            self.permissions, self._lifecycle, self.run_control, self.changes, clock, limits=limits or HaltLimits(),
            record_event=record_event, resend=lambda: self._mailbox.perform(self._send_breakpoints),
        )  # fmt: skip
        dumper = ThreadDumper(backend, launch.quirks, lambda: self._events.program.pid)
        brief_halt = ThreadDumpPause(self._requests, launch.quirks, self._threads, dumper)
        self._event_handler = AdapterEventHandler(
            backend, self._lifecycle, self._threads, self._handshake, self._stops, self.run_control, brief_halt,
            title=title, record_event=record_event, prepare=self._clear_run_to, store=store,
        )  # fmt: skip
        self.inspection = Inspection(
            self._requests, self._lifecycle, self._threads, self._handshake, launch, self._events.program, self._context
        )
        self.thread_dumps = SessionThreadDumps(
            dumper, brief_halt, self._lifecycle, self.run_control, self._mailbox, self.inspection, launch,
            is_owned_by_person=self.is_owned_by_person, stop_context=lambda: self._event_handler.stop_context,
        )  # fmt: skip
        self._run_to: RunTarget | None = None
        self._sending = anyio.Lock()
        self._wanted: tuple[Breakpoint, ...] = ()
        self._set_probe(probe)
        self._shutdown = SessionShutdown(
            backend, self._events, self._lifecycle, is_launch=launch.is_launch, output=self._stops.output_since
        )
        self._shutdown.on_ended = self._handle_end
        self._shutdown.prepare = self._resume_before_leaving
        self._on_end: Callable[[], None] = lambda: None
        self._scope = anyio.CancelScope()
        self._is_adapter_gone = False

    # Facts about the session

    @property
    def state(self) -> SessionState:
        return self._lifecycle.state

    @property
    def stop(self) -> Stop | None:
        return self._lifecycle.stop

    @property
    def ended(self) -> ProgramEnd | None:
        return self._lifecycle.ended

    @property
    def is_owned_by_person(self) -> bool:
        """Lent by an editor, where it goes on without us."""
        return bool(self._backend.ownership.person)

    @property
    def changed_at_ns(self) -> int:
        return self._lifecycle.changed_at_ns

    @property
    def is_at_stop(self) -> bool:
        """Stopped, and not resuming by a command that the debugger has not confirmed yet."""
        return self._lifecycle.is_at_stop

    @property
    def last_stop(self) -> int:
        return self._lifecycle.stops

    @property
    def auto_resumed_at_ns(self) -> int:
        """When a countdown resumed the program past its last stop; zero if none did."""
        return self._lifecycle.auto_resumed_at_ns

    @property
    def capabilities(self) -> Capabilities:
        return self._handshake.capabilities

    @property
    def restarts_in_place(self) -> bool:
        """We cannot restart a program that was running before us."""
        return not self.launch.is_launch or self._backend.ownership.restart

    @property
    def threads_alive(self) -> frozenset[int]:
        return frozenset(self._threads.alive)

    def remember_client_name(self, id: str, name: str) -> None:
        """The name of a client that acts next. Only the first hundred are kept: nobody could tell more apart."""
        if name and len(self.run_control.names) < _MAX_CLIENT_NAMES:
            self.run_control.names[id] = name

    def name_of(self, id: str) -> str:
        return self.run_control.names.get(id, "")

    async def configurable(self) -> None:
        """Set when the capabilities of the debugger are known, or the start has failed."""
        await self._handshake.configurable.wait()

    def on_end(self, act: Callable[[], None]) -> None:
        """Called the moment the end is reported, while the adapter is still shutting down."""
        self._on_end = act

    def memory_bytes(self) -> int | None:
        """All processes that would end with the session. None if that cannot be known."""
        return self._backend.memory_bytes() if isinstance(self._backend, _MeasuresMemory) and not self.ended else None

    # Lifecycle; it runs in the service's task group

    async def live(
        self, breakpoints: Iterable[Breakpoint], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """From the launch to the end. A launch that fails is raised; what goes wrong later is how the session ended."""
        started = False
        failure: DragomanError | None = None
        self._want(breakpoints)
        try:
            async with anyio.create_task_group() as group:
                self._requests.start(
                    group,
                    interrupt_request=self._interrupt_request,
                    on_late_response=self.run_control.handle_late_response,
                )
                self._scope = group.cancel_scope
                for task in (self._read_events, self._shutdown.watch_for_end, self._disconnect, self.countdown.run):
                    group.start_soon(task)
                group.start_soon(self._event_handler.handle_all, self._events.ordered_events())
                await self._open()
                started = True
                task_status.started()
                await self._mailbox.run_commands()
        except* Exception as errors:  # noqa: BLE001  reported as the end, and logged if it is ours
            failure = await self._explain_failure(errors, started=started)
        finally:
            self._handshake.configurable.set()
            self._requests.close()
            self._shutdown.finish(str(failure) if failure else "")
            await self._release()
        if not started and self._handshake.launched.is_set() and failure is None:
            task_status.started()  # a short program can end before its adapter answers `initialize`
        elif not started:
            raise failure or self._why_not_started()

    async def _open(self) -> None:
        self._lifecycle.transition(Transition.LAUNCHED)
        await self._handshake.run()
        if self.state is SessionState.STARTING:
            self._event_handler.mark_running()

    async def _explain_failure(self, errors: BaseExceptionGroup[Exception], *, started: bool) -> DragomanError:
        failure = session_errors.first_cause(errors)
        if failure.code == "internal_error":
            log.error("session %s failed", self.id, exc_info=errors)
        if failure.code == "adapter_gone" and not started:
            return adapter_gone(words=await self._final_output())
        pattern = self.launch.quirks.build_failed
        if pattern and isinstance(failure, AdapterRefusedError) and re.search(pattern, failure.reason):
            return session_errors.build_failed(await self._final_output())
        return failure

    def _why_not_started(self) -> DragomanError:
        if self._shutdown.is_requested:
            return already_ended()
        if self._events.exited.is_set() and not self._is_adapter_gone:
            return session_errors.ended_at_once(
                self._events.exit_code, self.output.since(0, most=_FINAL_OUTPUT_CHARACTERS)[0]
            )
        return adapter_gone(words=self.ended.output if self.ended else "")

    async def _final_output(self) -> str:
        """An adapter that dies at once says why in what it wrote last, which comes after its questions have failed."""
        self._events.close()
        with anyio.move_on_after(_FINAL_OUTPUT_TIMEOUT_S):
            await self._events.read_events()
        return self.output.since(0, most=_FINAL_OUTPUT_CHARACTERS)[0]

    async def abandon(self) -> None:
        """For a launch that was given up, perhaps before it began to live."""
        self._shutdown.finish()
        await self._release()

    async def _release(self) -> None:
        """A backend that cannot even end is our fault, and must not take other sessions with it."""
        self._mailbox.close()
        self._events.close()
        with anyio.CancelScope(shield=True), anyio.move_on_after(SHUTDOWN_TIMEOUT_S):
            try:
                await self._backend.end()
            except Exception:
                log.exception("session %s: its backend did not end in order", self.id)

    # Events of the program

    async def _read_events(self) -> None:
        """The end of the event stream ends the session, whether or not the adapter reported an end."""
        await self._events.read_events()
        self._is_adapter_gone = True
        await self._events.wait_until_drained()
        await self._shutdown.handle_adapter_gone()
        self._scope.cancel("the adapter has gone")

    async def _resume_before_leaving(self) -> None:
        """A program that we came to goes on when we leave it, also past what it was stopped by."""
        stop_context, quirks = self._event_handler.stop_context, self.launch.quirks
        thread = stop_context.stop.thread_id if stop_context else 0
        if self.launch.is_launch or stop_context is None or not self._threads.is_stopped(thread):
            return
        if quirks.clear_breakpoints_expression:
            asked = {"expression": quirks.clear_breakpoints_expression, "context": "repl"}
            frame = stop_context.handles.resolve_frame(session_errors.top_frame(stop_context.stop).id)
            await self._backend.request("evaluate", {**asked, "frameId": frame}, timeout_s=SHUTDOWN_TIMEOUT_S)
        if quirks.leaves_program_stopped:
            await self.breakpoint_sync.send([], self.capabilities)
            await self._backend.request("continue", {"threadId": thread}, timeout_s=SHUTDOWN_TIMEOUT_S)

    async def _disconnect(self) -> None:
        await self._shutdown.disconnect()
        self._scope.cancel("the session has ended")

    def _handle_end(self) -> None:
        self._mailbox.end()
        self._on_end()
        if not self._handshake.configurable.is_set():
            # Otherwise the start would wait for a debugger that never comes.
            self._scope.cancel("the program ended before its debugger was there")

    # Requests of callers

    async def restart(self, *, by: str = "") -> None:
        if self.is_owned_by_person:
            raise session_owned_by_person()
        if not self.capabilities.has("supportsRestartRequest"):
            raise session_errors.cannot_restart(self.launch.adapter_id)
        await self.run_control.restart(self.launch, by)

    async def update_breakpoints(self, breakpoints: Iterable[Breakpoint]) -> None:
        self._want(breakpoints)
        if self.state not in LIVE_STATES or not self._handshake.initialized.is_set():
            return
        if not self._handshake.is_held:
            await self._mailbox.perform(self._send_breakpoints)
            return
        # The mailbox is not served until the program runs, but the caller needs to know now which breakpoints are
        # bound.
        with anyio.CancelScope(shield=True):  # as in the mailbox, cancelling the caller only ends its wait
            await self._send_breakpoints()

    async def probe(self, probe: Probe | None) -> None:
        """From now on it stops only for this probe; without one, for its clients again."""

        async def perform() -> None:
            self._set_probe(probe)
            await self._send_breakpoints()

        await self._mailbox.perform(perform)

    async def terminate(self, *, by: str = "") -> None:
        """Returns as the request is sent; the end itself is awaited like any other outcome."""
        if self.state not in LIVE_STATES:
            raise already_ended()
        self._shutdown.request_end(by)

    async def end_within(self, seconds: float, *, by: str) -> bool:
        """Whether it ended in order. After that time, its debugger is closed, with the program if it was launched."""
        with anyio.move_on_after(seconds):
            if self.state in LIVE_STATES:
                await self.terminate(by=by)
            while self.ended is None:
                await self.changes.wait_for_change(self.changes.change_count)
        if self.ended is not None:
            return True
        await self.abandon()
        return False

    @property
    def is_ending(self) -> bool:
        """The session is ending, so what it says about breakpoints no longer matters."""
        return self._shutdown.is_requested or self.state is SessionState.TERMINATING

    # Internals

    def _want(self, breakpoints: Iterable[Breakpoint]) -> None:
        self._wanted = tuple(breakpoints)
        self.permissions.remote_breakpoints = frozenset(it.id for it in self._wanted if it.is_remote)

    def _context(self) -> StopContext:
        if self._event_handler.stop_context is None:
            raise session_errors.not_stopped(self.state)
        return self._event_handler.stop_context

    def _resolve_frame(self, frame: int) -> int:
        return self._context().handles.resolve_frame(frame)

    async def _interrupt_request(self, tracked: TrackedRequest) -> None:
        await self._interrupter.interrupt_request(tracked, self._stops.thread_id)

    def _set_probe(self, probe: Probe | None) -> None:
        self.breakpoint_sync.probe = probe
        if probe is not None:
            probe.set_adapter(self.launch.adapter_id)
            if self.permissions.traces_only and not probe.run_without_halts():
                raise trace_halts(adapter=self.launch.adapter_id)

    async def _send_breakpoints(self) -> None:
        """Sends the current breakpoints: more may have been set while the adapter started or another list was sent."""
        if self.launch.no_debug:
            return
        async with self._sending:
            until = [temporary_breakpoint(self._run_to.path, self._run_to.line)] if self._run_to else []
            probe = self.breakpoint_sync.probe
            wanted = self._wanted if probe is None else probe.breakpoints
            await self.breakpoint_sync.send([*wanted, *until], self.capabilities)
        self.changes.notify()

    async def _set_run_to(self, until: RunTarget | None) -> None:
        self._run_to = until
        await self._send_breakpoints()

    async def _clear_run_to(self) -> None:
        """Whatever stopped the program, the run that it was for is over."""
        if self._run_to is not None:
            try:
                await self._set_run_to(None)
            except DragomanError as error:
                log.warning("session %s: the breakpoint of one run may still be there: %s", self.id, error)
