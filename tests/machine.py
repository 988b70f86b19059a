"""What a busy machine does to others: that much of a delay is nobody's fault."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path


def ready_s(pid: int | str, thread: int | str = "*") -> float:
    """How long its threads (or one) could have run while others had the processors; 0 where no kernel tells."""
    waited_ns = 0
    for path in Path(f"/proc/{pid}/task").glob(f"{thread}/schedstat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # that thread has just ended
            waited_ns += int(path.read_text().split()[1])
    return waited_ns / 1e9


def own_s(act: Callable[[], object], *pids: int) -> float:
    """How long it took, without the time that these processes or we waited for others to leave a processor."""

    def now() -> float:
        return time.monotonic() - ready_s("self") - sum(map(ready_s, pids))

    began = now()
    act()
    return now() - began


class MachineLag:
    """Of whoever only sleeps."""

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
