"""What a shell drew, read back: the line, the room behind it, and when to say nothing."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.shell.overlay.cell_grid import CellGrid
from dragoman.shell.overlay.prompt_state import PromptRows

COLUMNS, ROWS = 20, 10


def drawn(data: bytes, *, before: bytes = b"\r\n", prompt: bytes = b"$ ") -> PromptRows:
    strip = PromptRows(COLUMNS, ROWS)
    strip.skip_output(before)
    strip.begin_prompt()
    strip.feed(prompt)
    strip.begin_line()
    strip.feed(data)
    return strip


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", ""),
        (b"ls", "ls"),
        (b"ls  ", "ls  "),
        (b"lsx\b\x1b[K", "ls"),
        (b"lsx\b \b", "ls"),
        (b"ac\b\x1b[1@b\x1b[C", "abc"),
        (b"abc\b\b\x1b[Pc\x1b[K", "ac"),
        ("中文".encode(), "中文"),
        (b"0123456789012345678901", "0123456789012345678901"),
        (b"\x1b[31mred\x1b[m", "red"),
        (b"ls\x1b]0;title\x07", "ls"),
        (b"e\xcc\x81", "e\u0301"),
        (b"\rx\x1b[2C", None),
        (b"abc\b", None),
        (b"abc\r\n", None),
        (b"abc\x1b[5;5H", None),
        (b"abc\x1b[", None),
        (b"abc\xe4\xb8", None),
        ("👩‍🚀".encode(), None),
        (b"abc\x1bM", None),
        (b"abc\x1b[3A", None),
        (b"x" * 17, None),
    ],
)
def test_the_line_is_what_was_drawn_or_nothing(data: bytes, line: str | None) -> None:
    assert drawn(data).line() == line


def test_a_prompt_that_is_drawn_over_hides_the_line() -> None:
    strip = drawn(b"abc")
    strip.feed(b"\r(search)`x': abc")
    assert strip.line() is None


def test_what_is_on_the_right_before_the_first_key_is_the_prompts() -> None:
    strip = drawn(b"\x1b[10Cright\x1b[15D")
    assert strip.line() is None
    strip.before_key()
    assert (strip.line(), strip.room_after_cursor()) == ("", 9)
    strip.feed(b"ab")
    assert (strip.line(), strip.room_after_cursor()) == ("ab", 7)


@pytest.mark.parametrize(
    ("before", "column"), [(b"text\r\nab", 2), (b"\r\n", 0), (b"\r\n\x1b[31mabc\x1b[m", 3), (b"\r\nabc\rd", 1)]
)
def test_where_a_prompt_begins_follows_from_what_was_printed_last(before: bytes, column: int) -> None:
    strip = PromptRows(COLUMNS, ROWS)
    strip.skip_output(before)
    strip.begin_prompt()
    assert (strip.lost, strip.column) == (False, column)


def test_what_a_program_left_on_the_row_is_not_drawn_over() -> None:
    strip = drawn(b"", before=b"\r\nleft behind\r")
    assert (strip.line(), strip.room_after_cursor()) == (None, 0)


def test_a_prompt_that_is_drawn_again_knows_what_it_did_not_erase() -> None:
    strip = drawn(b"abc")
    strip.feed(b"\r")
    strip.begin_prompt()
    strip.feed(b"$ ")
    strip.begin_line()
    assert strip.text_after_cursor() == "abc"


def test_a_column_that_cannot_be_known_is_not_guessed() -> None:
    strip = PromptRows(COLUMNS, ROWS)
    strip.skip_output(b"x" * 5000)
    strip.begin_prompt()
    assert strip.lost


def test_a_prompt_is_drawn_again_by_what_drew_it() -> None:
    up, again = drawn(b"ab\r\ncd", prompt=b"one\r\n$ ").redraw_sequence() or (None, b"")
    assert (up, again) == (2, b"one\r\n$ ab\r\ncd")


@pytest.mark.parametrize("before", [b"\r\nabc", b"x" * 3000])
def test_what_began_elsewhere_than_at_the_left_is_not_drawn_again(before: bytes) -> None:
    assert drawn(b"ab", before=before).redraw_sequence() is None


@pytest.mark.parametrize(
    ("end", "settled"),
    [
        (b"y\r\n", True),
        (b"\x1b[3", False),
        (b"\x1b[31m", True),
        (b"\x1b]0;t", False),
        (b"\x1b]0;t\x1b\\", True),
        (b"\xe4\xb8", False),
    ],
)
def test_of_a_flood_in_the_background_only_the_end_is_looked_at(end: bytes, settled: bool) -> None:
    strip = drawn(b"ab")
    strip.feed(b"y\r\n" * 20_000 + end)
    assert (strip.lost, strip.settled, strip.line()) == (True, settled, None)
    strip.feed(b"y\r\n" * 20_000)
    strip.begin_prompt()
    strip.feed(b"$ ")
    strip.begin_line()
    assert strip.line() == ""


@given(st.binary(max_size=60), st.data())
def test_it_makes_no_difference_how_the_bytes_are_cut(data: bytes, choice: st.DataObject) -> None:
    at = choice.draw(st.integers(0, len(data)))
    whole, pieces = drawn(data), drawn(data[:at])
    pieces.feed(data[at:])
    assert (whole.line(), whole.lost, whole.settled) == (pieces.line(), pieces.lost, pieces.settled)


_MOVES = st.sampled_from([
    b"\r", b"\n", b"\b", b"\x1b[C", b"\x1b[3C", b"\x1b[2D", b"\x1b[K", b"\x1b[1K", b"\x1b[2K", b"\x1b[J", b"\x1b[2P",
    b"\x1b[5G", b"\x1b[2@", b"\x1b[3X", b"\x1b[A", b"\x1b[B", b"\x1b[4h", b"\x1b[4l", b"ab", b"c", "中".encode(),
])  # fmt: skip


@settings(max_examples=300)
@given(st.lists(_MOVES, max_size=25))
def test_cells_and_cursor_are_those_of_another_terminal(tokens: list[bytes]) -> None:
    """On a screen so high that nothing scrolls; from the first row there is no way further up."""
    strip = PromptRows(COLUMNS, 40)
    strip.begin_prompt()
    screen = pyte.Screen(COLUMNS, 80)
    stream = pyte.ByteStream(screen)
    for token in tokens:
        strip.feed(token)
        if strip.lost:
            return
        stream.feed(token)
        if _differs_by_choice(screen, token):
            return
    grid: CellGrid = strip._grid
    assert (grid.row, min(grid.column, COLUMNS - 1)) == (screen.cursor.y, min(screen.cursor.x, COLUMNS - 1))
    assert _rows(grid) == [line.rstrip() for line in screen.display[: len(grid.rows)]]


def _rows(grid: CellGrid) -> list[str]:
    return ["".join(row).rstrip() for row in grid.rows]


def _differs_by_choice(screen: pyte.Screen, token: bytes) -> bool:
    """Half of a wide letter, and a wrap that is held back: terminals disagree, and a shell leaves neither behind."""
    cells = screen.buffer[screen.cursor.y]
    has_wide = any(len(cell.data) == 0 for cell in cells.values())
    return screen.cursor.x >= COLUMNS or (has_wide and token != "中".encode())
