"""What a busy machine does to whoever only sleeps: that much of a delay is nobody's fault."""

from __future__ import annotations

import functools
import threading
import time
from collections import deque


class MachineLag:
    _EVERY_S = 0.1
    _KEPT = 600  # one minute

    def __init__(self) -> None:
        self._lags_s: deque[float] = deque([0.0], maxlen=self._KEPT)
        threading.Thread(target=self._run, daemon=True).start()

    def worst_ms(self) -> float:
        return max(self._lags_s) * 1000

    def _run(self) -> None:
        while True:
            due = time.monotonic() + self._EVERY_S
            time.sleep(self._EVERY_S)
            self._lags_s.append(time.monotonic() - due)


@functools.cache
def machine_lag() -> MachineLag:
    return MachineLag()
