"""Where a session is in its life, and whoever waits for it to go on. The table of states decides; this tells."""

from __future__ import annotations

import anyio

from dragoman.clock import Clock
from dragoman.debug import faults
from dragoman.debug.model import Ended, Stop
from dragoman.debug.pulse import Pulse
from dragoman.debug.states import Happening, State, after


class Life:
    """`stops` counts on over restarts: what an agent read of a stop before never passes for one of after."""

    def __init__(self, clock: Clock, stops: int = 0, pulse: Pulse | None = None) -> None:
        self.state = State.IDLE
        self.stop: Stop | None = None
        self.ended: Ended | None = None
        self.stops = stops
        self.changed_at_ns = clock.wall_ns()
        self._left = 0
        self._clock = clock
        self._changed = anyio.Event()
        self._pulse = pulse or Pulse()

    def move(self, happening: Happening) -> None:
        self.state = after(self.state, happening)
        self.changed_at_ns = self._clock.wall_ns()
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
        self._pulse.beat()

    def stopped_at(self, stop: Stop) -> None:
        self.stop, self.stops = stop, stop.number
        self.move(Happening.STOPPED)

    def seen_anew(self, stop: Stop) -> None:
        """The same stop, of which something was changed since."""
        if self.stop is not None and self.stop.number == stop.number:
            self.stop = stop
            self._pulse.beat()

    def leave(self) -> None:
        """The program was sent on from its stop; until the debugger confirms it, it stands."""
        self._left = self.stops
        self._pulse.beat()

    def stay(self) -> None:
        self._left = 0
        self._pulse.beat()

    @property
    def is_leaving(self) -> bool:
        return self.state is State.STOPPED and self._left == self.stops

    @property
    def stands(self) -> bool:
        """Stopped, and not sent on by a command that the debugger has yet to confirm."""
        return self.state is State.STOPPED and not self.is_leaving

    def end(self, ended: Ended) -> None:
        """Once: how it ended first is how it ended."""
        if self.ended is None:
            self.ended = ended
            self.move(Happening.ENDED)

    def require_stopped(self) -> Stop:
        if self.ended is not None:
            raise faults.already_ended()
        if self.state is not State.STOPPED or self.stop is None:
            raise faults.not_stopped(self.state)
        if self.is_leaving:
            raise faults.sent_on()
        return self.stop

    def now(self, after_stop: int) -> Stop | Ended | None:
        if self.ended is not None:
            return self.ended
        is_new = self.state is State.STOPPED and self.stop is not None and self.stop.number > after_stop
        return self.stop if is_new else None

    async def begun(self) -> None:
        while self.state is State.IDLE:
            await self._changed.wait()

    async def outcome(self, after_stop: int, within_s: float) -> Stop | Ended | None:
        """The first stop after number `after_stop`, or the end; None when the time is over."""
        with anyio.move_on_after(within_s):
            while True:
                changed = self._changed
                if (found := self.now(after_stop)) is not None:
                    return found
                await changed.wait()
        return None
