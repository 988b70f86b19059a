"""Whose stop is the one that is told: others wait until it was sent on."""

from __future__ import annotations

import anyio

from dragoman.wire.dap import Event

_STEP_WITHIN_S = 1.0


class Turns:
    """Members by their place."""

    def __init__(self) -> None:
        self.front: int | None = None
        self._held: list[tuple[int, Event]] = []
        self._stepping: dict[int, anyio.Event] = {}

    def is_front(self, member: int) -> bool:
        return self.front == member

    def stopped(self, member: int, event: Event) -> bool:
        """Whether it is to be told now; otherwise it waits, in place of an earlier one of the same member."""
        self._step_ended(member)
        if self.front == member or (self.front is None and not self._stepping):
            self.front = member
            return True
        self._held = [(owner, held) for owner, held in self._held if owner != member] + [(member, event)]
        return False

    def continued(self, member: int) -> bool:
        """Whether it is to be told. A stop that waited and was continued by somebody else is none any more."""
        if self.front == member:
            self.front = None
            return True
        self._held = [(owner, held) for owner, held in self._held if owner != member]
        return self.front is None

    def sent_on(self, member: int, *, stepping: bool) -> bool:
        """Whether its stop was the one told, for `stays`."""
        was_front = self.front == member
        if was_front:
            self.front = None
        if stepping:
            self._stepping[member] = anyio.Event()
        return was_front

    def stays(self, member: int, *, was_front: bool) -> None:
        """It refused to go on."""
        self._step_ended(member)
        if was_front and self.front is None:
            self.front = member

    def is_awaited(self, member: int) -> bool:
        """Whether anything is to come of its going on: a step, or the turn of another."""
        return member in self._stepping or bool(self._held)

    async def step_is_over(self, member: int) -> None:
        """At once when it was no step. One that runs for long must not hide the stops of others."""
        step = self._stepping.get(member)
        if step is not None:
            with anyio.move_on_after(_STEP_WITHIN_S):
                await step.wait()
            self._stepping.pop(member, None)

    def left(self, member: int) -> None:
        self._step_ended(member)
        self._held = [(owner, held) for owner, held in self._held if owner != member]
        if self.front == member:
            self.front = None

    def next(self) -> Event | None:
        if self.front is not None or self._stepping or not self._held:
            return None
        self.front, event = self._held.pop(0)
        return event

    def _step_ended(self, member: int) -> None:
        step = self._stepping.pop(member, None)
        if step is not None:
            step.set()
