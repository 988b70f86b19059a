"""A clock that moves only when a test advances it."""

from __future__ import annotations


class VirtualClock:
    def __init__(self, *, monotonic_s: float = 0.0, wall_ns: int = 1_700_000_000_000_000_000) -> None:
        self._monotonic_s = monotonic_s
        self._wall_ns = wall_ns

    def monotonic_s(self) -> float:
        return self._monotonic_s

    def wall_ns(self) -> int:
        return self._wall_ns

    def advance(self, seconds: float) -> None:
        self._monotonic_s += seconds
        self._wall_ns += round(seconds * 1e9)

    def set_wall_back(self, seconds: float) -> None:
        """What a person or a time server does; deadlines must not notice."""
        self._wall_ns -= round(seconds * 1e9)
