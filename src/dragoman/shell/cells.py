"""Text in terminal cells: how wide it is, what fits, and what of others' text may be shown at all."""

from __future__ import annotations

import unicodedata

from dragoman.visible import visible

ELLIPSIS = "…"
# Terminals disagree about what follows these: a joined or coloured picture is one, two or four cells wide.
DISPUTED = frozenset("\u200d\ufe0f\ufe0e") | {chr(code) for code in range(0x1F3FB, 0x1F400)}


def width_of(character: str) -> int:
    if character < "\u0300":
        return 1
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in {"Mn", "Me", "Cf"} else 1


def width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(width_of, text))


def one_line(text: str) -> str:
    """Whatever it says, on one row: escape sequences shown, lines and tabs as spaces."""
    return visible(" ".join(text.split()))


def cut(text: str, room: int) -> str:
    """What fits, and a sign where something was left out."""
    if width(text) <= room:
        return text
    return _fitting(text, room - 1) + ELLIPSIS if room > 0 else ""


def wrapped(text: str, columns: int) -> list[str]:
    """Lines as a terminal would break them, by cells; each line of the text begins a new one."""
    lines: list[str] = []
    for line in visible(text).expandtabs(8).split("\n"):
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
