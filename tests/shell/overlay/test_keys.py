"""Keys in what a keyboard sends, and a line that they edit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.shell.overlay.cell_grid import cut, width, wrapped
from dragoman.shell.overlay.keys import KeyReader, key_sequences
from dragoman.shell.overlay.question import LineEditor


def names(*reads: bytes) -> list[str]:
    reader = KeyReader()
    return [key.name or key.raw.decode("latin-1") for read in reads for key in reader.keys(read)]


@given(
    st.lists(st.binary(max_size=20) | st.sampled_from([b"\x1b[200~", b"\x1b[201~", b"\x1b[20", b"\x1b"]), max_size=8)
)
def test_every_byte_of_every_read_comes_out_at_once_and_in_order(reads: list[bytes]) -> None:
    reader = KeyReader()
    for read in reads:
        assert b"".join(key.raw for key in reader.keys(read)) == read


def test_an_escape_at_the_end_of_a_read_is_the_key_and_waits_for_nothing() -> None:
    assert names(b"\x1b", b"/") == ["escape", "text"]
    assert names(b"\x1b/") == ["\x1b/"]
    assert names(b"ab\x1b") == ["text", "escape"]


def test_a_paste_ends_where_its_end_is_whole_however_it_is_cut() -> None:
    assert names(b"\x1b[200~a\r\x1b[2", b"01~b") == ["\x1b[200~", "paste", "01~", "text"]
    assert names(b"\x1b[200~a\x03\x1b/\x1b[201~\r") == ["\x1b[200~", "paste", "\x1b[201~", "enter"]


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        (b"\x1b[27u", "escape"),
        (b"\x1b[99;5u", "interrupt"),
        (b"\x1b[27;5;99~", "interrupt"),
        (b"\x1b[13u", "enter"),
        (b"\x1b[97;3u", "\x1b[97;3u"),
        (b"\x1b[999999u", "\x1b[999999u"),
    ],
)
def test_an_extended_keyboards_keys_are_the_same_keys(sent: bytes, name: str) -> None:
    assert names(sent) == [name]


@pytest.mark.parametrize(
    "reply",
    [
        b"\x1b[12;40R",
        b"\x1b[?62;4c",
        b"\x1b[>1;95;0c",
        b"\x1b]11;rgb:00/00/00\x1b\\",
        b"\x1bP1+r\x1b\\",
        b"\x1b[I",
        b"\x1b[?1u",
    ],
)
def test_what_a_terminal_answers_is_not_a_key(reply: bytes) -> None:
    assert names(reply) == ["reply"]


@pytest.mark.parametrize(
    ("setting", "sent"),
    [
        ("alt-/", {b"\x1b/", b"\x1b[47;3u", b"\x1b[27;3;47~"}),
        ("ctrl-alt-p", {b"\x1b\x10", b"\x1b[112;7u", b"\x1b[27;7;112~"}),
        ("ctrl-g", {b"\x07", b"\x1b[103;5u", b"\x1b[27;5;103~"}),
        ("ctrl-/", {b"\x1f", b"\x1b[47;5u", b"\x1b[27;5;47~"}),
        (":", {b":"}),
    ],
)
def test_a_setting_names_the_bytes_of_every_kind_of_keyboard(setting: str, sent: set[bytes]) -> None:
    assert key_sequences(setting) == sent


def edited(*reads: bytes) -> tuple[str, int]:
    reader, editor = KeyReader(), LineEditor()
    for read in reads:
        for key in reader.keys(read):
            editor.apply(key)
    return editor.text, editor.cursor


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (b"abc\x1b[D\x7fx", ("axc", 2)),
        (b"one two \x17", ("one ", 4)),
        (b"one two\x01\x0b", ("", 0)),
        (b"abc\x02\x15", ("c", 0)),
        (b"abc\x01\x1b[3~\x05d", ("bcd", 3)),
        (b"\x7f\x1b[D\x1b[C\x17", ("", 0)),
        (b"a\x1b[200~b\r\nc\td\x1b[201~", ("ab  c d", 7)),
        (b"a\x1bxb", ("ab", 2)),
    ],
)
def test_the_usual_keys_edit_a_line(keys: bytes, line: tuple[str, int]) -> None:
    assert edited(keys) == line


@given(st.text(max_size=20), st.integers(1, 4))
def test_letters_that_are_cut_between_two_reads_arrive_whole(text: str, size: int) -> None:
    data = text.encode(errors="ignore")
    printable = "".join(c for c in data.decode() if c.isprintable())
    clean = printable.encode()
    assert edited(*[clean[at : at + size] for at in range(0, len(clean), size)])[0] == printable


@given(st.text(alphabet="ab中文 é", max_size=60), st.integers(0, 60), st.integers(4, 30))
def test_the_cursor_is_always_in_the_part_that_is_shown(text: str, cursor: int, room: int) -> None:
    editor = LineEditor()
    editor.replace(text)
    editor.cursor = min(cursor, len(text))
    shown, at = editor.window(room)
    assert shown in text
    assert width(shown) < room
    assert 0 <= at < room


@given(st.text(max_size=80), st.integers(2, 30))
def test_text_of_others_fits_into_its_rows_and_moves_no_cursor(text: str, columns: int) -> None:
    rows = wrapped(text, columns)
    assert all(width(row) <= columns for row in rows)
    assert all(c.isprintable() for row in rows for c in row)
    assert width(cut("".join(rows), columns)) <= columns
