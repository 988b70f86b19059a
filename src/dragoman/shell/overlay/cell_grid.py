"""The cells and the cursor of the rows that a prompt and its line occupy.

Positions are relative to the first row, so scrolling does not matter. Anything that these rows cannot represent (an
absolute position, a scroll region, an unknown sequence) makes the grid `lost`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from dragoman.core.safe_text import printable

# These neither move the cursor nor change a cell.
_HARMLESS_CSI = frozenset(b"mnctqpy")
_HARMLESS_ESCAPES = frozenset({b"\x1b=", b"\x1b>", b"\x1b\\"})
_CHARACTER_SETS = b"()*+ #%"
_SILENT = frozenset(b"\x00\x07\x0e\x0f\x7f")

CellPosition = tuple[int, int]


class CellGrid:
    """Cells and a cursor, changed by the text and sequences that a shell prints."""

    def __init__(self, columns: int, height: int, *, column: int = 0) -> None:
        self.columns, self.height = columns, height
        self.rows: list[list[str]] = [[]]
        self.joined: set[int] = set()
        """Rows that continue the row before, which wrapped at the edge."""
        self.row, self.column = 0, column
        self.lost = False
        self.was_cleared = False
        self._saved: CellPosition = (0, column)
        self._inserting = False

    def from_here(self) -> CellGrid:
        """The same cells, counted from the cursor's row."""
        grid = CellGrid(self.columns, self.height, column=self.column)
        grid.rows = self.rows[self.row :]
        grid.joined = {row - self.row for row in self.joined if row > self.row}
        grid.lost, grid._inserting = self.lost, self._inserting
        return grid

    def write(self, text: str) -> None:
        for character in text:
            cells = width_of(character)
            if cells == 0 or character in UNCERTAIN_WIDTH:
                self._combine(character)
            else:
                self._put(character, cells)

    def control(self, control: int) -> None:
        if control in _SILENT:
            return
        action = _CONTROLS.get(control)
        if action is None:
            self.lost = True
        else:
            action(self)

    def escape(self, sequence: bytes) -> None:
        if sequence == b"\x1b7":
            self.save(0)
        elif sequence == b"\x1b8":
            self.restore(0)
        elif sequence not in _HARMLESS_ESCAPES and sequence[1] not in _CHARACTER_SETS:
            self.lost = True

    def csi(self, parameters: bytes, final: bytes) -> None:
        if final in b"hl":
            self._inserting = final == b"h" if parameters == b"4" else self._inserting
            return
        if final[0] in _HARMLESS_CSI or parameters[:1] in (b">", b"<", b"=", b"?"):
            return
        move, number = _MOVES.get(final), parameters or b"0"
        if move is None or len(number) > 5 or not number.isdigit():
            self.lost = self.lost or not self._moves_home(number, final)
        else:
            move(self, int(number))

    def text_between(self, start: CellPosition, end: CellPosition) -> str | None:
        """The text between two places; None if a row did not begin by wrapping at the edge."""
        if start > end or any(row not in self.joined for row in range(start[0] + 1, end[0] + 1)):
            return None
        cells: list[str] = []
        for row in range(start[0], end[0] + 1):
            last = end[1] if row == end[0] else self.columns
            filled = self.rows[row]
            cells += (filled + [" "] * (last - len(filled)))[start[1] if row == start[0] else 0 : last]
        return "".join(cells)

    def carriage_return(self) -> None:
        self.column = 0

    def line_feed(self) -> None:
        self.column = min(self.column, self.columns - 1)
        self.joined.discard(self.row + 1)
        self._to_next_row()

    def backspace(self) -> None:
        self.left(1)

    def tabulate(self) -> None:
        self.column = min(self.columns - 1, (self.column // 8 + 1) * 8)

    def up(self, number: int) -> None:
        self.row -= max(1, number)
        if self.row < 0:
            self.row, self.lost = 0, True

    def down(self, number: int) -> None:
        for _ in range(min(max(1, number), 2 * self.height)):
            self._to_next_row()

    def right(self, number: int) -> None:
        self.column = min(self.columns - 1, self.column + max(1, number))

    def left(self, number: int) -> None:
        self.column = max(0, min(self.column, self.columns - 1) - max(1, number))

    def to_column(self, number: int) -> None:
        self.column = min(self.columns, max(1, number)) - 1

    def home(self, number: int) -> None:
        """A shell moves there only to clear the screen: begin anew."""
        self.rows, self.joined = [[]], set()
        self.row = self.column = 0
        self.was_cleared, self.lost, self._saved = True, number > 1, (0, 0)

    def erase_line(self, kind: int) -> None:
        row = self.rows[self.row]
        if kind == 0:
            del row[self.column :]
        elif kind == 2:
            row.clear()
        else:
            row[: self.column + 1] = [" "] * min(len(row), self.column + 1)

    def erase_screen(self, kind: int) -> None:
        if kind == 0:
            del self.rows[self.row + 1 :]
            self.erase_line(0)
        elif kind == 2:
            self.rows = [[] for _ in self.rows]
        else:
            self.lost = self.lost or kind == 1

    def delete(self, number: int) -> None:
        del self.rows[self.row][self.column : self.column + max(1, number)]

    def insert(self, number: int) -> None:
        row = self.rows[self.row]
        row[self.column : self.column] = [" "] * min(max(1, number), self.columns)
        del row[self.columns :]

    def erase(self, number: int) -> None:
        row = self.rows[self.row]
        end = min(len(row), self.column + max(1, number))
        row[self.column : end] = [" "] * max(0, end - self.column)

    def save(self, _: int) -> None:
        self._saved = (self.row, self.column)

    def restore(self, _: int) -> None:
        self.row, self.column = self._saved

    def _moves_home(self, parameters: bytes, final: bytes) -> bool:
        if final not in b"Hf" or parameters.strip(b"1;"):
            return False
        self.home(1)
        return True

    def _combine(self, character: str) -> None:
        row = self.rows[self.row]
        if character in UNCERTAIN_WIDTH or not 0 < self.column <= len(row):
            self.lost = True
        else:
            row[self.column - 1] += character

    def _put(self, character: str, cells: int) -> None:
        if self.column + cells > self.columns:
            self._to_next_row()
            self.column = 0
            self.joined.add(self.row)
        row = self.rows[self.row]
        row += [" "] * (self.column - len(row))
        over = 0 if self._inserting else cells
        row[self.column : self.column + over] = [character] + [""] * (cells - 1)
        del row[self.columns :]
        self.column += cells

    def _to_next_row(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])
        self.lost = self.lost or self.row >= 2 * self.height


_CONTROLS: dict[int, Callable[[CellGrid], None]] = {
    0x08: CellGrid.backspace,
    0x09: CellGrid.tabulate,
    0x0A: CellGrid.line_feed,
    0x0D: CellGrid.carriage_return,
}
_MOVES: dict[bytes, Callable[[CellGrid, int], None]] = {
    b"A": CellGrid.up,
    b"B": CellGrid.down,
    b"C": CellGrid.right,
    b"D": CellGrid.left,
    b"G": CellGrid.to_column,
    b"H": CellGrid.home,
    b"J": CellGrid.erase_screen,
    b"K": CellGrid.erase_line,
    b"P": CellGrid.delete,
    b"@": CellGrid.insert,
    b"X": CellGrid.erase,
    b"s": CellGrid.save,
    b"u": CellGrid.restore,
}


ELLIPSIS = "…"
# Terminals disagree about the width of what follows these: a joined or coloured emoji is one, two or four cells wide.
UNCERTAIN_WIDTH = frozenset("\u200d\ufe0f\ufe0e") | {chr(code) for code in range(0x1F3FB, 0x1F400)}


def width_of(character: str) -> int:
    if character < "\u0300":
        return 1
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in {"Mn", "Me", "Cf"} else 1


def width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(width_of, text))


def one_line(text: str) -> str:
    """The text on one row: escape sequences visible, newlines and tabs as spaces."""
    return printable(" ".join(text.split()))


def cut(text: str, room: int) -> str:
    """The part that fits, with an ellipsis if something was cut."""
    if width(text) <= room:
        return text
    return _fitting(text, room - 1) + ELLIPSIS if room > 0 else ""


def wrapped(text: str, columns: int) -> list[str]:
    """Lines as a terminal would wrap them, by cells. Each line of the text begins a new one."""
    lines: list[str] = []
    for line in printable(text).expandtabs(8).split("\n"):
        rest = line
        while width(rest) > columns:
            first = _fitting(rest, columns) or rest[:1]
            lines.append(first)
            rest = rest[len(first) :]
        lines.append(rest)
    return lines


def _fitting(text: str, room: int) -> str:
    used = 0
    for at, character in enumerate(text):
        used += width_of(character)
        if used > room:
            return text[:at]
    return text
