"""One pass of a program over a line is one hit, also where the line has several places in the machine code.

A macro or an inlined call gives it some, each with the breakpoint. They come in turn, in one frame; the first that
comes again begins the next pass.
"""

from __future__ import annotations

from dragoman.debug.model import Frame


class Passes:
    def __init__(self) -> None:
        self._where: tuple[object, ...] | None = None
        self._seen: set[str] = set()

    def is_same(self, thread_id: int, frames: tuple[Frame, ...], depth: int) -> bool:
        """Whether a hit belongs to the pass that was told already. Notes it either way."""
        if not frames or not frames[0].address:
            return False
        where = (thread_id, depth, *((frame.name, frame.path, frame.line) for frame in frames[:2]))
        address = frames[0].address
        if where == self._where and address not in self._seen:
            self._seen.add(address)
            return True
        self._where, self._seen = where, {address}
        return False
