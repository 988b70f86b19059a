"""The lifecycle of a session: its state, its last stop, its end, and a signal for everyone who waits for a change."""

from __future__ import annotations

from enum import Enum

import anyio

from dragoman.core.clock import Clock
from dragoman.debug import errors
from dragoman.debug.errors import already_ended, auto_resumed, resuming
from dragoman.debug.model import ProgramEnd, SessionState, Stop


class Transition(Enum):
    LAUNCHED = "launched"
    RESUMED = "resumed"
    STOPPED = "stopped"
    ENDING = "ending"
    ENDED = "ended"


# A late event cannot change an ended session: adapters send more events for a while.
_NEXT: dict[SessionState, dict[Transition, SessionState]] = {
    SessionState.IDLE: {Transition.LAUNCHED: SessionState.STARTING, Transition.ENDED: SessionState.TERMINATED},
    SessionState.STARTING: {
        Transition.RESUMED: SessionState.RUNNING,
        Transition.STOPPED: SessionState.STOPPED,
        Transition.ENDING: SessionState.TERMINATING,
        Transition.ENDED: SessionState.TERMINATED,
    },
    SessionState.RUNNING: {
        Transition.RESUMED: SessionState.RUNNING,
        Transition.STOPPED: SessionState.STOPPED,
        Transition.ENDING: SessionState.TERMINATING,
        Transition.ENDED: SessionState.TERMINATED,
    },
    SessionState.STOPPED: {
        Transition.RESUMED: SessionState.RUNNING,
        Transition.STOPPED: SessionState.STOPPED,
        Transition.ENDING: SessionState.TERMINATING,
        Transition.ENDED: SessionState.TERMINATED,
    },
    SessionState.TERMINATING: {
        Transition.RESUMED: SessionState.TERMINATING,
        Transition.STOPPED: SessionState.TERMINATING,
        Transition.ENDING: SessionState.TERMINATING,
        Transition.ENDED: SessionState.TERMINATED,
    },
    SessionState.TERMINATED: dict.fromkeys(
        (Transition.RESUMED, Transition.STOPPED, Transition.ENDING, Transition.ENDED), SessionState.TERMINATED
    ),
}


def next_state(state: SessionState, transition: Transition) -> SessionState:
    """A transition that is not in the table is a mistake of ours, never of an adapter."""
    return _NEXT[state][transition]


class ChangeSignal:
    """Signals that something in a session changed, not what.

    A follower compares with what it published last. So nothing is queued for a slow one, and it publishes everything
    that it missed as one change.
    """

    def __init__(self) -> None:
        self.change_count = 0
        self._changed: anyio.Event | None = None

    def notify(self) -> None:
        self.change_count += 1
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    async def wait_for_change(self, change_count: int) -> int:
        """The count, once it is another than that."""
        while self.change_count == change_count:
            if self._changed is None:
                self._changed = anyio.Event()
            await self._changed.wait()
        return self.change_count


class SessionLifecycle:
    """The state of a session, its last stop and its end. Stop numbers go on after a restart, so that a stop from
    before is never taken for a later one.
    """

    def __init__(self, clock: Clock, stops: int = 0, changes: ChangeSignal | None = None) -> None:
        self.state = SessionState.IDLE
        self.stop: Stop | None = None
        self.ended: ProgramEnd | None = None
        self.stops = stops
        self.halts = 0
        """How often the program came to stand. Threads that stop while it stands belong to the same halt."""
        self.changed_at_ns = clock.wall_ns()
        self.auto_resumed_at_ns = 0
        """When a countdown resumed the program past its last stop; zero if somebody did."""
        self._resuming_stop = 0
        self._clock = clock
        self._changed = anyio.Event()
        self._changes = changes or ChangeSignal()

    def transition(self, transition: Transition) -> None:
        self.state = next_state(self.state, transition)
        self.changed_at_ns = self._clock.wall_ns()
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
        self._changes.notify()

    def stopped_at(self, stop: Stop) -> None:
        self.halts += not self.is_at_stop
        self.stop, self.stops, self.auto_resumed_at_ns = stop, stop.number, 0
        self.transition(Transition.STOPPED)

    def update_stop(self, stop: Stop) -> None:
        """The same stop, of which something was changed since."""
        if self.stop is not None and self.stop.number == stop.number:
            self.stop = stop
            self._changes.notify()

    def begin_resume(self) -> None:
        """A command to resume was sent; until the debugger confirms it, the program counts as stopped."""
        self._resuming_stop = self.stops
        self._changes.notify()

    def cancel_resume(self) -> None:
        self._resuming_stop = 0
        self._changes.notify()

    @property
    def is_resuming(self) -> bool:
        return self.state is SessionState.STOPPED and self._resuming_stop == self.stops

    @property
    def is_at_stop(self) -> bool:
        """Stopped, and not resuming by a command that the debugger has not confirmed yet."""
        return self.state is SessionState.STOPPED and not self.is_resuming

    def end(self, ended: ProgramEnd) -> None:
        """Once: how it ended first is how it ended."""
        if self.ended is None:
            self.ended = ended
            self.transition(Transition.ENDED)

    def require_stopped(self) -> Stop:
        if self.ended is not None:
            raise already_ended()
        if self.auto_resumed_at_ns and self.state is SessionState.RUNNING:
            raise auto_resumed(time=self.auto_resumed_at_ns)
        if self.state is not SessionState.STOPPED or self.stop is None:
            raise errors.not_stopped(self.state)
        if self.is_resuming:
            raise resuming()
        return self.stop

    def current_outcome(self, after_stop: int) -> Stop | ProgramEnd | None:
        if self.ended is not None:
            return self.ended
        is_new = self.state is SessionState.STOPPED and self.stop is not None and self.stop.number > after_stop
        return self.stop if is_new else None

    async def wait_until_started(self) -> None:
        while self.state is SessionState.IDLE:
            await self._changed.wait()

    async def outcome(self, after_stop: int, within_s: float) -> Stop | ProgramEnd | None:
        """The first stop after number `after_stop`, or the end; None when the time is over."""
        with anyio.move_on_after(within_s):
            while True:
                changed = self._changed
                if (found := self.current_outcome(after_stop)) is not None:
                    return found
                await changed.wait()
        return None
