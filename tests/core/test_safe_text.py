"""Text that a person decides on shows every character that draws nothing, whatever Unicode calls it."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from dragoman.core.safe_text import escape_invisible, printable
from dragoman.debug.launch.errors import quoted
from dragoman.shell.overlay.cell_grid import width_of

# Default_Ignorable_Code_Point of Unicode 16, then blanks that are letters, marks or symbols.
IGNORED = [
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]  # fmt: skip
BLANKS = [0x2800, 0x3000, 0x1680, 0xA0, 0x202F, 0x205F, 0x180E, 0x13441, 0x13442, 0x16FE4, 0x1D159]
EVERY = [chr(code) for code in range(sys.maxunicode + 1)]


def blank() -> list[str]:
    ignored = [chr(code) for first, last in IGNORED for code in range(first, last + 1)]
    by_kind = [c for c in EVERY if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"} and c not in " \n\t"]
    nobodys = [c for c in EVERY if unicodedata.category(c) in {"Co", "Cn"}][::97]  # a million of them, all alike
    return [*ignored, *map(chr, BLANKS), *by_kind, *nobodys]


def test_whatever_is_drawn_blank_is_shown_by_its_code_wherever_it_is() -> None:
    every = blank()
    shown = escape_invisible(" ".join(f"{c}a{c}b- {c} é{c}" for c in every))
    assert sorted(set(shown) & set(every)) == []


def test_a_character_without_width_is_left_only_on_a_letter_that_carries_it() -> None:
    narrow = [c for c in EVERY if width_of(c) == 0]
    assert sorted(set(escape_invisible(" - ".join(narrow))) & set(narrow)) == []
    assert (
        escape_invisible("Việt nam e\u0323\u0302 שָׁלוֹם ไทย हिन्दी 断点") == "Việt nam e\u0323\u0302 שָׁלוֹם ไทย हिन्दी 断点"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm\u3164-rf", "rm\\x3164-rf"),
        ("\u115fa\u1160\uffa0", "\\x115fa\\x1160\\xffa0"),
        ("a\u2800b\ufe0f", "a\\x2800b\\xfe0f"),
        ("x\U000e0041\U000e0100", "x\\xe0041\\xe0100"),
        ("r\u0336m\u20dd", "r\\x336m\\x20dd"),  # struck through, and in a circle
        ("a" + "\u0301" * 6, "a" + "\u0301" * 4 + "\\x301\\x301"),
        ("=\u0338", "=\\x338"),
        ("a\u00adb\u180ec", "a\\xadb\\x180ec"),
        ("make -j 2  # two", "make -j 2  # two"),
    ],
)
def test_what_hides_or_strikes_out_is_spelled_out(text: str, shown: str) -> None:
    assert escape_invisible(text) == shown


def test_what_is_far_to_the_right_or_far_below_is_not_out_of_sight() -> None:
    assert escape_invisible("ls" + " " * 500 + "; rm x") == "ls […500 blank characters…] ; rm x"
    assert escape_invisible("ls" + "\n" * 300 + "rm x") == "ls […300 blank characters…] rm x"
    indented = "if x:\n" + " " * 24 + "f()\n\n\ng()"
    assert escape_invisible(indented) == indented


def test_names_of_configurations_are_spelled_out_and_other_text_keeps_its_pictures() -> None:
    assert quoted("Run\u3164Tests\ufe0f") == '"Run\\x3164Tests\\xfe0f"'
    assert printable("❤\ufe0f") == "❤\ufe0f"
