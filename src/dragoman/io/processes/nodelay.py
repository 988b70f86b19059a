"""Set TCP_NODELAY from outside: adapters that write in small pieces cost 40 ms per message without it.

A process may duplicate a socket of its descendants and set options on it, without a shim in any of them. That needs the
right to trace: under the usual setting (Yama 1) it is granted for descendants, and what the supervisor started stays a
descendant of ours even after its parents have ended. Blocking; call it in a worker thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import math
import os
import socket
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dragoman.core.localization import LocalizedText, localize
from dragoman.io.net.peers import socket_inodes
from dragoman.io.net.streams import Pids

_PIDFD_GETFD = 438  # the same number on every architecture: it is newer than the common table
_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_YAMA_DESCENDANTS = 1
_CAP_SYS_PTRACE = 19
_INTERNET = {socket.AF_INET, socket.AF_INET6}


class NoDelaySetter:
    """One per process tree. Each socket is checked once, so that polling is cheap."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def set_nodelay(self, pids: Iterable[int]) -> int:
        """Return how many TCP sockets were set now. A listening one counts too: what it accepts inherits the option."""
        if sys.platform != "linux":
            return 0
        present: set[int] = set()
        changed = 0
        for pid in pids:
            inodes = socket_inodes(pid)
            fresh = {fd: inode for fd, inode in inodes.items() if inode not in self._seen and inode not in present}
            changed += _set_in_process(pid, fresh) if fresh else 0
            present.update(inodes.values())
        self._seen = present
        return changed


def nodelay_unavailable_reason() -> LocalizedText | None:
    """Why this cannot work here, or None if nothing prevents it."""
    if sys.platform != "linux":
        return localize("Only Linux lets a process set options on the sockets of its descendants.")
    try:
        os.close(_self_test())
    except OSError as error:
        if error.errno == errno.ENOSYS:
            return localize("This kernel has no pidfd_getfd. It needs Linux 5.6 or newer.")
        return localize("The system does not allow pidfd_getfd: {reason}.", reason=error.strerror)
    scope = int(_YAMA.read_text()) if _YAMA.exists() else 0
    if scope > _YAMA_DESCENDANTS and not _may_trace_anybody():
        return localize("{path} is {scope}: a process may not trace its own descendants.", path=_YAMA, scope=scope)
    return None


def _set_in_process(pid: int, sockets: dict[int, int]) -> int:
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return 0
    try:
        return sum(_set_on_socket(pidfd, fd, inode) for fd, inode in sockets.items())
    finally:
        os.close(pidfd)


def _set_on_socket(pidfd: int, fd: int, inode: int) -> bool:
    try:
        copy = _duplicate(pidfd, fd)
    except OSError:  # closed since, or not ours to trace
        return False
    if os.fstat(copy).st_ino != inode:  # the descriptor was reused for another file
        os.close(copy)
        return False
    with contextlib.suppress(OSError), socket.socket(fileno=copy) as sock:
        if sock.family in _INTERNET and sock.type == socket.SOCK_STREAM:  # TCP, and multipath TCP, which Go prefers
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return True
    return False


def _duplicate(pidfd: int, fd: int) -> int:
    copy = _libc().syscall(_PIDFD_GETFD, pidfd, fd, 0)
    if copy < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(copy)


def _self_test() -> int:
    pidfd = os.pidfd_open(os.getpid())
    try:
        return _duplicate(pidfd, pidfd)
    finally:
        os.close(pidfd)


def _may_trace_anybody() -> bool:
    status = Path("/proc/self/status").read_text()
    effective = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> _CAP_SYS_PTRACE & 1)


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.argtypes = [ctypes.c_long] * 4
    libc.syscall.restype = ctypes.c_long
    return libc


# When to scan process trees for sockets: often while connections come up, rarely while programs run, else never.
#
# One task serves all sessions, and exists only while there is something to scan: an idle daemon pays nothing.

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
