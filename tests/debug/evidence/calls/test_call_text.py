"""The text of a recorded call within few characters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.evidence.calls.call_text import KNOWN, call_lines

NOTATION = Path(__file__).parents[4] / "skills" / "dragoman-debugging" / "references" / "answers.md"


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


def test_a_row_without_room_keeps_what_a_call_returned() -> None:
    call = ["depth_of", [["folder", "Folder(" + "x" * 80 + ")"], ["level", "2"]], "4", "", 0]
    data = {**record(1), "rows": [{"line": 1, "calls": [call], "changes": [["level", "4"]]}]}
    [row] = [it for it in call_lines(data, limit=240) if it.startswith("1: ")]
    assert row.endswith("\u2026) \u2192 level = 4")


def test_in_a_gap_short_values_come_before_long_ones() -> None:
    gap = {"gap": 9, "lines": [2, 3], "calls": 0, "changes": [["child", "C" * 90], ["level", "4"]]}
    [row] = [it for it in call_lines({**record(1), "rows": [gap]}, limit=300) if "more steps" in it]
    assert "after them level = 4, child" in row


def test_one_list_that_two_objects_hold_is_shown_once() -> None:
    changes = [["menu.log.lines +", "['a']"], ["log.lines +", "['a']"], ["other +", "['a']"]]
    result = call_lines({**record(1), "rows": [{"line": 1, "changes": changes}]})
    assert "1: log.lines += ['a'], other += ['a']" in result


def test_a_long_error_that_the_reader_has_read_is_not_told_again() -> None:
    error = "TypeError: unsupported operand type(s) for +=: 'int' and 'str'"
    data = {**record(1), "end": {"how": "raised", "line": 1, "error": error}}
    assert call_lines(data, known={error[:KNOWN]})[-1] == "raised TypeError: unsupported o\u2026 at line 1"
    assert call_lines(data)[-1] == f"raised {error} at line 1"


def test_limits_of_single_steps_are_named_where_they_were_reached() -> None:
    limits = {"most_steps": 500, "most_seconds": 20}
    ended = "Single steps end after 500 steps or 20 s in all."
    assert call_lines({"calls": 9, **limits}) == ["The function was called 9 times, and none was reached.", ended]
    assert call_lines({**record(3), **limits})[-1] == ended
    assert call_lines({**record(3), "newest_passed": 40, "counted_to": 40})[-2:] == [
        "Not the last call: call 40 came later, and was not stepped through.",
        "Only the first 40 calls were counted.",
    ]
    assert call_lines({"calls": 0, "is_unfinished": True}) == ["The function was not called within the time limit."]


def call_with(*rows: dict[str, Any], **fields: Any) -> str:
    source = [[20, "    rate = f(1)"], [21, "    return rate"]]
    found = {"function": "total", "file": "orders.py", "first": 19, "call": 2, "calls": 3, "lines": 2, "source": source}
    end = {"how": "returned", "line": 21, "value": "180.0"}
    return "\n".join(call_lines({**found, "rows": rows or [{"line": 20}], "end": end, **fields}))


NOTATIONS = {
    "total  orders.py:19  (call 2 of 3)": call_with(),
    "arguments:": call_with(args=[["price", "200.0"]]),
    "closure:": call_with(outer=[["limit", "3"]]),
    "20  rate = …": call_with(),
    "20: rate = 0.1; 21": call_with({"line": 20, "changes": [["rate", "0.1"]]}, {"line": 21}),
    "f(x=1) → 2": call_with({"line": 20, "calls": [["f", [["x", "1"]], "2", "", 0]]}),
    "f(x=1) → rate = 2": call_with(
        {"line": 20, "calls": [["f", [["x", "1"]], "2", "", 0]], "changes": [["rate", "2"]]}
    ),
    "f(x=1) ! ValueError: …": call_with({"line": 20, "calls": [["f", [["x", "1"]], None, "ValueError: no", 0]]}),
    "f(x=1) → 3 values, last 7": call_with({"line": 20, "calls": [["f", [["x", "1"]], "7", "", 3]]}),
    "items += [4]": call_with({"line": 20, "changes": [["items +", "[4]"]]}),
    "… 40 more steps in lines 3–7; after them n = 9": call_with(
        {"gap": 40, "lines": [3, 7], "calls": 0, "changes": [["n", "9"]]}
    ),
    "n = 0 … 9 (10 times)": call_with(
        *({"line": 20, "changes": [["n", str(it)]]} for it in range(10)), source=[[20, "    for n in range(10):"]]
    ),
    "returned …": call_with(),
    "raised … at line 5": call_with(end={"how": "raised", "line": 5, "error": "ValueError: no"}),
    "still running at line 12 (300000 lines so far)": call_with(end={"how": "running", "line": 12}, lines=300_000),
    "calls in the order they ended": call_with(
        deepest=3, all=[[2, 2, [["n", "0"]], "1", ""], [1, 1, [["n", "1"]], "1", ""]]
    ),
}


def test_the_skill_explains_the_notation_that_answers_have() -> None:
    table = re.findall(r"(?m)^\| (`.*`) \| ", NOTATION.read_text("utf-8").partition("| verdict")[0])
    assert [it for cell in table for it in re.findall(r"`([^`]+)`", cell)] == list(NOTATIONS)
    for notation, shown in NOTATIONS.items():
        assert re.search(re.escape(notation).replace("…", ".*"), shown), f"{notation}\n\n{shown}"
