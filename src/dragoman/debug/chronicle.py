"""What sessions do, written into the record beside them: a step never waits for a disk, and a full one ends nothing."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import anyio

from dragoman.errors import DragomanError
from dragoman.events import Event
from dragoman.journal import Statement

log = logging.getLogger(__name__)

_T = TypeVar("_T")

_WAITING = 4096
_AT_ONCE = 256
_GATHERED_FOR_S = 0.25
_APPENDED_WITHIN_S = 5.0


Writes = Callable[[], Sequence[Statement]]


class Record(Protocol):
    async def append(self, events: list[Event], *, writes: Sequence[Statement] = ()) -> int: ...


class Chronicle:
    """Events are appended in the order they were told, from a task of its own."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._waiting: deque[Event] = deque()
        self._to_keep: deque[Writes] = deque()
        self._arrived = anyio.Event()
        self._left_out = 0
        self._turn = anyio.Lock()

    def tell(self, kind: str, session: str, text: str, body: dict[str, Any] | None = None, *, workspace: str) -> None:
        if len(self._waiting) >= _WAITING:
            self._left_out += 1
            return
        told = f"{kind.replace('.', ' ')} {text}".strip()
        self._waiting.append(Event(kind=kind, session=session, text=told, body=body or {}, workspace=workspace))
        self._arrived.set()

    def keep(self, writes: Writes) -> None:
        """What a store keeps of it, made when it is written: whoever tells does not wait for that either."""
        if len(self._to_keep) >= _WAITING:
            self._left_out += 1
            return
        self._to_keep.append(writes)
        self._arrived.set()

    async def write(self) -> None:
        """Until cancelled. What is told at the very end is written by `flush`.

        Several events at a time: each write is synced to the disk, and steps come by the hundred."""
        while True:
            await self._arrived.wait()
            await anyio.sleep(_GATHERED_FOR_S)
            self._arrived = anyio.Event()
            await self.flush()

    async def flush(self) -> None:
        async with self._turn:
            while self._waiting or self._to_keep:
                events, to_keep = _taken(self._waiting), _taken(self._to_keep)
                await self._append(events, [write for made in to_keep for write in made()])

    async def _append(self, events: list[Event], writes: Sequence[Statement]) -> None:
        left_out, self._left_out = self._left_out, 0
        if left_out:
            log.warning("%d events of debug sessions are not in the record: it is too slow", left_out)
        try:
            with anyio.move_on_after(_APPENDED_WITHIN_S, shield=True):  # a batch that is cancelled is lost
                await self._record.append(events, writes=writes)
        except DragomanError as error:
            log.warning("%d events of debug sessions are not in the record: %s", len(events), error)


def _taken(waiting: deque[_T]) -> list[_T]:
    return [waiting.popleft() for _ in range(min(len(waiting), _AT_ONCE))]
