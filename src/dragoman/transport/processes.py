"""Which process a pid means: a number is given to a later process again, a start time is not."""

from __future__ import annotations

import contextlib
import os
import signal

_SAME_WITHIN_S = 1.5  # the kernel gives the boot time in whole seconds


def started_s(pid: int) -> float:
    """When the process began, in seconds after boot: a clock that is set does not move it."""
    import psutil  # noqa: PLC0415  the commands that only ask the daemon never need it

    return float(psutil.Process(pid).create_time() - psutil.boot_time())


def interrupt(pid: int, process_started: float) -> None:
    """As Ctrl-C does."""
    _send(pid, process_started, signal.SIGINT)


def ask_to_end(pid: int, process_started: float) -> None:
    """As a service manager does: the program may tidy up first."""
    _send(pid, process_started, signal.SIGTERM)


def _send(pid: int, process_started: float, which: signal.Signals) -> None:
    """To that very process alone; to none where it has gone or is not ours to signal."""
    if is_running(pid, process_started):
        with contextlib.suppress(OSError):
            os.kill(pid, which)


def is_running(pid: int, process_started: float) -> bool:
    """Whether that very process is there, and not just its corpse."""
    import psutil  # noqa: PLC0415

    try:
        alive = psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        return alive and abs(started_s(pid) - process_started) < _SAME_WITHIN_S
    except (psutil.Error, ValueError, OverflowError):  # a pid out of range is nobody's
        return False
