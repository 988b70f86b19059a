"""What others said is visible to the last character, in one line, and cut with a mark."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.redaction import Redactor
from dragoman.tools.agent_text import escaped, one_line
from dragoman.tools.debug.values import ValueFormatter, timestamp


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 文字 é", "plain 文字 é"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\x1b[31m\x07", r"\x1b[31m\x07"),
        ("zero\u200bwidth\u202e", r"zero\u200bwidth\u202e"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("\u3164\u2800\ufe0f\U000e0100", r"\u3164\u2800\ufe0f\U000e0100"),
        ("\ud800", r"\ud800"),
        ("\u2028", r"\u2028"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_lines_and_tabs_stay_where_lines_are_wanted() -> None:
    assert escaped("a\r\nb\tc\x1b\rd") == "a\nb\tc\\x1b\\rd"


def test_only_a_cut_line_has_a_mark() -> None:
    assert [one_line("abc", most) for most in (2, 3, 4)] == ["ab…", "abc", "abc"]


@given(st.text())
def test_nothing_invisible_is_left_in_a_line(text: str) -> None:
    shown = one_line(text)
    assert shown.isprintable()
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert shown.encode().decode() == shown


@pytest.mark.parametrize("extra", [-1, 0, 1, 2])
def test_a_value_is_cut_exactly_at_its_cap(extra: int) -> None:
    shown = ValueFormatter(Redactor()).value("n", "x" * (100 + extra), 100)
    assert (len(shown.text), shown.is_whole, shown.length) == (min(100, 100 + extra), extra <= 0, 100 + extra)


def test_a_secret_over_the_cut_is_hidden_whole_and_a_huge_value_costs_little() -> None:
    secret = "ghp" + "_" + "a1B2" * 9
    shown = ValueFormatter(Redactor()).value("n", "x " * 45 + secret + " y" * 50_000_000, 100)
    assert shown.text == "x " * 45 + "<redacted "
    assert shown.length > 100_000_000


@pytest.mark.parametrize(
    ("at_ns", "shown"),
    [
        (1_744_773_240_123_456_789, "2025-04-16T03:14:00.123Z"),
        (1_744_773_240_999_999_999, "2025-04-16T03:14:00.999Z"),
        (1_744_773_240_000_000_000, "2025-04-16T03:14:00.000Z"),
    ],
)
def test_a_timestamp_has_milliseconds_and_a_z_and_is_never_ahead(at_ns: int, shown: str) -> None:
    assert timestamp(at_ns) == shown
