"""JSON with comments: every value and every fault is found at its place in the text."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import jsonc as another_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core import jsonc
from dragoman.core.jsonc import JsoncError

TEXT = """\
{
  // "name": "not this one"
  "name": "first",
  "list": [1, /* two */ [2, 3,], {"deep": "here"},],
  "name": "last", // the last of two is the one that counts
}
"""


def fault_in(text: str) -> JsoncError:
    with pytest.raises(JsoncError) as caught:
        jsonc.parse(text).value()
    return caught.value


def test_comments_and_trailing_commas_mean_nothing() -> None:
    assert jsonc.parse(TEXT).value() == {"name": "last", "list": [1, [2, 3], {"deep": "here"}]}


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("name",), (5, 11)),
        (("list",), (4, 11)),
        (("list", 0), (4, 12)),
        (("list", 1, 1), (4, 29)),
        (("list", 2, "deep"), (4, 43)),
        (("list", 7), (4, 11)),
        (("list", "deep"), (4, 11)),
        (("nothing", "below"), (1, 1)),
        (("name", 0), (5, 11)),
    ],
)
def test_a_value_is_found_by_its_path_and_a_missing_one_by_what_would_hold_it(
    path: tuple[jsonc.PathStep, ...], place: tuple[int, int]
) -> None:
    assert jsonc.parse(TEXT).place(path) == place


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_by_any_line_end(newline: str) -> None:
    text = TEXT.replace("\n", newline)
    assert jsonc.parse(text).place(["list", 2, "deep"]) == (4, 43)
    fault = fault_in(text.replace('"first"', "first"))
    assert (fault.line, fault.column) == (3, 11)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("{} /* open", 1, 4),
        ('{\n"a": "open', 2, 6),
        ('{"a": 1,,}', 1, 9),
        ("{,}", 1, 2),
        ("[1 2]", 1, 4),
        ('{"a": NaN}', 1, 1),
        ('{"a": -Infinity}', 1, 1),
        ("9" * 5000, 1, 1),
        ("[" * 100_000, 1, 1),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text: str, line: int, column: int) -> None:
    fault = fault_in(text)
    assert (fault.line, fault.column) == (line, column)
    assert fault.problem


@pytest.mark.parametrize("unit", ['"\\', "/* ", "/", '"', "//", "[", ",", ",]", '{"a":', "\\"])
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    """Half a megabyte takes a quadratic reader minutes."""
    began = time.process_time()
    fault_in(unit * (500_000 // len(unit)))
    assert time.process_time() - began < 5


def paths_in(value: Any, path: tuple[jsonc.PathStep, ...] = ()) -> Iterator[tuple[tuple[jsonc.PathStep, ...], Any]]:
    yield path, value
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield from paths_in(inner, (*path, step))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES, st.sampled_from([None, 1, 4]))
def test_the_value_at_a_path_is_found(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    document, lines = jsonc.parse(text), text.split("\n")
    for path, inner in paths_in(value):
        line, column = document.place(path)
        rest = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        assert json.JSONDecoder().raw_decode(rest)[0] == inner


@given(JSON_VALUES)
def test_our_reading_is_that_of_another_parser(value: Any) -> None:
    text = json.dumps(value, indent=2).replace("\n", "\n// note\n").replace('",\n', '", /* why */\n')
    assert jsonc.parse(text).value() == another_parser.loads(text) == value
