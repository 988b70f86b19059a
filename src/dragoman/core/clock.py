"""Time as a value that is passed in: deadlines use the monotonic clock, timestamps the wall clock."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def monotonic_s(self) -> float: ...

    def wall_ns(self) -> int: ...


class SystemClock:
    def monotonic_s(self) -> float:
        return time.monotonic()

    def wall_ns(self) -> int:
        return time.time_ns()
