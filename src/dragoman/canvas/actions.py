"""Actions on their way to who drew the surface: each told once, kept for an hour while nobody listens, also over a
restart of the daemon."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import anyio

from dragoman.canvas.model import Taken
from dragoman.clock import Clock
from dragoman.journal import JsonStore

ACTIONS: JsonStore[Taken] = JsonStore("canvas_actions", Taken)
KEPT_S = 3600.0
KEPT_AT_MOST = 1_000
"""Of all drawers; the oldest go first, and are counted."""

Chosen = Callable[[Taken], bool]


class Waiting:
    """Owns what was not told yet."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._taken: deque[Taken] = deque()
        self._bell = anyio.Event()
        self.dropped = 0

    def make_room(self) -> list[Taken]:
        """For one more; returns the one that went for it."""
        self._let_go_of_old()
        if len(self._taken) < KEPT_AT_MOST:
            return []
        self.dropped += 1
        return [self._taken.popleft()]

    def ids(self) -> set[str]:
        return {taken.id for taken in self._taken}

    def oldest_ns(self) -> int:
        """Nothing that was done before is kept."""
        return self._clock.wall_ns() - int(KEPT_S * 1e9)

    def put(self, taken: Taken) -> None:
        self._taken.append(taken)
        self.ring()

    def recall(self, every: Iterable[Taken]) -> None:
        """Of an earlier life of the daemon."""
        self._taken = deque(sorted(every, key=lambda taken: taken.at_ns))
        self._let_go_of_old()

    def put_back(self, taken: Taken) -> None:
        """By who could not pass it on: as old as it was, and so before what was done later, and only that."""
        if len(self._taken) < KEPT_AT_MOST:
            self._taken.insert(sum(it.at_ns < taken.at_ns for it in self._taken), taken)
            self.ring()
        else:
            self.dropped += 1

    def ring(self) -> None:
        """Whoever waits looks again whether there is something to wait for."""
        self._bell.set()
        self._bell = anyio.Event()

    async def take(
        self, chosen: Chosen, *, most: int, within_s: float, is_over: Callable[[], bool] = lambda: False
    ) -> list[Taken]:
        """The oldest that fit, at once or within the time; whoever gets one is the only one who does."""
        with anyio.move_on_after(within_s):
            while not (self._has(chosen) or is_over()):
                await self._bell.wait()
        return self._now(chosen, most)

    def keep(self, chosen: Chosen) -> None:
        self._taken = deque(filter(chosen, self._taken))

    def _has(self, chosen: Chosen) -> bool:
        self._let_go_of_old()
        return any(map(chosen, self._taken))

    def _now(self, chosen: Chosen, most: int) -> list[Taken]:
        self._let_go_of_old()
        told = [taken for taken in self._taken if chosen(taken)][:most]
        for taken in told:
            self._taken.remove(taken)
        return told

    def _let_go_of_old(self) -> None:
        oldest_ns = self.oldest_ns()
        while self._taken and self._taken[0].at_ns < oldest_ns:
            self._taken.popleft()
            self.dropped += 1
