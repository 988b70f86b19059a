"""What an editor tells of a lent session, held until the session takes it.

A program may print faster than that. Output that waits is joined, and what is too much is left out, with a word in its
place. All else says how the program stands: none of it is left out. An editor that tells even of that without an end
is not believed any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec

from dragoman.debug.messages import output
from dragoman.phrases import say
from dragoman.wire.dap import Event

HELD_CHARACTERS = 1 << 19
HELD_PRINTS = 1000
HELD_OTHERS = 4000
_JOINED = 1 << 16


@dataclass(slots=True)
class _Printed:
    category: str
    texts: list[str] = field(default_factory=list)
    size: int = 0
    left_out: int = 0

    def event(self) -> Event:
        lost = say("[{count} characters of output came too fast and are not here]", count=self.left_out)
        return output("".join(self.texts) + (f"\n{lost}\n" if self.left_out else ""), self.category)


class LentEvents:
    def __init__(self) -> None:
        self._waiting: deque[_Printed | Event] = deque()
        self._characters = 0
        self._prints = 0
        self._is_closed = False
        self._changed = anyio.Event()

    def put(self, event: str, body: Mapping[str, Any]) -> bool:
        """Whether there was room. Output always finds some: for what was printed, or for a word in its place."""
        if self._is_closed:
            return True
        if event == "output":
            self._print(str(body.get("category") or "console"), str(body.get("output") or ""))
        elif len(self._waiting) - self._prints < HELD_OTHERS:
            self._waiting.append(Event(event=event, body=msgspec.Raw(msgspec.json.encode(body))))
        else:
            return False
        self._changed.set()
        return True

    def close(self) -> None:
        """What waits is still taken."""
        self._is_closed = True
        self._changed.set()

    async def taken(self) -> AsyncIterator[Event]:
        while True:
            while self._waiting:
                yield self._next()
            if self._is_closed:
                return
            self._changed = anyio.Event()
            await self._changed.wait()

    def _next(self) -> Event:
        first = self._waiting.popleft()
        if isinstance(first, Event):
            return first
        self._prints -= 1
        self._characters -= first.size
        return first.event()

    def _print(self, category: str, text: str) -> None:
        last = self._waiting[-1] if self._waiting else None
        has_room = self._characters + len(text) <= HELD_CHARACTERS and self._prints < HELD_PRINTS
        if isinstance(last, _Printed) and (not has_room or (_is_one(last, category) and last.size < _JOINED)):
            self._add(last, text, has_room=has_room and not last.left_out)
        else:
            self._prints += 1
            printed = _Printed(category)
            self._waiting.append(printed)
            self._add(printed, text, has_room=has_room)

    def _add(self, printed: _Printed, text: str, *, has_room: bool) -> None:
        if not has_room:
            printed.left_out += len(text)
            return
        printed.texts.append(text)
        printed.size += len(text)
        self._characters += len(text)


def _is_one(printed: _Printed, category: str) -> bool:
    return printed.category == category and not printed.left_out
