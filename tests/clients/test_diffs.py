"""Diffs show what we change and nobody's secrets."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from dragoman.clients.edits import diff, mask_secrets

PUBLIC = {"dragoman", "mcp"}


def test_a_change_is_shown_with_two_lines_around_it() -> None:
    old = "\n".join(["{", *(f'"k{n}": {n},' for n in range(9)), '"z": 0', "}"])
    new = old.replace('"k5": 5,', '"k5": 5,\n"command": "dragoman",')
    assert diff(old, new, public=PUBLIC) == [
        "@@",
        ' "k4": 4,',
        ' "k5": 5,',
        '+"command": "dragoman",',
        ' "k6": 6,',
        ' "k7": 7,',
    ]


def test_strings_of_others_are_hidden_in_changed_lines_and_around_them() -> None:
    old = '{"servers": {"a": {"env": {"KEY": "sk-1"}}}}'
    new = '{"servers": {"a": {"env": {"KEY": "sk-1"}}, "d": {"command": "dragoman"}}}'
    shown = "\n".join(diff(old, new, public=PUBLIC))
    assert "sk-1" not in shown
    assert '"KEY": "…"' in shown
    assert '"command": "dragoman"' in shown


def test_a_changed_secret_is_seen_to_change_without_being_seen() -> None:
    assert diff('{"A": "one"}', '{"A": "two"}', public=PUBLIC) == ["@@", '-{"A": "…"}', '+{"A": "…"}']


def test_comments_are_hidden_because_old_keys_rest_in_them() -> None:
    text = '{ // old: sk-1\n/* sk-2\n sk-3 */ "a": 1 }\n'
    assert mask_secrets(text, PUBLIC) == '{ // …\n/* …\n … "a": 1 }\n'


def test_toml_is_hidden_by_the_same_rules() -> None:
    text = 'a = "sk-1" # sk-2\nb = \'sk-3\'\nc = """\nsk-4"""\nargs = ["mcp", "sk-5"]\n"quoted" = 1\n'
    shown = mask_secrets(text, PUBLIC)
    assert "sk-" not in shown
    assert '"mcp"' in shown
    assert '"quoted" = 1' in shown


def test_line_ends_of_windows_are_not_a_difference() -> None:
    assert diff("{\r\n}\r\n", '{\r\n"a": 1\r\n}\r\n', public=PUBLIC) == ["@@", " {", '+"a": 1', " }"]


@given(st.text(alphabet='ab\u2028\x0b\x85"\\ ', max_size=8), st.text(alphabet="ab\u2028\x0c", max_size=8))
def test_no_character_inside_a_string_tears_the_lines_apart(one: str, two: str) -> None:
    old = json.dumps({"x": one, "y": {"s": two}}, indent=1, ensure_ascii=False)
    shown = diff(old, old.replace("{", '{\n"n": 1,', 1), public=())
    assert shown[:3] == ["@@", " {", '+"n": 1,']
    assert not any("a" in line or "b" in line for line in shown)
