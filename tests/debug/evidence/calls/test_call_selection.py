"""Which calls an explanation shows, within how many characters."""

from __future__ import annotations

from typing import Any

from dragoman.debug.evidence.calls.call_selection import choose_calls
from dragoman.debug.evidence.calls.call_text import english


def record(function: str, first: int, *called: str) -> dict[str, Any]:
    changes = [["value", "9" * 60]]
    rows = [{"line": first + at, "changes": changes, "calls": []} for at in range(1, 9)]
    rows[-1]["calls"] = [[it, [["n", "1"]], "1", "", 0] for it in called]
    return {
        "function": function,
        "file": "shop.py",
        "first": first,
        "call": 1,
        "calls": 1,
        "lines": 8,
        "source": [[first + at, f"    value = compute({at})"] for at in range(9)],
        "args": [["price", "1" * 60]],
        "rows": rows,
        "end": {"how": "returned", "line": first + 8, "value": "the result"},
    }


CALLS = [record("report", 1, "total"), record("total", 20, "rate"), record("rate", 40)]


def size(chosen: list[tuple[dict[str, Any], list[str]]]) -> int:
    return sum(len(line) + 1 for _, lines in chosen for line in ("", *lines))


def test_the_whole_answer_keeps_to_its_length_and_who_has_read_much_gets_less() -> None:
    head = ["failed in 1 s", "AssertionError: assert 1 == 2"]
    chosen = choose_calls(CALLS, english, head)
    assert sum(map(len, head)) + size(chosen) <= 1000
    assert size(choose_calls(CALLS, english, [*head, "x" * 150])) < size(chosen)


def test_those_that_pass_on_leave_room_for_the_innermost_call() -> None:
    chosen = choose_calls(CALLS, english, ["x" * 240])
    assert [it["function"] for it, _ in chosen] == ["report", "total", "rate"]
    assert all(lines[-1] == "returned the result" for _, lines in chosen)
