"""Peers that owe us the next step. Each has a deadline, and when too many wait, the one that waited longest goes.

So that a crowd of callers who say nothing can neither fill the table of file descriptors nor keep a real one out.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable, Hashable
from typing import NamedTuple


class _Wait(NamedTuple):
    deadline: asyncio.TimerHandle
    drop: Callable[[], object]


class Waiting:
    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        self._waits: dict[Hashable, _Wait] = {}

    def __len__(self) -> int:
        return len(self._waits)

    def begin(self, who: Hashable, drop: Callable[[], object], within_s: float) -> None:
        """A new step of somebody known starts a new deadline, at the end of the line."""
        self.end(who)
        while len(self._waits) >= self._at_most:
            self.drop_longest()
        deadline = asyncio.get_running_loop().call_later(within_s, self._drop, who)
        self._waits[who] = _Wait(deadline, drop)

    def end(self, who: Hashable) -> None:
        wait = self._waits.pop(who, None)
        if wait is not None:
            wait.deadline.cancel()

    def drop_longest(self) -> bool:
        """True when there was one: its descriptor is free after the loop's next round."""
        if not self._waits:
            return False
        self._drop(next(iter(self._waits)))
        return True

    def _drop(self, who: Hashable) -> None:
        drop = self._waits[who].drop
        self.end(who)
        drop()


def share_of_descriptors(part: int, *, at_most: int) -> int:
    """One `part`-th of what this process may open, within reason."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return at_most if limit == resource.RLIM_INFINITY else max(8, min(at_most, limit // part))
