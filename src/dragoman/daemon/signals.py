"""The signals that end us. Standard library alone: they are seen to before anything else is imported."""

from __future__ import annotations

import signal


def ending_signals() -> list[signal.Signals]:
    """Whoever started us under `nohup` has said what a closed terminal means to us: nothing."""
    hangup = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hangup]
