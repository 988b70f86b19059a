"""One program under a debugger, from its launch to its end.

All changes happen in the session's own tasks. A caller leaves a command in the mailbox and waits for what comes of it;
when the caller is cancelled, it only stops waiting. Waiters look at the number of the last stop from before their
command was sent, so a fast stop is never missed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import anyio
from anyio.abc import TaskStatus

from dragoman.clock import Clock
from dragoman.debug import faults
from dragoman.debug.arriving import Arriving
from dragoman.debug.asking import Asking, Question
from dragoman.debug.backend import AdapterRefusedError, Backend
from dragoman.debug.bindings import Bindings, temporary
from dragoman.debug.ending import ENDS_WITHIN_S, Ending
from dragoman.debug.hearing import Hearing
from dragoman.debug.interrupting import Interrupting
from dragoman.debug.life import Life
from dragoman.debug.looks import Looks
from dragoman.debug.mailbox import Mailbox
from dragoman.debug.model import Ended, StepKind, Stop, Until
from dragoman.debug.opening import Launch, Opening
from dragoman.debug.output import Output
from dragoman.debug.probe import Probe
from dragoman.debug.pulse import Pulse
from dragoman.debug.running import Running, Tell
from dragoman.debug.states import LIVE, Happening, State
from dragoman.debug.stopping import Moment, Stopping
from dragoman.debug.thread_dump import ThreadDump, ThreadDumper
from dragoman.debug.thread_dump.glance import Glance
from dragoman.debug.threads import Threads
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.redaction import SecretStream
from dragoman.wire.dap import Capabilities
from dragoman.workspace.breakpoints import Breakpoint

__all__ = ["Launch", "Session"]

log = logging.getLogger(__name__)

_NAMES_AT_MOST = 100
_LAST_WORDS_WITHIN_S = 10.0
_LAST_WORDS = 4000
_GLANCED_WITHIN_S = 1.8
_DUMPED_WITHIN_S = 2.0


@runtime_checkable
class _Weighed(Protocol):
    def memory_bytes(self) -> int | None: ...


def _untold(kind: str, text: str, body: dict[str, Any]) -> None:
    """For a session without a record."""


class Session:
    def __init__(
        self,
        id: str,
        title: str,
        backend: Backend,
        launch: Launch,
        clock: Clock,
        *,
        facts: Mapping[str, str] | None = None,
        follows: Session | None = None,
        tell: Tell = _untold,
        keep: Callable[[Stop], None] = lambda _: None,
        hold: anyio.Event | None = None,
        probe: Probe | None = None,
        secrets: Callable[[], SecretStream] | None = None,
    ) -> None:
        """`follows` is the one that this one starts again: its output goes on, and its stops are counted on."""
        self.id = id
        self.title = title
        self.facts: Mapping[str, str] = facts or {}
        self.launch = launch
        self.pulse: Pulse = follows.pulse if follows else Pulse()
        self.output: Output = follows.output if follows else Output(pulse=self.pulse, secrets=secrets)
        self.bindings = Bindings(backend, launch.dialect, launch.exception_filters, id)
        self._backend = backend
        self._life = Life(clock, follows.last_stop if follows else 0, self.pulse)
        self._mailbox = Mailbox()
        self._asking = Asking(backend, passes_limits=launch.dialect.passes_limits)
        self._threads = Threads(backend)
        self._opening = Opening(backend, launch, self._send_breakpoints, hold)
        self._interrupting = Interrupting(launch.dialect, self._threads, self.output, is_launch=launch.is_launch)
        self._hearing = Hearing(
            backend, launch.dialect, self.output, self.bindings, self._threads, self._interrupting, self.pulse
        )
        self._stopping = Stopping(self._asking, launch, self.bindings, self._threads, self.output, clock)
        self._running = Running(
            self._asking, self._life, self._threads, self._mailbox,
            again=self._hearing.put_back, tell=tell, is_core=launch.is_core,
        )  # fmt: skip
        self._dumper = ThreadDumper(backend, launch.dialect, lambda: self._hearing.program.pid)
        self._glance = Glance(self._asking, launch.dialect, self._threads, self._dumper)
        self._arriving = Arriving(
            backend, self._life, self._threads, self._opening, self._stopping, self._running, self._glance,
            title=title, tell=tell, before=self._forget_until, keep=keep,
        )  # fmt: skip
        self.looks = Looks(
            self._asking, self._life, self._threads, self._opening, launch, self._hearing.program, self._now
        )
        self._until: Until | None = None
        self._sending = anyio.Lock()
        self._wanted: tuple[Breakpoint, ...] = ()
        self._set_probe(probe)
        self._ending = Ending(
            backend, self._hearing, self._life, is_launch=launch.is_launch, output=self._stopping.output_since
        )
        self._ending.told = self._told_end
        self._ending.before = self._send_on
        self._when_ended: Callable[[], None] = lambda: None
        self._scope = anyio.CancelScope()
        self._is_adapter_gone = False

    # What it is.

    @property
    def state(self) -> State:
        return self._life.state

    @property
    def stop(self) -> Stop | None:
        return self._life.stop

    @property
    def ended(self) -> Ended | None:
        return self._life.ended

    @property
    def is_a_persons(self) -> bool:
        """Lent by an editor, where it goes on without us."""
        return bool(self._backend.owns.others)

    @property
    def changed_at_ns(self) -> int:
        return self._life.changed_at_ns

    @property
    def stands(self) -> bool:
        """Stopped, and not sent on by a command that the debugger has yet to confirm."""
        return self._life.stands

    @property
    def last_stop(self) -> int:
        return self._life.stops

    @property
    def capabilities(self) -> Capabilities:
        return self._opening.capabilities

    @property
    def restarts_in_place(self) -> bool:
        """What was there before us cannot be started anew by us."""
        return not self.launch.is_launch or self._backend.owns.restart

    @property
    def threads_alive(self) -> frozenset[int]:
        return frozenset(self._threads.alive)

    @property
    def sent_on_by(self) -> tuple[str, str]:
        """Who sent it on last, and with which command."""
        return self._running.by, self._running.command

    @property
    def sees_running(self) -> bool:
        """Whether a thread dump can be had of it while it runs."""
        return self._dumper.sees_running

    @property
    def is_seen_before_a_pause(self) -> bool:
        """Whether what it does can be asked only as long as it is not to halt."""
        return self.sees_running and not self._dumper.sees_stopped and self.state is State.RUNNING

    async def thread_dump(self, *, may_halt: bool) -> ThreadDump:
        """Where each thread is and what it waits for, within two seconds; empty where that cannot be learned: answers
        are poorer without it, and do not fail by it. Some programs must be halted for it, for some milliseconds."""
        with anyio.move_on_after(_DUMPED_WITHIN_S):
            try:
                return await self._thread_dump(may_halt=may_halt)
            except (DragomanError, RemoteProtocolError) as error:
                log.info("session %s: no thread dump: %s", self.id, error)
        return ThreadDump()

    async def _thread_dump(self, *, may_halt: bool) -> ThreadDump:
        if self.state is State.RUNNING:
            is_to_halt = self._running.command == "pause"
            seen = await self._dumper.running(is_to_halt=is_to_halt) if self.sees_running else ThreadDump()
            # One that waits would halt when its wait is over, which nobody asked for.
            is_unplaced = may_halt and not seen.is_placed and not (seen and seen.is_blocked)
            return (await self._glanced() or seen) if is_unplaced else seen
        moment = self._arriving.moment
        if self.state is not State.STOPPED or moment is None:
            return ThreadDump()
        if self._dumper.sees_stopped:
            return await self._dumper.running()
        return await self._dumper.stopped(await self.looks.threads(placed=False), moment.looking)

    async def _glanced(self) -> ThreadDump:
        """By a short halt, where that takes nothing from anybody: not of a program that was there before us, and not in
        the middle of a step, which would end there."""
        is_free = self.launch.is_launch and not self.is_a_persons and self._running.command == "continue"
        if not is_free or not (self.launch.dialect.halts_anywhere or self.launch.dialect.halts_busy):
            return ThreadDump()

        async def perform() -> None:
            if self.state is State.RUNNING:
                await self._glance.halt()

        await self._mailbox.perform(perform)
        return await self._glance.seen(_GLANCED_WITHIN_S)

    def note_name(self, id: str, name: str) -> None:
        """Of who acts next; of so many that no person could tell them apart, the first are known."""
        if name and len(self._running.names) < _NAMES_AT_MOST:
            self._running.names[id] = name

    def name_of(self, id: str) -> str:
        return self._running.names.get(id, "")

    async def configurable(self) -> None:
        """What its debugger can do is known, or it came to nothing."""
        await self._opening.configurable.wait()

    def when_ended(self, act: Callable[[], None]) -> None:
        """Done the moment the end is told, while the adapter is still being let go."""
        self._when_ended = act

    def memory_bytes(self) -> int | None:
        """Of everything that would end with it; None where that cannot be known."""
        return self._backend.memory_bytes() if isinstance(self._backend, _Weighed) and not self.ended else None

    # The life, in the service's task group.

    async def live(
        self, breakpoints: Iterable[Breakpoint], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """From the launch to the end. A launch that fails is raised; what goes wrong later is how the session ended."""
        started = False
        failure: DragomanError | None = None
        self._wanted = tuple(breakpoints)
        try:
            async with anyio.create_task_group() as group:
                self._asking.begin(group, free=self._free, late=self._running.answered_late)
                self._scope = group.cancel_scope
                for task in (self._hear, self._handle, self._ending.see, self._dismiss):
                    group.start_soon(task)
                await self._open()
                started = True
                task_status.started()
                await self._mailbox.obey()
        except* Exception as errors:  # noqa: BLE001  told as how it ended, and logged where it is ours
            failure = await self._explained(errors, started=started)
        finally:
            self._opening.configurable.set()
            self._asking.close()
            self._ending.tell(str(failure) if failure else "")
            await self._let_go()
        if not started and self._opening.launched.is_set() and failure is None:
            task_status.started()  # a short program may be over before its adapter has said so much as hello
        elif not started:
            raise failure or self._why_not_started()

    async def _open(self) -> None:
        self._life.move(Happening.LAUNCHED)
        await self._opening.run()
        if self.state is State.STARTING:
            self._arriving.goes_on()

    async def _explained(self, errors: BaseExceptionGroup[Exception], *, started: bool) -> DragomanError:
        failure = faults.of_group(errors)
        if failure.code == "internal_error":
            log.error("session %s failed", self.id, exc_info=errors)
        if failure.code == "adapter_gone" and not started:
            return faults.adapter_gone(await self._last_words())
        pattern = self.launch.dialect.build_failed
        if pattern and isinstance(failure, AdapterRefusedError) and re.search(pattern, failure.reason):
            return faults.build_failed(await self._last_words())
        return failure

    def _why_not_started(self) -> DragomanError:
        if self._ending.is_asked_for:
            return faults.already_ended()
        if self._hearing.exited.is_set() and not self._is_adapter_gone:
            return faults.ended_at_once(self._hearing.exit_code, self.output.since(0, most=_LAST_WORDS)[0])
        return faults.adapter_gone(self.ended.output if self.ended else "")

    async def _last_words(self) -> str:
        """An adapter that dies at once says why in what it wrote last, which comes after its questions have failed."""
        self._hearing.close()
        with anyio.move_on_after(_LAST_WORDS_WITHIN_S):
            await self._hearing.listen()
        return self.output.since(0, most=_LAST_WORDS)[0]

    async def abandon(self) -> None:
        """For a launch that was given up, perhaps before it began to live."""
        self._ending.tell()
        await self._let_go()

    async def _let_go(self) -> None:
        """A backend that cannot even end is our fault, and must not take other sessions with it."""
        self._mailbox.close()
        self._hearing.close()
        with anyio.CancelScope(shield=True), anyio.move_on_after(ENDS_WITHIN_S):
            try:
                await self._backend.end()
            except Exception:
                log.exception("session %s: its backend did not end in order", self.id)

    # What the program does.

    async def _hear(self) -> None:
        """The end of the stream is an end, whatever the adapter said or did not say before it."""
        await self._hearing.listen()
        self._is_adapter_gone = True
        await self._hearing.drained()
        await self._ending.adapter_has_gone()
        self._scope.cancel("the adapter has gone")

    async def _handle(self) -> None:
        async for body in self._hearing.in_order():
            try:
                await self._arriving.take(body)
            except (DragomanError, RemoteProtocolError) as error:
                log.warning("session %s: an event was skipped: %s", self.id, error)

    async def _send_on(self) -> None:
        """A program that we came to goes on when we leave it, also past what it was stopped by."""
        moment, dialect = self._arriving.moment, self.launch.dialect
        thread = moment.stop.thread_id if moment else 0
        if self.launch.is_launch or moment is None or not self._threads.is_stopped(thread):
            return
        if dialect.forgets:
            asked = {"expression": dialect.forgets, "context": "repl"}
            frame = moment.handles.take_frame(faults.top_frame(moment.stop).id)
            await self._backend.request("evaluate", {**asked, "frameId": frame}, timeout_s=ENDS_WITHIN_S)
        if dialect.leaves_standing:
            await self.bindings.send([], self.capabilities)
            await self._backend.request("continue", {"threadId": thread}, timeout_s=ENDS_WITHIN_S)

    async def _dismiss(self) -> None:
        await self._ending.dismiss()
        self._scope.cancel("the session has ended")

    def _told_end(self) -> None:
        self._mailbox.end()
        self._when_ended()
        if not self._opening.configurable.is_set():
            self._scope.cancel("the program ended before its debugger was there")  # which would wait for it in vain

    # What callers ask.

    async def resume(
        self,
        *,
        thread_id: int | None = None,
        seen_stop: int | None = None,
        by: str = "",
        until: Until | None = None,
    ) -> None:
        await self._running.resume(
            thread_id=thread_id, seen_stop=seen_stop, by=by, until=until, set_until=self._run_until
        )

    async def step(
        self,
        kind: StepKind,
        *,
        thread_id: int | None = None,
        seen_stop: int | None = None,
        by: str = "",
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """`more` is for the adapter alone: into which call, and how far."""
        await self._running.step(kind, thread_id=thread_id, seen_stop=seen_stop, by=by, more=more or {})

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
        """Elsewhere than the program would go by itself: to a line, to the beginning of a frame, backwards."""
        if frame is not None:
            self.require_stopped()
            more = {**more, "frameId": self._now().handles.take_frame(frame)}
        await self._running.jump(command, more, thread_id=thread_id, seen_stop=seen_stop, by=by)

    async def pause(self, *, by: str = "") -> None:
        await self._running.pause(by)

    async def restart(self, *, by: str = "") -> None:
        if self.is_a_persons:
            raise faults.is_a_persons()
        if not self.capabilities.has("supportsRestartRequest"):
            raise faults.cannot_restart(self.launch.adapter_id)
        await self._running.restart(self.launch, by)

    async def update_breakpoints(self, breakpoints: Iterable[Breakpoint]) -> None:
        self._wanted = tuple(breakpoints)
        if self.state not in LIVE or not self._opening.initialized.is_set():
            return
        if not self._opening.is_held:
            await self._mailbox.perform(self._send_breakpoints)
            return
        # Nobody obeys the mailbox before the program runs, and whoever holds it wants to know now what is bound.
        with anyio.CancelScope(shield=True):  # as in the mailbox: who no longer waits leaves it to be done
            await self._send_breakpoints()

    async def probe(self, probe: Probe | None) -> None:
        """From now on it stops for who probes it alone; without one, for its clients again."""

        async def perform() -> None:
            self._set_probe(probe)
            await self._send_breakpoints()

        await self._mailbox.perform(perform)

    async def terminate(self, *, by: str = "") -> None:
        """Returns as the request is sent; the end itself is awaited like any other outcome."""
        if self.state not in LIVE:
            raise faults.already_ended()
        self._ending.ask(by)

    @property
    def is_ending(self) -> bool:
        """Its end was asked for, or is under way: what it says of breakpoints concerns nobody any more."""
        return self._ending.is_asked_for or self.state is State.TERMINATING

    async def begun(self) -> None:
        """It is starting, or further: there is a state to be told."""
        await self._life.begun()

    async def outcome(self, after_stop: int, within_s: float) -> Stop | Ended | None:
        return await self._life.outcome(after_stop, within_s)

    def require_stopped(self) -> Stop:
        return self._life.require_stopped()

    # Inside.

    def _now(self) -> Moment:
        if self._arriving.moment is None:
            raise faults.not_stopped(self.state)
        return self._arriving.moment

    async def _free(self, question: Question) -> None:
        await self._interrupting.free(question, self._stopping.thread_id)

    def _set_probe(self, probe: Probe | None) -> None:
        self.bindings.probe = probe
        if probe is not None:
            probe.speak(self.launch.adapter_id)

    async def _send_breakpoints(self) -> None:
        """Those wanted now: more may have been set while the adapter came up, or while another list was sent."""
        if self.launch.no_debug:
            return
        async with self._sending:
            until = [temporary(self._until.path, self._until.line)] if self._until else []
            probe = self.bindings.probe
            wanted = self._wanted if probe is None else probe.breakpoints
            await self.bindings.send([*wanted, *until], self.capabilities)
        self.pulse.beat()

    async def _run_until(self, until: Until | None) -> None:
        self._until = until
        await self._send_breakpoints()

    async def _forget_until(self) -> None:
        """Whatever stopped the program, the run that it was for is over."""
        if self._until is not None:
            try:
                await self._run_until(None)
            except DragomanError as error:
                log.warning("session %s: the breakpoint of one run may still be there: %s", self.id, error)
