"""Lines for the client, from several sources in turn: one that floods delays the others by at most a line each."""

from __future__ import annotations

from dragoman.protocols.jsonrpc.relay import FULL, LineOutbox, OutgoingLine


class FairOutbox:
    """One queue per source. A source whose queue is full is not read until the client has taken some of it."""

    def __init__(self, sources: int) -> None:
        self._queues = [LineOutbox() for _ in range(sources)]
        self._current = 0

    def __bool__(self) -> bool:
        return any(self._queues)

    @property
    def size(self) -> int:
        return sum(queue.size for queue in self._queues)

    def is_full(self, source: int) -> bool:
        return self._queues[source].size >= FULL

    def put(self, source: int, line: bytes) -> None:
        self._queues[source].put(OutgoingLine(line + b"\n"))

    def head(self) -> memoryview:
        """The rest of the current line, or the next one. There is one: the outbox is not empty."""
        while not self._queues[self._current]:
            self._next()
        return self._queues[self._current].head()

    def took(self, count: int) -> None:
        if self._queues[self._current].took(count):  # the line is complete
            self._next()

    def _next(self) -> None:
        self._current = (self._current + 1) % len(self._queues)
