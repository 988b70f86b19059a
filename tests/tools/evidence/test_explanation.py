"""How `explain_failure` says that nothing failed."""

from __future__ import annotations

from dragoman.debug.model import LaunchRequest
from dragoman.tools.evidence import explanation


def test_runs_that_ended_with_the_time_are_not_all_that_were_asked_for() -> None:
    def text_of(runs: int, repeat: int) -> str:
        target = explanation._Target(LaunchRequest())
        return str(explanation._head_lines(target, explanation._Failure("passed", []), runs, repeat)[0])

    assert text_of(20, 20) == "It did not fail again (20 of 20)."
    assert text_of(3, 20) == "It did not fail again in 3 of 20 runs; then the time limit was reached."
