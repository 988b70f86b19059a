"""What is read from the words of a runner: both sides of an assertion, and the failed examples of doctest."""

from __future__ import annotations

import pytest

from dragoman.debug.evidence.assertion_message import readable_assertion
from dragoman.debug.evidence.failing_test import doctest_failures

ROWS = [{"id": at, "name": f"name{at}"} for at in range(60)]
OTHER = [*ROWS[:30], {"id": 30, "name": "other"}, *ROWS[31:]]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("assert 5 == 6\n +  where 5 = total([1, 2])", "assert 5 == 6\n +  where 5 = total([1, 2])"),
        ("assert 'ab' == 'ac'\n  \n  - ac\n  ?  ^\n  + ab", "assert 'ab' == 'ac'"),
        (
            "assert [1] == [2]\n  \n  At index 0 diff: 1 != 2\n  \n  Full diff:\n    [\n  -     2,\n  +     1,\n    ]",
            "assert [1] == [2]\n\n  At index 0 diff: 1 != 2",
        ),
        (
            "assert {'a': 1} == {'a': 2}\n  \n  Common items:\n  {'b': 1}\n  Differing items:\n  {'a': 1} != {'a': 2}",
            "assert {'a': 1} == {'a': 2}\n\n  Differing items:\n  {'a': 1} != {'a': 2}",
        ),
        ("too few\nassert 1 > 2", "too few\nassert 1 > 2"),
        ("3 != 4 : not equal", "3 != 4 : not equal"),
        ("", ""),
    ],
)
def test_an_assertion_is_shown_without_what_both_sides_say(message: str, shown: str) -> None:
    assert readable_assertion(message) == shown


def test_sides_that_are_too_long_are_shown_where_they_differ() -> None:
    shown = readable_assertion(f"assert {ROWS!r} == {OTHER!r}")
    assert len(shown) < 1000
    assert "'name': 'name30'" in shown
    assert "'name': 'other'" in shown
    assert " == " in shown
    assert len(readable_assertion(f"assert {'x' * 5000}")) < 1000


PLAIN = """\
**********************************************************************
File "/w/shop.py", line 4, in shop.total
Failed example:
    total([1, 2])
Expected:
    3
Got:
    4
**********************************************************************
File "/w/shop.py", line 6, in shop.total
Failed example:
    total(None)
Exception raised:
    Traceback (most recent call last):
      File "x", line 1
    TypeError: not a list
**********************************************************************
1 items had failures:
   2 of   2 in shop.total
"""
PYTEST = """\
_________________ [doctest] shop.total _________________
001 Sum.
002
003     >>> total([1, 2])
Expected:
    3
Got:
    4

/w/shop.py:3: DocTestFailure
=============== short test summary info ================
"""


def test_failed_examples_are_read_with_expected_and_got() -> None:
    assert [tuple(it) for it in doctest_failures(PLAIN)] == [
        ("shop.total", "/w/shop.py", 4, "total([1, 2])", "3", "4"),
        ("shop.total", "/w/shop.py", 6, "total(None)", "", "TypeError: not a list"),
    ]
    assert [tuple(it) for it in doctest_failures(PYTEST)] == [
        ("shop.total", "/w/shop.py", 3, "total([1, 2])", "3", "4")
    ]
    assert doctest_failures("nothing of the kind") == []
