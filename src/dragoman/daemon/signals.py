"""The signals that end the daemon.

Standard library alone: `__main__` handles them before it imports anything else.
"""

from __future__ import annotations

import signal


def ending_signals() -> list[signal.Signals]:
    """Whoever started us under `nohup` has said what a closed terminal means to us: nothing."""
    hangup = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hangup]
