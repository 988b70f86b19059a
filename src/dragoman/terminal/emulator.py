"""A terminal emulator based on pyte, with the sequences that pyte does not know."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from copy import copy
from typing import Any, NamedTuple

import pyte
from pyte import modes
from pyte.charsets import LAT1_MAP, VT100_MAP
from pyte.screens import Cursor
from wcwidth import wcwidth

from dragoman.protocols.ansi import Csi, Escape, SequenceParser, Text
from dragoman.terminal.screen import bounded_size

_WIDE = 2
_MOST_IN_A_CELL = 16
_OTHER_SCREEN = frozenset({47, 1047, 1049})
_SAVES_CURSOR = frozenset({1048, 1049})
_PLAIN_MODES = frozenset({modes.IRM, modes.LNM})
_PRIVATE_MODES = frozenset({mode >> 5 for mode in (modes.DECOM, modes.DECAWM, modes.DECTCEM)})
_SCROLLBACK = 3
_WINDOW_RESIZED = 8


class _SavedScreen(NamedTuple):
    """The screen that a full-screen program covers."""

    lines: dict[int, Any]
    cursor: Cursor


class Emulator(pyte.Screen):
    def __init__(self, columns: int, rows: int, scrollback: int) -> None:
        self._scrolled: deque[Any] = deque(maxlen=max(scrollback, rows))
        self._scrollback = scrollback
        self._covered: _SavedScreen | None = None
        self._saved: Cursor | None = None
        self._last = " "
        super().__init__(columns, rows)
        self._sequences = SequenceParser()

    @property
    def on_alternate_screen(self) -> bool:
        return self._covered is not None

    def feed(self, data: bytes) -> None:
        for token in self._sequences.feed(data):
            if isinstance(token, Text):
                self._write(token)
            elif isinstance(token, Escape):
                self._escape(token)
            else:
                self._control(token)

    def rendered(self) -> list[str]:
        return [self._text(self.buffer[y]) for y in range(self.lines)]

    def scrollback(self) -> list[str]:
        lines = [self._text(line) for line in self._scrolled]
        return lines[-self._scrollback :] if self._scrollback else []

    def _text(self, line: Any) -> str:
        """Half of a wide character whose other half was overwritten is shown as a blank."""
        text, x = "", 0
        while x < self.columns:
            data = line[x].data
            is_wide = bool(data) and wcwidth(data[0]) == _WIDE
            is_whole = is_wide and x + 1 < self.columns and not line[x + 1].data
            text += data if data and (is_whole or not is_wide) else " "
            x += _WIDE if is_whole else 1
        return text.rstrip()

    # Characters.

    def _write(self, token: Text) -> None:
        if not token.is_control:
            self.draw(token.text)
        elif (name := _CONTROLS.get(token.text)) is not None:
            getattr(self, name)()

    def draw(self, data: str) -> None:
        text = data.translate(self.g1_charset if self.charset else self.g0_charset)
        for char in text:
            width = 1 if char < "\x7f" else wcwidth(char)
            if width > 0:
                self._place(char, width)
            elif width == 0:
                self._combine(char)

    def _place(self, char: str, width: int) -> None:
        if self.cursor.x + width > self.columns:
            if modes.DECAWM in self.mode:
                self.carriage_return()
                self.linefeed()
            else:
                self.cursor.x = self.columns - width
        if modes.IRM in self.mode:
            self.insert_characters(width)
        line, x = self.buffer[self.cursor.y], self.cursor.x
        line[x] = self.cursor.attrs._replace(data=char)
        if width == _WIDE:
            line[x + 1] = self.cursor.attrs._replace(data="")
        self.cursor.x = x + width
        self._last = char

    def _combine(self, char: str) -> None:
        """Combine with the character before it. A wide one is two cells away."""
        line, x = self.buffer[self.cursor.y], self.cursor.x - 1
        while x > 0 and not line[x].data:
            x -= 1
        if x >= 0 and len(line[x].data) < _MOST_IN_A_CELL:
            line[x] = line[x]._replace(data=line[x].data + char)

    def repeat(self, count: int = 1) -> None:
        self.draw(self._last * min(max(1, count), self.columns))

    # Scrolling.

    def index(self) -> None:
        """Rows that scroll off the top are kept, unless a full-screen program or a scroll region scrolls."""
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom and top == 0 and not self.on_alternate_screen:
            self._scrolled.append(self.buffer[0])
        super().index()

    def scroll_up(self, count: int = 1) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        leaving = min(max(1, count), bottom - top + 1)
        if top == 0 and not self.on_alternate_screen:
            self._scrolled.extend(self.buffer[y] for y in range(leaving))
        self._move(range(top, bottom + 1), -leaving)

    def scroll_down(self, count: int = 1) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        self._move(range(top, bottom + 1), max(1, count))

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Resize as tmux does: drop rows below the cursor first, then rows at the top; a larger window brings the
        latter back."""
        rows = lines or self.lines
        self.columns = columns or self.columns
        below = min(max(0, self.lines - rows), self.lines - 1 - self.cursor.y)
        self._shift(rows - (self.lines - below))
        self.lines, self.margins = rows, None
        for y in [y for y in self.buffer if y >= rows]:
            del self.buffer[y]
        self.ensure_hbounds()
        self.ensure_vbounds()

    def _shift(self, count: int) -> None:
        """Bring rows back from the scrollback at the top, or scroll rows out there."""
        come = min(count, len(self._scrolled)) if count > 0 and not self.on_alternate_screen else min(count, 0)
        for y in range(-come):
            self._scrolled.extend([self.buffer[y]] if not self.on_alternate_screen else [])
        kept = {y + come: line for y, line in self.buffer.items() if y + come >= 0}
        back = {y: self._scrolled.pop() for y in range(come - 1, -1, -1)}
        self.buffer.clear()
        self.buffer.update(kept | back)
        self.cursor.y = max(0, self.cursor.y + come)

    def insert_lines(self, count: int | None = None) -> None:
        self._move_lines(min(count or 1, self.lines))

    def delete_lines(self, count: int | None = None) -> None:
        self._move_lines(-min(count or 1, self.lines))

    def _move_lines(self, by: int) -> None:
        """Move the lines from the cursor to the end of the region."""
        top, bottom = self.margins or (0, self.lines - 1)
        if top <= self.cursor.y <= bottom:
            self._move(range(self.cursor.y, bottom + 1), by)

    def _move(self, region: range, by: int) -> None:
        """Move the rows of the region. Empty rows have no entry, so nothing moves for them."""
        moved = {y: self.buffer.pop(y) for y in region if y in self.buffer}
        self.buffer.update({y + by: line for y, line in moved.items() if y + by in region})

    def window(self, what: int = 0, rows: int = 0, columns: int = 0) -> None:
        if what == _WINDOW_RESIZED and rows and columns:
            columns, rows = bounded_size(columns, rows)
            self.resize(rows, columns)

    def erase_in_display(self, how: int = 0, *_: Any, **__: Any) -> None:
        if how == _SCROLLBACK:
            self._scrolled.clear()
        elif how < _SCROLLBACK:
            super().erase_in_display(how)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        if how < _SCROLLBACK:
            super().erase_in_line(how, private)

    # The cursor. There is one saved position, not a stack.

    def save_cursor(self) -> None:
        self._saved = copy(self.cursor)

    def restore_cursor(self) -> None:
        self.cursor = copy(self._saved) if self._saved else Cursor(0, 0)
        self.ensure_hbounds()
        self.ensure_vbounds()

    def back_tab(self, count: int = 1) -> None:
        for _ in range(min(max(1, count), len(self.tabstops) + 1)):
            self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)

    def forward_tab(self, count: int = 1) -> None:
        for _ in range(min(max(1, count), self.columns)):
            self.tab()

    # Sequences.

    def _escape(self, token: Escape) -> None:
        if token.intermediates in _CHARSETS:
            setattr(self, _CHARSETS[token.intermediates], VT100_MAP if token.final == "0" else LAT1_MAP)
        elif (name := _ESCAPES.get((token.intermediates, token.final))) is not None:
            getattr(self, name)()

    def _control(self, token: Csi) -> None:
        if token.intermediates:
            return
        if token.final in "hl":
            self._switch(token, on=token.final == "h")
        elif token.prefix in _PREFIXES.get(token.final, ("",)) and token.final in _CONTROL_SEQUENCES:
            name, most = _CONTROL_SEQUENCES[token.final]
            getattr(self, name)(*token.parameters[:most])

    def _switch(self, token: Csi, *, on: bool) -> None:
        known = {"": _PLAIN_MODES, "?": _PRIVATE_MODES}.get(token.prefix, frozenset())
        change = self.set_mode if on else self.reset_mode
        for mode in token.parameters:
            if mode in known:
                change(mode, private=token.prefix == "?")
            elif token.prefix == "?":
                self._switch_screen(mode, on=on)

    def _switch_screen(self, mode: int, *, on: bool) -> None:
        if mode in _SAVES_CURSOR and on:
            self.save_cursor()
        if mode in _OTHER_SCREEN:
            self._enter_alternate_screen() if on else self._leave_alternate_screen()
        if mode in _SAVES_CURSOR and not on:
            self.restore_cursor()

    def _enter_alternate_screen(self) -> None:
        if self._covered is None:
            self._covered = _SavedScreen(dict(self.buffer), copy(self.cursor))
            self.buffer.clear()

    def _leave_alternate_screen(self) -> None:
        """If the record begins inside a full-screen program, the screen below it is unknown."""
        self.buffer.clear()
        if self._covered is not None:
            self.buffer.update(self._covered.lines)
            self._covered = None

    def reset(self) -> None:
        self._covered = None
        super().reset()


_CONTROLS: Mapping[str, str] = {
    "\b": "backspace",
    "\t": "tab",
    "\n": "linefeed",
    "\x0b": "linefeed",
    "\x0c": "linefeed",
    "\r": "carriage_return",
    "\x0e": "shift_out",
    "\x0f": "shift_in",
}
_CHARSETS: Mapping[str, str] = {"(": "g0_charset", ")": "g1_charset"}
_ESCAPES: Mapping[tuple[str, str], str] = {
    ("", "c"): "reset",
    ("", "D"): "index",
    ("", "E"): "linefeed",
    ("", "M"): "reverse_index",
    ("", "H"): "set_tab_stop",
    ("", "7"): "save_cursor",
    ("", "8"): "restore_cursor",
    ("#", "8"): "alignment_display",
}
_PREFIXES: Mapping[str, tuple[str, ...]] = {"J": ("", "?"), "K": ("", "?")}
# By final byte: the action, and how many parameters it takes.
_CONTROL_SEQUENCES: Mapping[str, tuple[str, int]] = {
    "@": ("insert_characters", 1),
    "A": ("cursor_up", 1),
    "B": ("cursor_down", 1),
    "C": ("cursor_forward", 1),
    "D": ("cursor_back", 1),
    "E": ("cursor_down1", 1),
    "F": ("cursor_up1", 1),
    "G": ("cursor_to_column", 1),
    "H": ("cursor_position", 2),
    "I": ("forward_tab", 1),
    "J": ("erase_in_display", 1),
    "K": ("erase_in_line", 1),
    "L": ("insert_lines", 1),
    "M": ("delete_lines", 1),
    "P": ("delete_characters", 1),
    "S": ("scroll_up", 1),
    "T": ("scroll_down", 1),
    "X": ("erase_characters", 1),
    "Z": ("back_tab", 1),
    "`": ("cursor_to_column", 1),
    "a": ("cursor_forward", 1),
    "b": ("repeat", 1),
    "d": ("cursor_to_line", 1),
    "e": ("cursor_down", 1),
    "f": ("cursor_position", 2),
    "g": ("clear_tab_stop", 1),
    "r": ("set_margins", 2),
    "s": ("save_cursor", 0),
    "t": ("window", 3),
    "u": ("restore_cursor", 0),
}
