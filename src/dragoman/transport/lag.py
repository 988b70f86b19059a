"""How late the event loop is: a timer that notices its own delay."""

from __future__ import annotations

from collections import deque

import anyio

_EVERY_S = 0.25
_KEPT = 240  # one minute


class LagMeter:
    def __init__(self) -> None:
        self._lags_s: deque[float] = deque([0.0], maxlen=_KEPT)

    async def run(self) -> None:
        while True:
            due = anyio.current_time() + _EVERY_S
            await anyio.sleep_until(due)
            self._lags_s.append(anyio.current_time() - due)

    def latest_ms(self) -> float:
        return round(self._lags_s[-1] * 1000, 2)

    def worst_ms(self) -> float:
        return round(max(self._lags_s) * 1000, 2)
