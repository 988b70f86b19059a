"""Pointers: RFC 6901, what A2UI adds to it, and the laws of setting and getting."""

from __future__ import annotations

import copy
from typing import Any

import jsonpointer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.a2ui.messages import A2uiLimits
from dragoman.protocols.a2ui.pointer import MISSING, PointerError, format_pointer, get, parse, put, remove, scoped
from tests.protocols.a2ui.strategies import json_values, texts, tokens

# RFC 6901, section 5: the document and what its pointers name.
RFC_DOCUMENT: dict[str, Any] = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}
RFC_POINTERS = {
    "": RFC_DOCUMENT,
    "/foo": ["bar", "baz"],
    "/foo/0": "bar",
    "/a~1b": 1,
    "/c%d": 2,
    "/e^f": 3,
    "/g|h": 4,
    "/i\\j": 5,
    '/k"l': 6,
    "/ ": 7,
    "/m~0n": 8,
}


@pytest.mark.parametrize(("pointer", "expected"), RFC_POINTERS.items())
def test_the_examples_of_the_rfc(pointer: str, expected: object) -> None:
    assert get(RFC_DOCUMENT, parse(pointer)) == expected


def test_a_lone_slash_is_the_whole_model_and_not_the_empty_key() -> None:
    assert parse("/") == parse("") == ()
    assert parse("//") == ("", "")


def test_tilde_one_is_unescaped_before_tilde_zero() -> None:
    assert parse("/~01") == ("~1",)
    assert format_pointer(("~1", "a/b")) == "/~01/a~1b"


@pytest.mark.parametrize("pointer", ["a", "a/b", "/~", "/a~2b", "/a/~x"])
def test_a_pointer_that_cannot_be_read_is_refused(pointer: str) -> None:
    with pytest.raises(PointerError) as caught:
        parse(pointer)
    assert caught.value.code == "invalid_pointer"


def test_a_pointer_is_refused_from_one_character_above_the_limit() -> None:
    limits = A2uiLimits(pointer_length=10)
    assert parse("/" + "a" * 8, limits)
    assert parse("/" + "a" * 9, limits)
    with pytest.raises(PointerError, match="10 characters") as caught:
        parse("/" + "a" * 10, limits)
    assert caught.value.code == "pointer_too_long"


def test_inside_a_template_a_path_without_a_slash_starts_at_the_item() -> None:
    item = ("people", "3")
    assert scoped("name", item) == ("people", "3", "name")
    assert scoped("a~1b/c", item) == ("people", "3", "a/b", "c")
    assert scoped("/company", item) == ("company",)
    assert scoped(".", item) == scoped("", item) == item
    assert scoped("name", ()) == ("name",)


@pytest.mark.parametrize("token", ["00", "01", "-1", "+1", "1.0", " 1", "٣", "-", "", "2", "x"])
def test_only_a_plain_number_within_the_list_reads_an_item(token: str) -> None:
    assert get(["a", "b"], (token,)) is MISSING


def test_nothing_is_found_below_a_scalar() -> None:
    assert get({"a": "text"}, ("a", "0")) is MISSING
    assert get(None, ("a",)) is MISSING


def test_setting_makes_the_containers_that_are_missing() -> None:
    assert put({}, ("results", "0", "status"), "done") == {"results": [{"status": "done"}]}
    assert put({}, ("a", "b"), 1) == {"a": {"b": 1}}
    assert put(None, ("-",), 1) == [1]
    assert put({"a": None}, ("a", "b"), 1) == {"a": {"b": 1}}


def test_a_dash_appends_to_a_list_and_is_a_key_of_an_object() -> None:
    assert put([1, 2], ("-",), 3) == [1, 2, 3]
    assert put([], ("-", "name"), "x") == [{"name": "x"}]
    assert put({"a": 1}, ("-",), 2) == {"a": 1, "-": 2}


def test_an_index_beyond_the_end_fills_the_gap_with_nulls() -> None:
    assert put(["a"], ("3",), "d") == ["a", None, None, "d"]


def test_an_index_is_refused_from_one_above_the_limit() -> None:
    limits = A2uiLimits(array_index=5)
    assert len(put([], ("4",), 0, limits)) == 5
    assert len(put([], ("5",), 0, limits)) == 6
    with pytest.raises(PointerError) as caught:
        put([], ("6",), 0, limits)
    assert caught.value.code == "index_too_large"


@pytest.mark.parametrize("token", ["00", "x", "-1", "1.5"])
def test_what_is_not_an_index_cannot_be_set_in_a_list(token: str) -> None:
    with pytest.raises(PointerError) as caught:
        put([1], (token,), 2)
    assert caught.value.code == "invalid_index"


@pytest.mark.parametrize(("scalar", "kind"), [("text", "string"), (True, "boolean"), (1, "number"), (1.5, "number")])
def test_nothing_can_be_set_inside_a_scalar(scalar: object, kind: str) -> None:
    with pytest.raises(PointerError, match=kind) as caught:
        put({"a": scalar}, ("a", "b"), 1)
    assert caught.value.code == "not_a_container"


def test_deleting_takes_a_key_away_and_leaves_a_hole_in_a_list() -> None:
    assert remove({"a": {"b": 1, "c": 2}}, ("a", "b")) == {"a": {"c": 2}}
    assert remove({"l": [1, 2, 3]}, ("l", "1")) == {"l": [1, None, 3]}
    assert remove({"l": [{"x": 1}]}, ("l", "0", "x")) == {"l": [{}]}
    assert remove({"a": 1}, ()) == {}


@pytest.mark.parametrize("path", [("x",), ("a", "b"), ("l", "7"), ("l", "-"), ("l", "00")])
def test_deleting_what_is_not_there_changes_nothing(path: tuple[str, ...]) -> None:
    document = {"a": 1, "l": [1]}
    assert remove(document, path) is document


def _set(document: object, path: tuple[str, ...], value: object) -> Any:
    try:
        return put(document, path, value)
    except PointerError:
        return MISSING


@given(json_values, tokens.map(tuple), json_values)
def test_what_was_set_is_what_is_found(document: object, path: tuple[str, ...], value: object) -> None:
    changed = _set(document, path, value)
    if changed is not MISSING and "-" not in path:
        assert get(changed, path) == value


@given(json_values, tokens.map(tuple), json_values)
def test_setting_twice_is_setting_once(document: object, path: tuple[str, ...], value: object) -> None:
    once = _set(document, path, value)
    if once is not MISSING and "-" not in path:
        assert _set(once, path, value) == once


@given(json_values, tokens.map(tuple), json_values)
def test_neither_setting_nor_deleting_touches_the_document_it_was_given(
    document: object, path: tuple[str, ...], value: object
) -> None:
    before = copy.deepcopy(document)
    _set(document, path, value)
    remove(document, path)
    assert document == before


@given(json_values, tokens.map(tuple))
def test_what_was_deleted_is_gone_or_null(document: object, path: tuple[str, ...]) -> None:
    left = get(remove(document, path), path)
    assert left is MISSING or left is None or (path == () and left == {})


@given(st.dictionaries(texts, json_values), st.lists(texts, min_size=1, max_size=3).map(tuple), json_values)
def test_what_lies_beside_is_left_alone(document: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    changed = _set(document, path, value)
    if changed is not MISSING:
        assert {key: changed[key] for key in document if key != path[0]} == {
            key: found for key, found in document.items() if key != path[0]
        }


@given(st.lists(texts, max_size=4).map(tuple))
def test_a_pointer_survives_being_written_and_read(path: tuple[str, ...]) -> None:
    assert parse(format_pointer(path)) == path or path == ("",)


@given(json_values, st.lists(st.sampled_from(["a", "b", "0", "1", "~", "a/b"]), max_size=3).map(tuple))
def test_reading_agrees_with_the_jsonpointer_package(document: object, path: tuple[str, ...]) -> None:
    theirs = jsonpointer.resolve_pointer(document, format_pointer(path), MISSING)
    assert get(document, path) == theirs or (isinstance(document, str) and get(document, path) is MISSING)
