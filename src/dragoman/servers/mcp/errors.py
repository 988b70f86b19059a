"""Errors of the MCP server: one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec

session_needed = ErrorSpec(
    "session_needed",
    "The request has no MCP session and is not `initialize`.",
    "Send `initialize` first, then Mcp-Session-Id with every request.",
)
unknown_session = ErrorSpec(
    "unknown_mcp_session",
    "Unknown MCP session: it ended, or the daemon restarted.",
    "Send `initialize` again, without Mcp-Session-Id.",
)
id_in_use = ErrorSpec("id_in_use", "A request with this id is still open.", "Use a unique id for each request.")
too_many_calls = ErrorSpec(
    "too_many_calls",
    "Limit reached: {limit} open calls or clients.",
    "Retry when one of them ends.",
)
unknown_option = ErrorSpec(
    "unknown_option",
    "Unknown value for `{name}`: {value}.",
    "Available: {choices}.",
)
unknown_address = ErrorSpec(
    "unknown_resource",
    "Unknown resource.",
    "Available: `dragoman://session/ID/journal`, `dragoman://session/ID/output` and `dragoman://schema/TOOL`.",
)
