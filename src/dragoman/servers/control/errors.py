"""Errors of the control socket: one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec

bad_request = ErrorSpec(
    "bad_request",
    "Invalid request: a parameter is missing or has the wrong type.",
    "The CLI may be newer than the daemon. Run `dragoman restart` to update the daemon.",
)
