"""Errors of terminals and their record: one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec

did_not_open = ErrorSpec(
    "no_own_terminal",
    "Could not open a terminal: its shell exited or did not connect in time.",
    "See `dragoman logs`, and check that the client's shell starts.",
)
bad_recording = ErrorSpec(
    "bad_recording",
    "Cannot read this recording: {reason}.",
    "Supported: asciicast 2 and 3, omnish session folders, and Dragoman's JSON lines.",
)
not_kept = ErrorSpec(
    "not_kept",
    "Could not save a terminal's output.",
    "The shell will send it again. Is the disk full? Run `dragoman doctor`.",
)
output_gone = ErrorSpec(
    "output_gone",
    "The output of this command is no longer kept.",
    (
        "It was deleted, or exceeded terminal_max_age_days or journal_max_size_mb. Its command line and exit "
        "code are kept."
    ),
)
no_terminal = ErrorSpec(
    "no_terminal",
    "No terminal is recorded yet.",
    "Ask the user to run `dragoman shell`, or open your own with run_in_terminal.",
)
