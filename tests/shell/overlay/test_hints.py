"""Which ends of a command are explained without being asked."""

from __future__ import annotations

import pytest

from dragoman.shell.overlay.hints import FailureExplanation
from dragoman.shell.settings import ShellSettings


@pytest.mark.parametrize(
    ("exit_code", "is_due"),
    [(None, False), (0, False), (1, True), (127, True), (130, False), (139, True)]
    + [(stopped, False) for stopped in (147, 148, 149, 150)],
)
def test_a_failure_is_explained_and_what_a_key_or_the_terminal_stopped_is_not(
    exit_code: int | None, is_due: bool
) -> None:
    explanation = FailureExplanation(ShellSettings(explain_failures=True), "t1")
    explanation.command_ended(exit_code, 100.0)
    assert explanation.is_due is is_due
