"""The signals that end the daemon. Standard library only: `__main__` handles them before it imports anything else."""

from __future__ import annotations

import signal


def ending_signals() -> list[signal.Signals]:
    """The signals to handle. SIGHUP stays ignored if the daemon was started with `nohup`."""
    hangup = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hangup]
