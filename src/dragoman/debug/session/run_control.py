"""Run control: continue, step, pause, jump and restart, each checked against the stop that its caller has seen.

Commands go through the session's mailbox, so that one of them runs at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug import errors
from dragoman.debug.backends.port import RUN_COMMANDS
from dragoman.debug.errors import already_ended, core_dump, invalid_adapter_response, program_not_running
from dragoman.debug.model import RunTarget, SessionState, StepKind
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.lifecycle import SessionLifecycle, Transition
from dragoman.debug.session.request_tracker import RequestTracker, TrackedRequest
from dragoman.debug.session.stop_permissions import StopPermissions
from dragoman.debug.session.threads import ThreadStates
from dragoman.io.event_loop import wait_for_first
from dragoman.protocols.dap import Response, bodies, read_body

log = logging.getLogger(__name__)

_RESPONSE_TIMEOUT_S = 10.0
_QUEUE_SIZE = 32  # further callers wait their turn

_STATES_BEFORE_FIRST_STOP = frozenset({SessionState.IDLE, SessionState.STARTING})
_NO_ARGUMENTS: Mapping[str, Any] = {}
_STEPS: Mapping[StepKind, str] = {"over": "next", "into": "stepIn", "out": "stepOut"}

SetRunTarget = Callable[[RunTarget | None], Awaitable[None]]
ResolveFrame = Callable[[int], int]
RecordEvent = Callable[[str, str, dict[str, Any]], None]
RequeueStop = Callable[[bodies.StoppedBody], Awaitable[None]]


@dataclass(slots=True)
class _MailboxCommand:
    perform: Callable[[], Awaitable[Any]]
    settled: anyio.Event = field(default_factory=anyio.Event)
    error: DragomanError | None = None


class Mailbox:
    """The commands of callers, run one after another in the order they arrived. A caller that goes away only stops
    waiting."""

    def __init__(self) -> None:
        self._sender, self._receiver = anyio.create_memory_object_stream[_MailboxCommand](_QUEUE_SIZE)
        self._closed = anyio.Event()

    def end(self) -> None:
        """Nobody waits any longer. What was accepted is not an error now: its outcome is the session's end."""
        self._closed.set()
        self._sender.close()

    def close(self) -> None:
        """Once no command is run any more: callers that still wait for room get an error."""
        self.end()
        self._receiver.close()

    async def perform(self, action: Callable[[], Awaitable[Any]]) -> None:
        """A caller that is cancelled here leaves its command behind, to be performed."""
        command = _MailboxCommand(action)
        try:
            await self._sender.send(command)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise already_ended() from None
        await wait_for_first(command.settled, self._closed)
        if command.error is not None:
            raise command.error

    async def run_commands(self) -> None:
        async for command in self._receiver:
            try:
                await command.perform()
            except DragomanError as error:
                command.error = error
            except RemoteProtocolError as error:
                command.error = invalid_adapter_response(reason=error)
            finally:
                command.settled.set()


class RunControl:
    """Runs the commands of callers in their turn. `by` caused what the program does now, with `command`;
    `resume_count` counts how often it was resumed.
    """

    def __init__(
        self,
        requests: RequestTracker,
        lifecycle: SessionLifecycle,
        threads: ThreadStates,
        mailbox: Mailbox,
        *,
        requeue: RequeueStop,
        record_event: RecordEvent,
        set_run_to: SetRunTarget,
        resolve_frame: ResolveFrame,
        is_core: bool = False,
        permissions: StopPermissions | None = None,
        held_threads: Callable[[], tuple[int, ...]] = tuple,
    ) -> None:
        self._permissions = permissions or StopPermissions()
        self.by = ""
        self.names: dict[str, str] = {}
        """The names of the clients that acted, by their ids."""
        self.resume_count = 0
        self.command = "continue"
        self._requests = requests
        self._resumed_stop = 0
        self._lifecycle = lifecycle
        self._threads = threads
        self._mailbox = mailbox
        self._requeue = requeue
        self._record_event = record_event
        self._set_run_to = set_run_to
        self._resolve_frame = resolve_frame
        self._is_core = is_core
        self._held_threads = held_threads

    async def resume(
        self,
        *,
        thread_id: int | None = None,
        seen_stop: int | None = None,
        by: str = "",
        until: RunTarget | None = None,
    ) -> None:
        async def prepare() -> None:
            if until is not None:
                await self._set_run_to(until)

        await self._run("continue", thread_id, seen_stop, by, prepare)

    async def resume_everything(self, *, seen_stop: int, by: str) -> None:
        """Also threads and child processes that stopped by themselves, before their stops are reported."""

        async def resume_others() -> None:
            current = self._lifecycle.require_stopped().thread_id
            for thread in dict.fromkeys((*self._threads.stopped_beside(current), *self._held_threads())):
                try:
                    await self._requests.request("continue", {"threadId": thread}, timeout_s=_RESPONSE_TIMEOUT_S)
                except DragomanError as error:
                    log.warning("thread %s was not resumed: %s", thread, error)
                else:
                    self._threads.mark_resumed(thread, everything=False)

        await self._run("continue", None, seen_stop, by, resume_others)

    async def step(
        self,
        kind: StepKind,
        *,
        thread_id: int | None = None,
        seen_stop: int | None = None,
        by: str = "",
        more: Mapping[str, Any] = _NO_ARGUMENTS,
    ) -> None:
        """`more` is for the adapter only: which call to step into, and how far."""
        await self._run(_STEPS[kind], thread_id, seen_stop, by, _no_preparation, more)

    async def jump(
        self,
        command: str,
        more: Mapping[str, Any],
        *,
        thread_id: int | None = None,
        frame: int | None = None,
        seen_stop: int | None = None,
        by: str = "",
    ) -> None:
        """Moves the program to a line, to the start of a frame, or backwards.

        The response comes first. The arrival is reported as a stop of its own.
        """
        if frame is not None:
            self._lifecycle.require_stopped()
            more = {**more, "frameId": self._resolve_frame(frame)}
        await self._run(command, thread_id, seen_stop, by, _no_preparation, more)

    def mark_resumed_by(self, by: str) -> None:
        """Past us: by thread_argument the session really is."""
        self.by = by
        self.resume_count += 1
        self.command = "continue"
        self._record_event("debug.resumed", self.command, {"command": self.command, "by": by})

    async def pause(self, *, by: str = "") -> None:
        self._permissions.require("pause")

        async def perform() -> None:
            if self._lifecycle.state is not SessionState.RUNNING:
                raise program_not_running(state=self._lifecycle.state.value)
            self.by = by
            self.command = "pause"
            self._record_event("debug.paused", "", {"by": by})
            await self._requests.request(
                "pause", {"threadId": await self._threads.any()}, timeout_s=_RESPONSE_TIMEOUT_S
            )

        await self._mailbox.perform(perform)

    async def restart(self, launch: AdapterLaunch, by: str) -> None:
        """Restarts through the adapter: we cannot restart a program that we did not start."""

        async def perform() -> None:
            self.by = by
            self.resume_count += 1
            asked = {"arguments": {**launch.arguments}}
            await self._requests.request("restart", asked, timeout_s=_RESPONSE_TIMEOUT_S)
            self._threads.mark_resumed(0, everything=True)
            self._lifecycle.transition(Transition.RESUMED)

        await self._mailbox.perform(perform)

    async def _run(
        self,
        command: str,
        thread_id: int | None,
        seen_stop: int | None,
        by: str,
        prepare: Callable[[], Awaitable[None]],
        more: Mapping[str, Any] = _NO_ARGUMENTS,
    ) -> None:
        async def perform() -> None:
            if self._is_core:  # lldb-dap confirms the request and then does nothing
                raise core_dump()
            thread = await self._require_thread(thread_id, seen_stop)
            await prepare()
            self.by = by
            self.resume_count += 1
            self.command = command
            self._record_event("debug.resumed", command, {"command": command, "thread": thread, "by": by})
            await self._resume(command, thread, more)

        if self._lifecycle.state in _STATES_BEFORE_FIRST_STOP:
            # Otherwise it would wait in the mailbox until the start is complete.
            raise errors.not_stopped(self._lifecycle.state)
        await self._mailbox.perform(perform)

    async def _require_thread(self, thread_id: int | None, seen_stop: int | None) -> int:
        stop = self._lifecycle.require_stopped()
        await self._requests.wait_until_idle(_RESPONSE_TIMEOUT_S)
        if seen_stop is not None and seen_stop != stop.number:
            raise errors.session_moved_on(stop, self.by, self.names.get(self.by, ""), self.command)
        if thread_id is not None and thread_id != stop.thread_id:
            await self._threads.require(thread_id)
        return stop.thread_id if thread_id is None else thread_id

    async def _resume(self, command: str, thread: int, more: Mapping[str, Any]) -> None:
        """When only one thread was resumed, another that is still stopped is reported next."""
        together, stops = self._threads.are_all_stopped, self._threads.stops_of(thread)
        self._resumed_stop = self._lifecycle.stops
        self._lifecycle.begin_resume()
        try:
            thread_argument = {} if "frameId" in more else {"threadId": thread}
            response = await self._requests.request(command, {**thread_argument, **more}, timeout_s=_RESPONSE_TIMEOUT_S)
        except DragomanError as error:
            if error.code == "adapter_gone":
                return  # the program ended, which is a valid outcome
            self._lifecycle.cancel_resume()
            raise
        if self._threads.stops_of(thread) != stops:
            self._confirm_resumed()
            return  # the next stop arrived before the response and has already been inspected
        self._threads.mark_resumed(
            thread, everything=_all_threads_continued(response) if command == "continue" else together
        )
        self._confirm_resumed()
        left = self._threads.still_stopped
        if left is not None and self._lifecycle.state is SessionState.RUNNING:
            await self._requeue(left)

    def handle_late_response(self, tracked: TrackedRequest) -> None:
        """A debugger that was busy has resumed the program after all."""
        stop = self._lifecycle.stop
        if (
            tracked.command in RUN_COMMANDS
            and tracked.error is None
            and stop is not None
            and stop.number == self._resumed_stop
        ):
            self._lifecycle.begin_resume()
            self._threads.mark_resumed(stop.thread_id, everything=self._threads.are_all_stopped)
            self._confirm_resumed()

    def _confirm_resumed(self) -> None:
        if self._lifecycle.is_resuming:
            self._lifecycle.transition(Transition.RESUMED)


def _all_threads_continued(response: Response) -> bool:
    """The protocol takes silence for a yes."""
    return read_body(response, bodies.ContinueResponse).all_threads_continued is not False


async def _no_preparation() -> None:
    return
