"""Signals as bytes in a pipe, so that one poll hears everything."""

from __future__ import annotations

import contextlib
import os
import signal

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
_HEARD = (*ENDING, signal.SIGWINCH, signal.SIGCHLD, signal.SIGTSTP, signal.SIGCONT)


class Signals:
    def __init__(self) -> None:
        self.fd, self._writing = os.pipe()
        for end in (self.fd, self._writing):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        for number in _HEARD:
            signal.signal(number, _noted)

    def take(self) -> set[int]:
        with contextlib.suppress(BlockingIOError):
            return set(os.read(self.fd, 4096))
        return set()


def _noted(_number: int, _frame: object) -> None:
    """The pipe has it."""


def stop_here() -> None:
    """Stop as if nobody had caught it. In a group that nobody could continue the kernel lets us go on instead."""
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, _noted)


def die_of(number: int) -> None:
    """So that whoever waits for us sees the same end; returns where that signal does not end a process."""
    with contextlib.suppress(OSError, ValueError):
        _without_core()
    with contextlib.suppress(OSError):  # of SIGKILL nothing can be said, and nothing need be
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _without_core() -> None:
    import resource  # noqa: PLC0415  only at such an end

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
