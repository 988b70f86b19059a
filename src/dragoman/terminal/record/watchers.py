"""Live output for watchers, and notifications when a command ends."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

from dragoman.core.localization import localize
from dragoman.terminal.model import RecordedCommand

log = logging.getLogger(__name__)

# A watcher that falls further behind gets the number of bytes it missed, and continues with new output.
BEHIND_BYTES = 1024 * 1024

CommandListener = Callable[[RecordedCommand], None]


class TerminalWatchers:
    def __init__(self) -> None:
        self._watchers: dict[str, set[OutputWatcher]] = {}
        self._waiters: dict[str, set[CommandListener]] = {}
        self._listeners: list[CommandListener] = []
        self._closed = False

    def on_command(self, listener: CommandListener) -> None:
        self._listeners.append(listener)

    def watch(self, terminal: str) -> OutputWatcher:
        """Registers at once: output between this call and the first read is not missed."""
        watcher = OutputWatcher(lambda it: self._leave(terminal, it))
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

    def publish_command(self, command: RecordedCommand) -> None:
        for listener in [*self._waiters.get(command.terminal, ()), *self._listeners]:
            try:
                listener(command)
            except Exception:
                log.exception("a listener failed at the end of a command")

    @contextmanager
    def waiting(self, terminal: str, listener: CommandListener) -> Iterator[None]:
        waiters = self._waiters.setdefault(terminal, set())
        waiters.add(listener)
        try:
            yield
        finally:
            waiters.discard(listener)
            if not waiters:
                self._waiters.pop(terminal, None)

    def close(self) -> None:
        self._closed = True
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.end()

    def _leave(self, terminal: str, watcher: OutputWatcher) -> None:
        watchers = self._watchers.get(terminal, set())
        watchers.discard(watcher)
        if not watchers:
            self._watchers.pop(terminal, None)


class OutputWatcher:
    """The live output of one terminal, as an async iterator.

    It is not a generator: a generator that was never started would not notice that it is closed.
    """

    def __init__(self, leave: Callable[[OutputWatcher], None]) -> None:
        self._leave = leave
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._missed = 0
        self.missed_bytes = 0
        """The total. A viewer that renders the screen must redraw it when this grows."""
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
        """Discard the queued output: the caller has it from elsewhere."""
        self._waiting.clear()
        self._bytes = self._missed = 0

    def end(self) -> None:
        self._ended = True
        self._more.set()

    def __aiter__(self) -> OutputWatcher:
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
            return _gap_notice(missed)
        if not self._waiting:
            return None
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        return data


def _gap_notice(missed: int) -> bytes:
    return f"\x1b[0m\r\n{localize('[{count} bytes were shown too fast to follow]', count=missed)}\r\n".encode()
