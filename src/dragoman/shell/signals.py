"""Signals as bytes in a pipe, so that one poll waits for everything."""

from __future__ import annotations

import contextlib
import os
import signal

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
_HANDLED = (*ENDING, signal.SIGWINCH, signal.SIGCHLD, signal.SIGTSTP, signal.SIGCONT)


class SignalPipe:
    def __init__(self) -> None:
        self.fd, self._writing = os.pipe()
        for end in (self.fd, self._writing):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        for number in _HANDLED:
            signal.signal(number, _left_to_wakeup_pipe)

    def pop(self) -> set[int]:
        with contextlib.suppress(BlockingIOError):
            return set(os.read(self.fd, 4096))
        return set()


def _left_to_wakeup_pipe(_number: int, _frame: object) -> None:
    """Nothing to do: the wake-up pipe has it."""


def suspend_self() -> None:
    """Stop as if the signal had not been caught. In an orphaned process group, which nobody could continue, the
    kernel lets us run on."""
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, _left_to_wakeup_pipe)


def exit_by_signal(number: int) -> None:
    """End by the same signal, so that our parent sees the same status; returns if that signal does not end a
    process."""
    with contextlib.suppress(OSError, ValueError):
        _without_core()
    with contextlib.suppress(OSError):  # SIGKILL cannot have a handler
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _without_core() -> None:
    import resource  # noqa: PLC0415  only needed in this case

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
