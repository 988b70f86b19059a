"""The port to who asks at places of its own, while a session runs for that alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dragoman.debug.model import Frame
from dragoman.debug.snapshot import Looking
from dragoman.workspace.breakpoints import Breakpoint


class Probe(Protocol):
    def speak(self, adapter_id: str) -> None:
        """To whom it will be asked; once, before anything else."""
        ...

    @property
    def breakpoints(self) -> Sequence[Breakpoint]:
        """All that the session has in the meantime; their ids are below zero."""
        ...

    def owns(self, hit: Sequence[int]) -> bool: ...

    async def take_again(self, thread: int, frame: Frame, looking: Looking) -> bool | None:
        """The same by a frame in which the thread stood at an earlier stop; None: it must be looked where it stands."""
        ...

    async def take(self, hit: Sequence[int], thread: int, top: Frame, looking: Looking) -> bool:
        """A stop at its own places: whether the program goes on."""
        ...
