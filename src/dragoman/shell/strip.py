"""What a shell has drawn since its prompt began: where its line begins, what stands in it, and how to draw it again.

The line is read from what was drawn, not guessed from the keys that were typed: bindings, history, completion and vi
mode then need no model here. What is not understood makes it lost: nothing is said until the next prompt.
"""

from __future__ import annotations

import re

from dragoman.shell.grid import Grid, Place

MAX_DRAWN = 64 * 1024
_REMEMBERED = 1024
_NEW_LINE = b"\r\n"
_LONGEST_SEQUENCE = 4096
_MOST_AT_ONCE = 16 * 1024
"""A shell draws its line and its lists in less."""
_TOKEN = re.compile(
    rb"(?P<text>[^\x00-\x1f\x7f]+)"
    rb"|\x1b\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    rb"|(?P<string>\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\))"
    rb"|(?P<escape>\x1b[ -/]*[0-OQ-WYZ\\`-~])"
    rb"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
)
_PARTIAL_LETTER = re.compile(rb"(?:[\xc0-\xff]|[\xe0-\xff][\x80-\xbf]|[\xf0-\xff][\x80-\xbf]{2})\Z")


class Strip:
    """Fed with everything that the shell prints while it draws its prompt and its line."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns, self._height = columns, rows
        self._unfinished, self._recent = b"", _NEW_LINE  # a terminal begins at the left
        self._line_at: Place | None = None
        self._before_line: str | None = None
        self._begin(Grid(columns, rows))
        self._grid.lost = True

    @property
    def lost(self) -> bool:
        return self._grid.lost

    @property
    def settled(self) -> bool:
        """Whether the last byte ended a sequence: only then may something be drawn between."""
        return not self._unfinished

    @property
    def column(self) -> int:
        return self._grid.column

    def resize(self, columns: int, rows: int) -> None:
        """A terminal may have broken every row anew."""
        self._columns, self._height = columns, rows
        self._grid.lost = True

    def pass_over(self, data: bytes) -> None:
        """Output that is not a prompt: only its end is kept, from which the column of what follows is found."""
        self._remember(data)
        self._unfinished = b""
        self._grid.lost = True

    def prompt_begins(self) -> None:
        """For the first time or once more: what follows is drawn from the column where the cursor stands."""
        if self.lost:
            self._read_back()
        self._begin(self._grid.from_here())

    def line_begins(self) -> None:
        self._line_at = (self._grid.row, self._grid.column)
        self._before_line = self._text_before(self._line_at)

    def key_follows(self) -> None:
        """Before the first key of a line, all that stands behind the cursor is a right prompt."""
        if self._line_at == (self._grid.row, self._grid.column):
            self._right_prompt = self._behind().strip()

    def feed(self, data: bytes) -> None:
        self._remember(data)
        self._grid.lost = self.lost or len(data) > _MOST_AT_ONCE
        if self.lost:
            self._skim(data)
        else:
            self._parse(data)

    def line(self) -> str | None:
        """The line up to the cursor, where the cursor stands at its end; None where that cannot be told."""
        if self.lost or self._line_at is None or not self.settled or self.room_behind() == 0:
            return None
        if self._text_before(self._line_at) != self._before_line or self.rows_below() or self.text_behind():
            return None
        return self._grid.place_text(self._line_at, (self._grid.row, self._grid.column))

    def room_behind(self) -> int:
        """Blank cells from the cursor on, without the last column: a terminal may wrap when it is written."""
        row, column = self._grid.rows[self._grid.row], self._grid.column
        filled = next((at for at in range(column, len(row)) if row[at] != " "), self._columns)
        return max(0, filled - 1 - column)

    def text_behind(self) -> str:
        """What stands on the cursor's row from the cursor on and is not the prompt's right part."""
        return self._behind().removesuffix(self._right_prompt).strip()

    def rows_below(self) -> int:
        """How many rows below the cursor are drawn on."""
        below = self._grid.rows[self._grid.row + 1 :]
        return max((at for at, row in enumerate(below, 1) if "".join(row).strip()), default=0) * (not self.lost)

    def redrawing(self) -> tuple[int, bytes] | None:
        """How many rows above the cursor the prompt begins, and the bytes that draw it all again from there."""
        is_whole = len(self._drawn) < MAX_DRAWN and self._began_at == 0 and not self._grid.was_cleared
        if self.lost or not is_whole or len(self._grid.rows) >= self._height:
            return None
        return self._grid.row, bytes(self._drawn)

    def _begin(self, grid: Grid) -> None:
        self._grid, self._began_at = grid, grid.column
        self._line_at = self._before_line = None
        self._right_prompt = ""
        self._drawn = bytearray()

    def _remember(self, data: bytes) -> None:
        """A large piece is not cut before somebody looks: in a flood nobody does."""
        self._recent = data if len(data) >= _REMEMBERED else (self._recent[-_REMEMBERED:] + data)[-_REMEMBERED:]

    def _read_back(self) -> None:
        """The row that was begun: known where its beginning is in what was printed last."""
        recent = self._recent[-_REMEMBERED:]
        start = recent.rfind(_NEW_LINE)
        self._begin(Grid(self._columns, self._height))
        self._parse(recent[start + len(_NEW_LINE) :])
        self._grid.lost = self.lost or start < 0

    def _parse(self, data: bytes) -> None:
        data = self._unfinished + data
        at = 0
        while found := _TOKEN.match(data, at):
            if found.end() == len(data) and found["text"] and _PARTIAL_LETTER.search(found["text"]):
                break
            at = found.end()
            self._take(found)
        self._unfinished = data[at:]
        if len(self._unfinished) > _LONGEST_SEQUENCE:
            self._unfinished, self._grid.lost = b"", True
        if len(self._drawn) < MAX_DRAWN:
            self._drawn += data[:at]

    def _skim(self, data: bytes) -> None:
        """Something in the background prints in floods: only whether its last sequence is whole is looked at."""
        end = (self._unfinished + data)[-_LONGEST_SEQUENCE:]
        start = end.rfind(b"\x1b")
        if start < 0 or _TOKEN.match(end, start):
            found = _PARTIAL_LETTER.search(end[-3:])
            self._unfinished = found[0] if found else b""
        else:
            self._unfinished = end[start:]

    def _take(self, found: re.Match[bytes]) -> None:
        if self.lost:
            return
        if found["text"]:
            self._grid.write(found["text"].decode(errors="replace"))
        elif found["control"]:
            self._grid.control(found["control"][0])
        elif found["final"]:
            self._grid.csi(found["parameters"], found["final"])
        elif found["escape"]:
            self._grid.escape(found["escape"])

    def _text_before(self, end: Place) -> str | None:
        """All of the prompt: where it was drawn over (a search of the history is), the line is not the line."""
        above = ["".join(row) for row in self._grid.rows[: end[0]]]
        return (
            "\n".join([*above, "".join(self._grid.rows[end[0]][: end[1]])]) if end[0] < len(self._grid.rows) else None
        )

    def _behind(self) -> str:
        return "".join(self._grid.rows[self._grid.row][self._grid.column :]).rstrip()
