"""The messages that wait for the daemon, in order, within 8 MiB.

A message stays until it is acknowledged. When output does not fit, the oldest is dropped and a gap takes its place.
Commands and other small messages have a limit of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

LIMIT = 8 * 1024 * 1024
SMALL_LIMIT = 1024 * 1024
# Sent messages may already be recorded, so they are never dropped. At most half of the space may be in that state, so
# that there is always room for new messages.
_WINDOW = LIMIT // 2
# The overhead per message, counted so that a million small ones are bounded.
_OVERHEAD = 200


@dataclass(slots=True)
class OutboxEntry:
    """A message, or a gap in its place."""

    message: object | None
    size: int
    output: int = 0
    """How many bytes of output it holds; for a gap, how many were lost."""


class RecordingOutbox:
    """Messages that wait for the daemon. `gap` makes the message that reports lost bytes; `resume` makes the first
    message of a new connection.
    """

    def __init__(self, *, gap: Callable[[int], object], resume: Callable[[int], object], limit: int = LIMIT) -> None:
        self._gap, self._resume = gap, resume
        self._limit = limit
        self._old: deque[OutboxEntry] = deque()
        self._waiting: deque[OutboxEntry] = deque()
        self._sent: dict[int, OutboxEntry] = {}
        self._size = 0
        self._small = 0
        self._unacknowledged = 0
        self._acknowledged = 0
        self._begins = True

    @property
    def empty(self) -> bool:
        return not (self._old or self._waiting or self._sent)

    def add_output(self, message: object, size: int) -> None:
        self._waiting.append(OutboxEntry(message, size, size))
        self._size += size
        while self._size > self._limit and self._waiting:
            self._drop_oldest()

    def add(self, message: object, size: int = 0) -> None:
        self._waiting.append(OutboxEntry(message, size + _OVERHEAD))
        self._small += size + _OVERHEAD
        while self._small > SMALL_LIMIT and self._drop_small():
            pass

    def pop(self) -> tuple[object, OutboxEntry | None] | None:
        """The next message to send, and the value to pass to `sent`. The first message of a connection is not an
        entry."""
        if self._begins:
            self._begins = False
            return self._resume(self._acknowledged), None
        if not (self._old or self._waiting) or self._unacknowledged > _WINDOW:
            return None
        entry = (self._old or self._waiting).popleft()
        return (self._gap(entry.output) if entry.message is None else entry.message), entry

    def sent(self, request_id: int, entry: OutboxEntry) -> None:
        self._sent[request_id] = entry
        self._unacknowledged += entry.size

    def acknowledge(self, request_id: int) -> None:
        entry = self._sent.pop(request_id, None)
        if entry is None:
            return
        self._forget(entry)
        self._unacknowledged -= entry.size
        if entry.message is not None:
            self._acknowledged += entry.output

    def handle_disconnect(self) -> None:
        """Unacknowledged messages are sent again, after a new start message."""
        self._old.extendleft(reversed(self._sent.values()))
        self._sent.clear()
        self._unacknowledged = 0
        self._begins = True

    def _forget(self, entry: OutboxEntry) -> None:
        if entry.output and entry.message is not None:
            self._size -= entry.size
        else:
            self._small -= entry.size

    def _drop_oldest(self) -> None:
        """Drop the oldest message that was never sent: the daemon may be about to acknowledge the others."""
        entry = self._waiting.popleft()
        if not entry.output or entry.message is None:
            self._old.append(entry)
            return
        self._size -= entry.size
        last = self._old[-1] if self._old else None
        if last is not None and last.message is None:
            last.output += entry.output
            return
        self._old.append(OutboxEntry(None, _OVERHEAD, entry.output))
        self._small += _OVERHEAD

    def _drop_small(self) -> bool:
        """Drop the oldest message that is not output; return whether there was one."""
        for queue in (self._old, self._waiting):
            for at, entry in enumerate(queue):
                if not entry.output:
                    del queue[at]
                    self._forget(entry)
                    return True
        return False
