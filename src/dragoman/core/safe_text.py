"""Foreign text made safe to show: characters that move the cursor, reverse text or hide it are spelled out."""

from __future__ import annotations

import re
import unicodedata

# Letters, marks and symbols by their category, yet nothing is drawn for them: Unicode's default ignorables and the
# fillers, blank notes and blank patterns of single scripts. Categories alone (`isprintable`) do not find them.
BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00013441\U00013442\U00016fe4"
    "\U0001bc9d\U0001d159\U000e0100-\U000e01ef]"
)
_COLOURS = re.compile(r"\x1b\[[\d;:]*m")
_LONG_BLANK = re.compile(r"[ \t]{40,}|(?:[ \t]*\n){8,}")
"""More than code is indented by or set apart with: what follows would be out of sight."""
_MARKS_TOGETHER = 4
"""As many as a letter of Vietnamese, Hebrew or Thai carries; more are drawn over the lines around."""
_OVERLAY = 1
"""The combining class of marks that strike through what they stand on."""


def printable(text: str) -> str:
    """For any text: pictures and accents stay as they are."""
    return "".join(c if c.isprintable() or c in "\n\t" else code_point(c) for c in text)


def strip_colors(text: str) -> str:
    """The text as a program prints it to something other than a terminal."""
    return _COLOURS.sub("", text) if "\x1b" in text else text


def escape_invisible(text: str) -> str:
    """For what a person decides on: every character that draws nothing, or draws over others, is shown as its code."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text
    shown, marks = [], _MARKS_TOGETHER
    for character in _LONG_BLANK.sub(_counted, text):
        category = unicodedata.category(character)
        is_mark = category[0] == "M"
        # A mark belongs to a letter or a digit before it; without one it is drawn over something else, or not at all.
        marks = marks + 1 if is_mark else 0 if category[0] in "LN" else _MARKS_TOGETHER
        hides = is_mark and (marks > _MARKS_TOGETHER or category == "Me" or _is_overlay(character))
        if hides or not (character in "\n\t" or is_drawn(character)):
            shown.append(code_point(character))
            marks = _MARKS_TOGETHER
        else:
            shown.append(character)
    return "".join(shown)


def is_drawn(character: str) -> bool:
    """Whether it leaves something on the screen, or is the plain space."""
    return character.isprintable() and BLANK.match(character) is None


def code_point(character: str) -> str:
    return f"\\x{ord(character):02x}"


def _is_overlay(mark: str) -> bool:
    return unicodedata.combining(mark) == _OVERLAY


def _counted(blank: re.Match[str]) -> str:
    return f" […{len(blank[0])} blank characters…] "
