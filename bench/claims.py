"""A claim: one measured number, the goal that we publish for it, and which direction is better."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Claim:
    name: str
    value: float
    unit: str
    goal: float
    better: Literal["higher", "lower"]

    @property
    def met(self) -> bool:
        return self.value >= self.goal if self.better == "higher" else self.value <= self.goal


def median_s(work: Callable[[], object], rounds: int = 7, warm_ups: int = 2) -> float:
    """Seconds of one call of `work`: the median, after a warm-up, with the collector out of the way."""
    for _ in range(warm_ups):
        work()
    gc.collect()
    gc.disable()
    try:
        return statistics.median(_seconds(work) for _ in range(rounds))
    finally:
        gc.enable()


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
