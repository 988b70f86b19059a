"""Errors of the daemon's own services: one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec, quoted

bad_gateway_address = ErrorSpec(
    "bad_address",
    "Invalid gateway address: {address}",
    "It must start with ws:// or wss://, for example ws://127.0.0.1:18789.",
    address=quoted(200),
)
