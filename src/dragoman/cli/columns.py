"""Rows in aligned columns: with a header and cut to the window width on a terminal, uncut in a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence

from dragoman.cli.output import render
from dragoman.core.localization import LocalizedText
from dragoman.core.safe_text import printable
from dragoman.shell.overlay.cell_grid import cut, width

_SEPARATOR = "  "


def show_columns(header: Sequence[LocalizedText], rows: Sequence[Sequence[str]]) -> None:
    """Print a table. Only the last column is cut to the window width, and only it may have several lines."""
    width_limit = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    titled = [[render(title) for title in header]] if width_limit and rows else []
    sys.stdout.writelines(f"{line}\n" for line in align_columns([*titled, *rows], width_limit))


def align_columns(rows: Sequence[Sequence[str]], width_limit: int | None) -> Iterator[str]:
    seen = [[*map(printable, row[:-1]), row[-1]] for row in rows]
    widths = [max(map(width, column)) for column in zip(*seen, strict=True)]
    for row in seen:
        *padded, last = row
        cells = [cell + " " * (most - width(cell)) for cell, most in zip(padded, widths, strict=False)]
        before = _SEPARATOR.join([*cells, ""])
        for at, each in enumerate(last.split("\n")):
            line = (before if at == 0 else " " * width(before)) + printable(each)
            yield line if width_limit is None else cut(line, width_limit)
