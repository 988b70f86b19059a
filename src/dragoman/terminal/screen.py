"""What stands on a terminal's screen, emulated on demand from the end of its record; never on the live path."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dragoman.errors import DragomanError
from dragoman.extras import install_command
from dragoman.phrases import say
from dragoman.terminal.model import Terminal

if TYPE_CHECKING:
    from dragoman.terminal.emulation import Emulator

SIZE = "dragoman.size"
"""The attribute with a terminal's size, as columns, `x` and rows."""
DEFAULT_SIZE = (80, 24)
LOOKED_AT_BYTES = 256 * 1024
MOST_SCROLLBACK = 2000
_SIZE = re.compile(r"([1-9]\d{0,3})x([1-9]\d{0,3})")
_RESIZED = re.compile(rb"\x1b\[8;(\d{1,4});(\d{1,4})t")
_MOST_COLUMNS, _MOST_ROWS = 1000, 500
_CHUNK = 1024
_WITHIN_S = 5.0


@dataclass(frozen=True, slots=True)
class Screen:
    columns: int
    rows: int
    lines: tuple[str, ...]
    """All rows, without the blanks at their ends."""
    cursor_row: int
    cursor_column: int
    """Both from 1."""
    is_full_screen: bool
    """Whether a program such as an editor covers what stood there."""
    scrollback: tuple[str, ...] = ()


def size_of(terminal: Terminal) -> tuple[int, int]:
    """As its wrapper told it; a client that tells none has one as terminals first had."""
    found = _SIZE.fullmatch(terminal.attributes.get(SIZE, ""))
    if found is None:
        return DEFAULT_SIZE
    return bounded(int(found[1]), int(found[2]))


def bounded(columns: int, rows: int) -> tuple[int, int]:
    return min(max(columns, 1), _MOST_COLUMNS), min(max(rows, 1), _MOST_ROWS)


def resized(before: tuple[int, int], after: tuple[int, int]) -> bytes:
    """What stands in a record where a window changed: xterm's own sequence for it, first with the size until then, so
    that a reader who comes in the middle knows how large it was."""
    return b"".join(b"\x1b[8;%d;%dt" % (rows, columns) for columns, rows in (before, after))


def first_size(data: bytes) -> tuple[int, int] | None:
    """How large it was until the first change of its window in these bytes."""
    found = _RESIZED.search(data)
    return bounded(int(found[2]), int(found[1])) if found else None


def emulate(data: bytes, columns: int, rows: int, *, scrollback: int = 0) -> Screen:
    """In a worker thread: a quarter of a megabyte takes half a second. The size is the present one."""
    try:
        from dragoman.terminal.emulation import Emulator  # noqa: PLC0415  an extra, and slow to load
    except ModuleNotFoundError as error:
        raise _no_emulator() from error
    emulator = Emulator(*(first_size(data) or (columns, rows)), scrollback=min(scrollback, MOST_SCROLLBACK))
    _feed_in_time(emulator, data)
    return Screen(
        columns=emulator.columns,
        rows=emulator.lines,
        lines=tuple(emulator.rendered()),
        cursor_row=emulator.cursor.y + 1,
        cursor_column=min(emulator.cursor.x, emulator.columns - 1) + 1,
        is_full_screen=emulator.is_covered,
        scrollback=tuple(emulator.scrollback()),
    )


def _feed_in_time(emulator: Emulator, data: bytes) -> None:
    """A few bytes can ask for much work: a program that wants to keep us busy is given up on."""
    until_s = time.monotonic() + _WITHIN_S
    for at in range(0, len(data), _CHUNK):
        emulator.feed(data[at : at + _CHUNK])
        if time.monotonic() > until_s:
            raise DragomanError(
                "screen_too_costly",
                say("What was written to this terminal takes too long to be drawn."),
                hint=say("get_command_output gives what a command printed, as text."),
            )


def _no_emulator() -> DragomanError:
    return DragomanError(
        "no_emulator",
        say("The screen of a terminal cannot be shown: the package `pyte` is not installed."),
        hint=say("Install it with: {command}. get_command_output works without.", command=install_command("pyte")),
    )
