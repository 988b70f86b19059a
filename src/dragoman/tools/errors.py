"""Errors of the tools themselves: one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec, quoted

nothing_to_draw = ErrorSpec(
    "nothing_to_draw",
    "This call has nothing to draw.",
    "Pass components, data or messages; list_components lists the components.",
)
several_lines = ErrorSpec(
    "bad_command",
    "The command contains line breaks or invisible characters.",
    "Pass one line of plain text; put several commands in a script.",
)
terminal_busy = ErrorSpec(
    "terminal_busy",
    "A command is still running in {terminal}.",
    "wait_for_command waits for it, `interrupt` ends it; without `terminal`, another one is used.",
)
not_yours = ErrorSpec(
    "not_yours",
    "{terminal} is not an open terminal of yours.",
    "A user's terminal accepts only commands that the user approves. list_terminals lists all terminals.",
    terminal=quoted(100),
)
cannot_ask = ErrorSpec(
    "cannot_ask",
    "Cannot ask the user at {terminal}.",
    "Its `dragoman shell` exited or cannot ask. Without `terminal`, the command runs in your own terminal.",
    terminal=quoted(100),
)
