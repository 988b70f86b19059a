"""What waits for the daemon, in order, within 8 MiB.

Everything stays here until it is acknowledged. Output that does not fit any more goes, oldest first, and a gap stands
in its place; commands and other small messages are kept among the gaps, within a bound of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

LIMIT = 8 * 1024 * 1024
SMALL_LIMIT = 1024 * 1024
# What was sent once may be in the record and is never given up: no more than half may be in that state, so that there
# is always room for what is new.
_WINDOW = LIMIT // 2
# What a message costs besides its bytes: it is counted so that a million of them are not free.
_OVERHEAD = 200


@dataclass(slots=True)
class Entry:
    """A message; or a gap, where there is none any more."""

    message: object | None
    size: int
    output: int = 0
    """How many bytes of output it holds; of a gap, how many were lost."""


class Outbox:
    """`gap` makes the message that tells of lost bytes; `resume` the one that a new connection begins with."""

    def __init__(self, *, gap: Callable[[int], object], resume: Callable[[int], object], limit: int = LIMIT) -> None:
        self._gap, self._resume = gap, resume
        self._limit = limit
        self._old: deque[Entry] = deque()
        self._waiting: deque[Entry] = deque()
        self._sent: dict[int, Entry] = {}
        self._size = 0
        self._small = 0
        self._unacknowledged = 0
        self._acknowledged = 0
        self._begins = True

    @property
    def empty(self) -> bool:
        return not (self._old or self._waiting or self._sent)

    def add_output(self, message: object, size: int) -> None:
        self._waiting.append(Entry(message, size, size))
        self._size += size
        while self._size > self._limit and self._waiting:
            self._drop_oldest()

    def add(self, message: object, size: int = 0) -> None:
        self._waiting.append(Entry(message, size + _OVERHEAD))
        self._small += size + _OVERHEAD
        while self._small > SMALL_LIMIT and self._drop_small():
            pass

    def take(self) -> tuple[object, Entry | None] | None:
        """The next to send, and what `sent` is to be told; the first of a connection is no entry of ours."""
        if self._begins:
            self._begins = False
            return self._resume(self._acknowledged), None
        if not (self._old or self._waiting) or self._unacknowledged > _WINDOW:
            return None
        entry = (self._old or self._waiting).popleft()
        return (self._gap(entry.output) if entry.message is None else entry.message), entry

    def sent(self, request_id: int, entry: Entry) -> None:
        self._sent[request_id] = entry
        self._unacknowledged += entry.size

    def acknowledged(self, request_id: int) -> None:
        entry = self._sent.pop(request_id, None)
        if entry is None:
            return
        self._forget(entry)
        self._unacknowledged -= entry.size
        if entry.message is not None:
            self._acknowledged += entry.output

    def disconnected(self) -> None:
        """What nobody acknowledged is sent again, after a new beginning."""
        self._old.extendleft(reversed(self._sent.values()))
        self._sent.clear()
        self._unacknowledged = 0
        self._begins = True

    def _forget(self, entry: Entry) -> None:
        if entry.output and entry.message is not None:
            self._size -= entry.size
        else:
            self._small -= entry.size

    def _drop_oldest(self) -> None:
        """The oldest of what was never sent: a daemon that has the rest may be just about to say so."""
        entry = self._waiting.popleft()
        if not entry.output or entry.message is None:
            self._old.append(entry)
            return
        self._size -= entry.size
        last = self._old[-1] if self._old else None
        if last is not None and last.message is None:
            last.output += entry.output
            return
        self._old.append(Entry(None, _OVERHEAD, entry.output))
        self._small += _OVERHEAD

    def _drop_small(self) -> bool:
        """The oldest message that is no output; whether there was one."""
        for queue in (self._old, self._waiting):
            for at, entry in enumerate(queue):
                if not entry.output:
                    del queue[at]
                    self._forget(entry)
                    return True
        return False
