"""Renders the screen of a terminal from the end of its record, on demand and never on the live path."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.installation import install_command
from dragoman.core.localization import localize
from dragoman.terminal.model import RecordedTerminal

if TYPE_CHECKING:
    from dragoman.terminal.emulator import Emulator

SIZE = "dragoman.size"
"""The attribute with a terminal's size, as columns, `x` and rows."""
DEFAULT_SIZE = (80, 24)
SCREEN_TAIL_BYTES = 256 * 1024
MOST_SCROLLBACK = 2000
_SIZE = re.compile(r"([1-9]\d{0,3})x([1-9]\d{0,3})")
_RESIZED = re.compile(rb"\x1b\[8;(\d{1,4});(\d{1,4})t")
_MOST_COLUMNS, _MOST_ROWS = 1000, 500
_CHUNK = 1024
_WITHIN_S = 5.0


@dataclass(frozen=True, slots=True)
class TerminalScreen:
    columns: int
    rows: int
    lines: tuple[str, ...]
    """All rows, without trailing blanks."""
    cursor_row: int
    cursor_column: int
    """Both count from 1."""
    is_full_screen: bool
    """Whether a full-screen program such as an editor covers the main screen."""
    scrollback: tuple[str, ...] = ()


def terminal_size(terminal: RecordedTerminal) -> tuple[int, int]:
    """The size that the wrapper reported; without one, 24 rows of 80 columns."""
    match = _SIZE.fullmatch(terminal.attributes.get(SIZE, ""))
    if match is None:
        return DEFAULT_SIZE
    return bounded_size(int(match[1]), int(match[2]))


def bounded_size(columns: int, rows: int) -> tuple[int, int]:
    return min(max(columns, 1), _MOST_COLUMNS), min(max(rows, 1), _MOST_ROWS)


def resize_sequence(before: tuple[int, int], after: tuple[int, int]) -> bytes:
    """The mark of a resize in the record: xterm's own sequence, first with the old size, so that a reader that
    starts in the middle knows it."""
    return b"".join(b"\x1b[8;%d;%dt" % (rows, columns) for columns, rows in (before, after))


def first_size(data: bytes) -> tuple[int, int] | None:
    """The size before the first resize in these bytes."""
    match = _RESIZED.search(data)
    return bounded_size(int(match[2]), int(match[1])) if match else None


def emulate(data: bytes, columns: int, rows: int, *, scrollback: int = 0) -> TerminalScreen:
    """Runs in a worker thread: a quarter of a megabyte takes half a second. The size is the present one."""
    try:
        from dragoman.terminal.emulator import Emulator  # noqa: PLC0415  optional dependency, and slow to load
    except ModuleNotFoundError as error:
        raise _no_emulator(command=install_command("pyte")) from error
    emulator = Emulator(*(first_size(data) or (columns, rows)), scrollback=min(scrollback, MOST_SCROLLBACK))
    _feed_in_time(emulator, data)
    return TerminalScreen(
        columns=emulator.columns,
        rows=emulator.lines,
        lines=tuple(emulator.rendered()),
        cursor_row=emulator.cursor.y + 1,
        cursor_column=min(emulator.cursor.x, emulator.columns - 1) + 1,
        is_full_screen=emulator.on_alternate_screen,
        scrollback=tuple(emulator.scrollback()),
    )


def _feed_in_time(emulator: Emulator, data: bytes) -> None:
    """A few bytes can demand much work, so a program that tries that is cut off."""
    until_s = time.monotonic() + _WITHIN_S
    for at in range(0, len(data), _CHUNK):
        emulator.feed(data[at : at + _CHUNK])
        if time.monotonic() > until_s:
            raise DragomanError(
                "screen_too_costly",
                localize("This terminal's screen takes too long to render."),
                hint=localize("get_command_output returns a command's output as text."),
            )


_no_emulator = ErrorSpec(
    "no_emulator",
    "Cannot show the terminal's screen: the package `pyte` is not installed.",
    "Install it with: {command}. get_command_output works without it.",
)
