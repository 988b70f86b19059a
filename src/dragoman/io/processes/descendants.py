"""The descendants of a process, which of them are alive, and how to end them all even while they multiply.

Few imports and no typing module: the supervisor starts with every session, which waits for its imports.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping

_FREEZE_PASSES = 64  # each stops all that it sees; a fork bomb grows less between two passes every time
_PS = ("ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart=")


class ProcessEntry:
    __slots__ = ("group", "is_dead", "parent", "started")

    def __init__(self, parent: int, group: int, started: bytes, *, is_dead: bool) -> None:
        self.parent = parent
        self.group = group
        self.started = started  # pids are reused, a pid with its start time is not
        self.is_dead = is_dead


ProcessTable = dict[int, ProcessEntry]


def living_descendants(root: int, table: ProcessTable | None = None) -> ProcessTable:
    """Parents before their children, without `root` itself. Zombies do not count."""
    found = table if table is not None else process_table()
    children: dict[int, list[int]] = {}
    for pid, process in found.items():
        children.setdefault(process.parent, []).append(pid)
    line = [root]
    for pid in line:
        line += children.get(pid, ())
    return {pid: found[pid] for pid in line[1:] if not found[pid].is_dead}


def quick_descendants(root: int) -> list[int]:
    """Costs as much as the tree, not as the machine. A process whose parent is just ending may be missing, so this
    is not for ending trees."""
    if not os.access(f"/proc/{root}/task/{root}/children", os.R_OK):  # a kernel option
        return [*living_descendants(root)]
    line = [root]
    for pid in line:
        line += _children(pid)
    return line[1:]


def send_signal(pid: int, process: ProcessEntry, number: int) -> bool:
    """False if it is already gone, or not ours to signal (a set-uid program)."""
    try:
        if sys.platform == "linux":
            return _send_to_same(pid, process, number)
        os.kill(pid, number)
    except OSError:
        return False
    return True


def send_all(processes: Mapping[int, ProcessEntry], number: int) -> None:
    for pid, process in processes.items():
        send_signal(pid, process, number)


def freeze_and_kill(living: Callable[[], ProcessTable]) -> None:
    """Stop all, repeat until there are no new ones, then kill: a process that forks faster than it is killed cannot
    escape.

    A fork fails while a signal is pending for the forking process, so a process that was sent SIGSTOP has no new
    children.
    """
    frozen: ProcessTable = {}
    for _ in range(_FREEZE_PASSES):
        fresh = {pid: process for pid, process in living().items() if not _is_known(frozen, pid, process)}
        if not fresh:
            break
        send_all(fresh, signal.SIGSTOP)
        frozen |= fresh
    send_all(frozen, signal.SIGKILL)


def process_table() -> ProcessTable:
    return _from_proc() if sys.platform == "linux" else _from_ps()


def _from_proc() -> ProcessTable:
    names = os.listdir("/proc")  # noqa: PTH208  pathlib is not imported for this
    return {int(name): process for name in names if name.isdigit() and (process := _read(name))}


def _children(pid: int) -> list[int]:
    """Each thread has its own list."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:  # it ended in between
        return []
    return [int(it) for thread in threads for it in _content(f"/proc/{pid}/task/{thread}/children").split()]


def _content(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        text = b""
        while piece := os.read(fd, 65536):
            text += piece
    except OSError:
        return b""
    else:
        return text
    finally:
        os.close(fd)


def _read(pid: str) -> ProcessEntry | None:
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        text = os.read(fd, 4096)
    except OSError:  # it ended in between
        return None
    finally:
        os.close(fd)
    # The name is in parentheses and may contain anything, parentheses too. Then state, ppid, pgrp, session …
    fields = text[text.rindex(b")") + 2 :].split(None, 20)
    return ProcessEntry(int(fields[1]), int(fields[2]), fields[19], is_dead=_is_zombie(fields[0], int(fields[17])))


def _is_zombie(state: bytes, threads: int) -> bool:
    """A process whose first thread has ended looks like a zombie while its other threads run."""
    return state in b"ZX" and threads <= 1


def _send_to_same(pid: int, process: ProcessEntry, number: int) -> bool:
    """A pidfd pins the process: after the check of its start time, no other process can be hit."""
    pidfd = os.pidfd_open(pid)
    try:
        now = _read(str(pid))
        if now is None or now.started != process.started:
            return False
        signal.pidfd_send_signal(pidfd, number)
    finally:
        os.close(pidfd)
    return True


def _is_known(seen: ProcessTable, pid: int, process: ProcessEntry) -> bool:
    return pid in seen and seen[pid].started == process.started


def _from_ps() -> ProcessTable:
    """macOS has no /proc. Written from its manual pages; not run there yet."""
    import subprocess  # noqa: PLC0415  only where there is no /proc

    with subprocess.Popen(_PS, stdout=subprocess.PIPE) as ps:  # noqa: S603
        lines = ps.communicate()[0].splitlines()
    table = dict(_ps_lines(lines))
    table.pop(ps.pid, None)  # ps lists itself, as our child
    return table


def _ps_lines(lines: Iterable[bytes]) -> Iterable[tuple[int, ProcessEntry]]:
    for line in lines:
        pid, parent, group, state, started = line.split(None, 4)
        yield int(pid), ProcessEntry(int(parent), int(group), started, is_dead=state.startswith(b"Z"))
