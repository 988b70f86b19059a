"""Foreign text made safe to show: characters that move the cursor, reverse text or hide it are shown as codes."""

from __future__ import annotations

import re
import unicodedata

# By their category these are letters, marks and symbols, but nothing is drawn for them: Unicode's default ignorables
# and the fillers, blank notes and blank patterns of single scripts. Categories alone (`isprintable`) do not find them.
BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00013441\U00013442\U00016fe4"
    "\U0001bc9d\U0001d159\U000e0100-\U000e01ef]"
)
_COLOURS = re.compile(r"\x1b\[[\d;:]*m")
_LONG_BLANK = re.compile(r"[ \t]{40,}|(?:[ \t]*\n){8,}")
"""Longer than any indentation or gap in code: the text after it would be out of sight."""
_MARKS_TOGETHER = 4
"""The most marks on one letter in Vietnamese, Hebrew or Thai; more would be drawn over the surrounding lines."""
_OVERLAY = 1
"""The combining class of marks that strike a character through."""


def printable(text: str) -> str:
    """Escape control characters; emoji and accents stay."""
    return "".join(c if c.isprintable() or c in "\n\t" else code_point(c) for c in text)


def strip_colors(text: str) -> str:
    """Remove colour codes."""
    return _COLOURS.sub("", text) if "\x1b" in text else text


def escape_invisible(text: str) -> str:
    """Show every character that draws nothing, or draws over others, as its code: for text that a person decides on."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text
    shown, marks = [], _MARKS_TOGETHER
    for character in _LONG_BLANK.sub(_counted, text):
        category = unicodedata.category(character)
        is_mark = category[0] == "M"
        # A mark needs a letter or a digit before it; otherwise it is drawn over something else, or not at all.
        marks = marks + 1 if is_mark else 0 if category[0] in "LN" else _MARKS_TOGETHER
        hides = is_mark and (marks > _MARKS_TOGETHER or category == "Me" or _is_overlay(character))
        if hides or not (character in "\n\t" or is_drawn(character)):
            shown.append(code_point(character))
            marks = _MARKS_TOGETHER
        else:
            shown.append(character)
    return "".join(shown)


def is_drawn(character: str) -> bool:
    """Whether the character is visible, or a plain space."""
    return character.isprintable() and BLANK.match(character) is None


def code_point(character: str) -> str:
    return f"\\x{ord(character):02x}"


def _is_overlay(mark: str) -> bool:
    return unicodedata.combining(mark) == _OVERLAY


def _counted(blank: re.Match[str]) -> str:
    return f" […{len(blank[0])} blank characters…] "
