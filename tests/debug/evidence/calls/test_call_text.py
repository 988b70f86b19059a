"""The text of a recorded call within few characters."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.debug.evidence.calls.call_text import call_lines


def record(rows: int) -> dict[str, Any]:
    return {
        "function": "total",
        "file": "shop.py",
        "first": 1,
        "call": 1,
        "calls": 1,
        "lines": rows,
        "source": [[number, f"    value_{number} = compute({number})"] for number in range(1, rows + 1)],
        "args": [["price", "1" * 60]],
        "rows": [{"line": number, "changes": [[f"value_{number}", "9" * 50]]} for number in range(1, rows + 1)],
        "end": {"how": "returned", "line": rows, "value": "the result"},
    }


@pytest.mark.parametrize("limit", [200, 400, 700, 4000])
def test_how_a_call_ended_is_shown_however_little_room_there_is(limit: int) -> None:
    lines = call_lines(record(30), limit=limit)
    assert sum(len(it) + 1 for it in lines) <= limit
    assert lines[-1] == "returned the result"


def test_an_empty_record_does_not_say_that_the_function_was_never_called() -> None:
    assert call_lines({}) == ["No call was recorded."]
    assert call_lines({"calls": 0}) == ["The function was never called."]
