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
import os
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

from dragoman.core.localization import LocalizedText, localize
from dragoman.io.net.peers import socket_inodes

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
        copy = _take(pidfd, fd)
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


def _take(pidfd: int, fd: int) -> int:
    copy = _libc().syscall(_PIDFD_GETFD, pidfd, fd, 0)
    if copy < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(copy)


def _self_test() -> int:
    pidfd = os.pidfd_open(os.getpid())
    try:
        return _take(pidfd, pidfd)
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
