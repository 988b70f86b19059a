"""One program under a debugger, from its launch to its end.

All changes happen in the session's own tasks. A caller leaves a command in the mailbox and waits for what comes of it;
when the caller is cancelled, it only stops waiting. Waiters look at the number of the last stop from before their
command was sent, so a fast stop is never missed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskStatus

from dragoman.clock import Clock
from dragoman.debug import faults
from dragoman.debug.backend import AdapterRefusedError, Backend
from dragoman.debug.bindings import Bindings
from dragoman.debug.dialect import Dialect
from dragoman.debug.handles import Handles
from dragoman.debug.mailbox import Mailbox, first_of
from dragoman.debug.model import Ended, Evaluated, Scope, StepKind, Stop, Variable
from dragoman.debug.output import Output
from dragoman.debug.snapshot import Looking, Snapshot
from dragoman.debug.states import LIVE, Happening, State, after
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.wire.dap import Capabilities, Event, answers, bodies, read_body, typed_body
from dragoman.workspace.breakpoints import Breakpoint

log = logging.getLogger(__name__)

_ANSWERED_WITHIN_S = 10.0
_CONFIGURED_WITHIN_S = 30.0
_ENDS_WITHIN_S = 5.0
_OUTPUT_AT_A_STOP = 4000

_STEPS: Mapping[StepKind, str] = {"over": "next", "into": "stepIn", "out": "stepOut"}


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start: the adapter's own arguments, and what we ask of it besides."""

    request: str
    arguments: Mapping[str, Any]
    adapter_id: str
    dialect: Dialect = field(default_factory=Dialect)
    exception_filters: tuple[str, ...] = ()
    no_debug: bool = False


class Session:
    def __init__(self, id: str, title: str, backend: Backend, launch: Launch, clock: Clock) -> None:
        self.id = id
        self.title = title
        self.state = State.IDLE
        self.stop: Stop | None = None
        self.ended: Ended | None = None
        self.capabilities = Capabilities(msgspec.Raw(b"{}"))
        self.facts: Mapping[str, str] = {}
        self.output = Output()
        self.changed_at_ns = clock.wall_ns()
        self.bindings = Bindings(backend, launch.dialect)
        self._backend = backend
        self._launch = launch
        self._clock = clock
        self._stops = 0
        self._sent_on = 0
        self._told_output = 0
        self._handles = Handles(0)
        self._looking = Looking(backend, self._handles)
        self._changed = anyio.Event()
        self._initialized = anyio.Event()
        self._launched = anyio.Event()
        self._wanted: tuple[Breakpoint, ...] = ()
        self._mailbox = Mailbox()
        self._dismissal: dict[str, Any] = {}
        self._dismissed = anyio.Event()
        self._by = ""
        self._exit_code: int | None = None
        self._life = anyio.CancelScope()

    # The life, in the service's task group.

    async def live(
        self, breakpoints: Iterable[Breakpoint], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """From the launch to the end. A launch that fails is raised; what goes wrong later is how the session ended."""
        started = False
        failure: DragomanError | None = None
        try:
            async with anyio.create_task_group() as group:
                self._life = group.cancel_scope
                group.start_soon(self._read_events)
                group.start_soon(self._dismiss)
                self._wanted = tuple(breakpoints)
                await self._start()
                started = True
                task_status.started()
                await self._mailbox.obey()
        except* Exception as errors:
            failure = faults.of_group(errors)
            if failure.code == "internal_error":
                log.error("session %s failed", self.id, exc_info=errors)
            if failure.code == "adapter_gone" and not started:
                failure = faults.adapter_gone(await self._last_words())
        finally:
            self._end(Ended(exit_code=self._exit_code, message=str(failure) if failure else ""))
            await self._let_go()
        if not started and self._launched.is_set() and failure is None:
            task_status.started()  # a short program may be over before its adapter has said so much as hello
        elif not started:
            raise failure or self._why_not_started()

    def _why_not_started(self) -> DragomanError:
        if self._dismissal:
            return faults.already_ended()
        return faults.adapter_gone(self.ended.output if self.ended else "")

    async def _last_words(self) -> str:
        """An adapter that dies at once says why in what it wrote last, which comes after its questions have failed."""
        with anyio.move_on_after(_ANSWERED_WITHIN_S):
            async for event in self._backend.events():
                await self._take(event)
        return self.output.since(0, most=_OUTPUT_AT_A_STOP)[0]

    async def abandon(self) -> None:
        """For a launch that was given up, perhaps before it began to live."""
        self._end(Ended())
        await self._let_go()

    async def _let_go(self) -> None:
        """A backend that cannot even end is our fault, and must not take other sessions with it."""
        self._mailbox.close()
        with anyio.CancelScope(shield=True), anyio.move_on_after(_ENDS_WITHIN_S):
            try:
                await self._backend.end()
            except Exception:
                log.exception("session %s: its backend did not end in order", self.id)

    async def _start(self) -> None:
        """Adapters differ in when they answer the launch: it is never waited for before the configuration is done."""
        self._move(Happening.LAUNCHED)
        await self._initialize()
        async with anyio.create_task_group() as group:
            group.start_soon(self._request_launch)
            with anyio.fail_after(_CONFIGURED_WITHIN_S):
                await self._until_configurable()
                if self._initialized.is_set():
                    await self._configure()
        if self.state is State.STARTING:
            self._move(Happening.RESUMED)

    async def _initialize(self) -> None:
        asked = {
            "adapterID": self._launch.adapter_id,
            "clientID": "dragoman",
            "linesStartAt1": True,
            "columnsStartAt1": True,
            "pathFormat": "path",
            "supportsVariableType": True,
            "supportsVariablePaging": True,
            "supportsMemoryReferences": True,
            "supportsProgressReporting": True,
        }
        response = await self._backend.request("initialize", asked, timeout_s=_CONFIGURED_WITHIN_S)
        self.capabilities = Capabilities(read_body(response, msgspec.Raw))

    async def _request_launch(self) -> None:
        arguments = {**self._launch.arguments, "noDebug": self._launch.no_debug}
        await self._backend.request(self._launch.request, arguments, timeout_s=_CONFIGURED_WITHIN_S)
        self._launched.set()

    async def _until_configurable(self) -> None:
        """Without debugging some adapters never ask to be configured: then the launch's answer is enough."""
        if self._launch.no_debug:
            await first_of(self._initialized, self._launched)
        else:
            await self._initialized.wait()

    async def _configure(self) -> None:
        await self._send_breakpoints()
        offered = {entry["filter"] for entry in self.capabilities.get("exceptionBreakpointFilters") or ()}
        filters = [name for name in self._launch.exception_filters if name in offered]
        if not self._launch.no_debug:
            await self._backend.request("setExceptionBreakpoints", {"filters": filters}, timeout_s=_ANSWERED_WITHIN_S)
        if self.capabilities.has("supportsConfigurationDoneRequest"):
            await self._backend.request("configurationDone", timeout_s=_ANSWERED_WITHIN_S)

    async def _send_breakpoints(self) -> None:
        """Those wanted now: more may have been set while the adapter came up, or while another list was sent."""
        if not self._launch.no_debug:
            await self.bindings.send(self._wanted)

    # What the program does.

    async def _read_events(self) -> None:
        """The end of the stream is an end, whatever the adapter said or did not say before it."""
        async for event in self._backend.events():
            try:
                await self._take(event)
            except (DragomanError, RemoteProtocolError) as error:
                log.warning("session %s: an event was skipped: %s", self.id, error)
            if self.state is State.TERMINATED:
                break
        self._end(Ended(exit_code=self._exit_code))

    async def _take(self, event: Event) -> None:
        match typed_body(event):
            case bodies.InitializedBody():
                self._initialized.set()
            case bodies.StoppedBody() as body:
                await self._stopped(body)
            case bodies.ContinuedBody():
                self._move(Happening.RESUMED)
            case bodies.OutputBody() as body if body.category != "telemetry":
                self.output.append(body.category or "console", body.output)
            case bodies.BreakpointBody() as body:
                self.bindings.learn(body)
            case bodies.CapabilitiesBody() as body:
                self.capabilities = self.capabilities.merged(body.capabilities)
            case bodies.ExitedBody() as body:
                self._exit_code = body.exit_code
            case bodies.TerminatedBody():
                self._begin_end({})

    async def _stopped(self, body: bodies.StoppedBody) -> None:
        """The stop is told when the look at it is complete: a caller never sees half of one."""
        was_stopped, sent_on = self.state is State.STOPPED, self._sent_on
        handles = Handles(self._stops + 1)
        looking = Looking(self._backend, handles)
        thread_id = body.thread_id if body.thread_id is not None else await self._any_thread()
        seen = await looking.snapshot(thread_id, exception=body.reason == "exception")
        hit = self.bindings.hit(body.hit_breakpoint_ids, seen.frames[0] if seen.frames else None)
        if self._is_no_stop(body, seen, hit) and await self._goes_on(thread_id):
            return
        if was_stopped and self._sent_on != sent_on:
            return  # a stop told twice, or of another thread: the program was sent on during the look
        self._stops += 1
        self._handles, self._looking = handles, looking
        self.stop = self._told(body, thread_id, seen, hit if body.reason == "breakpoint" else None)
        self._move(Happening.STOPPED)

    def _is_no_stop(self, body: bodies.StoppedBody, seen: Snapshot, hit: tuple[int, ...]) -> bool:
        """A hit that does not count yet, or an end on purpose that the adapter takes for an exception."""
        if body.reason == "breakpoint":
            return not self.bindings.counts(hit)
        return seen.raised is not None and seen.raised.type in self._launch.dialect.ways_to_end

    async def _goes_on(self, thread_id: int) -> bool:
        """A program that cannot be sent on is stopped, and told so."""
        try:
            await self._backend.request("continue", {"threadId": thread_id}, timeout_s=_ANSWERED_WITHIN_S)
        except DragomanError:
            return False
        return True

    def _told(self, body: bodies.StoppedBody, thread_id: int, seen: Snapshot, hit: tuple[int, ...] | None) -> Stop:
        text, _ = self.output.since(self._told_output, most=_OUTPUT_AT_A_STOP)
        self._told_output = self.output.end
        return Stop(
            number=self._stops,
            at_ns=self._clock.wall_ns(),
            reason=body.reason,
            thread_id=thread_id,
            description=body.description,
            text=body.text,
            all_threads_stopped=body.all_threads_stopped,
            frames=seen.frames,
            total_frames=seen.total_frames,
            top_locals=seen.top_locals,
            hit_breakpoints=hit,
            raised=seen.raised,
            output=text,
            by=self._by,
        )

    async def _any_thread(self) -> int:
        """Zero where it cannot be learned: a stop without its thread is still a stop."""
        try:
            response = await self._backend.request("threads", timeout_s=_ANSWERED_WITHIN_S)
            threads = read_body(response, answers.ThreadsAnswer).threads
        except (DragomanError, RemoteProtocolError):
            return 0
        return threads[0].id if threads else 0

    def _begin_end(self, arguments: dict[str, Any]) -> None:
        self._move(Happening.ENDING)
        if not self._dismissed.is_set():
            self._dismissal = arguments
            self._dismissed.set()

    async def _dismiss(self) -> None:
        """In a task of its own: neither a command under way nor an unfinished start holds up an end, and what the
        adapter still says is read. One that does not answer is dismissed all the same."""
        await self._dismissed.wait()
        try:
            await self._backend.request("disconnect", self._dismissal, timeout_s=_ENDS_WITHIN_S)
        except DragomanError:
            log.debug("session %s: the adapter left before it was dismissed", self.id)
        self._end(Ended(exit_code=self._exit_code))

    def _end(self, ended: Ended) -> None:
        """Once: how it ended first is how it ended."""
        if self.ended is not None:
            return
        text, _ = self.output.since(self._told_output, most=_OUTPUT_AT_A_STOP)
        self.ended = Ended(exit_code=ended.exit_code, signal=ended.signal, message=ended.message, output=text)
        self._move(Happening.ENDED)
        self._mailbox.end()
        self._life.cancel("the session has ended")

    def _move(self, happening: Happening) -> None:
        self.state = after(self.state, happening)
        self.changed_at_ns = self._clock.wall_ns()
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    # What callers ask.

    async def resume(self, *, thread_id: int | None = None, seen_stop: int | None = None, by: str = "") -> None:
        await self._run("continue", thread_id, seen_stop, by)

    async def step(
        self, kind: StepKind, *, thread_id: int | None = None, seen_stop: int | None = None, by: str = ""
    ) -> None:
        await self._run(_STEPS[kind], thread_id, seen_stop, by)

    async def pause(self, *, by: str = "") -> None:
        async def perform() -> None:
            if self.state is not State.RUNNING:
                raise faults.not_running(self.state)
            self._by = by
            await self._backend.request("pause", {"threadId": await self._any_thread()}, timeout_s=_ANSWERED_WITHIN_S)

        await self._mailbox.perform(perform)

    async def update_breakpoints(self, breakpoints: Iterable[Breakpoint]) -> None:
        self._wanted = tuple(breakpoints)
        if self.state in LIVE and self._initialized.is_set():
            await self._mailbox.perform(self._send_breakpoints)

    async def terminate(self) -> None:
        """Returns as the request is sent; the end itself is awaited like any other outcome."""
        if self.state not in LIVE:
            raise faults.already_ended()
        self._begin_end({"terminateDebuggee": self._launch.request == "launch"})

    async def outcome(self, after_stop: int, within_s: float) -> Stop | Ended | None:
        """The first stop after number `after_stop`, or the end; None when the time is over."""
        with anyio.move_on_after(within_s):
            while True:
                changed = self._changed
                if self.ended is not None:
                    return self.ended
                if self.state is State.STOPPED and self.stop is not None and self.stop.number > after_stop:
                    return self.stop
                await changed.wait()
        return None

    def memory_bytes(self) -> int | None:
        """Of everything that would end with it; None where that cannot be known."""
        return None

    @property
    def last_stop(self) -> int:
        return self._stops

    async def scopes(self, frame: int) -> tuple[Scope, ...]:
        self.require_stopped()
        return await self._looking.scopes(frame)

    async def variables(self, reference: int, *, start: int = 0, count: int = 0) -> tuple[Variable, ...]:
        self.require_stopped()
        return await self._looking.variables(reference, start=start, count=count)

    async def evaluate(self, expression: str, frame: int | None, context: str, *, timeout_s: float) -> Evaluated:
        """In the top frame of the stop unless one is named."""
        stop = self.require_stopped()
        chosen = frame if frame is not None else (stop.frames[0].id if stop.frames else None)
        asked: dict[str, Any] = {"expression": expression, "context": context}
        asked |= {"frameId": self._handles.take_frame(chosen)} if chosen is not None else {}
        response = await self._backend.request("evaluate", asked, timeout_s=timeout_s)
        answer = read_body(response, answers.EvaluateAnswer)
        return Evaluated(
            result=answer.result,
            type=answer.type,
            reference=self._handles.give_variables(answer.variables_reference),
            named=answer.named_variables,
            indexed=answer.indexed_variables,
        )

    async def _run(self, command: str, thread_id: int | None, seen_stop: int | None, by: str) -> None:
        async def perform() -> None:
            stop = self.require_stopped()
            if seen_stop is not None and seen_stop != stop.number:
                raise faults.moved_on(stop, self._by)
            asked = {"threadId": stop.thread_id if thread_id is None else thread_id}
            self._by = by
            self._sent_on += 1
            self._move(Happening.RESUMED)
            try:
                await self._backend.request(command, asked, timeout_s=_ANSWERED_WITHIN_S)
            except AdapterRefusedError:
                self._move(Happening.STOPPED)
                raise

        await self._mailbox.perform(perform)

    def require_stopped(self) -> Stop:
        if self.ended is not None:
            raise faults.already_ended()
        if self.state is not State.STOPPED or self.stop is None:
            raise faults.not_stopped(self.state)
        return self.stop
