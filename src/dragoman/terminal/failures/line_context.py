"""The lines around an error: the one that names it, and the place in the user's own code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

Lines = Sequence[str]
Names = Callable[[Lines, int], int]
"""Finds the line that names the error, from a line that leads to it."""
Shows = Callable[[Lines, int], Iterator[int]]
"""Finds the lines around it that are worth showing."""

_REACH = 60
_OTHERS_CODE = re.compile(
    r"site-packages|dist-packages|/lib/python\d|<frozen |node:|node_modules|/usr/lib/go|/usr/local/go/|/go/pkg/mod/|"
    r"\bat (?:java|javax|jdk|sun|kotlin|scala|org\.junit|org\.gradle|org\.apache\.maven)\.|/rustc/"
)
_PYTHON_FRAME = re.compile(r'\s*(?:\| )?\s*File "[^"]+", line \d+')
_FRAMES = re.compile(r"^\s+at |^\t\S+\.go:\d+|^\s+from \S+:\d+")


def itself(_lines: Lines, at: int) -> int:
    return at


def nothing(_lines: Lines, _at: int) -> Iterator[int]:
    return iter(())


def next_line(lines: Lines, at: int) -> int:
    """The first non-empty line after it."""
    return next((i for i in _after(lines, at) if lines[i].strip()), at)


def following_line(lines: Lines, at: int) -> Iterator[int]:
    yield next_line(lines, at)


def line_before(_lines: Lines, at: int) -> Iterator[int]:
    if at > 0:
        yield at - 1


def end_of_traceback(lines: Lines, at: int) -> int:
    """The exception is where the indentation of the frames ends."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    for i in _after(lines, at):
        text = lines[i]
        if text.strip() and len(text) - len(text.lstrip()) <= indent:
            return i
    return at


def own_python_frame(lines: Lines, at: int) -> Iterator[int]:
    """The innermost frame outside libraries, or the innermost one if all are in libraries."""
    frames = [i for i in range(max(0, at - _REACH), at) if _PYTHON_FRAME.match(lines[i])]
    begun = max((i for i in range(max(0, at - _REACH), at) if "Traceback (most recent" in lines[i]), default=0)
    frames = [i for i in frames if i > begun]
    own = [i for i in frames if not _OTHERS_CODE.search(lines[i])]
    for i in (own or frames)[-1:]:
        yield i
        if i + 1 < at and not _PYTHON_FRAME.match(lines[i + 1]):
            yield i + 1


def own_frame(lines: Lines, at: int) -> Iterator[int]:
    """The first frame below it that is not in a library."""
    frames = (i for i in _after(lines, at) if _FRAMES.match(lines[i]) and not _OTHERS_CODE.search(lines[i]))
    if (first := next(frames, None)) is not None:
        yield first


def arrow(lines: Lines, at: int) -> Iterator[int]:
    """Where a Rust compiler prints the place, and the label under the code."""
    for i in list(_after(lines, at))[:4]:
        if lines[i].lstrip().startswith("-->"):
            yield i
            return


def _after(lines: Lines, at: int) -> range:
    return range(at + 1, min(at + 1 + _REACH, len(lines)))
