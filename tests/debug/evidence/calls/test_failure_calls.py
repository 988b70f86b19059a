"""Which calls are traced after a failure: from a printed traceback, and below the calls already recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dragoman.debug.evidence.calls.failure_calls import callee_queries, printed_queries
from dragoman.debug.evidence.calls.trace_call import CallQuery

TEST = ["from walks import walk", "", "", "def test_walk():", "    assert walk(3) == 1"]
PYTEST = """\
test_walks.py:5:
walks.py:2: in walk
    return walk(n)
walks.py:2: RecursionError
E   RecursionError: maximum recursion depth exceeded
"""
UNITTEST = """\
Traceback (most recent call last):
  File "test_walks.py", line 5, in test_walk
    assert walk(3) == 1
  File "walks.py", line 2, in walk
    return walk(n)
RecursionError: maximum recursion depth exceeded
"""


async def lines(_: str) -> Sequence[str] | None:
    return TEST


@pytest.mark.anyio
@pytest.mark.parametrize("output", [PYTEST.replace("5:", "5: in test_walk"), UNITTEST])
async def test_a_printed_traceback_names_the_test_and_the_function(output: str) -> None:
    found = await printed_queries(output, lines)
    assert found == [CallQuery(file="walks.py", line=2), CallQuery(function="walk", call="last")]


def record(error: str = "", **more: Any) -> dict[str, Any]:
    calls = [["helper", [], "1", "", 0], ["Cart.total", [], "2", "", 0], ["run.<lambda>", [], "3", "", 0]]
    return {"rows": [{"gap": 3, "calls": 7}, {"line": 2, "calls": calls}], "end": {"error": error}, **more}


def test_what_was_called_last_is_traced_first() -> None:
    assert [it.function for it in callee_queries([record()], [])] == ["Cart.total", "helper"]
    assert callee_queries([record()], [CallQuery(function="Cart.total")]) == [CallQuery(function="helper", call="last")]
    assert callee_queries([record(by_steps=True)], []) == []


def test_a_callee_is_that_of_its_file() -> None:
    calls = [["load", [], "1", "", 0, "shop.py", 3], ["load", [], "2", "", 0, "other.py", 9]]
    data = {"rows": [{"line": 2, "calls": calls}], "end": {}}
    assert callee_queries([data], [CallQuery("load", "other.py", 9)]) == [CallQuery("load", "shop.py", 3, "last")]


def test_after_a_stack_overflow_the_first_call_is_traced() -> None:
    found = callee_queries([record("RecursionError: maximum recursion depth exceeded")], [])
    assert {it.call for it in found} == {"outermost"}
