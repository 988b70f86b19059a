"""What the shell is doing, as far as it can be told: whether it is at its line, and which modes are on."""

from __future__ import annotations

import re
from collections.abc import Callable

from dragoman.shell.keys import Key
from dragoman.shell.strip import Strip
from dragoman.wire.osc import InputStarted, Mark, OutputStarted, PromptStarted, PropertyReported

_MODES = re.compile(rb"\x1b\[\?(?:(?P<alternate>1049|1047|47)|(?P<bracketed>2004))(?P<set>[hl])")
_LONGEST_MODE = len(b"\x1b[?1049")
_NARROWEST, _LOWEST = 20, 4
SUGGESTS = "Suggests"
"""The property by which a shell's hook tells that the shell draws suggestions itself."""


class Stage:
    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.strip = Strip(columns, rows)
        self.at_line = self.is_verified = False
        self.bracketed = self.shell_suggests = False
        self.alternate = ""
        """The mode by which a program went to the alternate screen; empty on the main one."""
        self.folder: str | None = None
        self.key_at_s = self.changed_at_s = float("-inf")
        self.is_drawing = False
        """Whether what is printed is a prompt or a line."""
        self.trusts = False
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
        """At the edge of a row a terminal holds a wrap back, which any movement would lose."""
        is_large = self.columns >= _NARROWEST and self.rows >= _LOWEST
        is_calm = self.strip.settled and (self.strip.lost or self.strip.column < self.columns)
        return self.at_line and not self.alternate and is_large and is_calm

    @property
    def line(self) -> str | None:
        """What stands in the shell's line, where the cursor is at its end and every key has been answered."""
        return self.strip.line() if self.at_line and self.has_echoed and not self.alternate else None

    @property
    def has_echoed(self) -> bool:
        """Whether the shell has answered since the last key that it was sent."""
        return not self._awaits_echo

    def printed(self, data: bytes, now_s: float) -> None:
        self._note_modes(data)
        if not self.is_drawing:
            self.strip.pass_over(data)
            return
        self.strip.feed(data)
        self.changed_at_s, self._awaits_echo = now_s, False
        if self._typed_at_end and self.strip.settled and len(self.strip.text_behind()) > 1:
            self.shell_suggests = True

    def key_sent(self, key: Key, now_s: float) -> None:
        self._typed_at_end = key.name == "text" and not self.strip.lost and not self.strip.text_behind()
        self.strip.key_follows()
        self.key_at_s = self.changed_at_s = now_s
        self._awaits_echo = True

    def marked(self, mark: Mark, verified: bool) -> bool:
        """Whether it counts: beside a shell whose marks carry our nonce, those of others are only text."""
        self.trusts = self.trusts or verified
        if self.trusts and not verified:
            return False
        if isinstance(mark, PropertyReported):
            self._property_reported(mark)
        elif type(mark) in self._marks:
            self._marks[type(mark)]()
            self.is_verified = verified
        return True

    def resized(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.strip.resize(columns, rows)

    def _prompt_started(self) -> None:
        self.strip.prompt_begins()
        self.is_drawing, self.at_line = True, False

    def _input_started(self) -> None:
        if not self.is_drawing:
            self._prompt_started()
        self.strip.line_begins()
        self.at_line, self._awaits_echo, self._typed_at_end = True, False, False

    def _output_started(self) -> None:
        self.is_drawing = self.at_line = False

    def _property_reported(self, mark: PropertyReported) -> None:
        if mark.key == "Cwd":
            self.folder = mark.value
        elif mark.key == SUGGESTS:
            self.shell_suggests = mark.value == "1"

    def _note_modes(self, data: bytes) -> None:
        """A sequence may come in two pieces; only its beginning is kept for the next."""
        if b"\x1b" not in data and not self._mode_begun:
            return
        data = self._mode_begun + data if self._mode_begun else data
        for found in _MODES.finditer(data) if b"?" in data else ():  # one letter is looked for a hundred times faster
            if found["alternate"]:
                self.alternate = found["alternate"].decode() if found["set"] == b"h" else ""
            else:
                self.bracketed = found["set"] == b"h"
        begun = data.rfind(b"\x1b", -_LONGEST_MODE)
        self._mode_begun = data[begun:] if begun >= 0 and not _MODES.match(data, begun) else b""
