"""The report of a soak: one row for each part, the last result of each."""

from __future__ import annotations

from tests import soak


def test_what_was_not_run_this_time_keeps_its_last_result() -> None:
    first, second, third = soak.PARTS[:3]
    before = soak.report([soak.Outcome(first.name, 5, 5, 1.0, run="then"), soak.Outcome(second.name, 1, 2, 1.0)], "")
    failed = soak.Outcome(second.name, 7, 9, 2.0, "AssertionError: a\n| b", "now")
    after = soak.report([failed, soak.Outcome(third.name, 3, 3, 1.0, run="now")], before)
    rows = [line for line in after.splitlines() if line.startswith("| ")][2:]
    assert rows == [
        f"| {first.name} | 5 | 5 | 1 | then | passed |",
        f"| {second.name} | 7 | 9 | 2 | now | FAILED: AssertionError: a \\| b |",
        f"| {third.name} | 3 | 3 | 1 | now | passed |",
    ]
    assert soak.report([], after) == after


def test_the_soak_has_its_five_hundred_kills_of_daemon_wrapper_and_shell() -> None:
    goals = {part.steps: part.goal for part in soak.PARTS}
    assert goals[soak.record_kills] + goals[soak.shell_kills] >= 500
