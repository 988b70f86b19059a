"""The state of the shell's prompt: whether a line is being typed, which modes are on, and what has been drawn since
the prompt began.

The line is read from what was drawn, not guessed from the keys: key bindings, history, completion and vi mode then
need no model here. Output that is not understood makes the rows `lost` until the next prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dragoman.protocols.osc import InputStarted, Mark, OutputStarted, PromptStarted, PropertyReported
from dragoman.shell.overlay.cell_grid import CellGrid, CellPosition
from dragoman.shell.overlay.keys import KeyInput

MAX_DRAWN = 64 * 1024
_REMEMBERED = 1024
_NEW_LINE = b"\r\n"
_LONGEST_SEQUENCE = 4096
_MOST_AT_ONCE = 16 * 1024
"""A shell draws its line and its lists in less."""
SUGGESTS = "Suggests"
"""The property by which a shell's hook reports that the shell draws suggestions itself."""

_TOKEN = re.compile(
    rb"(?P<text>[^\x00-\x1f\x7f]+)"
    rb"|\x1b\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    rb"|(?P<string>\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\))"
    rb"|(?P<escape>\x1b[ -/]*[0-OQ-WYZ\\`-~])"
    rb"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
)
_PARTIAL_LETTER = re.compile(rb"(?:[\xc0-\xff]|[\xe0-\xff][\x80-\xbf]|[\xf0-\xff][\x80-\xbf]{2})\Z")


class PromptRows:
    """The rows of the prompt and its line, fed with everything that the shell prints while it draws them."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns, self._height = columns, rows
        self._unfinished, self._recent = b"", _NEW_LINE  # a terminal starts at the left edge
        self._line_at: CellPosition | None = None
        self._before_line: str | None = None
        self._begin(CellGrid(columns, rows))
        self._grid.lost = True

    @property
    def lost(self) -> bool:
        return self._grid.lost

    @property
    def settled(self) -> bool:
        """Whether the last byte ended a sequence: only then may something be drawn."""
        return not self._unfinished

    @property
    def column(self) -> int:
        return self._grid.column

    def resize(self, columns: int, rows: int) -> None:
        """The terminal may have rewrapped every row."""
        self._columns, self._height = columns, rows
        self._grid.lost = True

    def skip_output(self, data: bytes) -> None:
        """Skip output that is not a prompt. Only its end is kept, to find the column where the next output begins."""
        self._remember(data)
        self._unfinished = b""
        self._grid.lost = True

    def begin_prompt(self) -> None:
        """Begin a prompt, or redraw it: what follows is drawn from the cursor's column."""
        if self.lost:
            self._read_back()
        self._begin(self._grid.from_here())

    def begin_line(self) -> None:
        self._line_at = (self._grid.row, self._grid.column)
        self._before_line = self._text_before(self._line_at)

    def before_key(self) -> None:
        """Before the first key of a line, everything behind the cursor is a right prompt."""
        if self._line_at == (self._grid.row, self._grid.column):
            self._right_prompt = self._after_cursor().strip()

    def feed(self, data: bytes) -> None:
        self._remember(data)
        self._grid.lost = self.lost or len(data) > _MOST_AT_ONCE
        if self.lost:
            self._track_last_sequence(data)
        else:
            self._parse(data)

    def line(self) -> str | None:
        """The line up to the cursor, if the cursor is at its end; None if that is unknown."""
        if self.lost or self._line_at is None or not self.settled or self.room_after_cursor() == 0:
            return None
        if self._text_before(self._line_at) != self._before_line or self.rows_below() or self.text_after_cursor():
            return None
        return self._grid.text_between(self._line_at, (self._grid.row, self._grid.column))

    def room_after_cursor(self) -> int:
        """Blank cells from the cursor on, without the last column: writing there may wrap."""
        row, column = self._grid.rows[self._grid.row], self._grid.column
        filled = next((at for at in range(column, len(row)) if row[at] != " "), self._columns)
        return max(0, filled - 1 - column)

    def text_after_cursor(self) -> str:
        """The text from the cursor to the end of its row, without the right prompt."""
        return self._after_cursor().removesuffix(self._right_prompt).strip()

    def rows_below(self) -> int:
        """How many rows below the cursor are in use."""
        below = self._grid.rows[self._grid.row + 1 :]
        return max((at for at, row in enumerate(below, 1) if "".join(row).strip()), default=0) * (not self.lost)

    def redraw_sequence(self) -> tuple[int, bytes] | None:
        """How many rows above the cursor the prompt begins, and the bytes that draw it again from there."""
        is_whole = len(self._drawn) < MAX_DRAWN and self._began_at == 0 and not self._grid.was_cleared
        if self.lost or not is_whole or len(self._grid.rows) >= self._height:
            return None
        return self._grid.row, bytes(self._drawn)

    def _begin(self, grid: CellGrid) -> None:
        self._grid, self._began_at = grid, grid.column
        self._line_at = self._before_line = None
        self._right_prompt = ""
        self._drawn = bytearray()

    def _remember(self, data: bytes) -> None:
        """Store a large piece uncut until it is needed: during a flood it is not."""
        self._recent = data if len(data) >= _REMEMBERED else (self._recent[-_REMEMBERED:] + data)[-_REMEMBERED:]

    def _read_back(self) -> None:
        """The current row, if its start is in the recent output."""
        recent = self._recent[-_REMEMBERED:]
        start = recent.rfind(_NEW_LINE)
        self._begin(CellGrid(self._columns, self._height))
        self._parse(recent[start + len(_NEW_LINE) :])
        self._grid.lost = self.lost or start < 0

    def _parse(self, data: bytes) -> None:
        data = self._unfinished + data
        at = 0
        while match := _TOKEN.match(data, at):
            if match.end() == len(data) and match["text"] and _PARTIAL_LETTER.search(match["text"]):
                break
            at = match.end()
            self._handle(match)
        self._unfinished = data[at:]
        if len(self._unfinished) > _LONGEST_SEQUENCE:
            self._unfinished, self._grid.lost = b"", True
        if len(self._drawn) < MAX_DRAWN:
            self._drawn += data[:at]

    def _track_last_sequence(self, data: bytes) -> None:
        """Background output can be a flood: check only whether its last sequence is complete."""
        end = (self._unfinished + data)[-_LONGEST_SEQUENCE:]
        start = end.rfind(b"\x1b")
        if start < 0 or _TOKEN.match(end, start):
            match = _PARTIAL_LETTER.search(end[-3:])
            self._unfinished = match[0] if match else b""
        else:
            self._unfinished = end[start:]

    def _handle(self, found: re.Match[bytes]) -> None:
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

    def _text_before(self, end: CellPosition) -> str | None:
        """The whole prompt. If it was drawn over, as in a history search, the line is not a command line."""
        above = ["".join(row) for row in self._grid.rows[: end[0]]]
        return (
            "\n".join([*above, "".join(self._grid.rows[end[0]][: end[1]])]) if end[0] < len(self._grid.rows) else None
        )

    def _after_cursor(self) -> str:
        return "".join(self._grid.rows[self._grid.row][self._grid.column :]).rstrip()


_MODES = re.compile(rb"\x1b\[\?(?:(?P<alternate>1049|1047|47)|(?P<bracketed>2004))(?P<set>[hl])")
_LONGEST_MODE = len(b"\x1b[?1049")
_NARROWEST, _LOWEST = 20, 4


class PromptState:
    """What the shell is doing at its prompt, as far as its marks and output show."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.prompt_rows = PromptRows(columns, rows)
        self.at_input = self.is_verified = False
        self.bracketed = self.shell_suggests = False
        self.alternate = ""
        """The mode by which a program entered the alternate screen; empty on the main screen."""
        self.folder: str | None = None
        self.key_at_s = self.changed_at_s = float("-inf")
        self.is_drawing = False
        """Whether the output is a prompt or a line."""
        self.has_verified_marks = False
        """Whether the shell's marks carry our nonce."""
        self._awaits_echo = self._typed_at_end = False
        self._mode_begun = b""
        self._marks: dict[type[Mark], Callable[[], None]] = {
            PromptStarted: self._prompt_started,
            InputStarted: self._input_started,
            OutputStarted: self._output_started,
        }

    @property
    def may_draw(self) -> bool:
        """At the right edge a terminal delays the wrap, and any cursor movement would lose it."""
        is_large = self.columns >= _NARROWEST and self.rows >= _LOWEST
        is_settled = self.prompt_rows.settled and (self.prompt_rows.lost or self.prompt_rows.column < self.columns)
        return self.at_input and not self.alternate and is_large and is_settled

    @property
    def line(self) -> str | None:
        """The text of the shell's line, if the cursor is at its end and every key has been echoed."""
        return self.prompt_rows.line() if self.at_input and self.has_echoed and not self.alternate else None

    @property
    def has_echoed(self) -> bool:
        """Whether the shell has printed something since the last key."""
        return not self._awaits_echo

    def handle_output(self, data: bytes, now_s: float) -> None:
        self._note_modes(data)
        if not self.is_drawing:
            self.prompt_rows.skip_output(data)
            return
        self.prompt_rows.feed(data)
        self.changed_at_s, self._awaits_echo = now_s, False
        if self._typed_at_end and self.prompt_rows.settled and len(self.prompt_rows.text_after_cursor()) > 1:
            self.shell_suggests = True

    def key_sent(self, key: KeyInput, now_s: float) -> None:
        self._typed_at_end = (
            key.name == "text" and not self.prompt_rows.lost and not self.prompt_rows.text_after_cursor()
        )
        self.prompt_rows.before_key()
        self.key_at_s = self.changed_at_s = now_s
        self._awaits_echo = True

    def handle_mark(self, mark: Mark, verified: bool) -> bool:
        """Whether the mark counts: if the shell's marks carry our nonce, other marks are only text."""
        self.has_verified_marks = self.has_verified_marks or verified
        if self.has_verified_marks and not verified:
            return False
        if isinstance(mark, PropertyReported):
            self._property_reported(mark)
        elif type(mark) in self._marks:
            self._marks[type(mark)]()
            self.is_verified = verified
        return True

    def handle_resize(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.prompt_rows.resize(columns, rows)

    def _prompt_started(self) -> None:
        self.prompt_rows.begin_prompt()
        self.is_drawing, self.at_input = True, False

    def _input_started(self) -> None:
        if not self.is_drawing:
            self._prompt_started()
        self.prompt_rows.begin_line()
        self.at_input, self._awaits_echo, self._typed_at_end = True, False, False

    def _output_started(self) -> None:
        self.is_drawing = self.at_input = False

    def _property_reported(self, mark: PropertyReported) -> None:
        if mark.key == "Cwd":
            self.folder = mark.value
        elif mark.key == SUGGESTS:
            self.shell_suggests = mark.value == "1"

    def _note_modes(self, data: bytes) -> None:
        """A sequence may arrive in two pieces; only its start is kept for the next read."""
        if b"\x1b" not in data and not self._mode_begun:
            return
        data = self._mode_begun + data if self._mode_begun else data
        for found in _MODES.finditer(data) if b"?" in data else ():  # finding one byte is a hundred times faster
            if found["alternate"]:
                self.alternate = found["alternate"].decode() if found["set"] == b"h" else ""
            else:
                self.bracketed = found["set"] == b"h"
        begun = data.rfind(b"\x1b", -_LONGEST_MODE)
        self._mode_begun = data[begun:] if begun >= 0 and not _MODES.match(data, begun) else b""
