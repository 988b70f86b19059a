"""When to try again: the protocol document's delays, ten times; or, as a setting, for ever and with jitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from msgspec import Raw, UnsetType

DELAYS_S = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
ATTEMPTS = 10
_JITTER = 0.2
_BACK_S = (0.1, 300.0)
"""How soon and how late we believe a gateway that says when it will be back."""


class _Shutdown(msgspec.Struct, rename="camel"):
    restart_expected_ms: float | None = None


def back_in_s(shutdown: Raw | UnsetType) -> float | None:
    """None where it does not say: then with the delays of any loss."""
    try:
        told = _Shutdown() if isinstance(shutdown, UnsetType) else msgspec.json.decode(shutdown, type=_Shutdown)
    except msgspec.DecodeError:
        return None
    least, most = _BACK_S
    return None if told.restart_expected_ms is None else min(max(told.restart_expected_ms / 1000, least), most)


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
