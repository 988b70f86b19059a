"""The countdown of a halt: an attached program that was halted from another machine runs on by itself.

A halt ends after some time, unless somebody asks for more of it. It ends sooner when nobody holds the session any more,
because every link of its clients was lost; from then on nothing halts a program that was attached to from another
machine, until a client comes back.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.debug.session.lifecycle import ChangeSignal, SessionLifecycle
from dragoman.debug.session.run_control import RecordEvent, RunControl
from dragoman.debug.session.stop_permissions import StopPermissions

log = logging.getLogger(__name__)

COUNTDOWN_ID = "countdown"
"""Who resumed a program whose halt was over."""
MAX_HOLD_S = 600.0
_FIRST_RETRY_S = 1.0
_MAX_RETRY_S = 30.0  # a debugger that answers nothing for minutes is asked twice a minute


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
    which the permissions let pass what may halt."""

    def __init__(
        self,
        permissions: StopPermissions,
        lifecycle: SessionLifecycle,
        run_control: RunControl,
        changes: ChangeSignal,
        clock: Clock,
        *,
        limits: HaltLimits,
        record_event: RecordEvent,
        resend: Callable[[], Awaitable[None]],
    ) -> None:
        self._permissions = permissions
        self._lifecycle = lifecycle
        self._run_control = run_control
        self._changes = changes
        self._clock = clock
        self._limits = limits
        self._record_event = record_event
        self._resend = resend
        self._halt = 0
        self._tries = 0
        self._next_try_s = -math.inf
        self._latest_s = math.inf
        self._deadline_s = math.inf
        self._unattended_at_s = math.inf
        self._was_suspended = False

    @property
    def remaining_s(self) -> float | None:
        """Until the program runs on; None where it does not stand, or stands for as long as its clients want."""
        self._watch_stop()
        if math.isinf(self._deadline_s) or not self._lifecycle.is_at_stop:
            return None
        ends_s = max(min(self._deadline_s, self._unattended_at_s), self._next_try_s)
        return max(0.0, ends_s - self._clock.monotonic_s())

    def hold(self, seconds: float) -> None:
        """From now on; never shorter than it was. A halt ends ten minutes after it began, whoever asks."""
        self._watch_stop()
        if math.isinf(self._deadline_s):
            return
        wanted = self._clock.monotonic_s() + seconds
        self._deadline_s = min(max(self._deadline_s, wanted), self._latest_s)
        self._record_event("debug.held", f"{seconds:g} s", {"seconds": seconds})
        self._changes.notify()

    def mark_unattended(self) -> None:
        """The last link of its clients was lost."""
        if self._permissions.may_count_down:
            self._unattended_at_s = self._clock.monotonic_s() + self._limits.unattended_s
            self._changes.notify()

    def mark_attended(self) -> None:
        """A client has come, or is there again."""
        if not math.isinf(self._unattended_at_s):
            self._unattended_at_s = math.inf
            self._changes.notify()

    async def run(self) -> None:
        while self._permissions.may_count_down:
            change_count = self._changes.change_count
            is_changed = self._update_suspension()
            if self.remaining_s == 0.0:
                await self._resume()
            if is_changed:  # later: a debugger that hangs here must not keep the program
                await self._send_breakpoints()
            with anyio.move_on_after(self._next_s()):
                await self._changes.wait_for_change(change_count)

    def _next_s(self) -> float:
        left, now = self.remaining_s, self._clock.monotonic_s()
        waits_for_client = self._permissions.counts_down and not self._was_suspended
        until_suspended = self._unattended_at_s - now if waits_for_client else math.inf
        return max(0.0, min(math.inf if left is None else left, until_suspended))

    def _watch_stop(self) -> None:
        """A new halt begins a countdown; a further thread that stops during it does not. It is looked for whenever it
        is asked about: who waits for the stop may be faster than this task."""
        stop = self._lifecycle.stop
        if not self._lifecycle.is_at_stop or stop is None:
            return  # a resume that fails leaves the halt, and its deadline
        if self._lifecycle.halts != self._halt:
            self._halt, self._deadline_s = self._lifecycle.halts, math.inf
            self._tries, self._next_try_s = 0, -math.inf
        if math.isinf(self._deadline_s) and self._permissions.limits(stop):
            now = self._clock.monotonic_s()
            self._deadline_s, self._latest_s = now + self._limits.halt_s, now + max(MAX_HOLD_S, self._limits.halt_s)

    def _update_suspension(self) -> bool:
        """Whether it changed, and with it the breakpoints that may be set."""
        is_suspended = self._permissions.counts_down and self._clock.monotonic_s() >= self._unattended_at_s
        is_changed = is_suspended != self._was_suspended
        self._was_suspended = self._permissions.is_suspended = is_suspended
        return is_changed

    async def _send_breakpoints(self) -> None:
        try:
            await self._resend()
        except DragomanError as error:
            log.info("the breakpoints of a program that nobody watches may still be there: %s", error)

    async def _resume(self) -> None:
        """As a whole: a program of ten stopped threads is not let go ten times. Whatever comes of it, the next try is
        not at once."""
        stop = self._lifecycle.stop
        number = stop.number if stop else 0
        self._lifecycle.auto_resumed_at_ns = self._clock.wall_ns()  # before: who sees the program run knows why
        try:
            await self._run_control.resume_everything(by=COUNTDOWN_ID, seen_stop=number)
        except DragomanError as error:
            log.warning("a program was not resumed by its countdown: %s", error)
            self._lifecycle.auto_resumed_at_ns = 0
            return
        finally:
            pause_s = min(_FIRST_RETRY_S * 2**self._tries, _MAX_RETRY_S)
            self._next_try_s, self._tries = self._clock.monotonic_s() + pause_s, min(self._tries + 1, 10)
        reason = "unattended" if self._clock.monotonic_s() >= self._unattended_at_s else "countdown"
        self._record_event("debug.released", reason, {"stop": number, "reason": reason})
