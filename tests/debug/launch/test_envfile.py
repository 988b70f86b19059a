"""Files of environment variables: each rule of the format, and no value looked into twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.debug.launch.environment import parse_env_file

CLIENT = {"HOME": "/home/me", "LOOP": "${HOME}"}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("  A = spaced out  ", "spaced out"),
        ("export A=1", "1"),
        ("A=", ""),
        ("A=a=b", "a=b"),
        ("A=1 # why", "1"),
        ("A=1#not", "1#not"),
        ("A=#all", ""),
        ("A='single ${HOME} \\n # x'", "single ${HOME} \\n # x"),
        ("A='it' # why", "it"),
        ('A="double ${HOME} # x"', "double /home/me # x"),
        ('A="a\\nb\\t\\"c\\" \\\\ \\$HOME \\q"', 'a\nb\t"c" \\ $HOME \\q'),
        ("A=${HOME}/x", "/home/me/x"),
        ("A=${MISSING}x", "x"),
        ("A=${LOOP}", "${HOME}"),
        ("A=\\${HOME}", "${HOME}"),
        ("A=C:\\new", "C:\\new"),
        ("A=$HOME", "$HOME"),
        ("A=${not a name}", "${not a name}"),
        ("A='open", "'open"),
        ("A=名", "名"),
    ],
)
def test_a_line_means_what_the_rules_say(line: str, value: str) -> None:
    assert parse_env_file(line, CLIENT).values == {"A": value}


def test_a_later_line_sees_the_earlier_ones_and_wins_over_them() -> None:
    text = "\ufeff".strip("\ufeff") + "# all\r\n\r\nA=1\r\nB=${A}2\r\nHOME=here\r\nA=${B}${HOME}\r\n"
    assert parse_env_file(text, CLIENT).values == {"A": "12here", "B": "12", "HOME": "here"}


@pytest.mark.parametrize("line", ["just words", "=1", "1A=2", "A B=3", "export A", "A=\0"])
def test_a_line_that_sets_nothing_is_counted_and_not_shown(line: str) -> None:
    parsed = parse_env_file(f"OK=1\n{line}\n", CLIENT)
    assert (parsed.values, parsed.unread_lines) == ({"OK": "1"}, (2,))
    assert "OK" not in repr(parsed)


VALUES = st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20)


@given(VALUES)
def test_any_value_survives_double_quotes_with_escapes(value: str) -> None:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    assert parse_env_file(f'A="{escaped}"', CLIENT).values == {"A": value}


@given(VALUES)
def test_a_value_of_the_client_is_put_in_as_it_is(value: str) -> None:
    assert parse_env_file("A=<${X}>", {"X": value}).values == {"A": f"<{value}>"}


@given(st.text(max_size=200))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    assert all(isinstance(value, str) for value in parse_env_file(text, CLIENT).values.values())
