"""Who looks on: live bytes for watchers, and ends of commands for those who wait for one."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

from dragoman.phrases import say
from dragoman.terminal.model import Command

log = logging.getLogger(__name__)

# A watcher that is further behind than this is told how much it missed, and goes on with what is new.
BEHIND_BYTES = 1024 * 1024

Told = Callable[[Command], None]


class Watchers:
    def __init__(self) -> None:
        self._watchers: dict[str, set[Watcher]] = {}
        self._waiters: dict[str, set[Told]] = {}
        self._told: list[Told] = []
        self._closed = False

    def on_command(self, told: Told) -> None:
        self._told.append(told)

    def watch(self, terminal: str) -> Watcher:
        """Registered now: what is shown between this call and the first look is not missed."""
        watcher = Watcher(lambda it: self._leave(terminal, it))
        self._watchers.setdefault(terminal, set()).add(watcher)
        if self._closed:
            watcher.end()
        return watcher

    def shown(self, terminal: str, data: bytes) -> None:
        if data:
            for watcher in self._watchers.get(terminal, ()):
                watcher.put(data)

    def ended(self, terminal: str) -> None:
        for watcher in self._watchers.get(terminal, ()):
            watcher.end()

    def finished(self, command: Command) -> None:
        for told in [*self._waiters.get(command.terminal, ()), *self._told]:
            try:
                told(command)
            except Exception:
                log.exception("a listener failed at the end of a command")

    @contextmanager
    def waiting(self, terminal: str, told: Told) -> Iterator[None]:
        waiters = self._waiters.setdefault(terminal, set())
        waiters.add(told)
        try:
            yield
        finally:
            waiters.discard(told)
            if not waiters:
                self._waiters.pop(terminal, None)

    def close(self) -> None:
        self._closed = True
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.end()

    def _leave(self, terminal: str, watcher: Watcher) -> None:
        watchers = self._watchers.get(terminal, set())
        watchers.discard(watcher)
        if not watchers:
            self._watchers.pop(terminal, None)


class Watcher:
    """What is shown, as it comes. No generator: one that was never asked would not hear that it is closed."""

    def __init__(self, leave: Callable[[Watcher], None]) -> None:
        self._leave = leave
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._missed = 0
        self.missed_bytes = 0
        """In all: who draws what is shown draws anew where this grew."""
        self._ended = False
        self._more = anyio.Event()

    def put(self, data: bytes) -> None:
        self._waiting.append(data)
        self._bytes += len(data)
        while self._bytes > BEHIND_BYTES:
            dropped = self._waiting.popleft()
            self._bytes -= len(dropped)
            self._missed += len(dropped)
            self.missed_bytes += len(dropped)
        self._more.set()

    def skip(self) -> None:
        """What waits is known by other means."""
        self._waiting.clear()
        self._bytes = self._missed = 0

    def end(self) -> None:
        self._ended = True
        self._more.set()

    def __aiter__(self) -> Watcher:
        return self

    async def __anext__(self) -> bytes:
        data = await self._next()
        if data is None:
            raise StopAsyncIteration
        return data

    async def aclose(self) -> None:
        self._leave(self)

    async def _next(self) -> bytes | None:
        while not (self._waiting or self._missed or self._ended):
            self._more = anyio.Event()
            await self._more.wait()
        if self._missed:
            missed, self._missed = self._missed, 0
            return _gap(missed)
        if not self._waiting:
            return None
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        return data


def _gap(missed: int) -> bytes:
    return f"\x1b[0m\r\n{say('[{count} bytes were shown too fast to follow]', count=missed)}\r\n".encode()
