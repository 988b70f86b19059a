"""A session as one follows it who did not start it: over its restarts, and without making it theirs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dragoman.debug.pulse import Pulse
from dragoman.debug.register import Kept
from dragoman.debug.session import Session


@dataclass(frozen=True, slots=True)
class Followed:
    kept: Kept

    @property
    def session(self) -> Session:
        """Its present life."""
        return self.kept.session

    @property
    def pulse(self) -> Pulse:
        """One for all its lives."""
        return self.kept.session.pulse

    @property
    def workspace(self) -> Path:
        return Path(self.kept.workspace)

    @property
    def is_over(self) -> bool:
        """Not so where only one life of it has ended."""
        return self.kept.session.ended is not None and self.kept.restarted is None

    async def begun(self) -> None:
        """Raises why it did not begin."""
        if self.kept.begins is not None:
            await self.kept.begins.wait()
        if self.kept.failure is not None:
            raise self.kept.failure
