"""What a program does, as it arrives from its adapter, in order: a stop is looked at and told, and it goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from dragoman.debug.backend import Backend
from dragoman.debug.frame_memory import FrameMemory
from dragoman.debug.hearing import Ordered
from dragoman.debug.life import Life
from dragoman.debug.model import Stop
from dragoman.debug.opening import Opening
from dragoman.debug.running import Running, Tell
from dragoman.debug.states import Happening, State
from dragoman.debug.stopping import Moment, Stopping
from dragoman.debug.telling import place_of
from dragoman.debug.thread_dump.glance import Glance
from dragoman.debug.threads import Threads
from dragoman.wire.dap import bodies

_ENDING = frozenset({State.TERMINATING, State.TERMINATED})
_BESIDE = frozenset({"breakpoint", "step"})  # an exception, or watched data, would be lost


class Arriving:
    """`before` is done between the look at a stop and its telling; `keep` has each stop that was told."""

    def __init__(
        self,
        backend: Backend,
        life: Life,
        threads: Threads,
        opening: Opening,
        stopping: Stopping,
        running: Running,
        glance: Glance,
        *,
        title: str,
        tell: Tell,
        before: Callable[[], Awaitable[None]],
        keep: Callable[[Stop], None],
    ) -> None:
        self.moment: Moment | None = None
        """The last stop that was told."""
        self._backend = backend
        self._life = life
        self._threads = threads
        self._opening = opening
        self._stopping = stopping
        self._running = running
        self._glance = glance
        self._title = title
        self._tell = tell
        self._before = before
        self._keep = keep
        self._memory = FrameMemory()

    async def take(self, body: Ordered) -> None:
        match body:
            case bodies.InitializedBody():
                self._opening.initialized.set()
            case bodies.StoppedBody():
                await self._stopped(body)
            case bodies.ContinuedBody():
                self._continued(body)
            case bodies.CapabilitiesBody():
                self._opening.learn(body)

    def goes_on(self) -> None:
        """That it runs at last is told: of what only starts, nobody can ask anything."""
        was_starting = self._life.state is State.STARTING
        self._life.move(Happening.RESUMED)
        if was_starting:
            self._tell("debug.running", self._title, {})

    async def _stopped(self, body: bodies.StoppedBody) -> None:
        """The stop is told when the look at it is complete: a caller never sees half of one. One on the way out is no
        stop for anyone, and the debugger may have gone before it could say where."""
        was_stopped = self._life.stands
        sent_on = self._running.sent_on
        if not was_stopped and await self._glance.take(body, self._running.command, self._stopping.goes_on):
            return
        if was_stopped and self._is_beside(body):
            await self._stopping.note(body)
            return
        moment = await self._stopping.look(body, self._life.stops + 1, self._running.by, self._running.command)
        if moment is None or self._life.state in _ENDING:
            return
        if was_stopped and self._running.sent_on != sent_on:
            return  # a stop told twice, or of another thread: the program was sent on during the look
        if was_stopped and self.moment is not None and self.moment.is_the_same(moment):
            return
        await self._before()
        changed = self._memory.compared(moment.stop)
        output, lines = self._stopping.output_since()
        stop = msgspec.structs.replace(moment.stop, output=output, output_lines=lines, changed=changed)
        self.moment = Moment(stop, moment.handles, moment.looking)
        self._life.stopped_at(stop)
        self._tell("debug.stopped", *place_of(stop))
        self._keep(stop)

    def _is_beside(self, body: bodies.StoppedBody) -> bool:
        """Another thread reached a breakpoint in the same moment. They stand together and go on together, so it is seen
        among the other threads; as a stop of its own it would look as if somebody had sent the program on."""
        stop, thread = self._life.stop, body.thread_id
        is_another = stop is not None and thread is not None and thread != stop.thread_id
        return is_another and bool(body.all_threads_stopped) and body.reason in _BESIDE

    def _continued(self, body: bodies.ContinuedBody) -> None:
        """Of another thread than the one that stopped, it changes nothing for who looks at the stop."""
        if self._life.stands and self._backend.owns.others:
            self._running.went_on_by(self._backend.owns.others)
        self._threads.went_on(body.thread_id, everything=body.all_threads_continued is not False)
        if self._life.stop is None or not self._threads.is_stopped(self._life.stop.thread_id):
            self.goes_on()
