"""When to try again: the protocol document's delays, ten times; or, as a setting, for ever and with jitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

DELAYS_S = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
ATTEMPTS = 10
_JITTER = 0.2


@dataclass(frozen=True, slots=True)
class Reconnecting:
    unlimited: bool = False
    dice: Callable[[], float] = lambda: 0.5
    """From 0 to 1: many clients of one gateway must not all come back at once."""

    def delay_s(self, failed: int) -> float | None:
        """After so many failures in a row; None: no more."""
        if failed > ATTEMPTS and not self.unlimited:
            return None
        delay = DELAYS_S[min(failed, len(DELAYS_S)) - 1]
        return delay * (1 + _JITTER * (2 * self.dice() - 1)) if self.unlimited else delay
