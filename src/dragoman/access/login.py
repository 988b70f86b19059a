"""One-time codes: what a login link carries in its fragment, spent by the first who posts it."""

from __future__ import annotations

import secrets

from dragoman.clock import Clock

LIFETIME_S = 120.0
_AT_MOST = 32  # codes open at once; the oldest goes first


class LoginCodes:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._expiry_by_code: dict[str, float] = {}

    def issue(self) -> str:
        while len(self._expiry_by_code) >= _AT_MOST:
            del self._expiry_by_code[next(iter(self._expiry_by_code))]
        code = secrets.token_urlsafe(24)
        self._expiry_by_code[code] = self._clock.monotonic_s() + LIFETIME_S
        return code

    def void(self) -> None:
        """A link is worth no more than the token behind it: rotated, it opens nothing."""
        self._expiry_by_code.clear()

    def spend(self, presented: str) -> bool:
        """True once for each code, within its time. Looked up by equality of hashes: 192 random bits, spent at once."""
        expiry = self._expiry_by_code.pop(presented, None)
        return expiry is not None and self._clock.monotonic_s() < expiry
