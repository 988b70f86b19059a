"""When to scan process trees for sockets: often while connections come up, rarely while programs run, else never.

One task serves all sessions, and exists only while there is something to scan: an idle daemon pays nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dragoman.io.net.streams import Pids
from dragoman.io.processes.nodelay import NoDelaySetter

_FAST_SCAN_S = 0.015
_FAST_SCAN_PERIOD_S = 4.0
_SLOW_SCAN_S = 0.5
_AFTER_STOP_S = 0.1
_REST_TO_WORK = 4  # scanning hundreds of processes takes long, so the pause grows with the duration


class WatchedTree:
    """A process tree that is scanned for sockets. `NoDelayScheduler.watch` makes one."""

    def __init__(self, scheduler: NoDelayScheduler, pids: Pids) -> None:
        self.due = math.inf
        self._scheduler = scheduler
        self._pids = pids
        self._setter = NoDelaySetter()
        self._fast_until = 0.0
        self._runs = True
        self.connections_expected()

    def connections_expected(self) -> None:
        """Connections are coming up."""
        self._fast_until = anyio.current_time() + _FAST_SCAN_PERIOD_S
        self._schedule_scan(0)

    def program_resumed(self) -> None:
        """The program may start others, whose debugger connections are not announced."""
        self._runs = True
        self._schedule_scan(_SLOW_SCAN_S)

    def program_stopped(self) -> None:
        """All its connections are there, and scanning would cost time that steps need."""
        now = anyio.current_time()
        self._runs = False
        self._fast_until = min(self._fast_until, now + _AFTER_STOP_S)
        if now >= self._fast_until:
            self.due = math.inf

    def unwatch(self) -> None:
        self._scheduler.remove(self)

    def scan(self) -> int:
        """Runs in a thread."""
        return self._setter.set_nodelay(self._pids())

    def scanned(self, took_s: float) -> None:
        now = anyio.current_time()
        waits_s = _FAST_SCAN_S if now < self._fast_until else _SLOW_SCAN_S if self._runs else math.inf
        self.due = now + max(waits_s, _REST_TO_WORK * took_s)

    def _schedule_scan(self, after_s: float) -> None:
        self.due = min(self.due, anyio.current_time() + after_s)
        self._scheduler.wake()


class NoDelayScheduler:
    """Scans the watched trees in one task of `group`, which must outlive every watched tree."""

    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._watched_trees: set[WatchedTree] = set()
        self._wake = anyio.Event()
        self._is_running = False

    @property
    def is_idle(self) -> bool:
        return not self._is_running

    def watch(self, pids: Pids) -> WatchedTree:
        watched_tree = WatchedTree(self, pids)
        self._watched_trees.add(watched_tree)
        return watched_tree

    def remove(self, watched_tree: WatchedTree) -> None:
        self._watched_trees.discard(watched_tree)
        self._wake.set()

    def wake(self) -> None:
        self._wake.set()
        if not self._is_running:
            self._is_running = True
            self._group.start_soon(self._run)

    async def _run(self) -> None:
        try:
            while True:
                self._wake = anyio.Event()
                if (first := min((it.due for it in self._watched_trees), default=math.inf)) == math.inf:
                    return
                with anyio.move_on_after(max(0.0, first - anyio.current_time())):
                    await self._wake.wait()
                await self._scan_due([it for it in self._watched_trees if it.due <= anyio.current_time()])
        finally:
            self._is_running = False

    async def _scan_due(self, due: Sequence[WatchedTree]) -> None:
        for watched_tree in due:
            began = anyio.current_time()
            await anyio.to_thread.run_sync(watched_tree.scan)
            watched_tree.scanned(anyio.current_time() - began)
