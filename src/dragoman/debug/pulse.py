"""Beats when anything of a session changed, for whoever follows it.

It says that something did, not what: a follower compares with what it told last. So nothing is queued for one that is
slow, and what it missed meanwhile it tells as one change.
"""

from __future__ import annotations

import anyio


class Pulse:
    def __init__(self) -> None:
        self.beats = 0
        self._awaited: anyio.Event | None = None

    def beat(self) -> None:
        self.beats += 1
        if self._awaited is not None:
            self._awaited.set()
            self._awaited = None

    async def after(self, beats: int) -> int:
        """The count, once it is another than that."""
        while self.beats == beats:
            if self._awaited is None:
                self._awaited = anyio.Event()
            await self._awaited.wait()
        return self.beats
