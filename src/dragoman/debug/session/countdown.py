"""The countdown of a halt: a program that was attached to from another machine runs on by itself.

A halt ends after some time, unless somebody asks for more of it. It ends sooner when nobody holds the session any more,
because every link of its clients was lost; from then on nothing halts the program, until a client comes back.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.debug.session.halt_guard import HaltGuard
from dragoman.debug.session.lifecycle import ChangeSignal, SessionLifecycle
from dragoman.debug.session.run_control import RecordEvent, RunControl

log = logging.getLogger(__name__)

COUNTDOWN_ID = "countdown"
"""Who resumed a program whose halt was over."""
MAX_HOLD_S = 600.0
_RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class HaltLimits:
    """How long a halt lasts, and how long nobody needs to be there before the program is let go."""

    halt_s: float = 30.0
    unattended_s: float = 10.0

    @classmethod
    def of(cls, halt_s: float) -> HaltLimits:
        return cls(halt_s, min(halt_s, cls().unattended_s))


class StopCountdown:
    """Owns the time at which the present halt of one session ends. `resend` sends the breakpoints to the adapter, of
    which the guard lets pass what may halt."""

    def __init__(
        self,
        guard: HaltGuard,
        lifecycle: SessionLifecycle,
        run_control: RunControl,
        changes: ChangeSignal,
        clock: Clock,
        *,
        limits: HaltLimits,
        record_event: RecordEvent,
        resend: Callable[[], Awaitable[None]],
    ) -> None:
        self._guard = guard
        self._lifecycle = lifecycle
        self._run_control = run_control
        self._changes = changes
        self._clock = clock
        self._limits = limits
        self._record_event = record_event
        self._resend = resend
        self._stop = 0
        self._latest_s = math.inf
        self._deadline_s = math.inf
        self._unattended_at_s = math.inf
        self._was_suspended = False

    @property
    def remaining_s(self) -> float | None:
        """Until the program runs on; None where it does not stand, or stands for as long as its clients want."""
        self._follow()
        left = min(self._deadline_s, self._unattended_at_s) - self._clock.monotonic_s()
        return None if math.isinf(left) or not self._lifecycle.is_at_stop else max(0.0, left)

    def hold(self, seconds: float) -> None:
        """From now on; never shorter than it was. A halt ends ten minutes after it began, whoever asks."""
        self._follow()
        if math.isinf(self._deadline_s):
            return
        wanted = self._clock.monotonic_s() + seconds
        self._deadline_s = min(max(self._deadline_s, wanted), self._latest_s)
        self._record_event("debug.held", f"{seconds:g} s", {"seconds": seconds})
        self._changes.notify()

    def mark_unattended(self) -> None:
        """The last link of its clients was lost."""
        if self._guard.counts_down:
            self._unattended_at_s = self._clock.monotonic_s() + self._limits.unattended_s
            self._changes.notify()

    def mark_attended(self) -> None:
        """A client has come, or is there again."""
        if not math.isinf(self._unattended_at_s):
            self._unattended_at_s = math.inf
            self._changes.notify()

    async def run(self) -> None:
        while self._guard.counts_down:
            change_count = self._changes.change_count
            await self._update_suspension()
            if self.remaining_s == 0.0:
                await self._let_go()
            with anyio.move_on_after(self._next_s()):
                await self._changes.wait_for_change(change_count)

    def _next_s(self) -> float:
        left, now = self.remaining_s, self._clock.monotonic_s()
        until_suspended = math.inf if self._was_suspended else self._unattended_at_s - now
        return max(0.0, min(math.inf if left is None else left, until_suspended))

    def _follow(self) -> None:
        """A new stop begins a countdown. It is looked for whenever it is asked about: who waits for the stop may be
        faster than this task."""
        stop = self._lifecycle.stop
        if not self._guard.counts_down or not self._lifecycle.is_at_stop or stop is None:
            self._deadline_s = math.inf
        elif stop.number != self._stop:
            self._stop, now = stop.number, self._clock.monotonic_s()
            self._deadline_s, self._latest_s = now + self._limits.halt_s, now + max(MAX_HOLD_S, self._limits.halt_s)

    async def _update_suspension(self) -> None:
        is_suspended = self._clock.monotonic_s() >= self._unattended_at_s
        if is_suspended != self._was_suspended:
            self._was_suspended = self._guard.is_suspended = is_suspended
            try:
                await self._resend()
            except DragomanError as error:
                log.info("the breakpoints of a program that nobody watches may still be there: %s", error)

    async def _let_go(self) -> None:
        stop = self._lifecycle.stop
        number = stop.number if stop else 0
        self._lifecycle.let_go_at_ns = self._clock.wall_ns()  # before: who sees the program run knows why
        try:
            await self._run_control.resume(by=COUNTDOWN_ID, seen_stop=number)
        except DragomanError as error:
            log.warning("a program was not resumed by its countdown: %s", error)
            self._lifecycle.let_go_at_ns = 0
            self._deadline_s = self._clock.monotonic_s() + _RETRY_S
            return
        reason = "unattended" if self._was_suspended else "countdown"
        self._record_event("debug.released", reason, {"stop": number, "reason": reason})
