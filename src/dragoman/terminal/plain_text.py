"""Converts terminal output to plain text: escape sequences are removed, and each line reads as it was when the next one
began.

Carriage returns, backspaces and cursor moves within a line are applied, so a spinner leaves its last state. Moves
between lines are ignored: the emulator handles those.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import combining, east_asian_width

# No quantifier can backtrack: a program's bytes must not be able to make the search slow. A string that never ends
# loses its line, and what follows is text again.
_ESCAPES = re.compile(
    rb"""\x1b(?:
      \[ [0-?]{0,64} [ -/]{0,8} [@-~]
    | [\]PX^_] [^\x07\x1b\n]* (?: \x07 | \x1b\\ | )
    | [ -/]{1,8} [0-~]
    | [0-~]
    | )""",
    re.VERBOSE,
)
_WITHIN_A_LINE = re.compile(rb"\x1b\[[0-?]{0,64}[CDGKPX@`]")
_MOVE = re.compile(r"\x1b\[(?P<number>[0-9]{0,5})[0-?]{0,59}(?P<final>[CDGKPX@`])|(?P<other>[\s\S])")
# C1 controls are 8-bit escapes, and DEL prints nothing.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COLUMNS = 65_536
_STEPS = 4_096


_ALTERNATE = re.compile(rb"\x1b\[\?(?:1049|1047|47)([hl])")


def without_full_screen(data: bytes, *, begins_inside: bool = False) -> bytes:
    """Remove the alternate screen: drawings of an editor or a pager, which disappear when it exits. If the start is
    missing, everything before the end of the alternate screen may belong to it."""
    kept: list[bytes] = []
    at, begun = 0, 0 if begins_inside else None
    for switch in _ALTERNATE.finditer(data):
        if switch[1] == b"h":
            begun = switch.start() if begun is None or begun == 0 else begun
        elif begun is not None:
            kept.append(data[at:begun])
            at, begun = switch.end(), None
    return b"".join([*kept, data[at:]])


def to_plain_text(data: bytes) -> str:
    """The text of these bytes. Invalid UTF-8 becomes the replacement character."""
    if b"\x1b" in data:
        data = _ESCAPES.sub(_keep_moves if _WITHIN_A_LINE.search(data) else b"", data)
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if "\r" in text or "\b" in text or "\x1b" in text:
        text = "\n".join(map(_final_text, text.split("\n")))
    return _UNSEEN.sub("", text)


def _keep_moves(found: re.Match[bytes]) -> bytes:
    sequence = found[0]
    return sequence if sequence[-1:] in b"CDGKPX@`" and _WITHIN_A_LINE.fullmatch(sequence) else b""


def _final_text(line: str) -> str:
    """One line after all overwriting."""
    if "\x1b" not in line and "\b" not in line:
        line = line.rstrip("\r")
        if "\r" not in line:
            return line
    shown = _Line()
    for found in _MOVE.finditer(line):
        if found["final"]:
            shown.move(found["final"], int(found["number"] or 0))
        else:
            shown.put(found["other"])
    return shown.text()


class _Line:
    """The cells of one line. A wide character has an empty cell behind it."""

    def __init__(self) -> None:
        self._cells: list[str] = []
        self._at = 0
        self._moves: dict[str, Callable[[int], None]] = {
            "C": self._right,
            "D": self._left,
            "G": self._to,
            "`": self._to,
            "K": self._erase,
            "P": self._delete,
            "X": self._blank,
            "@": self._insert,
        }

    def put(self, character: str) -> None:
        if character == "\r":
            self._at = 0
        elif character == "\b":
            self._at = max(0, self._at - 1)
        elif character == "\t":
            self._at = min(self._at + 8 - self._at % 8, _COLUMNS)
            self._fill()
        elif combining(character):
            self._join(character)
        elif not _UNSEEN.match(character) and self._at < _COLUMNS:
            self._write(character)

    def move(self, final: str, number: int) -> None:
        self._moves[final](min(number, _STEPS))

    def text(self) -> str:
        return "".join(self._cells).rstrip(" ")

    def _write(self, character: str) -> None:
        self._fill()
        wide = east_asian_width(character) in "WF"
        cells = [character, ""] if wide else [character]
        self._part(self._at)
        self._part(self._at + len(cells))
        self._cells[self._at : self._at + len(cells)] = cells
        self._at += len(cells)

    def _part(self, column: int) -> None:
        """Overwriting half of a wide character leaves a space in its other half."""
        if 0 < column < len(self._cells) and self._cells[column] == "":
            self._cells[column - 1 : column + 1] = [" ", " "]

    def _join(self, character: str) -> None:
        last = self._at - 1
        while last >= 0 and last < len(self._cells) and self._cells[last] == "":
            last -= 1
        if 0 <= last < len(self._cells) and len(self._cells[last]) < 16:
            self._cells[last] += character

    def _fill(self) -> None:
        missing = self._at - len(self._cells)
        if missing > 0:
            self._cells += [" "] * missing

    def _right(self, number: int) -> None:
        self._at = min(self._at + max(1, number), _COLUMNS)

    def _left(self, number: int) -> None:
        self._at = max(0, self._at - max(1, number))

    def _to(self, number: int) -> None:
        self._at = max(0, number - 1)

    def _erase(self, how: int) -> None:
        if how in (0, 2):
            del self._cells[self._at if how == 0 else 0 :]
        if how == 1:
            self._cells[: self._at + 1] = [" "] * min(self._at + 1, len(self._cells))

    def _delete(self, number: int) -> None:
        del self._cells[self._at : self._at + max(1, number)]

    def _blank(self, number: int) -> None:
        end = min(self._at + max(1, number), len(self._cells))
        self._cells[self._at : end] = [" "] * max(0, end - self._at)

    def _insert(self, number: int) -> None:
        if self._at < len(self._cells) <= _COLUMNS:
            self._cells[self._at : self._at] = [" "] * max(1, number)
