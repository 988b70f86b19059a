"""A terminal's stream on the viewer's own: only what draws reaches it, and it is left as it was."""

from __future__ import annotations

import contextlib
import sys
import termios
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from dragoman.wire.ansi import Viewing

_OUTPUT, _LOCAL = 1, 3


class Viewer:
    """Without a terminal to draw on, the same bytes go into a file or a pipe."""

    def __init__(self) -> None:
        self._viewing = Viewing()

    def show(self, data: bytes) -> None:
        self._write(self._viewing.feed(data))

    def leave(self) -> None:
        if sys.stdout.isatty():
            self._write(self._viewing.restored() + b"\r\n")

    def _write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@contextmanager
def viewer() -> Iterator[Viewer]:
    """Keys that are pressed meanwhile are neither shown nor passed on; Ctrl-C ends it."""
    with ExitStack() as settings:
        for stream in (sys.stdin, sys.stdout):
            if stream.isatty():
                settings.enter_context(_for_viewing(stream.fileno()))
        viewer = Viewer()
        try:
            yield viewer
        finally:
            viewer.leave()


@contextmanager
def _for_viewing(fd: int) -> Iterator[None]:
    """A recorded line end is what a terminal was sent, after all that its settings had added to it."""
    before = termios.tcgetattr(fd)
    changed = [*before]
    changed[_OUTPUT] &= ~termios.OPOST
    changed[_LOCAL] &= ~termios.ECHO
    termios.tcsetattr(fd, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error, OSError):
            termios.tcflush(fd, termios.TCIFLUSH)
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
