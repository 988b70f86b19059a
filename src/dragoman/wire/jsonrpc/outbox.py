"""Whole lines that go out in pieces, as many bytes at a time as the other end takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dragoman.wire.jsonrpc.messages import Id, as_id, objects_in


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line with its end, and what it means for the ids. A batch may mean several things at once."""

    data: bytes
    asks: tuple[Id, ...] = ()
    cancels: tuple[Id, ...] = ()
    initialize: Id | None = None
    is_initialized: bool = False


# What keeping a line costs beside its bytes: a million empty ones are not free.
COST_A_LINE = 256


class Outbox:
    """`size` is what it costs to keep what has not gone out."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque()
        self._offset = 0
        self.size = 0

    def __bool__(self) -> bool:
        return bool(self._lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines)

    def put(self, line: Line) -> None:
        self._lines.append(line)
        self.size += len(line.data) + COST_A_LINE

    def head(self) -> memoryview:
        return memoryview(self._lines[0].data)[self._offset :]

    def took(self, count: int) -> list[Line]:
        """That many bytes are out; the lines that are out whole by this."""
        self._offset += count
        self.size -= count
        whole = []
        while self._lines and self._offset >= len(self._lines[0].data):
            whole.append(self._lines.popleft())
            self._offset -= len(whole[-1].data)
            self.size -= COST_A_LINE
        return whole

    def take_all(self) -> list[Line]:
        """Everything that is not out whole; a line that was cut counts as not begun."""
        lines = list(self._lines)
        self._lines.clear()
        self._offset = self.size = 0
        return lines

    def put_all(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self.put(line)


def read_line(data: bytes) -> Line:
    messages = objects_in(data)
    asked = [(item["method"], as_id(item.get("id"))) for item in messages if isinstance(item.get("method"), str)]
    cancels = [_cancelled(item.get("params")) for item in messages if item.get("method") == "notifications/cancelled"]
    return Line(
        data + b"\n",
        asks=tuple(request_id for _, request_id in asked if request_id is not None),
        cancels=tuple(request_id for request_id in cancels if request_id is not None),
        initialize=next((request_id for method, request_id in asked if method == "initialize"), None),
        is_initialized=any(method == "notifications/initialized" for method, _ in asked),
    )


def _cancelled(params: object) -> Id | None:
    return as_id(params.get("requestId")) if isinstance(params, dict) else None
