"""Acks that are owed: what may become a secret is held back for a moment, and is not the kernel's before it is written.

Only to a wrapper that resumes by its count of bytes: it goes on meanwhile, and can send them again. Any other waits for
each Ack with its person's keys behind it, and has nothing to send again.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from dragoman.omnish.ports import Record
from dragoman.wire.omnish.messages import Ack

_LOOK_EVERY_S = 0.1


class Owing:
    def __init__(self, record: Record, reply: Callable[[int, object], None]) -> None:
        self._record = record
        self._reply = reply
        self._owed: dict[str, list[int]] = {}
        self._some = anyio.Event()

    def taken(self, session_id: str, frame_id: int, *, resumes: bool) -> None:
        """In the order of their frames, also where only the last was held back."""
        if resumes and self._record.holds(session_id):
            self._owed.setdefault(session_id, []).append(frame_id)
            self._some.set()
            return
        if self._owed:
            self._settle(session_id)
        self._reply(frame_id, Ack())

    async def run(self) -> None:
        while True:
            await self._some.wait()
            await anyio.sleep(_LOOK_EVERY_S)
            for session_id in [it for it in self._owed if not self._record.holds(it)]:
                self._settle(session_id)
            if not self._owed:
                self._some = anyio.Event()

    def _settle(self, session_id: str) -> None:
        for frame_id in self._owed.pop(session_id, ()):
            self._reply(frame_id, Ack())
