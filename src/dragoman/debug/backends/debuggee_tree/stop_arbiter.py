"""Decides which debuggee's stop is reported; the others wait until that debuggee is resumed."""

from __future__ import annotations

import anyio

from dragoman.protocols.dap.bodies import StoppedBody

_STEP_TIMEOUT_S = 1.0


class StopArbiter:
    """Which stop is current, which ones wait, and which debuggees are stepping. Debuggees are named by their slots."""

    def __init__(self) -> None:
        self.current: int | None = None
        self._held: list[tuple[int, StoppedBody]] = []
        self._resuming: dict[int, StoppedBody] = {}
        self._stepping: dict[int, anyio.Event] = {}

    def is_current(self, debuggee: int) -> bool:
        return self.current == debuggee

    def stopped(self, debuggee: int, event: StoppedBody) -> bool:
        """Whether to report it now; otherwise it waits, and replaces an earlier one of the same debuggee."""
        self._step_ended(debuggee)
        if self.current == debuggee or (self.current is None and not self._stepping):
            self.current = debuggee
            return True
        self._held = [(owner, held) for owner, held in self._held if owner != debuggee] + [(debuggee, event)]
        return False

    @property
    def held_threads(self) -> tuple[int, ...]:
        return tuple(held.thread_id for _, held in self._held if held.thread_id is not None)

    def continued(self, debuggee: int) -> bool:
        """Whether to report it. A stop that waited and was continued by somebody else is dropped."""
        if self.current == debuggee:
            self.current = None
            return True
        self._held = [(owner, held) for owner, held in self._held if owner != debuggee]
        return self.current is None

    def mark_resumed(self, debuggee: int, *, stepping: bool) -> bool:
        """Whether its stop was the current one, for `mark_refused`. One that waited is not reported any more."""
        self._resuming.pop(debuggee, None)
        for owner, held in [it for it in self._held if it[0] == debuggee]:
            self._held.remove((owner, held))
            self._resuming[debuggee] = held
        was_current = self.current == debuggee
        if was_current:
            self.current = None
        if stepping:
            self._stepping[debuggee] = anyio.Event()
        return was_current

    def mark_refused(self, debuggee: int, *, was_current: bool) -> None:
        """It refused to resume."""
        self._step_ended(debuggee)
        held = self._resuming.pop(debuggee, None)
        if held is not None and all(owner != debuggee for owner, _ in self._held):
            self._held.append((debuggee, held))
        if was_current and self.current is None:
            self.current = debuggee

    def has_waiters(self, debuggee: int) -> bool:
        """Whether resuming it leads to another report: its own step, or a stop that waits."""
        return debuggee in self._stepping or bool(self._held)

    async def wait_for_step(self, debuggee: int) -> None:
        """Returns at once if it was not a step. A long step must not hide the stops of others."""
        step = self._stepping.get(debuggee)
        if step is not None:
            with anyio.move_on_after(_STEP_TIMEOUT_S):
                await step.wait()
            self._stepping.pop(debuggee, None)

    def left(self, debuggee: int) -> None:
        self._step_ended(debuggee)
        self._held = [(owner, held) for owner, held in self._held if owner != debuggee]
        if self.current == debuggee:
            self.current = None

    def next(self) -> StoppedBody | None:
        if self.current is not None or self._stepping or not self._held:
            return None
        self.current, event = self._held.pop(0)
        return event

    def _step_ended(self, debuggee: int) -> None:
        step = self._stepping.pop(debuggee, None)
        if step is not None:
            step.set()
