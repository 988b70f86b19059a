"""Rows below the shell's line, drawn and erased without the shell noticing.

Room is made first, by line feeds that may scroll, and only then is the cursor saved: a saved position does not follow
a scroll. Every restore is followed by a save, because some terminals forget the position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dragoman.core.localization import LocalizedText, preferred_language
from dragoman.shell.overlay.cell_grid import cut, width

SAVE, RESTORE = b"\x1b7", b"\x1b8"
_STYLES = {"plain": b"\x1b[m", "dim": b"\x1b[0;90m", "accent": b"\x1b[0;36m", "warning": b"\x1b[0;33m"}


@dataclass(frozen=True, slots=True)
class PanelRow:
    """`text` is safe to show. In the panel it is cut to the window; in the scrollback it is whole."""

    text: str
    style: Literal["plain", "dim", "accent", "warning"] = "plain"

    def drawn(self, columns: int | None = None) -> bytes:
        text = self.text if columns is None else cut(self.text, columns)
        return _STYLES[self.style] + text.encode(errors="replace") + b"\x1b[m"


def in_user_language(localized: LocalizedText) -> str:
    return localized.in_language(preferred_language())


class Panel:
    def __init__(self) -> None:
        self._drawn: tuple[object, ...] | None = None
        self._skipped = 0

    @property
    def is_drawn(self) -> bool:
        return self._drawn is not None

    def draw(self, rows: list[PanelRow], columns: int, *, skip: int, cursor: tuple[int, int] | None = None) -> bytes:
        """`skip` rows below the cursor belong to the shell. `cursor` is a cell of the panel, or None for the shell's
        cursor."""
        wanted = (tuple(rows), columns, skip, cursor)
        if wanted == self._drawn:
            return b""
        height = skip + len(rows)
        out = (self.remove() if self.is_drawn else b"") + b"\n" * height + b"\x1b[%dA" % height + SAVE
        out += b"\r" + b"\n" * (skip + 1) + b"\r\n".join(row.drawn(columns) + b"\x1b[K" for row in rows)
        out += RESTORE + SAVE if cursor is None else _placed(len(rows) - 1 - cursor[0], cursor[1])
        self._drawn, self._skipped = wanted, skip
        return out

    def remove(self) -> bytes:
        """Afterwards the cursor, its colours and all cells are as the shell left them."""
        if not self.is_drawn:
            return b""
        self._drawn = None
        return RESTORE + SAVE + b"\x1b[%dB\r\x1b[m\x1b[J" % (self._skipped + 1) + RESTORE


def _placed(up: int, column: int) -> bytes:
    return b"\r" + (b"\x1b[%dA" % up if up else b"") + (b"\x1b[%dC" % column if column else b"")


class GhostText:
    """Dim text behind the cursor, over blank cells of its row."""

    def __init__(self) -> None:
        self.text = ""

    def draw(self, text: str, room: int) -> bytes:
        text = cut(text, room)
        if text == self.text:
            return b""
        erased, self.text = self.erase(), text
        return erased + (SAVE + _STYLES["dim"] + text.encode(errors="replace") + RESTORE if text else b"")

    def erase(self, *, reflowed: bool = False) -> bytes:
        """A terminal that rewrapped its rows may have moved a part of it to the next row, so everything behind it is
        erased."""
        if not self.text:
            return b""
        cells, self.text = width(self.text), ""
        return SAVE + b"\x1b[m" + (b"\x1b[J" if reflowed else b"\x1b[%dX" % cells) + RESTORE
