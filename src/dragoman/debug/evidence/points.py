"""The places of a run at which something is asked, as breakpoints of that run alone."""

from __future__ import annotations

import msgspec

from dragoman.workspace.breakpoints import Breakpoint

EXCEPTIONS = 1000
"""In the place of a point's number, which none has: of a breakpoint for exceptions."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a file, or a function by its name."""

    path: str = ""
    line: int = 0
    function: str = ""
    condition: str = ""
    expressions: tuple[str, ...] = ()
    claim: str = ""
    """Asked before the expressions, as true or not."""
    is_unknown: bool = False
    """Whether no source has such a function: where it is never reached, that may be why."""

    @property
    def place(self) -> tuple[str, int, str]:
        return self.path, self.line, self.function

    def as_breakpoint(self, id: int) -> Breakpoint:
        return Breakpoint(
            id=id,
            kind="function" if self.function else "line",
            path=self.path,
            line=self.line,
            function=self.function,
            condition=self.condition,
        )


def id_of(point: int) -> int:
    """Below those of clients and of runs to a place: no list shows them, and no answer names them."""
    return -1 - point


def point_of(id: int) -> int:
    return -1 - id
