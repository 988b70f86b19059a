"""Errors of questions to an editor."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec, quoted
from dragoman.core.safe_text import printable

_SHOWN = 300


def _shown(text: str) -> str:
    """The editor's own text, cut to one short line."""
    return printable(" ".join(text.split()))[:_SHOWN]


no_editor = ErrorSpec(
    "no_editor",
    "No connected editor has {folder} open.",
    (
        "Ask the user to open this folder in VS Code (or Cursor, code-server) with the Dragoman extension, "
        "which connects automatically. `make vsix` builds the extension."
    ),
)


editor_unsupported = ErrorSpec(
    "editor_cannot",
    "{editor} is connected but does not support `{method}`.",
    "Its extension is older than the daemon. Ask the user to update it.",
    editor=_shown,
)
editor_timeout = ErrorSpec(
    "editor_silent",
    "{editor} did not answer within {seconds} seconds.",
    "It may be waiting for the user to allow this. Try again later.",
    editor=_shown,
    seconds=lambda within_s: round(within_s, 1),
)
editor_disconnected = ErrorSpec(
    "editor_gone",
    "{editor} disconnected before it answered: it was closed or reloaded.",
    "It reconnects automatically. Then try again.",
    editor=_shown,
)
not_allowed = ErrorSpec(
    "not_allowed",
    "The user did not allow this in the editor.",
    "Do not ask again unless the user wants it. Only the user can undo a permanent refusal.",
)
editor_failed = ErrorSpec(
    "editor_refused", "{editor} failed: {reason}", editor=_shown, reason=lambda reason: _shown(reason) or "?"
)
too_many_questions = ErrorSpec(
    "too_many_questions",
    "{editor} has not answered earlier requests yet.",
    "Wait for them to finish, then try again.",
    editor=_shown,
)
too_many_editors = ErrorSpec(
    "too_many_editors",
    "Limit reached: {limit} editors are connected.",
    "Close a window you do not need.",
)
unknown_method = ErrorSpec("unknown_method", "Editors cannot call {method}.", method=quoted(60))
