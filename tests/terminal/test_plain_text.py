"""What a terminal's bytes say as text, whatever a program prints."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.terminal.plain_text import to_plain_text


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (b"one\r\ntwo\r\n", "one\ntwo\n"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]0;a title\x07text", "text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bP1;2q...\x1b\\sixel", "sixel"),
        (b"\x1b(B\x1b=\x1b7text\x1b8", "text"),
        ("\u009b31mtext\u009c".encode(), "31mtext"),
        (b"bell\x07 nul\x00 del\x7f", "bell nul del"),
        (b"\xff\xfebytes", "\ufffd\ufffdbytes"),
        ("日本語 ü".encode(), "日本語 ü"),
    ],
)
def test_what_draws_and_reports_is_gone_and_what_is_read_stays(shown: bytes, text: str) -> None:
    assert to_plain_text(shown) == text


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (b"10%\r55%\r100%\r\n", "100%\n"),
        (b"loading...\rdone\x1b[K\r\n", "done\n"),
        (b"long line\r\x1b[2Kok", "ok"),
        (b"abc\b\b\bxyz", "xyz"),
        (b"abd\bc", "abc"),
        (b"helo\x1b[1D\x1b[@l", "hello"),
        (b"helllo\x1b[3D\x1b[P", "hello"),
        (b"a\x1b[3Cb", "a   b"),
        (b"abc\x1b[1Gx\x1b[5`y", "xbc y"),
        (b"abcdef\x1b[6D\x1b[2X", "  cdef"),
        (b"abc\x1b[1K", ""),
        (b"a\tb\rx", "x       b"),
        ("日本\rx".encode(), "x 本"),
        ("ab\r日".encode(), "日"),
        ("e\u0301\rn\u0303".encode(), "n\u0303"),
        (b"|\r/\r-\r\\\r", "\\"),
        (b"50%\r\r\n", "50%\n"),
    ],
)
def test_a_line_is_what_was_drawn_on_it_last(shown: bytes, text: str) -> None:
    assert to_plain_text(shown) == text


def test_a_string_that_is_never_ended_loses_its_own_line_alone() -> None:
    assert to_plain_text(b"a\x1b]52;c;" + b"x" * 100_000 + b"\nnext") == "a\nnext"
    assert to_plain_text(b"a\x1b]52;c;xxx") == "a"


@given(st.binary(max_size=300))
def test_no_bytes_leave_a_control_character(data: bytes) -> None:
    assert not [character for character in to_plain_text(data) if character < " " and character not in "\n\t"]
    assert not [character for character in to_plain_text(data) if "\x7f" <= character <= "\x9f"]


@given(st.lists(st.text(st.characters(blacklist_categories=["Cc", "Cs"]), max_size=20), max_size=10))
def test_plain_text_stays_as_it_is(lines: list[str]) -> None:
    assert to_plain_text("\r\n".join(lines).encode()) == "\n".join(lines)


@pytest.mark.parametrize(
    "hostile", [b"\x1b]", b"\x1b[", b"\x1b[1;", b"x\r", b"\x1b[4096C", b"\x1b[9999@x", b"\x1bP\x1b", b"\b", b"\x1b"]
)
def test_hostile_bytes_make_it_neither_slow_nor_large(hostile: bytes) -> None:
    began = time.process_time()
    assert len(to_plain_text(hostile * (300_000 // len(hostile)))) < 1_000_000
    assert time.process_time() - began < 2
