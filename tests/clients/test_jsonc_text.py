"""Edits of JSON with comments: our entry comes and goes, and no other byte moves."""

from __future__ import annotations

import json
from typing import Any

import jsonc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.clients import jsonc_text
from dragoman.clients.config_file import UneditableConfigError

BOX = "mcpServers"
US = "dragoman"
ENTRY = {"command": "dragoman", "args": ["mcp"]}


def put(text: str, entry: dict[str, Any] = ENTRY) -> str:
    return jsonc_text.put(text, BOX, US, entry)


def drop(text: str) -> str:
    return jsonc_text.drop(text, BOX, US)


def test_an_entry_takes_the_indentation_and_line_ends_of_its_neighbours() -> None:
    old = '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n'
    assert put(old) == (
        '{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t\t"dragoman": {\r\n\t\t\t"command": "dragoman",\r\n'
        '\t\t\t"args": ["mcp"]\r\n\t\t}\r\n\t}\r\n}\r\n'
    )


def test_a_comment_behind_the_last_server_stays_behind_it() -> None:
    new = put('{\n  "mcpServers": {\n    "a": {} // about a\n  }\n}\n')
    assert '    "a": {}, // about a\n    "dragoman": {\n' in new


def test_a_trailing_comma_stays_the_habit_of_the_file() -> None:
    new = put('{\n  "mcpServers": {\n    "a": {},\n  },\n}\n')
    assert new.endswith("    },\n  },\n}\n")


def test_no_trailing_comma_is_ever_brought_into_a_strict_file() -> None:
    for old in ("", "{}", '{"a": 1}', '{"mcpServers": {}}', '{\n "mcpServers": {\n  "a": {}\n }\n}'):
        assert json.loads(put(old))[BOX][US] == ENTRY


def test_a_file_in_one_line_stays_in_one_line() -> None:
    assert put('{"mcpServers": {"a": 1 }}') == (
        '{"mcpServers": {"a": 1, "dragoman": {"command": "dragoman", "args": ["mcp"]} }}'
    )


def test_comments_alone_are_kept_above_a_new_document() -> None:
    new = put("// nothing here yet")
    assert new.startswith("// nothing here yet\n{\n")
    assert jsonc_text.parse(new) == {BOX: {US: ENTRY}}


def test_of_two_containers_the_last_one_is_edited_because_clients_read_that() -> None:
    new = put('{"mcpServers": {"a": 1}, "mcpServers": {"b": 2}}')
    assert json.loads(new) == {BOX: {"b": 2, US: ENTRY}}
    assert new.startswith('{"mcpServers": {"a": 1}, ')


def test_a_duplicate_entry_is_removed_twice() -> None:
    assert json.loads(drop('{"mcpServers": {"dragoman": 1, "x": 0, "dragoman": 2}}')) == {BOX: {"x": 0}}


def test_an_update_replaces_the_value_alone() -> None:
    old = '{ // head\n  "mcpServers": {\n    /* ours */ "dragoman" : {"command": "old"} , // tail\n    "b": 1\n  }\n}'
    assert put(old) == old.replace('{"command": "old"}', json.dumps(ENTRY))


def test_a_line_comment_keeps_the_newline_that_ends_it() -> None:
    assert jsonc_text.parse(drop('{"mcpServers": {"a": 1, // why\n"dragoman": {}}}')) == {BOX: {"a": 1}}


def test_a_removal_is_the_exact_inverse_where_the_container_had_servers() -> None:
    for old in (
        '{\n  "mcpServers": {\n    "a": {"x": 1} // about a\n  }\n}\n',
        '{\n  "mcpServers": {\n    "a": {"x": 1}, // about a\n    // more\n  },\n}\n',
        '{"mcpServers": {"a": 1}}',
        '{"mcpServers": {"a": 1,}}',
    ):
        assert drop(put(old)) == old


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{\n  // one\n  /* two\n  three */ "a": nope\n}', "line 4, column 17"),
        ('{"a": "no end', "line 1, column 7"),
        ('{"a": 1} trailing', "line 1, column 10"),
        ('{"a": /* no end', "line 1, column 7"),
        ("[1,,]", "line 1, column 4"),
        ("{,}", "line 1, column 2"),
        ("[,]", "line 1, column 2"),
        ('{"a":,}', "line 1, column 6"),
        ("[" * 100_000, "line 1, column 1"),
    ],
)
def test_what_is_not_understood_is_named_by_its_place_in_the_original(text: str, place: str) -> None:
    with pytest.raises(UneditableConfigError) as caught:
        put(text)
    assert place in str(caught.value.reason)


@pytest.mark.parametrize("text", ["[]", "1", '"mcpServers"', "null"])
def test_a_document_that_is_not_an_object_is_refused(text: str) -> None:
    with pytest.raises(UneditableConfigError, match="not an object"):
        put(text)


def test_a_megabyte_of_state_is_edited_without_delay() -> None:
    old = json.dumps({"history": [{"text": "x" * 50, "n": n} for n in range(20_000)], BOX: {"a": {}}}, indent=2)
    assert json.loads(put(old))[BOX] == {"a": {}, US: ENTRY}


# Documents with everything that JSON with comments allows between any two tokens.
SPACES = st.text(alphabet=" \t\n\r", max_size=3)
WORDS = st.text(alphabet='ab"\\{}[]:,/* \u4e2d', max_size=6)
LINE_COMMENTS = WORDS.map(lambda words: f"//{words}\n")
BLOCK_COMMENTS = WORDS.map(lambda words: f"/*{words.replace('*', '')}*/")
GAPS = st.lists(SPACES | LINE_COMMENTS | BLOCK_COMMENTS, max_size=2).map("".join)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4)
KEYS = st.sampled_from(["a", "b", "dragoman", "mcpServers", "//", "é\u2028", 'q"']) | st.text(max_size=3)


@st.composite
def json_texts(draw: st.DrawFn, depth: int = 2) -> str:
    if depth == 0 or draw(st.booleans()):
        return json.dumps(draw(SCALARS), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        return draw(object_texts(KEYS, depth=depth - 1))
    items = [draw(GAPS) + draw(json_texts(depth - 1)) + draw(GAPS) for _ in range(draw(st.integers(0, 2)))]
    return f"[{','.join(items)}{draw(ends(items))}]"


@st.composite
def object_texts(draw: st.DrawFn, keys: st.SearchStrategy[str], depth: int = 1) -> str:
    members = [
        f"{draw(GAPS)}{json.dumps(draw(keys))}{draw(GAPS)}:{draw(GAPS)}{draw(json_texts(depth))}{draw(GAPS)}"
        for _ in range(draw(st.integers(0, 3)))
    ]
    return "{" + ",".join(members) + draw(ends(members)) + "}"


def ends(items: list[str]) -> st.SearchStrategy[str]:
    """A trailing comma, or none; after nothing there is nothing to trail."""
    return st.tuples(st.sampled_from([",", ""] if items else [""]), GAPS).map("".join)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Mostly with a container, which mostly has an entry of ours, to reach every branch often."""
    inner = draw(object_texts(st.sampled_from(["a", "b", "dragoman"])))
    others = [f"{draw(GAPS)}{json.dumps(key)}:{draw(json_texts(1))}" for key in draw(st.lists(st.sampled_from("xyz")))]
    containers = [f"{draw(GAPS)}{json.dumps(BOX)}{draw(GAPS)}:{draw(GAPS)}{inner}"] * draw(st.integers(0, 2))
    members = draw(st.permutations(others + containers))
    return draw(GAPS) + "{" + ",".join(members) + draw(ends(members)) + "}" + draw(GAPS)


@given(documents())
@example('{"mcpServers": {} // why\n}')
def test_after_a_write_the_document_means_what_it_meant_and_our_entry(text: str) -> None:
    before = jsonc_text.parse(text)
    assert jsonc_text.parse(put(text)) == {**before, BOX: {**before.get(BOX, {}), US: ENTRY}}


@given(documents())
def test_a_write_into_a_document_without_us_only_inserts(text: str) -> None:
    without_us = drop(text)
    assert is_subsequence_in_pieces(without_us, put(without_us), pieces=3)


def is_subsequence_in_pieces(old: str, new: str, *, pieces: int) -> bool:
    """Whether `new` is `old` with at most `pieces - 1` insertions: a comma and the entry."""
    if pieces == 1:
        return new.endswith(old)
    longest = next((n for n in range(len(old) + 1) if old[: n + 1] != new[: n + 1]), len(old))
    if longest == len(old):
        return True
    rest = old[longest:]
    starts = [at for at in range(longest, len(new)) if new.startswith(rest[0], at)]
    return any(is_subsequence_in_pieces(rest, new[at:], pieces=pieces - 1) for at in starts)


@given(documents())
def test_a_removal_takes_out_our_entry_alone(text: str) -> None:
    before = jsonc_text.parse(text)
    after = jsonc_text.parse(drop(text))
    servers = {name: value for name, value in before.get(BOX, {}).items() if name != US}
    assert after == ({**before, BOX: servers} if BOX in before else before)


@given(documents())
def test_a_write_and_a_removal_mean_nothing_together(text: str) -> None:
    """An empty container may stay behind: it means what its absence means."""
    without_us = drop(text)
    after = jsonc_text.parse(drop(put(without_us)))
    assert {BOX: {}, **jsonc_text.parse(without_us)} == after


@given(documents())
def test_a_second_write_finds_nothing_to_do(text: str) -> None:
    once = put(text)
    assert jsonc_text.parse(once)[BOX][US] == ENTRY
    assert jsonc_text.parse(put(once)) == jsonc_text.parse(once)


@given(documents())
def test_our_reading_is_that_of_another_parser(text: str) -> None:
    assert jsonc_text.parse(text) == jsonc.loads(text)


@given(st.text(alphabet='{}[]",:/*\\ \n\ra1-', max_size=30))
def test_any_text_is_edited_correctly_or_refused(text: str) -> None:
    try:
        before = jsonc_text.parse(text)
    except UneditableConfigError:
        return
    if isinstance(before.get(BOX, {}), dict):
        assert jsonc_text.parse(put(text)) == {**before, BOX: {US: ENTRY}}
