"""Rows in columns. A person's window gets a header and is not run over; a pipe gets the rows alone, and whole."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence

from dragoman.cli.output import shown
from dragoman.phrases import Phrase
from dragoman.shell.cells import cut, width
from dragoman.visible import visible

_BETWEEN = "  "


def show_columns(header: Sequence[Phrase], rows: Sequence[Sequence[str]]) -> None:
    """The last column is the one that gives way, and the one that may have several lines."""
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    titled = [[shown(title) for title in header]] if room and rows else []
    sys.stdout.writelines(f"{line}\n" for line in aligned([*titled, *rows], room))


def aligned(rows: Sequence[Sequence[str]], room: int | None) -> Iterator[str]:
    seen = [[*map(visible, row[:-1]), row[-1]] for row in rows]
    widths = [max(map(width, column)) for column in zip(*seen, strict=True)]
    for row in seen:
        *padded, last = row
        cells = [cell + " " * (most - width(cell)) for cell, most in zip(padded, widths, strict=False)]
        before = _BETWEEN.join([*cells, ""])
        for at, each in enumerate(last.split("\n")):
            line = (before if at == 0 else " " * width(before)) + visible(each)
            yield line if room is None else cut(line, room)
