"""Notice when the machine itself stands still, so that its pauses are not mistaken for faults of the tests.

A shared machine is sometimes paused, or its disk does not answer for half a minute: then the tests of every worker fail
at once, each by its own deadline. The watch asks for almost nothing (a short sleep, one small file brought to the
disk), so a busy processor alone does not make it late by seconds.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from dataclasses import dataclass

EVERY_S = 0.5
STALL_S = 4.0
# What a pause broke is noticed at a deadline, which may end some time after the pause.
AFTERMATH_S = 40.0
_ENDS_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True)
class Stall:
    began: float
    ended: float

    def touches(self, start: float, stop: float) -> bool:
        """Whether a test that ran from `start` to `stop` met this stall or what it left behind."""
        return start <= self.ended + AFTERMATH_S and stop >= self.began


class StallWatch(threading.Thread):
    """Owns one thread and one temporary file; it never touches a test."""

    def __init__(self) -> None:
        super().__init__(name="stall-watch", daemon=True)
        self.stalls: list[Stall] = []
        self._over = threading.Event()
        self._began = time.time()

    def run(self) -> None:
        """Without a gap between one look and the next: a pause may come at any time."""
        with tempfile.NamedTemporaryFile() as file:
            while True:
                over = self._over.wait(EVERY_S)
                os.pwrite(file.fileno(), b"x" * 4096, 0)
                os.fsync(file.fileno())
                began, self._began = self._began, time.time()
                if self._began - began > STALL_S:
                    self.stalls.append(Stall(began, self._began))
                if over:
                    return

    def end(self) -> None:
        self._over.set()
        self.join(timeout=_ENDS_WITHIN_S)

    def disturbed(self, start: float, stop: float) -> bool:
        return any(stall.touches(start, stop) for stall in self.stalls)
