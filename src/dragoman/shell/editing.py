"""A line of text that is being typed: characters, a cursor between them, and the keys that edit it."""

from __future__ import annotations

import codecs
from collections.abc import Callable

from dragoman.shell.cells import width
from dragoman.shell.keys import Key

MAX_LENGTH = 4000
_decoder = codecs.getincrementaldecoder("utf-8")


class LineEditor:
    """Text comes as bytes and may be cut inside a letter; lines of a paste are joined by spaces."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._decoder = _decoder(errors="replace")
        self._edits: dict[str, Callable[[], None]] = {
            "backspace": lambda: self._remove(self.cursor - 1, self.cursor),
            "delete": lambda: self._remove(self.cursor, self.cursor + 1),
            "kill_to_start": lambda: self._remove(0, self.cursor),
            "kill_to_end": lambda: self._remove(self.cursor, len(self.text)),
            "kill_word": lambda: self._remove(self._word_start(), self.cursor),
            "left": lambda: self._move(self.cursor - 1),
            "right": lambda: self._move(self.cursor + 1),
            "home": lambda: self._move(0),
            "end": lambda: self._move(len(self.text)),
        }

    def apply(self, key: Key) -> None:
        if key.is_text:
            self._insert(key.raw)
        elif key.name in self._edits:
            self._decoder.reset()
            self._edits[key.name]()

    def replace(self, text: str) -> None:
        self.text, self.cursor = text, len(text)

    def window(self, room: int) -> tuple[str, int]:
        """The part that fits into a row and the cursor's cell in it: it scrolls sideways as the cursor moves."""
        start = 0
        while width(self.text[start : self.cursor]) >= room:
            start += 1
        end = len(self.text)
        while width(self.text[start:end]) >= room:
            end -= 1
        return self.text[start:end], width(self.text[start : self.cursor])

    def _insert(self, raw: bytes) -> None:
        typed = "".join(map(_typed, self._decoder.decode(raw)))[: MAX_LENGTH - len(self.text)]
        self.text = self.text[: self.cursor] + typed + self.text[self.cursor :]
        self._move(self.cursor + len(typed))

    def _remove(self, start: int, end: int) -> None:
        start = max(0, start)
        self.text = self.text[:start] + self.text[end:]
        self._move(start)

    def _move(self, to: int) -> None:
        self.cursor = min(max(0, to), len(self.text))

    def _word_start(self) -> int:
        before = self.text[: self.cursor].rstrip()
        return before.rfind(" ") + 1


def _typed(character: str) -> str:
    if character in "\r\n\t":
        return " "
    return character if character.isprintable() else ""
