"""The width of text in terminal cells, cutting and wrapping by cells, and making foreign text safe to show."""

from __future__ import annotations

import unicodedata

from dragoman.core.safe_text import printable

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
