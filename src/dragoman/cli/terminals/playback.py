"""`dragoman replay`, and the viewer that draws a recorded or live terminal on the user's own.

Only drawing sequences reach the user's terminal, and its settings are restored afterwards.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli import completion
from dragoman.cli.output import ExitCode, render, warn
from dragoman.cli.remote.connection import open_daemon
from dragoman.core.localization import localize
from dragoman.io.drivers.control_client import ControlClient
from dragoman.protocols.ansi import DisplayFilter
from dragoman.protocols.control import ControlItem

_SPOOL_MEMORY = 16 << 20
_IDLE_TIMEOUT_S = 60.0

_OFLAG, _LFLAG = 1, 3


class TerminalViewer:
    """Draws output on the user's terminal, or writes the same bytes to a file or pipe."""

    def __init__(self) -> None:
        self._viewing = DisplayFilter()

    def show(self, data: bytes) -> None:
        self._write(self._viewing.feed(data))

    def restore(self) -> None:
        if sys.stdout.isatty():
            self._write(self._viewing.restored() + b"\r\n")

    def _write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@contextmanager
def open_viewer() -> Iterator[TerminalViewer]:
    """Prepare the terminal. Keys pressed meanwhile are neither echoed nor passed on; Ctrl-C exits."""
    with ExitStack() as settings:
        for stream in (sys.stdin, sys.stdout):
            if stream.isatty():
                settings.enter_context(_viewing_mode(stream.fileno()))
        viewer = TerminalViewer()
        try:
            yield viewer
        finally:
            viewer.restore()


@contextmanager
def _viewing_mode(fd: int) -> Iterator[None]:
    """Switch output processing off: recorded bytes are what the terminal received after its own processing."""
    before = termios.tcgetattr(fd)
    changed = [*before]
    changed[_OFLAG] &= ~termios.OPOST
    changed[_LFLAG] &= ~termios.ECHO
    termios.tcsetattr(fd, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error, OSError):
            termios.tcflush(fd, termios.TCIFLUSH)
            termios.tcsetattr(fd, termios.TCSADRAIN, before)


_PIECE_HEADER = struct.Struct(">QI")


def replay(
    terminal: Annotated[
        str,
        Parameter(help=render(localize("Terminal id from `dragoman terminals`.")), completer=completion.terminals),
    ],
    /,
    *,
    speed: Annotated[
        float, Parameter(validator=Number(gt=0, lte=1e6), help=render(localize("Playback speed multiplier.")))
    ] = 1.0,
    idle: Annotated[
        float,
        Parameter(validator=Number(gte=0, lte=86_400), help=render(localize("Cap idle gaps at this many seconds."))),
    ] = 2.0,
) -> int:
    """Replay a recording. It is fetched completely first, so that a paused viewer does not block the daemon."""
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_MEMORY) as spool:
        with open_daemon() as link:
            count = _fetch(link, terminal, spool)
        if not count:
            warn(localize("No output of this terminal is kept."))
            return ExitCode.OK
        spool.seek(0)
        with open_viewer() as screen:
            play(_read_pieces(spool), screen.show, time.sleep, speed=speed, idle_s=idle)
    return ExitCode.OK


def _fetch(link: ControlClient, terminal: str, spool: IO[bytes]) -> int:
    count = 0
    for item in link.stream("terminal_pieces", {"terminal": terminal}, idle_s=_IDLE_TIMEOUT_S):
        if isinstance(item, ControlItem):
            data = base64.b64decode(item.value["data"])
            spool.write(_PIECE_HEADER.pack(int(item.value["at_ms"]), len(data)) + data)
            count += 1
    return count


def _read_pieces(spool: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    while head := spool.read(_PIECE_HEADER.size):
        at_ms, length = _PIECE_HEADER.unpack(head)
        yield at_ms, spool.read(length)


def play(
    pieces: Iterator[tuple[int, bytes]],
    show: Callable[[bytes], None],
    sleep: Callable[[float], None],
    *,
    speed: float,
    idle_s: float,
) -> None:
    first = next(pieces, None)
    if first is None:
        return
    before_ms = first[0]
    for at_ms, data in itertools.chain([first], pieces):
        pause_s = min(max(0, at_ms - before_ms) / 1000, idle_s) / speed
        if pause_s > 0:
            sys.stdout.flush()
            sleep(pause_s)
        before_ms = at_ms
        show(data)
