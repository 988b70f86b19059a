"""One stop: where the program stands, and the numbers that were given out for it, which die with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAIN = "main"


@dataclass(frozen=True, slots=True)
class FramePlace:
    """A frame as the runtime names it."""

    coroutine: str
    index: int


@dataclass(slots=True)
class Holder:
    """What is known of a reference: the frame it was seen from, how to say it, and where its children stand."""

    frame: FramePlace
    expression: str = ""
    positions: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class LuaStop:
    number: int
    reason: str
    frames: list[dict[str, Any]]
    """Of the coroutine that stopped, the innermost first; perhaps not all."""
    depth: int
    cmd: str = ""
    coroutine: str = MAIN
    exception: dict[str, Any] | None = None
    change: dict[str, Any] | None = None
    """Of data: which, and what it was and is."""
    places: dict[int, FramePlace] = field(default_factory=dict)
    holders: dict[int, Holder] = field(default_factory=dict)

    def frame_id(self, place: FramePlace) -> int:
        for id, known in self.places.items():
            if known == place:
                return id
        id = len(self.places) + 1
        self.places[id] = place
        return id


class Coroutines:
    """Numbers for threads of DAP: the main one is 1, and every other keeps its number while the program lives."""

    def __init__(self) -> None:
        self._number_by_name = {MAIN: 1}

    def number(self, name: str) -> int:
        return self._number_by_name.setdefault(name, len(self._number_by_name) + 1)

    def name(self, number: int) -> str | None:
        return next((name for name, known in self._number_by_name.items() if known == number), None)
