"""From a signal to an end in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal

import anyio

from dragoman.daemon.signals import ending_signals

log = logging.getLogger(__name__)


def take_signals(stop: anyio.Event) -> None:
    """From before the lock until the process is gone. Handlers that an event loop installs are taken out again at its
    end, and a second Ctrl-C in that moment would tear the end apart: these stay."""
    loop = asyncio.get_running_loop()

    def note(number: int) -> None:
        if not stop.is_set():
            log.info("received %s", signal.Signals(number).name)
        stop.set()

    def received(number: int, _: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and so have we nearly
            loop.call_soon_threadsafe(note, number)

    for number in ending_signals():
        signal.signal(number, received)
