"""Facts about a process: when it started, whether it runs, and whether it is in a terminal's foreground.

A pid is reused by later processes; a start time is not. So a process is identified by both.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_SAME_WITHIN_S = 1.5  # the kernel gives the boot time in whole seconds
_PS = ("ps", "-o", "ppid=,pgid=,tpgid=", "-p")
_PS_WITHIN_S = 5.0


def process_start_s(pid: int) -> float:
    """When the process started, in seconds after boot: setting the clock does not change it."""
    import psutil  # noqa: PLC0415  commands that only talk to the daemon never need it

    return float(psutil.Process(pid).create_time() - psutil.boot_time())


def interrupt_process(pid: int, process_started: float) -> None:
    """Interrupt it, as Ctrl-C does."""
    _send(pid, process_started, signal.SIGINT)


def terminate(pid: int, process_started: float) -> None:
    """Terminate it, as a service manager does: the program may clean up first."""
    _send(pid, process_started, signal.SIGTERM)


def _send(pid: int, process_started: float, which: signal.Signals) -> None:
    """Send a signal to exactly that process; to none if it has ended or is not ours to signal."""
    if is_process_running(pid, process_started):
        with contextlib.suppress(OSError):
            os.kill(pid, which)


def is_process_running(pid: int, process_started: float) -> bool:
    """Whether exactly that process is running, and not a zombie."""
    import psutil  # noqa: PLC0415

    try:
        alive = psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        return alive and abs(process_start_s(pid) - process_started) < _SAME_WITHIN_S
    except (psutil.Error, ValueError, OverflowError):  # no process has a pid out of range
        return False


class _ProcessStat(NamedTuple):
    parent: int
    group: int
    foreground: int
    """The foreground process group of its terminal; less than 1 without a terminal."""


def is_in_foreground(pid: int) -> bool:
    """Whether it is in the foreground of a terminal. A background job, a service or an agent's pipe is not."""
    now = _process_stat(pid)
    return now is not None and now.foreground > 0 and now.foreground == now.group


def is_descendant_of(pid: int, ancestor: int) -> bool:
    """A process that ended meanwhile, or that cannot be inspected, counts as a descendant: nothing proves that it is
    not. Without a parent is what entered this container from outside, such as `docker exec`; for a process that is
    just being removed, the kernel reports no group either (-1)."""
    while pid > 1:
        now = _process_stat(pid)
        if now is None or now.parent == ancestor:
            return True
        if now.parent < 1:
            return now.group < 0
        pid = now.parent
    return pid < 1


def is_run_by(pid: int, helpers: Iterable[int]) -> bool:
    """Whether it was started by this process, or by a program that one of the helper processes serves."""
    programs = (program for helper in helpers if (program := owning_program(helper)))
    return any(is_descendant_of(pid, program) for program in (os.getpid(), *programs))


def owning_program(pid: int) -> int:
    """The program that a helper process serves: the topmost of its ancestors in the process group of its parent,
    which a shell with job control creates per command. 0 for a process that has ended or has no parent."""
    now = _process_stat(pid)
    program, group = (now.parent, None) if now else (0, None)
    found = 0
    while program > 1 and (now := _process_stat(program)) is not None and group in {None, now.group}:
        found, program, group = program, now.parent, now.group
    return found


def _process_stat(pid: int) -> _ProcessStat | None:
    try:
        return _from_proc(pid) if sys.platform == "linux" else _from_ps(pid)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _from_proc(pid: int) -> _ProcessStat:
    text = Path(f"/proc/{pid}/stat").read_bytes()
    # The name is in parentheses and may contain anything. Then state, ppid, pgrp, session, tty_nr, tpgid …
    fields = text[text.rindex(b")") + 2 :].split(None, 6)
    return _ProcessStat(int(fields[1]), int(fields[2]), int(fields[5]))


def _from_ps(pid: int) -> _ProcessStat:
    """macOS has no /proc. Written from its manual pages; not run there yet."""
    found = subprocess.run([*_PS, str(pid)], capture_output=True, check=True, timeout=_PS_WITHIN_S)  # noqa: S603
    parent, group, foreground = (int(it) for it in found.stdout.split())
    return _ProcessStat(parent, group, foreground)
