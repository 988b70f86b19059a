"""Actions on their way to the agent that drew the surface. Each is delivered once, and kept for an hour while nobody
listens, also over a restart of the daemon.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import anyio

from dragoman.canvas.model import SurfaceAction
from dragoman.core.clock import Clock
from dragoman.journal import JsonStore

ACTIONS: JsonStore[SurfaceAction] = JsonStore("canvas_actions", SurfaceAction)
KEPT_S = 3600.0
KEPT_AT_MOST = 1_000
"""Over all drawers. The oldest are dropped first, and counted."""

ActionFilter = Callable[[SurfaceAction], bool]


class ActionQueue:
    """The actions that were not delivered yet, oldest first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queue: deque[SurfaceAction] = deque()
        self._changed = anyio.Event()
        self.dropped = 0

    def make_room(self) -> list[SurfaceAction]:
        """Make room for one more. Returns the action that was dropped for it."""
        self._drop_expired()
        if len(self._queue) < KEPT_AT_MOST:
            return []
        self.dropped += 1
        return [self._queue.popleft()]

    def ids(self) -> set[str]:
        return {taken.id for taken in self._queue}

    def oldest_ns(self) -> int:
        """Actions before this time are not kept."""
        return self._clock.wall_ns() - int(KEPT_S * 1e9)

    def put(self, taken: SurfaceAction) -> None:
        self._queue.append(taken)
        self.wake()

    def restore(self, every: Iterable[SurfaceAction]) -> None:
        """Restore the actions of an earlier run of the daemon."""
        self._queue = deque(sorted(every, key=lambda taken: taken.at_ns))
        self._drop_expired()

    def put_back(self, taken: SurfaceAction) -> None:
        """Put back an action that could not be delivered. It keeps its time, and so its place before later ones."""
        if len(self._queue) < KEPT_AT_MOST:
            self._queue.insert(sum(it.at_ns < taken.at_ns for it in self._queue), taken)
            self.wake()
        else:
            self.dropped += 1

    def wake(self) -> None:
        """Wake every waiter to check again."""
        self._changed.set()
        self._changed = anyio.Event()

    async def pop(
        self, chosen: ActionFilter, *, most: int, within_s: float, is_over: Callable[[], bool] = lambda: False
    ) -> list[SurfaceAction]:
        """Take the oldest actions that fit, at once or within the timeout. Each action goes to one taker only."""
        with anyio.move_on_after(within_s):
            while not (self._has(chosen) or is_over()):
                await self._changed.wait()
        return self._pop_now(chosen, most)

    def keep(self, chosen: ActionFilter) -> None:
        self._queue = deque(filter(chosen, self._queue))

    def _has(self, chosen: ActionFilter) -> bool:
        self._drop_expired()
        return any(map(chosen, self._queue))

    def _pop_now(self, chosen: ActionFilter, most: int) -> list[SurfaceAction]:
        self._drop_expired()
        matching = [taken for taken in self._queue if chosen(taken)][:most]
        for taken in matching:
            self._queue.remove(taken)
        return matching

    def _drop_expired(self) -> None:
        oldest_ns = self.oldest_ns()
        while self._queue and self._queue[0].at_ns < oldest_ns:
            self._queue.popleft()
            self.dropped += 1
