"""The outcome of a waiting call, and a pause of a program that may not halt: asked for twice, and answered with a
thread dump where the program waits in native code.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from dragoman.core.clock import Clock
from dragoman.debug.model import ProgramEnd, SessionState, Stop
from dragoman.debug.session.session import DebugSession
from dragoman.debug.thread_dump import ThreadDump

_PAUSE_TIMEOUT_S = 4.0  # Lua programs check for messages every two seconds
_PAUSE_BLOCKED_AFTER_S = 0.7  # a running thread stops within milliseconds on an idle machine
_BUSY_PAUSE_TIMEOUT_S = 1.9


@dataclass(frozen=True, slots=True)
class DebugOutcome:
    """The outcome of a waiting call. Without an outcome the call timed out, and the session goes on as its state
    says.
    """

    session: DebugSession
    outcome: Stop | ProgramEnd | None
    others: tuple[DebugSession, ...] = ()
    """Sessions that were started together with this one."""
    dump: ThreadDump = field(default_factory=ThreadDump)
    """The threads of a program that did not halt."""

    @property
    def is_still_running(self) -> bool:
        return self.outcome is None and self.session.state is SessionState.RUNNING


WaitForOutcome = Callable[[float], Awaitable[DebugOutcome]]
"""Waits at most so many seconds."""


async def pause_program(
    session: DebugSession, clock: Clock, *, ask: WaitForOutcome, wait: WaitForOutcome, within_s: float
) -> DebugOutcome:
    """`ask` sends the request and waits, `wait` only waits. Asked for once more where nothing came of it: js-debug
    loses one that overtakes the continue before it.

    A program that waits in native code halts when it comes back from there, perhaps never. Where a thread dump says
    where each thread is, that is the answer, within two seconds, and nobody is kept waiting for more."""
    dumps, quirks, began_s = session.thread_dumps, session.launch.quirks, clock.monotonic_s()

    def remaining_s(seconds: float) -> float:
        return max(began_s + min(seconds, within_s) - clock.monotonic_s(), 0.0)

    first_s = min(within_s, _PAUSE_BLOCKED_AFTER_S if dumps.can_dump_running else _PAUSE_TIMEOUT_S)
    before_it = await dumps.read(may_halt=False) if dumps.must_dump_before_pause else ThreadDump()
    happened = await ask(first_s)
    if dumps.can_dump_running and happened.is_still_running:
        dump = before_it or await dumps.read(may_halt=False)
        # Only a thread that runs its own code, or can be interrupted, will stop.
        can_halt = quirks.loses_pauses and dump.is_placed
        if (dump.is_blocked or dump.is_placed) and not can_halt:
            if quirks.loses_pauses and not dump.native and session.state is SessionState.RUNNING:
                await ask(0.0)
            left_s = remaining_s(0.0 if dump.is_blocked and not before_it else _BUSY_PAUSE_TIMEOUT_S)
            return replace(await wait(left_s), dump=dump)
        happened = await wait(remaining_s(_PAUSE_TIMEOUT_S))
    if happened.is_still_running and within_s > _PAUSE_TIMEOUT_S:
        return await ask(remaining_s(within_s))
    return happened
