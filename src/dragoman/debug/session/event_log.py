"""Writes the events of sessions to the journal in the background: a step never waits for a disk, and a full disk ends
no session.

Events hold places and names, never values.
"""

from __future__ import annotations

import logging
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import anyio
import msgspec

from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.debug.model import Stop
from dragoman.journal import Statement

log = logging.getLogger(__name__)
_MAX_PENDING = 4096
_BATCH_SIZE = 256
_BATCH_DELAY_S = 0.25
_APPEND_TIMEOUT_S = 5.0
_ROWS_BYTES = 64 << 10

_T = TypeVar("_T")


StoreWrites = Callable[[], Sequence[Statement]]


class EventSink(Protocol):
    async def append(self, events: list[Event], *, writes: Sequence[Statement] = ()) -> int: ...


class EventLog:
    """A queue of events and store writes that one task appends to the journal in batches, in order."""

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self._pending_events: deque[Event] = deque()
        self._pending_writes: deque[StoreWrites] = deque()
        self._arrived = anyio.Event()
        self._dropped = 0
        self._flush_lock = anyio.Lock()

    def record_event(
        self, kind: str, session: str, text: str, body: dict[str, Any] | None = None, *, workspace: str
    ) -> None:
        if len(self._pending_events) >= _MAX_PENDING:
            self._dropped += 1
            return
        summary = f"{kind.replace('.', ' ')} {text}".strip()
        self._pending_events.append(
            Event(kind=kind, session=session, text=summary, body=body or {}, workspace=workspace)
        )
        self._arrived.set()

    def store(self, writes: StoreWrites) -> None:
        """Makes a store's row when it is written, so that the session does not wait for it."""
        if len(self._pending_writes) >= _MAX_PENDING:
            self._dropped += 1
            return
        self._pending_writes.append(writes)
        self._arrived.set()

    async def write(self) -> None:
        """Writes until it is cancelled; `flush` writes what is recorded last.

        Events are written in batches: each write is synced to disk, and steps come by the hundred.
        """
        while True:
            await self._arrived.wait()
            await anyio.sleep(_BATCH_DELAY_S)
            self._arrived = anyio.Event()
            await self.flush()

    async def flush(self) -> None:
        async with self._flush_lock:
            while self._pending_events or self._pending_writes:
                events, pending_writes = _pop_batch(self._pending_events), _pop_batch(self._pending_writes)
                await self._append(events, [write for made in pending_writes for write in made()])

    async def _append(self, events: list[Event], writes: Sequence[Statement]) -> None:
        dropped, self._dropped = self._dropped, 0
        if dropped:
            log.warning("%d events of debug sessions are not in the record: it is too slow", dropped)
        try:
            with anyio.move_on_after(_APPEND_TIMEOUT_S, shield=True):  # a cancelled write would lose its batch
                await self._sink.append(events, writes=writes)
        except DragomanError as error:
            log.warning("%d events of debug sessions are not in the record: %s", len(events), error)


def _pop_batch(waiting: deque[_T]) -> list[_T]:
    return [waiting.popleft() for _ in range(min(len(waiting), _BATCH_SIZE))]


def stop_event(stop: Stop) -> tuple[str, dict[str, Any]]:
    top = stop.frame
    place = {"path": top.path, "line": top.line, "function": top.name} if top else {}
    hit = {"hit": list(stop.hit_breakpoints)} if stop.hit_breakpoints else {}
    text = f"{stop.reason} {top.path}:{top.line}" if top else stop.reason
    return text, {"stop": stop.number, "reason": stop.reason, "thread": stop.thread_id, **place, **hit}


def rows_within_bounds(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of a trace that fit into one event: values at each hit, where they changed."""
    kept: list[Mapping[str, Any]] = []
    room = _ROWS_BYTES
    for row in rows:
        room -= len(msgspec.json.encode(row))
        if room < 0:
            break
        kept.append(row)
    return kept


def signal_name(exit_code: int | None) -> str:
    """Like POSIX's wait: an end by a signal is the signal's number, negative."""
    if exit_code is None or exit_code >= 0:
        return ""
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return ""
