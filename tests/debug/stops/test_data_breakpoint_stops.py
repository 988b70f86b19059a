"""Stops at watched data, where an adapter calls them breakpoints."""

from __future__ import annotations

import pytest

from dragoman.debug.backends.adapters.native import NATIVE
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.stops.exceptions import as_data_breakpoint, as_pause
from dragoman.protocols.dap import bodies


@pytest.mark.parametrize(
    ("quirks", "description", "reason"),
    [
        (NATIVE, "watchpoint 3", "data breakpoint"),
        (NATIVE, "breakpoint 3.1", "breakpoint"),
        (NATIVE, "a function named watchpoint 3", "breakpoint"),
        (NATIVE, None, "breakpoint"),
        (AdapterQuirks(), "watchpoint 3", "breakpoint"),
    ],
)
def test_a_watchpoint_is_recognised_by_its_description(
    quirks: AdapterQuirks, description: str | None, reason: str
) -> None:
    body = bodies.StoppedBody(reason="breakpoint", description=description, hit_breakpoint_ids=(1,))
    result = as_data_breakpoint(quirks, body)
    assert result.reason == reason
    assert result.hit_breakpoint_ids == (None if reason == "data breakpoint" else (1,))


@pytest.mark.parametrize(
    ("reason", "description", "command", "result"),
    [
        ("exception", "signal SIGSTOP", "pause", "pause"),
        ("step", None, "pause", "pause"),
        ("exception", "signal SIGSEGV", "pause", "exception"),
        ("exception", "signal SIGSTOP", "continue", "exception"),
        ("step", None, "next", "step"),
    ],
)
def test_what_somebody_paused_is_reported_as_a_pause(
    reason: str, description: str | None, command: str, result: str
) -> None:
    body = bodies.StoppedBody(reason=reason, description=description)
    assert as_pause(body, command).reason == result
